/* Diffs. The headers of files and hunks are signals and stay, and so do the notes of renames, modes
 * and binary files; of the bodies changed lines come before the lines around them. The budget goes
 * round the hunks: a few changed lines of each, then more of each, so that no large hunk starves
 * the others; files that tools write (lock files, minified ones) come last. */
#include "condense/keep.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/words.h"
#include "condense/focus.h"
#include "condense/signal_scanner.h"

enum {
    LINE_BYTES_MAX = 400, /* of a line of a body */
    PROSE_PERCENT = 25,   /* of the budget: messages of commits, tables of changes */
    TAIL_PERCENT = 5,
    FOCUS_PERCENT = 50,
    FIRST_RANKS = 2, /* changed lines of every hunk that come before all others */
};

enum role {
    ROLE_PROSE, /* outside of every diff */
    ROLE_HEADER,
    ROLE_NOTE, /* below a header: renames, modes; "index" is none */
    ROLE_CHANGED,
    ROLE_SAME,
};

struct row {
    uint32_t rank;    /* of a changed line in its hunk, from 0 */
    uint8_t role;     /* enum role */
    bool is_produced; /* by a tool, not by hand */
    bool is_beside;   /* an unchanged line beside a changed one */
};

struct diff {
    struct wr_keep keep;
    struct row *rows;
    struct wr_focus focus;
};

/* ---- what each line is ---- */

struct reader {
    bool in_hunk, is_produced;
    size_t columns; /* of signs before each line: as many as there are old files */
    uint32_t rank;
};

static bool is_produced_path(weir_span path)
{
    static struct wr_words ends =
        WR_WORDS("-lock.json|.lock|-lock.yaml|go.sum|.min.js|.svg|.min.css|.map|.snap|.lockb");
    path = wr_span_trim(path);
    return wr_words_end(&ends, path);
}

/* "diff --git a/x b/x", "*** Update File: x": what begins a file. */
static bool starts_file(weir_span line)
{
    static struct wr_words fronts =
        WR_WORDS("diff --|*** Update File: |*** Add File: |*** Delete File: |Index: ");
    return wr_words_front(&fronts, line);
}

/* "--- a/x" and "+++ b/x" stand together above a hunk; inside one they are changed lines. */
static bool is_file_pair(const struct diff *diff, uint32_t line, const struct reader *reader)
{
    weir_span text = wr_keep_line(&diff->keep, line);
    if (wr_span_starts(text, WR_LIT("+++ ")))
        return !reader->in_hunk;
    return wr_span_starts(text, WR_LIT("--- ")) && line + 1 < diff->keep.lines_count &&
           wr_span_starts(wr_keep_line(&diff->keep, line + 1), WR_LIT("+++ "));
}

static size_t hunk_columns(weir_span text)
{
    size_t marks = 0;
    while (marks < text.len && text.ptr[marks] == '@')
        marks++;
    return marks > 1 ? marks - 1 : 0;
}

static enum role body_role(weir_span text, struct reader *reader)
{
    for (size_t i = 0; i < reader->columns && i < text.len; i++)
        if (text.ptr[i] == '+' || text.ptr[i] == '-')
            return ROLE_CHANGED;
    if (!text.len || memchr(" \t\\\r", text.ptr[0], 4))
        return ROLE_SAME;
    reader->in_hunk = false;
    return ROLE_PROSE;
}

static enum role role_of(const struct diff *diff, uint32_t line, struct reader *reader)
{
    weir_span text = wr_keep_line(&diff->keep, line);
    size_t columns = hunk_columns(text);
    if (columns) {
        *reader = (struct reader){true, reader->is_produced, columns, 0};
        return ROLE_HEADER;
    }
    if (starts_file(text)) {
        bool patch = text.ptr[0] == '*'; /* there a body may follow at once */
        *reader = (struct reader){patch, is_produced_path(text), 1, 0};
        return ROLE_HEADER;
    }
    if (is_file_pair(diff, line, reader)) {
        reader->in_hunk = false;
        reader->is_produced = is_produced_path(text);
        return ROLE_HEADER;
    }
    if (wr_signal_is_diff_detail(text)) {
        reader->in_hunk = false;
        return wr_span_starts(text, WR_LIT("index ")) ? ROLE_SAME : ROLE_NOTE;
    }
    return reader->in_hunk ? body_role(text, reader) : ROLE_PROSE;
}

