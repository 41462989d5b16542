/* A file that was read.
 *
 * Kept: its head and tail, the lines of the definitions that stand at the top, then of those inside
 * others, then whole blocks: those that hold most of what the call and the newest turns name, of
 * definitions, of imports and of names not seen before. Blank and short lines count for nothing.
 * Kept lines are exact; only those over WR_KEEP_LINE_BYTES_MAX lose their middle (keep.h, 5). */
#include "base/ascii.h"
#include "base/limits.h"
#include "base/words.h"
#include "condense/focus.h"
#include "condense/keep.h"
#include "condense/location.h"
#include "condense/numbered.h"
#include "condense/outline.h"
#include "condense/prose.h"

/* How much of the budget is spent when a step ends, in percent; each step may use what those before
 * it left. */
enum {
    HEAD_PERCENT = 8,
    TAIL_PERCENT = 25,
    TESTS_TAIL_PERCENT = 55, /* of a file of tests: the next one is written behind the last */
    ASKED_PERCENT = 45,      /* lines that hold what was sought */
    TOP_PERCENT = 55,        /* definitions that stand in nothing */
    INNER_PERCENT = 65,      /* definitions inside others */
};

/* Where the budget is so small that each gap takes a good part of it, little but head and tail. */
enum { SMALL_BYTES = 1000, SMALL_HEAD_PERCENT = 30, SMALL_TAIL_PERCENT = 60 };

/* What a line is worth. */
enum {
    WORTH_TEXT = 4,
    WORTH_DEFINITION = 4, /* more */
    WORTH_IMPORT = 4,
    WORTH_CONFLICT = 16, /* a mark of a merge that failed */
    WORTH_FOCUS = 4,     /* each word of the focus, */
    FOCUS_MAX = 3,       /* so many at most */
    WORTH_NEW_NAME = 1,
    NEW_NAMES_MAX = 2,
};

enum {
    AROUND_LINES = 2, /* of a line that holds what was sought, on each side */
    SIGNATURE_LINES_MAX = 4,
    BLOCK_LINES_MAX = 24,
    PREFACE_LINES_MAX = 8,
    SHORT_BYTES_MAX = 12,
    NEW_NAME_BYTES_MIN = 8,
    NAME_BITS = 1 << 16, /* of the filter of names that were seen */
};

struct file {
    struct wr_keep keep;
    struct wr_outline outline;
    struct wr_focus focus;
    struct wr_numbered numbered;
    weir_span path; /* may be empty */
    struct wr_block_line *lines;
    uint8_t *names_seen; /* NAME_BITS / 8 bytes */
    size_t bytes_budget;
};

/* The file a command line reads: the last word of it that is a path. */
static weir_span path_in_command(weir_span command)
{
    weir_span path = {NULL, 0};
    for (size_t at = 0; at < command.len;) {
        size_t end = at;
        while (end < command.len && !memchr(" \t\n'\"|;&<>()", command.ptr[end], 13))
            end++;
        weir_span word = wr_span_cut(command, at, end);
        if (word.len && wr_location_is_path(word))
            path = word;
        at = end + 1;
    }
    return path;
}

/* ---- what lines are worth ---- */

static bool is_import(weir_span text)
{
    static struct wr_words fronts = WR_WORDS("import |from |use |#include|using |require|package ");
    return wr_words_front(&fronts, text);
}

static bool is_conflict(weir_span text)
{
    return wr_front_of(text, "<<<<<<< |>>>>>>> |=======") ||
           wr_span_starts(text, WR_LIT("||||||| "));
}

/* Whether the name was not seen before; two names may be taken for one. */
static bool is_new(struct file *file, uint32_t hash)
{
    uint32_t bit = (hash ^ hash >> 16) % NAME_BITS;
    bool seen = file->names_seen[bit / 8] >> (bit % 8) & 1;
    file->names_seen[bit / 8] |= (uint8_t)(1u << (bit % 8));
    return !seen;
}

