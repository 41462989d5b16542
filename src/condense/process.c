/* What a command printed, of whatever kind. Signals and the tool's notes stay; then, by worth: what
 * was sought; what stands around signals; the end, where commands sum up, and the beginning; the
 * lines that head something in between, spread over all of it; what is left from the end.
 *
 * Lines that a loop printed (Compiling a, Compiling b, ...) and tests that passed come last, but
 * for the first and the last of a run. Lines that say the same again, times and the like aside, do
 * not come at all.
 *
 * Lines of a list of options that there is no room for stand with their first column
 * (option_list.h). */
#include "condense/keep.h"

#include "base/ascii.h"
#include "base/span.h"
#include "condense/location.h"
#include "condense/option_list.h"
#include "condense/shape.h"
#include "condense/test_run.h"
#include "condense/volatile.h"

enum {
    RUN_LINES_MIN = 4,      /* of one outline, before those inside come last */
    PROBE_LINES = 4,        /* of a run, one that is compared with the next */
    SAME_BYTES_MAX = 1024,  /* four times the longest lines that are compared */
    LETTERS_MIN = 4,        /* of a line that says something */
    DRAWING_BYTES_MIN = 40, /* of one that does not, but takes room */
    CONTEXT_BEFORE = 3,
    CONTEXT_AFTER = 6,
    CONTEXT_PERCENT = 50, /* each of what is left then */
    FOCUS_PERCENT = 40,
    TAIL_PERCENT = 40,
    HEAD_PERCENT = 35,
    OPTIONS_PERCENT = 60,
    HEADINGS_PERCENT = 70,
};

enum rank {
    RANK_PLAIN,
    RANK_DULL,   /* inside a run of lines alike */
    RANK_REPEAT, /* says what the line above it says, and so does the one below */
};

struct process {
    struct wr_keep keep;
    uint8_t *ranks;     /* an enum rank for each line */
    uint8_t *borders;   /* blank lines */
    uint32_t *headings; /* lines, ascending */
    uint32_t headings_count;
};

static size_t indent_of(weir_span line)
{
    size_t indent = 0;
    while (indent < line.len && wr_is_blank(line.ptr[indent]))
        indent++;
    return indent;
}

/* Whether two lines say the same but for what varies from run to run. */
static bool says_same(weir_span a, weir_span b)
{
    char left[SAME_BYTES_MAX], right[SAME_BYTES_MAX];
    if (wr_span_eq(a, b))
        return true;
    /* Marks may be longer than what they stand for. */
    if (a.len > SAME_BYTES_MAX / 4 || b.len > SAME_BYTES_MAX / 4)
        return false;
    size_t len = wr_volatile_write(left, sizeof(left), a);
    return len == wr_volatile_write(right, sizeof(right), b) && !memcmp(left, right, len);
}

/* Inside a run, lines that say the same as both their neighbours. Such lines come in long rows, so
 * that it is enough to look for their beginning now and then. */
static void find_repeats(struct process *process, uint32_t first, uint32_t end)
{
    const struct wr_keep *keep = &process->keep;
    bool same_above = false;
    for (uint32_t line = first; line + 1 < end; line++) {
        if (!same_above && (line - first) % PROBE_LINES)
            continue;
        bool same_below = says_same(wr_keep_line(keep, line), wr_keep_line(keep, line + 1));
        if (same_above && same_below)
            process->ranks[line] = RANK_REPEAT;
        same_above = same_below;
    }
}

/* A run is known by its end. */
static void end_run(struct process *process, uint32_t first, uint32_t end)
{
    if (end - first < RUN_LINES_MIN)
        return;
    for (uint32_t line = first + 1; line + 1 < end; line++)
        process->ranks[line] = RANK_DULL;
    find_repeats(process, first, end);
}

static uint64_t outline_of(weir_span line)
{
    enum { PASSED = 1 }; /* all tests that passed are alike */
    return wr_test_line_is_passed(line) ? PASSED : wr_shape_outline_of(line);
}

static bool has_letters(weir_span line)
{
    unsigned letters = 0;
    for (size_t i = 0; i < line.len && letters < LETTERS_MIN; i++)
        letters += wr_is_word(line.ptr[i]);
    return letters == LETTERS_MIN;
}

