#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/shell_lex.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

/* Words are in brackets, with `?` in front where they are not literal; operators are themselves; a
 * redirection is its kind, its descriptor and its target. */
static void put_token(struct wr_buf *out, const struct wr_shell_token *token)
{
    static const char *const operators[] = {"", "", "|", "&&", "||", ";", ";;", "(", ")"};
    static const char *const redirects[] = {"in", "out", "append", "heredoc", "heretext", "dup"};
    if (token->kind == WR_SHELL_WORD)
        wr_buf_printf(out, "%s[%.*s]", token->literal ? "" : "?", (int)token->text.len,
                      token->text.ptr);
    else if (token->kind == WR_SHELL_REDIRECT)
        wr_buf_printf(out, "{%s %d %.*s}", redirects[token->redirect], token->fd,
                      (int)token->text.len, token->text.ptr);
    else
        wr_buf_text(out, operators[token->kind]);
}

static const struct {
    const char *behaviour, *text, *want; /* a `!` in front: incomplete */
} cases[] = {
    {"words", "a  bc\td", "[a][bc][d]"},
    {"single quotes keep everything", "'a $b \\ \"c'", "[a $b \\ \"c]"},
    {"double quotes keep spaces, undo some escapes", "\"a \\$b \\\" \\x\"", "[a $b \" \\x]"},
    {"quotes join", "a'b'\"c\"d", "[abcd]"},
    {"an empty word", "''", "[]"},
    {"a backslash quotes one byte", "a\\ b\\'c", "[a b'c]"},
    {"a line may go on", "a \\\n b\\\nc", "[a][bc]"},
    {"$'..' knows C escapes", "$'a\\tb\\x41\\u00e9\\101\\'c'",
     "[a\tbA\xc3\xa9"
     "A'c]"},
    {"$\"..\" is a double quote", "$\"a b\"", "[a b]"},
    {"variables are not literal", "$a ${b:-c d} \"$e\" $1 $@ $$ a$",
     "?[$a]?[${b:-c d}]?[$e]?[$1]?[$@]?[$$][a$]"},
    {"substitutions are one word", "$(a; b | c) `d e` x$(f \"g)\")y",
     "?[$(a; b | c)]?[`d e`]?[x$(f \"g)\")y]"},
    {"nested substitutions", "$(a $(b \"$(c)\") ${d})e", "?[$(a $(b \"$(c)\") ${d})e]"},
    {"arithmetic", "$((1 << 2)) b", "?[$((1 << 2))][b]"},
    {"a heredoc in a substitution", "\"$(cat <<'E'\nit's ) here\nE\n)\" b",
     "?[$(cat <<'E'\nit's ) here\nE\n)][b]"},
    {"globs and braces are not literal", "*.c a? [ab] {a,b} {1..3} {} {a} [",
     "?[*.c]?[a?]?[[ab]]?[{a,b}]?[{1..3}][{}][{a}][[]"},
    {"quoted globs are", "'*.c' \\*", "[*.c][*]"},
    {"operators", "a|b&&c||d;e&f\ng|&h", "[a]|[b]&&[c]||[d];[e];[f];[g]|[h]"},
    {"groups", "(a)", "([a])"},
    {"a line may go on behind an operator", "a |\n\n b &&\nc\nd", "[a]|[b]&&[c];[d]"},
    {"a comment", "a # b c\nd a#b", "[a];[d][a#b]"},
    {"redirections", "a >b 2>>c <d 2>&1 &>e >|f <<<g",
     "[a]{out 1 b}{append 2 c}{in 0 d}{dup 2 1}{out -1 e}{out 1 f}{heretext 0 g}"},
    {"old spelling of both", "a >& b", "[a]{out -1 b}"},
    {"a number is a word unless it touches", "a 2 >b 2a", "[a][2]{out 1 b}[2a]"},
    {"a heredoc", "a <<E b\nx $y\nE\nc", "[a]{heredoc 0 x $y\n}[b];[c]"},
    {"a heredoc, quoted, with tabs", "a <<-'E F'\n\tx\n\tE F\nc", "[a]{heredoc 0 \tx\n};[c]"},
    {"two heredocs", "a <<A <<B\n1\nA\n2\nB\n", "[a]{heredoc 0 1\n}{heredoc 0 2\n};"},
    {"a heredoc that never ends", "a <<E\nx", "[a]{heredoc 0 x};"},
    {"process substitution", "a <(b c) >(d)", "[a]?[<(b c)]?[>(d)]"},
    {"an arithmetic command leaves nothing", "((a++)); b", ";[b]"},
    {"an open quote", "a 'b c", "![a][b c]"},
    {"an open double quote", "a \"b $(c", "![a]?[b $(c]"},
    {"an open substitution", "a $(b", "![a]?[$(b]"},
    {"a redirection to nothing", "a >", "![a]{out 1 }"},
    {"bytes that are no text", "\xff\x01 a", "[\xff\x01][a]"},
};

static void tokens_are_those_of_a_shell(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_buf got;
        struct wr_shell_tokens tokens;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&got, 1 << 16);
        assert_int_equal(wr_shell_lex(&tokens, &arena, wr_span_of(cases[i].text)), WEIR_OK);
        wr_buf_text(&got, tokens.incomplete ? "!" : "");
        for (size_t k = 0; k < tokens.count; k++)
            put_token(&got, &tokens.items[k]);
        if (!wr_span_is(wr_buf_view(&got), cases[i].want))
            print_message("%s\n    want %s\n    got  %.*s\n", cases[i].behaviour, cases[i].want,
                          (int)got.len, got.bytes);
        assert_true(wr_span_is(wr_buf_view(&got), cases[i].want));
        wr_buf_release(&got);
        wr_arena_release(&arena);
    }
}

static void depth_is_capped(void **state)
{
    (void)state;
    struct wr_arena arena;
    struct wr_shell_tokens tokens;
    char text[4 * WR_SHELL_GROUPS_MAX];
    for (size_t i = 0; i < sizeof(text) / 2; i++)
        memcpy(text + 2 * i, "$(", 2);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_shell_lex(&tokens, &arena, (weir_span){text, sizeof(text)}), WEIR_OK);
    assert_true(tokens.incomplete);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_a_shell),
        cmocka_unit_test(depth_is_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