static uint32_t count_new_names(struct file *file, weir_span text)
{
    uint32_t count = 0;
    for (size_t at = 0; at < text.len; at++) {
        size_t first = at;
        uint32_t hash = 2166136261u;
        for (; at < text.len && wr_is_word(text.ptr[at]); at++)
            hash = (hash ^ (unsigned char)text.ptr[at]) * 16777619u;
        if (at - first >= NEW_NAME_BYTES_MIN)
            count += is_new(file, hash);
    }
    return count;
}

static uint32_t at_most(uint32_t number, uint32_t max)
{
    return number < max ? number : max;
}

static uint32_t worth_of(struct file *file, weir_span text)
{
    if (is_conflict(text))
        return WORTH_CONFLICT;
    if (text.len < SHORT_BYTES_MAX)
        return 0;
    uint32_t worth = WORTH_TEXT;
    if (is_import(text))
        worth += WORTH_IMPORT;
    worth += WORTH_FOCUS * at_most(wr_focus_weigh(&file->focus, text), FOCUS_MAX);
    return worth + WORTH_NEW_NAME * at_most(count_new_names(file, text), NEW_NAMES_MAX);
}

/* The text of a line without its number. */
static weir_span text_at(const struct file *file, uint32_t line)
{
    weir_span text = wr_keep_line(&file->keep, line);
    size_t skip = wr_numbered_skip(&file->numbered, text, NULL);
    return wr_span_trim(wr_span_from(text, skip));
}

/* A comment, or an attribute of what comes below it. */
static bool is_preface(weir_span text)
{
    return text.len && memchr("/#*@-[", text.ptr[0], 6) != NULL;
}

/* A block begins with a definition, or with what is said of it above. */
static void judge_definition(struct file *file, uint32_t line)
{
    file->lines[line].worth = (uint16_t)(file->lines[line].worth + WORTH_DEFINITION);
    for (uint32_t i = 0; line && i < PREFACE_LINES_MAX && is_preface(text_at(file, line - 1)); i++)
        line--;
    file->lines[line].is_start = true;
}

static weir_status judge_lines(struct file *file)
{
    const struct wr_keep *keep = &file->keep;
    file->lines = WR_ARENA_ARRAY(keep->arena, struct wr_block_line, keep->lines_count);
    file->names_seen = WR_ARENA_ARRAY(keep->arena, uint8_t, NAME_BITS / 8);
    if (!file->lines || !file->names_seen)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        weir_span text = text_at(file, line);
        file->lines[line].is_blank = !text.len;
        file->lines[line].worth = (uint16_t)worth_of(file, text);
    }
    for (uint32_t i = 0; i < file->outline.count; i++)
        judge_definition(file, file->outline.items[i].line);
    return WEIR_OK;
}

/* ---- definitions ---- */

static bool ends_in(weir_span line, const char *bytes)
{
    weir_span text = wr_span_trim(line);
    return text.len && strchr(bytes, text.ptr[text.len - 1]) != NULL;
}

/* The line of the definition, and the rest of a signature that goes on below it. */
static void keep_definition(struct file *file, const struct wr_outline_item *item)
{
    uint32_t line = item->line;
    if (!wr_keep_one(&file->keep, line) || item->kind != WR_DEFINES_FUNCTION)
        return;
    bool goes_on = ends_in(wr_keep_line(&file->keep, line), "(,");
    for (uint32_t i = 0; goes_on && i < SIGNATURE_LINES_MAX && ++line < item->end; i++)
        goes_on =
            wr_keep_one(&file->keep, line) && !ends_in(wr_keep_line(&file->keep, line), "{;:=>");
}