static void find_runs(struct process *process)
{
    const struct wr_keep *keep = &process->keep;
    uint64_t shape = 0;
    uint32_t first = 0;
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        weir_span text = wr_keep_line(keep, line);
        if (text.len > DRAWING_BYTES_MIN && !has_letters(text))
            process->ranks[line] = RANK_DULL;
        uint64_t own = outline_of(text);
        if (own == shape)
            continue;
        end_run(process, first, line);
        first = line;
        shape = own;
    }
    end_run(process, first, keep->lines_count);
}

/* Results of a search or a checker: the first line that names a file heads the others. */
static bool names_new_file(weir_span line, weir_span *path)
{
    struct wr_location location;
    if (!line.len || wr_is_blank(line.ptr[0]) || !wr_location_read(line, 0, &location))
        return false;
    bool is_new = !wr_span_eq(location.path, *path);
    *path = location.path;
    return is_new;
}

/* Lines that head others: the first of a paragraph, one with lines further in below it, the first
 * on a file. */
static void find_headings(struct process *process)
{
    const struct wr_keep *keep = &process->keep;
    weir_span path = {"", 0};
    bool behind_blank = true;
    for (uint32_t line = 0; line + 1 < keep->lines_count; line++) {
        weir_span text = wr_keep_line(keep, line), next = wr_keep_line(keep, line + 1);
        size_t indent = indent_of(text), below = indent_of(next);
        bool is_blank = indent == text.len;
        bool begins = behind_blank || (below > indent && below < next.len);
        behind_blank = is_blank;
        if (is_blank)
            process->borders[line] = WR_BORDER_WALL;
        else if (names_new_file(text, &path) ||
                 (begins && process->ranks[line] == RANK_PLAIN && has_letters(text)))
            process->headings[process->headings_count++] = line;
    }
}

/* Both keep lines up to a rank, from one end, while `percent` of the budget lasts. */
static void keep_tail(struct process *process, enum rank rank_max, uint32_t percent)
{
    struct wr_keep *keep = &process->keep;
    size_t budget = wr_choose_share(keep, percent);
    for (uint32_t line = keep->lines_count; line > 0; line--)
        if (process->ranks[line - 1] <= rank_max && !wr_keep_one(keep, line - 1))
            break;
    keep->bytes_budget = budget;
}

static void keep_head(struct process *process, enum rank rank_max, uint32_t percent)
{
    struct wr_keep *keep = &process->keep;
    size_t budget = wr_choose_share(keep, percent);
    for (uint32_t line = 0; line < keep->lines_count; line++)
        if (process->ranks[line] <= rank_max && !wr_keep_one(keep, line))
            break;
    keep->bytes_budget = budget;
}

static weir_status choose_process(struct process *process, const struct wr_condense_input *input)
{
    struct wr_keep *keep = &process->keep;
    weir_status status = wr_choose_focus(keep, input, FOCUS_PERCENT);
    if (status)
        return status;
    size_t budget = wr_choose_share(keep, CONTEXT_PERCENT);
    status = wr_choose_context(keep, process->borders, CONTEXT_BEFORE, CONTEXT_AFTER);
    keep->bytes_budget = budget;
    if (!status)
        status = wr_option_list_keep(keep, OPTIONS_PERCENT);
    if (status)
        return status;
    keep_tail(process, RANK_PLAIN, TAIL_PERCENT);
    keep_head(process, RANK_PLAIN, HEAD_PERCENT);
    budget = wr_choose_share(keep, HEADINGS_PERCENT);
    wr_choose_spread(keep, process->headings, process->headings_count);
    keep->bytes_budget = budget;
    keep_tail(process, RANK_PLAIN, 100);
    keep_head(process, RANK_DULL, 50);
    keep_tail(process, RANK_DULL, 100);
    return WEIR_OK;
}

weir_status wr_condense_process(struct wr_condensed *out, struct wr_arena *arena,
                                const struct wr_condense_input *input)
{
    struct process process = {.headings_count = 0};
    struct wr_keep *keep = &process.keep;
    weir_status status = wr_choose_begin(keep, arena, input);
    if (status)
        return status;
    process.ranks = WR_ARENA_ARRAY(arena, uint8_t, keep->lines_count);
    process.headings = WR_ARENA_ARRAY(arena, uint32_t, keep->lines_count);
    process.borders = WR_ARENA_ARRAY(arena, uint8_t, keep->lines_count);
    if (!process.ranks || !process.headings || !process.borders)
        return wr_arena_status(arena);
    find_runs(&process);
    find_headings(&process);
    status = choose_process(&process, input);
    if (status)
        return status;
    wr_keep_widen(keep);
    return wr_keep_write(keep, out);
}
