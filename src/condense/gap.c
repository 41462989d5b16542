#include "condense/gap.h"

#include <inttypes.h>

#include "base/ascii.h"
#include "base/span.h"

void wr_gap_write(struct wr_buf *out, uint64_t first, uint64_t count)
{
    if (count == 1)
        wr_buf_printf(out, "[... 1 line left out: %" PRIu64 "]\n", first);
    else
        wr_buf_printf(out, "[... %" PRIu64 " lines left out: %" PRIu64 "-%" PRIu64 "]\n", count,
                      first, first + count - 1);
}

void wr_gap_write_parts(struct wr_buf *out, uint64_t count)
{
    wr_buf_printf(out, "[... %" PRIu64 " part%s left out of this line]\n", count,
                  count == 1 ? "" : "s");
}

void wr_gap_write_shown(struct wr_buf *out, uint64_t count)
{
    wr_buf_printf(out, "[... %" PRIu64 " line%s left out of what was shown]\n", count,
                  count == 1 ? "" : "s");
}

static bool take(weir_span *rest, weir_span literal)
{
    if (!wr_span_starts(*rest, literal))
        return false;
    *rest = wr_span_cut(*rest, literal.len, rest->len);
    return true;
}

static bool take_number(weir_span *rest)
{
    size_t digits = 0;
    while (digits < rest->len && wr_is_digit(rest->ptr[digits]))
        digits++;
    *rest = wr_span_cut(*rest, digits, rest->len);
    return digits > 0;
}

bool wr_gap_is(weir_span line)
{
    if (!take(&line, WR_LIT("[... ")) || !take_number(&line))
        return false;
    if (take(&line, WR_LIT(" parts left out of this line]")) ||
        take(&line, WR_LIT(" part left out of this line]")) ||
        take(&line, WR_LIT(" lines left out of what was shown]")) ||
        take(&line, WR_LIT(" line left out of what was shown]")))
        return !wr_span_trim(line).len;
    bool many = take(&line, WR_LIT(" lines left out: "));
    if (!many && !take(&line, WR_LIT(" line left out: ")))
        return false;
    if (!take_number(&line) || (many && (!take(&line, WR_LIT("-")) || !take_number(&line))))
        return false;
    return take(&line, WR_LIT("]")) && !wr_span_trim(line).len;
}
