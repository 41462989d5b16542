/* The lines that say what was left out and what was cut: gaps of our own, and the heads, ends and
 * marks of what a tool has cut itself. */
#include "condense/note.h"

#include <inttypes.h>

#include "base/ascii.h"
#include "base/span.h"
#include "base/words.h"

/* ---- gaps ---- */

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

/* ---- notes ---- */

enum {
    HEAD_LINES = 16, /* where headers are sought */
    TAIL_LINES = 16, /* and footers */
    CUTS_MAX = 32,   /* marks of cuts that are kept; more are part of what was printed */
    CUT_LINE_BYTES_MAX = 400,
};

static const char fronts[] =
    "Chunk ID:|Wall time|Exit code|Exit Code:|Process exited with|Process running with session|"
    "Original token count|Total output lines|Output:|Command exited with|"
    "Command running in background with ID|<returncode>|Signal:|Background PIDs:|"
    "Process Group PGID:|[Command finished with|[The command has no new output|"
    "[The command timed out|[Below is the output|[Current working directory|[Python interpreter|"
    "Shell cwd was reset|<task_id>|<task-id>|<status>|<exit_code>|<retrieval_status>|"
    "<output-file>|<shell_metadata>|</shell_metadata>|<output>|</output>|<persisted-output>|"
    "</persisted-output>|Output too large|Full output|[Full output|[Showing lines|(Showing lines|"
    "(Output capped|(End of file|(Results truncated|Warning: truncated output|<response clipped>|"
    "IMPORTANT: The file content has been truncated|"
    "The tool call succeeded but the output was truncated|<warning>|<output_head>|<output_tail>|"
    "</output_head>|</output_tail>|<system-reminder>";

/* Those without which more cannot be had. */
static const char ways[] =
    "Process running with session|Command running in background with ID|Background PIDs:|"
    "Process Group PGID:|<task_id>|<task-id>|<output-file>|Output too large|Full output|"
    "[Full output";

static bool may_begin_note(char c)
{
    return memchr("[<(", c, 3) || (c >= 'A' && c <= 'W');
}

static bool begins_with(weir_span line, const char *words)
{
    while (line.len && wr_is_blank(line.ptr[0]))
        line = wr_span_from(line, 1);
    return line.len && may_begin_note(line.ptr[0]) && wr_front_of(line, words);
}

bool wr_note_is(weir_span line)
{
    return begins_with(line, fronts);
}

/* "…123 tokens truncated…" stands within a line, the others make one. */
static bool has_cut(weir_span text)
{
    static const char marks[] =
        "truncated…|truncated...|characters omitted]|lines omitted]|<elided_chars>|"
        "[... output truncated";
    return wr_has_any_of(text, marks);
}

bool wr_note_is_cut(weir_span line)
{
    return wr_gap_is(line) || (line.len <= CUT_LINE_BYTES_MAX && has_cut(line));
}

static void keep_between(struct wr_keep *keep, uint32_t first, uint32_t end, const char *words)
{
    for (uint32_t line = first; line < end; line++)
        if (begins_with(wr_keep_line(keep, line), words))
            wr_keep_must(keep, line);
}

static void keep_at_ends(struct wr_keep *keep, const char *words)
{
    uint32_t lines = keep->lines_count, head = lines < HEAD_LINES ? lines : HEAD_LINES;
    keep_between(keep, 0, head, words);
    keep_between(keep, lines - head > TAIL_LINES ? lines - TAIL_LINES : head, lines, words);
}

void wr_note_keep_ways(struct wr_keep *keep)
{
    keep_at_ends(keep, ways);
}

/* Most lines have nothing that a mark of a cut begins or ends with. */
static bool may_be_cut(weir_span line)
{
    if (!line.len || line.len > CUT_LINE_BYTES_MAX)
        return false;
    return memchr("[<.", line.ptr[0], 3) || line.ptr[line.len - 1] == ']' ||
           wr_span_ends(line, WR_LIT("...")) || memchr(line.ptr, '\xa6', line.len);
}

void wr_note_keep(struct wr_keep *keep)
{
    uint32_t cuts = 0;
    keep_at_ends(keep, fronts);
    for (uint32_t line = 0; line < keep->lines_count && cuts < CUTS_MAX; line++) {
        weir_span text = wr_keep_line(keep, line);
        if (!may_be_cut(text) || !wr_note_is_cut(text))
            continue;
        wr_keep_must(keep, line);
        cuts++;
    }
}