/* What is named first, then by size: where not all fit, those that hold most tell most. */
static void keep_definitions(struct file *file, bool inner)
{
    static const struct {
        uint32_t lines_min;
        bool must_be_named;
    } turns[] = {{0, true}, {24, false}, {8, false}, {0, false}};
    for (size_t turn = 0; turn < WR_COUNT_OF(turns); turn++)
        for (uint32_t i = 0; i < file->outline.count; i++) {
            const struct wr_outline_item *item = &file->outline.items[i];
            if ((item->depth > 0) == inner && item->kind != WR_DEFINES_VALUE &&
                item->end - item->line >= turns[turn].lines_min &&
                (!turns[turn].must_be_named || wr_focus_names(&file->focus, item->name)))
                keep_definition(file, item);
        }
}

/* ---- all ---- */

/* "state_test.go", "test_state.py", "state.spec.ts", "tests/state.rs". */
static bool is_of_tests(weir_span path)
{
    static const char marks[] = "_test.|test_|.test.|.spec.|_spec.|tests/|Test.|Tests.";
    return wr_has_any_of(path, marks);
}

static weir_status choose_file(struct file *file)
{
    struct wr_keep *keep = &file->keep;
    bool is_small = file->bytes_budget < SMALL_BYTES;
    wr_keep_spend_until(keep, file->bytes_budget, is_small ? SMALL_HEAD_PERCENT : HEAD_PERCENT);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
    wr_keep_spend_until(keep, file->bytes_budget,
                        is_small                  ? SMALL_TAIL_PERCENT
                        : is_of_tests(file->path) ? TESTS_TAIL_PERCENT
                                                  : TAIL_PERCENT);
    (void)wr_keep_from_back(keep, 0, keep->lines_count);
    wr_keep_spend_until(keep, file->bytes_budget, ASKED_PERCENT);
    wr_focus_keep_asked(&file->focus, keep, AROUND_LINES);
    wr_keep_spend_until(keep, file->bytes_budget, TOP_PERCENT);
    keep_definitions(file, false);
    wr_keep_spend_until(keep, file->bytes_budget, INNER_PERCENT);
    keep_definitions(file, true);
    wr_keep_spend_until(keep, file->bytes_budget, 100);
    return wr_blocks_keep(keep, file->lines, BLOCK_LINES_MAX);
}

/* A gap line says what number comes behind it. */
static weir_status leave_out_numbers(struct file *file, uint32_t every, size_t line_bytes_max)
{
    struct wr_numbered_walk walk;
    weir_status status = WEIR_OK;
    weir_span line;
    size_t left;

    if (!wr_numbered_by_tool(&file->numbered, file->keep.text))
        return WEIR_OK;
    wr_numbered_walk_init(&walk, &file->numbered, file->keep.text, every);
    for (uint32_t i = 0; !status && wr_numbered_walk_next(&walk, &line, &left); i++)
        if (left && line.len <= line_bytes_max)
            status = wr_keep_form(&file->keep, i, wr_span_from(line, left));
    return status;
}

weir_status wr_condense_file(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct file file = {.bytes_budget = input->bytes_budget,
                        .numbered = wr_numbered_detect(input->text)};
    file.path = input->path.len ? input->path : path_in_command(input->command);
    /* No line may take all of the budget: of a file that is one long line something must be seen.
     */
    size_t line_bytes_max = input->bytes_budget / 2;
    if (line_bytes_max > WR_KEEP_LINE_BYTES_MAX)
        line_bytes_max = WR_KEEP_LINE_BYTES_MAX;
    weir_status status = wr_keep_init(&file.keep, arena, input);
    if (!status && input->number_every)
        status = leave_out_numbers(&file, input->number_every, line_bytes_max);
    if (!status)
        status = wr_keep_shorten(&file.keep, line_bytes_max, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&file.keep, input->kind, 0);
    if (!status)
        status = wr_outline_read(&file.outline, arena, input->text, file.path);
    if (!status)
        status = wr_focus_init(&file.focus, arena, input);
    if (!status)
        status = wr_focus_find(&file.focus, &file.keep);
    if (!status)
        status = judge_lines(&file);
    if (!status)
        status = choose_file(&file);
    return status ? status : wr_keep_write(&file.keep, out);
}