static void read_lines(struct diff *diff)
{
    struct reader reader = {false, false, 0, 0};
    for (uint32_t line = 0; line < diff->keep.lines_count; line++) {
        struct row *row = &diff->rows[line];
        row->role = (uint8_t)role_of(diff, line, &reader);
        row->is_produced = reader.is_produced;
        if (row->role == ROLE_CHANGED)
            row->rank = reader.rank++;
    }
    for (uint32_t line = 0; line < diff->keep.lines_count; line++) {
        bool above = line && diff->rows[line - 1].role == ROLE_CHANGED;
        bool below = line + 1 < diff->keep.lines_count && diff->rows[line + 1].role == ROLE_CHANGED;
        diff->rows[line].is_beside = diff->rows[line].role == ROLE_SAME && (above || below);
    }
}

/* ---- what is kept ---- */

static void keep_headers(struct diff *diff)
{
    for (uint32_t line = 0; line < diff->keep.lines_count; line++)
        if (diff->rows[line].role == ROLE_HEADER || diff->rows[line].role == ROLE_NOTE)
            wr_keep_must(&diff->keep, line);
}

static weir_span behind(weir_span line, size_t prefix)
{
    return wr_span_from(line, prefix);
}

/* Whether `old` and `new` are "--- a/x" and "+++ b/x" of the line "diff --git a/x b/x". */
static bool say_the_same(weir_span git, weir_span old, weir_span new)
{
    size_t names = sizeof("diff --git ") - 1, sign = sizeof("--- ") - 1;
    if (!wr_span_starts(git, WR_LIT("diff --git ")) || !wr_span_starts(old, WR_LIT("--- a/")) ||
        !wr_span_starts(new, WR_LIT("+++ b/")) ||
        git.len - names != old.len - sign + 1 + new.len - sign)
        return false;
    weir_span first = wr_span_cut(git, names, names + old.len - sign);
    return wr_span_eq(first, behind(old, sign)) && wr_span_ends(git, behind(new, sign)) &&
           wr_span_eq(behind(old, sign + 2), behind(new, sign + 2));
}

static weir_status shorten_file_header(struct wr_keep *keep, uint32_t line)
{
    uint32_t old = line + 1;
    bool index =
        old < keep->lines_count && wr_span_starts(wr_keep_line(keep, old), WR_LIT("index "));
    old += index;
    if (old + 1 >= keep->lines_count ||
        !say_the_same(wr_keep_line(keep, line), wr_keep_line(keep, old),
                      wr_keep_line(keep, old + 1)))
        return WEIR_OK;
    weir_status status = wr_keep_form(keep, old, WR_LIT("---"));
    if (!status)
        status = wr_keep_form(keep, old + 1, WR_LIT("+++"));
    if (!status && index) {
        status = wr_keep_form(keep, line + 1, WR_LIT("index \xe2\x80\xa6"));
        wr_keep_must(keep, line + 1);
    }
    return status;
}

static weir_status shorten_file_headers(struct diff *diff)
{
    weir_status status = WEIR_OK;
    for (uint32_t line = 0; line < diff->keep.lines_count && !status; line++)
        if (diff->rows[line].role == ROLE_HEADER && wr_keep_line(&diff->keep, line).ptr[0] == 'd')
            status = shorten_file_header(&diff->keep, line);
    return status;
}

/* What the budget may grow to for the lines that follow. */
static size_t share_of(const struct wr_keep *keep, size_t budget, size_t percent)
{
    size_t left = budget > keep->bytes_used ? budget - keep->bytes_used : 0;
    return keep->bytes_used + left / 100 * percent;
}

