#include "condense/note.h"

#include "base/span.h"
#include "condense/gap.h"
#include "condense/letters.h"

enum {
    HEAD_LINES = 16, /* where headers are sought */
    TAIL_LINES = 16, /* and footers */
    CUTS_MAX = 32,   /* marks of cuts that are kept; more are part of what was printed */
    CUT_LINE_BYTES_MAX = 400,
};

static const weir_span fronts[] = {
    /* headers of a run */
    WR_WORD("Chunk ID:"),
    WR_WORD("Wall time"),
    WR_WORD("Exit code"),
    WR_WORD("Exit Code:"),
    WR_WORD("Process exited with"),
    WR_WORD("Process running with session"),
    WR_WORD("Original token count"),
    WR_WORD("Total output lines"),
    WR_WORD("Output:"),
    WR_WORD("Command exited with"),
    WR_WORD("Command running in background with ID"),
    WR_WORD("<returncode>"),
    WR_WORD("Signal:"),
    WR_WORD("Background PIDs:"),
    WR_WORD("Process Group PGID:"),
    WR_WORD("[Command finished with"),
    WR_WORD("[The command has no new output"),
    WR_WORD("[The command timed out"),
    WR_WORD("[Below is the output"),
    WR_WORD("[Current working directory"),
    WR_WORD("[Python interpreter"),
    WR_WORD("Shell cwd was reset"),
    /* tags around the state of a process */
    WR_WORD("<task_id>"),
    WR_WORD("<task-id>"),
    WR_WORD("<status>"),
    WR_WORD("<exit_code>"),
    WR_WORD("<retrieval_status>"),
    WR_WORD("<output-file>"),
    WR_WORD("<shell_metadata>"),
    WR_WORD("</shell_metadata>"),
    WR_WORD("<output>"),
    WR_WORD("</output>"),
    /* where all of it is */
    WR_WORD("<persisted-output>"),
    WR_WORD("</persisted-output>"),
    WR_WORD("Output too large"),
    WR_WORD("Full output"),
    WR_WORD("[Full output"),
    WR_WORD("[Showing lines"),
    WR_WORD("(Showing lines"),
    WR_WORD("(Output capped"),
    WR_WORD("(End of file"),
    WR_WORD("(Results truncated"),
    WR_WORD("Warning: truncated output"),
    WR_WORD("<response clipped>"),
    WR_WORD("IMPORTANT: The file content has been truncated"),
    WR_WORD("The tool call succeeded but the output was truncated"),
    WR_WORD("<warning>"),
    WR_WORD("<output_head>"),
    WR_WORD("<output_tail>"),
    WR_WORD("</output_head>"),
    WR_WORD("</output_tail>"),
    WR_WORD("<system-reminder>"),
};

/* Those without which more cannot be had. */
static const weir_span ways[] = {
    WR_WORD("Process running with session"),
    WR_WORD("Command running in background with ID"),
    WR_WORD("Background PIDs:"),
    WR_WORD("Process Group PGID:"),
    WR_WORD("<task_id>"),
    WR_WORD("<task-id>"),
    WR_WORD("<output-file>"),
    WR_WORD("Output too large"),
    WR_WORD("Full output"),
    WR_WORD("[Full output"),
};

static bool may_begin_note(char c)
{
    return memchr("[<(", c, 3) || (c >= 'A' && c <= 'W');
}

static bool begins_with(weir_span line, const weir_span *words, size_t count)
{
    while (line.len && wr_is_blank(line.ptr[0]))
        line = wr_span_cut(line, 1, line.len);
    return line.len && may_begin_note(line.ptr[0]) && wr_front_of(line, words, count) > 0;
}

bool wr_note_is(weir_span line)
{
    return begins_with(line, fronts, WR_COUNT_OF(fronts));
}

/* "…123 tokens truncated…" stands within a line, the others make one. */
static bool has_cut(weir_span text)
{
    static const weir_span marks[] = {
        WR_WORD("truncated\xe2\x80\xa6"), WR_WORD("truncated..."),
        WR_WORD("characters omitted]"),   WR_WORD("lines omitted]"),
        WR_WORD("<elided_chars>"),        WR_WORD("[... output truncated")};
    for (size_t i = 0; i < WR_COUNT_OF(marks); i++)
        if (wr_span_find(text, marks[i], 0) != SIZE_MAX)
            return true;
    return false;
}

bool wr_note_is_cut(weir_span line)
{
    return wr_gap_is(line) || (line.len <= CUT_LINE_BYTES_MAX && has_cut(line));
}

static void keep_between(struct wr_keep *keep, uint32_t first, uint32_t end, const weir_span *words,
                         size_t count)
{
    for (uint32_t line = first; line < end; line++)
        if (begins_with(wr_keep_line(keep, line), words, count))
            wr_keep_must(keep, line);
}

static void keep_at_ends(struct wr_keep *keep, const weir_span *words, size_t count)
{
    uint32_t lines = keep->lines_count, head = lines < HEAD_LINES ? lines : HEAD_LINES;
    keep_between(keep, 0, head, words, count);
    keep_between(keep, lines - head > TAIL_LINES ? lines - TAIL_LINES : head, lines, words, count);
}

void wr_note_keep_ways(struct wr_keep *keep)
{
    keep_at_ends(keep, ways, WR_COUNT_OF(ways));
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
    keep_at_ends(keep, fronts, WR_COUNT_OF(fronts));
    for (uint32_t line = 0; line < keep->lines_count && cuts < CUTS_MAX; line++) {
        weir_span text = wr_keep_line(keep, line);
        if (!may_be_cut(text) || !wr_note_is_cut(text))
            continue;
        wr_keep_must(keep, line);
        cuts++;
    }
}
