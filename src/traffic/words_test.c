#include "traffic/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define MODEL      "{\"role\":\"assistant\",\"content\":\"Yes.\"}"

static const struct {
    const char *behaviour, *messages, *words;
} cases[] = {
    {"what the user said", USER("Fix the build."), "Fix the build."},
    {"not what the system said", "{\"role\":\"system\",\"content\":\"Be brief.\"}," USER("Fix it."),
     "Fix it."},
    {"not the agent's notes", USER("<reminder>x</reminder>") "," USER("Fix it."), "Fix it."},
    {"where there are notes alone, what the last one says",
     USER("<env> </env>") "," USER("<plan> Ship it"), "Ship it"},
    {"nothing behind the model's first word", MODEL "," USER("Late."), ""},
    {"on one line", USER("Fix\\nthe\\n\\tbuild"), "Fix the build"},
    {"a tag that does not end", USER("<half"), "<half"},
    {"nobody said anything", "", ""},
};

static weir_span read_words(const char *messages, struct wr_arena *arena)
{
    static char body[2048], line[] = "{\"path\":\"/v1/chat/completions\",\"api\":\"chat\"}";
    int bytes = snprintf(body, sizeof(body), "{\"model\":\"gpt-5\",\"messages\":[%s]}", messages);
    struct wr_ledger_row said = {.line = wr_span_of(line), .came = {body, (size_t)bytes}};
    return wr_first_words(&said, arena);
}

static void a_session_is_about_its_first_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_span words = read_words(cases[i].messages, &arena);
        if (!wr_span_is(words, cases[i].words))
            fail_msg("%s: \"%.*s\"", cases[i].behaviour, (int)words.len, words.ptr);
        wr_arena_release(&arena);
    }
}

static void what_was_not_kept_has_none(void **state)
{
    struct wr_ledger_row said = {.line = WR_LIT("{\"path\":\"/v1/chat/completions\"}")};
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_first_words(&said, &arena).len, 0);
    said.came = WR_LIT("no request at all");
    assert_int_equal(wr_first_words(&said, &arena).len, 0);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_session_is_about_its_first_words),
                                       cmocka_unit_test(what_was_not_kept_has_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
