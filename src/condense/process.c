/* What a command printed, of whatever kind. Signals and the tool's notes stay; then, by worth: what
 * stands around signals; what was sought; the end, where commands sum up, and the beginning; the
 * lines that head something in between, spread over all of it; what is left from the end.
 *
 * Lines that a loop printed (Compiling a, Compiling b, ...) and tests that passed come last, but
 * for the first and the last of a run. Lines that say the same again, times and the like aside, do
 * not come at all. */
#include "condense/kinds.h"

#include "base/span.h"
#include "condense/choose.h"
#include "condense/letters.h"
#include "condense/location.h"
#include "condense/shape.h"
#include "condense/test_line.h"
#include "condense/volatile.h"

enum {
    RUN_LINES_MIN = 4,      /* of one outline, before those inside come last */
    SAME_BYTES_MAX = 1024,  /* longer lines are not compared */
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
    OPTIONS_MIN = 8, /* lines of one list */
    OPTION_INDENT_MAX = 10,
    OPTION_BYTES_MAX = 56,
    OPTION_TEXT_BYTES_MIN = 12, /* behind it */
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

/* A line without what varies from run to run. */
struct same_text {
    char bytes[SAME_BYTES_MAX];
    size_t len; /* 0: not to be compared */
};

static void read_same_text(struct same_text *text, weir_span line)
{
    bool fits = line.len < SAME_BYTES_MAX / 4; /* marks may be longer than what they stand for */
    text->len = fits ? wr_volatile_write(text->bytes, sizeof(text->bytes), line) : 0;
}

/* Inside a run, lines that say the same as both their neighbours. */
static void find_repeats(struct process *process, uint32_t first, uint32_t end)
{
    struct same_text texts[2];
    bool same_above = false;
    read_same_text(&texts[first % 2], wr_keep_line(&process->keep, first));
    for (uint32_t line = first; line < end; line++) {
        const struct same_text *own = &texts[line % 2];
        struct same_text *below = &texts[(line + 1) % 2];
        below->len = 0;
        if (line + 1 < end)
            read_same_text(below, wr_keep_line(&process->keep, line + 1));
        bool same_below =
            own->len && own->len == below->len && !memcmp(own->bytes, below->bytes, own->len);
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
    return wr_test_line_read(line) == WR_TEST_PASSED ? PASSED : wr_shape_outline_of(line);
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

/* A line that heads what is below it: it stands behind a blank line or a line further in, and the
 * line below is further in; or it begins a paragraph. */
static void find_headings(struct process *process)
{
    const struct wr_keep *keep = &process->keep;
    weir_span path = {"", 0};
    size_t before = SIZE_MAX;
    for (uint32_t line = 0; line + 1 < keep->lines_count; line++) {
        weir_span text = wr_keep_line(keep, line), next = wr_keep_line(keep, line + 1);
        size_t indent = indent_of(text), below = indent_of(next);
        if (indent == text.len) {
            process->borders[line] = WR_BORDER_WALL;
            before = SIZE_MAX;
            continue;
        }
        bool begins = before == SIZE_MAX || names_new_file(text, &path);
        bool opens = below > indent && below < next.len;
        if ((begins || opens) && process->ranks[line] == RANK_PLAIN && has_letters(text))
            process->headings[process->headings_count++] = line;
        before = indent;
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

/* End of the first column of "  -n, --limit int    how many there are"; 0 where the line is none of
 * a list of options. */
static size_t option_end(weir_span line)
{
    size_t start = indent_of(line), end;
    if (start < 2 || start > OPTION_INDENT_MAX || start == line.len ||
        !(line.ptr[start] == '-' || wr_is_word(line.ptr[start])))
        return 0;
    end = wr_span_find(line, WR_LIT("  "), start);
    if (end == SIZE_MAX || end - start > OPTION_BYTES_MAX)
        return 0;
    size_t text = end + indent_of(wr_span_cut(line, end, line.len));
    return line.len - text >= OPTION_TEXT_BYTES_MIN && wr_is_alpha(line.ptr[text]) ? end : 0;
}

static weir_status keep_option(struct wr_keep *keep, uint32_t line, size_t end)
{
    static const char mark[] = " \xe2\x80\xa6";
    size_t len = end + sizeof(mark) - 1;
    char *form = wr_arena_alloc(keep->arena, len);
    if (!form)
        return wr_arena_status(keep->arena);
    memcpy(form, wr_keep_line(keep, line).ptr, end);
    memcpy(form + end, mark, sizeof(mark) - 1);
    weir_status status = wr_keep_form(keep, line, (weir_span){form, len});
    if (!status)
        (void)wr_keep_one(keep, line);
    return status;
}

static uint32_t count_options(const struct wr_keep *keep)
{
    uint32_t count = 0;
    for (uint32_t line = 0; line < keep->lines_count; line++)
        count += option_end(wr_keep_line(keep, line)) > 0;
    return count;
}

static weir_status keep_options(struct wr_keep *keep)
{
    weir_status status = WEIR_OK;
    if (count_options(keep) < OPTIONS_MIN)
        return WEIR_OK;
    size_t budget = wr_choose_share(keep, OPTIONS_PERCENT);
    for (uint32_t line = 0; line < keep->lines_count && !status; line++) {
        size_t end = keep->is_kept[line] || keep->bytes_used >= keep->bytes_budget
                         ? 0
                         : option_end(wr_keep_line(keep, line));
        if (end)
            status = keep_option(keep, line, end);
    }
    keep->bytes_budget = budget;
    return status;
}

static weir_status choose(struct process *process, const struct wr_condense_input *input)
{
    struct wr_keep *keep = &process->keep;
    size_t budget = wr_choose_share(keep, CONTEXT_PERCENT);
    weir_status status = wr_choose_context(keep, process->borders, CONTEXT_BEFORE, CONTEXT_AFTER);
    keep->bytes_budget = budget;
    if (!status)
        status = wr_choose_focus(keep, input, FOCUS_PERCENT);
    if (!status)
        status = keep_options(keep);
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
    status = choose(&process, input);
    return status ? status : wr_keep_write(keep, out);
}
