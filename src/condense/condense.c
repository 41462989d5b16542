#include "condense/condense.h"

#include "condense/kinds.h"

weir_status wr_condense(struct wr_condensed *out, struct wr_arena *arena,
                        const struct wr_condense_input *input)
{
    switch (input->kind) {
    case WR_OUTPUT_FILE:
        return wr_condense_file(out, arena, input);
    case WR_OUTPUT_LOG:
        return wr_condense_log(out, arena, input);
    case WR_OUTPUT_TEST:
        return wr_condense_test(out, arena, input);
    case WR_OUTPUT_SEARCH:
        return wr_condense_search(out, arena, input);
    case WR_OUTPUT_DIFF:
        return wr_condense_diff(out, arena, input);
    case WR_OUTPUT_JSON:
        return wr_condense_json(out, arena, input);
    case WR_OUTPUT_LIST:
        return wr_condense_list(out, arena, input);
    case WR_OUTPUT_BLOB:
        return wr_condense_blob(out, arena, input);
    case WR_OUTPUT_PROSE:
        return wr_condense_prose(out, arena, input);
    case WR_OUTPUT_PROCESS:
    case WR_OUTPUT_KINDS:
        break;
    }
    return wr_condense_process(out, arena, input);
}
