#include "cli/why_session.h"

#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/ledger_open.h"
#include "ledger/find.h"

/* A path that is not there is a wrong path, not a session: those have no slash and no suffix. */
static bool is_file(const char *name)
{
    return !strcmp(name, "-") || !access(name, F_OK) || strchr(name, '/') ||
           wr_span_ends(wr_span_of(name), WR_LIT(".json"));
}

static bool read_session(struct wr_ledger *ledger, const char *name, const char *tenant,
                         struct wr_arena *arena, struct wr_buf *report)
{
    struct wr_ledger_session session;
    struct wr_ledger_row row;
    struct weir_err err = {0};

    if (wr_session_find(ledger, wr_span_of(tenant), wr_span_of(name), arena, &session, &err)) {
        wr_cli_fail("why", "%s is no file, and as a session: %s; `weir sessions` lists them", name,
                    err.text);
        return false;
    }
    if (wr_ledger_report(ledger, session.tenant, session.session, &row, &err)) {
        wr_cli_fail("why", "%s: %s", name, err.text);
        return false;
    }
    wr_buf_append(report, row.report);
    return !wr_buf_status(report);
}

bool wr_why_read(const char *name, const char *dir, const char *tenant, struct wr_buf *report)
{
    struct wr_arena arena;

    if (is_file(name))
        return wr_cli_read("why", name, report);
    struct wr_ledger *ledger = wr_cli_ledger("why", dir);
    if (!ledger)
        return false;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(report, WR_LEDGER_REPORT_BYTES_MAX);
    bool ok = read_session(ledger, name, tenant, &arena, report);
    wr_arena_release(&arena);
    wr_ledger_close(ledger);
    return ok;
}