static void keep_prose(struct diff *diff)
{
    size_t budget = diff->keep.bytes_budget;
    bool only_prose = true;
    for (uint32_t line = 0; only_prose && line < diff->keep.lines_count; line++)
        only_prose = diff->rows[line].role == ROLE_PROSE;
    if (!only_prose)
        diff->keep.bytes_budget = share_of(&diff->keep, budget, PROSE_PERCENT);
    for (uint32_t line = 0; !only_prose && line < diff->keep.lines_count; line++)
        if (diff->rows[line].role == ROLE_PROSE && !wr_keep_one(&diff->keep, line))
            break;
    diff->keep.bytes_budget = budget;
    if (only_prose)
        wr_keep_ends(&diff->keep, 50);
}

/* Changed lines whose rank in their hunk is below `rank_end`; false when the budget is spent. Of
 * the first ranks those are taken that fit; further on the first that does not fit ends it, lest
 * only the short lines of a hunk stand there. */
static bool keep_changed(struct diff *diff, uint32_t rank_end, bool produced)
{
    bool all = true;
    for (uint32_t line = 0; line < diff->keep.lines_count && (all || rank_end == FIRST_RANKS);
         line++) {
        const struct row *row = &diff->rows[line];
        if (row->role == ROLE_CHANGED && row->rank < rank_end && row->is_produced == produced)
            all = wr_keep_one(&diff->keep, line) && all;
    }
    return all;
}

static bool keep_beside(struct diff *diff)
{
    for (uint32_t line = 0; line < diff->keep.lines_count; line++)
        if (diff->rows[line].is_beside && !diff->rows[line].is_produced &&
            !wr_keep_one(&diff->keep, line))
            return false;
    return true;
}

static void keep_named(struct diff *diff)
{
    size_t budget = diff->keep.bytes_budget;
    diff->keep.bytes_budget = share_of(&diff->keep, budget, FOCUS_PERCENT);
    for (uint32_t line = 0; diff->focus.count && line < diff->keep.lines_count; line++)
        if (wr_focus_names(&diff->focus, wr_keep_line(&diff->keep, line)) &&
            !wr_keep_one(&diff->keep, line))
            break;
    diff->keep.bytes_budget = budget;
}

static void keep_tail(struct diff *diff)
{
    size_t budget = diff->keep.bytes_budget;
    diff->keep.bytes_budget = share_of(&diff->keep, budget, TAIL_PERCENT);
    (void)wr_keep_from_back(&diff->keep, 0, diff->keep.lines_count);
    diff->keep.bytes_budget = budget;
}

static void keep_bodies(struct diff *diff)
{
    static const uint32_t rank_ends[] = {FIRST_RANKS, 6, 16, 40, UINT32_MAX};
    bool room = true;
    for (size_t i = 0; room && i < WR_COUNT_OF(rank_ends); i++)
        room = keep_changed(diff, rank_ends[i], false);
    room = room && keep_beside(diff) && keep_changed(diff, 6, true);
    if (room)
        wr_keep_ends(&diff->keep, 50);
}

static weir_status init(struct diff *diff, struct wr_arena *arena,
                        const struct wr_condense_input *input)
{
    weir_status status = wr_keep_init(&diff->keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&diff->keep, LINE_BYTES_MAX, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&diff->keep, WR_OUTPUT_DIFF, 0);
    if (!status)
        status = wr_focus_init(&diff->focus, arena, input);
    if (!status)
        status = wr_focus_find(&diff->focus, &diff->keep);
    diff->rows = WR_ARENA_ARRAY(arena, struct row, diff->keep.lines_count);
    if (!status && !diff->rows)
        status = wr_arena_status(arena);
    return status;
}

weir_status wr_condense_diff(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct diff diff;
    weir_status status = init(&diff, arena, input);
    if (status)
        return status;
    if (wr_keep_fits(&diff.keep))
        return wr_keep_all(&diff.keep, out);
    read_lines(&diff);
    status = shorten_file_headers(&diff);
    if (status)
        return status;
    keep_headers(&diff);
    keep_prose(&diff);
    keep_named(&diff);
    keep_tail(&diff);
    keep_bodies(&diff);
    return wr_keep_write(&diff.keep, out);
}
