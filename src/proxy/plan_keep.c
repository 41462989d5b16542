#include "proxy/plan_keep.h"

#include "base/limits.h"
#include "engine/request.h"
#include "ledger/steer.h"

void wr_plan_keep(struct wr_notes *notes, struct weir_request *request, weir_span tenant,
                  weir_span session, int64_t now_ms)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    struct wr_buf plan;

    if (!notes)
        return;
    wr_buf_init(&plan, WR_LEDGER_NOTE_BYTES_MAX);
    wr_plan_key(session, key);
    if (!wr_engine_foretell(request, &plan))
        wr_notes_keep_as(notes, key, tenant, session, wr_buf_view(&plan), now_ms);
    wr_buf_release(&plan);
}
