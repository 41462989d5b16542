/* The labelled command lines of tests/data/shell_commands.tsv, and what a table cannot say well:
 * limits, growth, and allocation failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/shell.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

#define LABELS_FILE "tests/data/shell_commands.tsv"
enum { FILE_BYTES_MAX = 1 << 20, RIGHT_PER_MILLE_MIN = 950 };

/* --- the notation of the labels --- */

static void put_range(struct wr_buf *out, const struct wr_effect *effect)
{
    if (wr_effect_is_whole_file(effect))
        return;
    if (!effect->start_line || !effect->end_line)
        wr_buf_text(out, " ?");
    else
        wr_buf_printf(out, " %lld..%lld%s", (long long)effect->start_line,
                      (long long)effect->end_line, effect->if_long ? "~" : "");
}

static void put_path(struct wr_buf *out, const struct wr_effect *effect)
{
    if (effect->whole_tree) {
        wr_buf_text(out, " *");
    } else if (effect->path.len || !effect->literal) {
        wr_buf_text(out, effect->literal ? " " : " <");
        wr_buf_append(out, effect->path);
        wr_buf_text(out, effect->literal ? "" : ">");
    }
}

static void put_query(struct wr_buf *out, const struct wr_effect *effect)
{
    wr_buf_text(out, " /");
    wr_buf_append(out, effect->query);
    wr_buf_text(out, "/");
}

static void put_effect(struct wr_buf *out, const struct wr_effect *effect)
{
    wr_buf_text(out, wr_effect_kind_text(effect->kind));
    if (effect->kind == WR_EFFECT_RUN) {
        wr_buf_text(out, " ");
        wr_buf_append(out, effect->program);
        return;
    }
    if (effect->kind == WR_EFFECT_SEARCH)
        put_query(out, effect);
    put_path(out, effect);
    if (effect->kind == WR_EFFECT_LIST && effect->query.len)
        put_query(out, effect);
    if (effect->kind == WR_EFFECT_READ)
        put_range(out, effect);
    if (effect->rev.len) {
        wr_buf_text(out, " @");
        wr_buf_append(out, effect->rev);
    }
}

static void put_effects(struct wr_buf *out, const struct wr_shell *shell)
{
    for (size_t i = 0; i < shell->effects_count; i++) {
        wr_buf_text(out, i ? "; " : "");
        put_effect(out, &shell->effects[i]);
    }
    if (!shell->effects_count)
        wr_buf_text(out, "-");
}

/* --- the labelled lines --- */

static void unescape(struct wr_buf *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        char next = i + 1 < text.len ? text.ptr[i + 1] : '\0';
        bool escape = text.ptr[i] == '\\' && (next == 'n' || next == 't' || next == '\\');
        wr_buf_byte(out, !escape ? text.ptr[i] : next == 'n' ? '\n' : next == 't' ? '\t' : '\\');
        i += escape;
    }
}

static weir_span take_column(weir_span *line)
{
    const char *tab = memchr(line->ptr, '\t', line->len);
    size_t len = tab ? (size_t)(tab - line->ptr) : line->len;
    weir_span column = {line->ptr, len};
    *line = wr_span_cut(*line, tab ? len + 1 : len, line->len);
    return column;
}

struct score {
    unsigned right, total, known_misses, new_misses;
};

static void judge_line(struct score *score, weir_span line)
{
    weir_span rest = line;
    weir_span written = take_column(&rest), label = take_column(&rest),
              workdir = take_column(&rest);
    bool known_miss = label.len && label.ptr[0] == '!';
    struct wr_arena arena;
    struct wr_buf command, want, got;
    struct wr_shell shell;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&command, FILE_BYTES_MAX);
    wr_buf_init(&want, FILE_BYTES_MAX);
    wr_buf_init(&got, FILE_BYTES_MAX);
    unescape(&command, written);
    unescape(&want, wr_span_from(label, known_miss));
    assert_int_equal(wr_shell_parse(&shell, &arena, wr_buf_view(&command), workdir), WEIR_OK);
    put_effects(&got, &shell);

    bool right = wr_span_eq(wr_buf_view(&got), wr_buf_view(&want));
    score->total++;
    score->right += right;
    score->known_misses += known_miss;
    score->new_misses += !right && !known_miss;
    if (!right && !known_miss)
        print_message("  %.*s\n    want %.*s\n    got  %.*s\n", (int)written.len, written.ptr,
                      (int)want.len, want.bytes, (int)got.len, got.bytes);
    wr_buf_release(&command);
    wr_buf_release(&want);
    wr_buf_release(&got);
    wr_arena_release(&arena);
}

