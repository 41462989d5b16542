#include "condense/exempt.h"

#include "base/limits.h"
#include "condense/letters.h"

enum { STUB_BYTES_MAX = 2048 };

/* "File unchanged since last read. ..." */
static bool is_unchanged_stub(weir_span text)
{
    static const weir_span fronts[] = {WR_WORD("File unchanged"), WR_WORD("<file_unchanged"),
                                       WR_WORD("[File unchanged")};
    return text.len <= STUB_BYTES_MAX && wr_front_of(text, fronts, WR_COUNT_OF(fronts)) > 0;
}

bool wr_exempt_is(enum wr_output_origin origin, weir_span text)
{
    bool is_confirmation =
        origin == WR_ORIGIN_CHANGE && text.len <= WR_EXEMPT_CONFIRMATION_BYTES_MAX;
    return origin == WR_ORIGIN_TELL || is_confirmation || is_unchanged_stub(text);
}
