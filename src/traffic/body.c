#include "traffic/body.h"

#include <stdio.h>

#include "base/limits.h"
#include "engine/record_row.h"

weir_status wr_body_read(const struct wr_ledger_row *said, bool is_sent,
                         struct weir_request **request, struct weir_err *err)
{
    struct weir_request_options options = WEIR_REQUEST_OPTIONS_INIT;
    struct wr_record record;
    struct wr_arena arena;
    char path[256] = "";

    *request = NULL;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_row_parse(said->line, &arena, &record))
        (void)snprintf(path, sizeof(path), "%.*s", (int)record.path.len,
                       record.path.len ? record.path.ptr : "");
    wr_arena_release(&arena);
    options.path = *path ? path : NULL;
    return weir_request_new(wr_body_of(said, is_sent), &options, request, err);
}