static void labelled_lines_are_understood(void **state)
{
    (void)state;
    struct score score = {0};
    static char bytes[FILE_BYTES_MAX];
    FILE *file = fopen(LABELS_FILE, "r");
    assert_non_null(file);
    weir_span rest = {bytes, fread(bytes, 1, sizeof(bytes), file)}, line;
    fclose(file);

    while (wr_span_line(&rest, &line))
        if (line.len && !(line.ptr[0] == '#' && !memchr(line.ptr, '\t', line.len)))
            judge_line(&score, line);
    print_message("shell command lines: %u right of %u (%u known misses)\n", score.right,
                  score.total, score.known_misses);
    assert_true(score.total >= 200);
    assert_true(score.right * 1000 >= score.total * RIGHT_PER_MILLE_MIN);
    assert_int_equal(score.new_misses, 0); /* what was once right stays right */
}

/* --- limits --- */

static weir_span repeat(struct wr_buf *out, const char *piece, size_t bytes)
{
    wr_buf_reset(out);
    while (out->len + strlen(piece) <= bytes)
        wr_buf_text(out, piece);
    return wr_buf_view(out);
}

/* Each piece once made something look ahead to the end of the text, or could. A million bytes of it
 * take milliseconds when the time is linear, and minutes when it is not. */
static void time_grows_with_the_text(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "$(",     "`",   "${",   "((",       "{a,",         "[a",     "\"$(",         "<<E ",
        "<<E\n",  "(",   "a|",   "a>b ",     "cat a;",      "cat a|", "'a' ",         "case a in ",
        "if ",    "x=(", "f() ", "bash -c ", "find -exec ", "xargs ", "sed -n 1,2p ", "git -C a ",
        "cd a&&", "[[ ", "<(",
    };
    struct wr_buf text;
    clock_t begun = clock();
    wr_buf_init(&text, 2 * WR_SHELL_TEXT_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(pieces); i++) {
        struct wr_arena arena;
        struct wr_shell shell;
        clock_t piece_begun = clock();
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_span command = repeat(&text, pieces[i], WR_SHELL_TEXT_BYTES_MAX);
        assert_int_equal(wr_shell_parse(&shell, &arena, command, WR_LIT("/w")), WEIR_OK);
        assert_true(shell.effects_count <= WR_SHELL_EFFECTS_MAX);
        if (clock() - piece_begun > 2 * CLOCKS_PER_SEC)
            print_message("a megabyte of \"%s\" is slow\n", pieces[i]);
        wr_arena_release(&arena);
    }
    wr_buf_release(&text);
    assert_true(clock() - begun < 20 * CLOCKS_PER_SEC);
}

static void limits_are_told(void **state)
{
    (void)state;
    struct wr_arena arena;
    struct wr_shell shell;
    struct wr_buf text;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 2 * WR_SHELL_TEXT_BYTES_MAX);

    assert_int_equal(wr_shell_parse(&shell, &arena, repeat(&text, "rm a\n", 10000), WR_LIT("")),
                     WEIR_OK);
    assert_false(shell.is_complete);
    assert_int_equal(shell.effects_count, WR_SHELL_EFFECTS_MAX);

    weir_span too_long = repeat(&text, "x", WR_SHELL_TEXT_BYTES_MAX + 1);
    assert_int_equal(wr_shell_parse(&shell, &arena, too_long, WR_LIT("")), WEIR_OK);
    assert_false(shell.is_complete);
    assert_int_equal(shell.effects[0].kind, WR_EFFECT_RUN);

    weir_span nested = WR_LIT("sh -c 'sh -c \"sh -c \\\"sh -c \\\\\\\"sh -c cat\\\\\\\"\\\"\"'");
    assert_int_equal(wr_shell_parse(&shell, &arena, nested, WR_LIT("")), WEIR_OK);
    assert_false(shell.is_complete);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labelled_lines_are_understood),
        cmocka_unit_test(time_grows_with_the_text),
        cmocka_unit_test(limits_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
