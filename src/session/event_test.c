#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "session/event.h"

/* ---- what is written is what is read ---- */

/* As WR_LIT, where a constant is wanted. */
#define LIT(s)              \
    {                       \
        "" s, sizeof(s) - 1 \
    }

static const struct weir_call two_calls[] = {{LIT("c1"), LIT("Bash"), LIT("{\"a\":1}")},
                                             {LIT("c2"), LIT("Read"), LIT("no json")}};
static const weir_span items[] = {
    LIT("{\"type\":\"thinking\", \"signature\":\"a+/b==\\u0041\"}"),
    LIT("{\n  \"type\" : \"text\",\r\n\t\"text\" : \"a \\\"b\\\"\"\n}")};
static const uint64_t kept[] = {3, 4, 9};

static const struct {
    const char *behaviour;
    struct wr_event event;
} whole[] = {
    {"words of the user",
     {.seq = 1, .at_ms = 7, .kind = WR_EVENT_USER, .text = LIT("a\n\"b\" \\ \t é")}},
    {"a NUL and other control bytes",
     {.seq = 2,
      .kind = WR_EVENT_RESULT,
      .call_id = LIT("c"),
      .name = LIT("Bash"),
      .text = LIT("\0\1\x7f\r\n"),
      .is_error = true}},
    {"calls and signed items, byte for byte",
     {.seq = 3,
      .kind = WR_EVENT_ASSISTANT,
      .text = LIT("t"),
      .model = LIT("m"),
      .calls = two_calls,
      .calls_count = 2,
      .dialect = WEIR_DIALECT_MESSAGES,
      .items = items,
      .items_count = 2}},
    {"a cut with what it keeps",
     {.seq = 4,
      .kind = WR_EVENT_COMPACTION,
      .why = LIT("window"),
      .path = LIT("h.md"),
      .of = 77,
      .summary = 76,
      .number = 12,
      .drops_words = true,
      .kept = kept,
      .kept_count = 3}},
    {"usage", {.seq = 5, .kind = WR_EVENT_USAGE, .usage = {1, 2, 3, 4}, .cost_micro_usd = 55}},
    {"a score", {.seq = 6, .kind = WR_EVENT_IMPORTANCE, .of = 2, .number = 80}},
    {"a model and its window",
     {.seq = 7, .kind = WR_EVENT_MODEL, .model = LIT("gpt-5"), .number = 9000}},
    {"what a helper spent, of which the price is not known",
     {.seq = 9,
      .kind = WR_EVENT_SPENT,
      .why = LIT("subagent"),
      .usage = {4, 3, 2, 1},
      .is_unpriced = true,
      .turns = 6,
      .tool_calls = 7}},
    {"the pieces of a prompt",
     {.seq = 10, .kind = WR_EVENT_PROMPT, .text = LIT("p"), .pieces = LIT("a=0 b=1")}},
    {"the tools", {.seq = 11, .kind = WR_EVENT_TOOLS, .pieces = LIT("Bash=00ff")}},
    {"a time before 1970", {.seq = 8, .at_ms = -5, .kind = WR_EVENT_NOTE, .text = LIT("n")}},
};

static void assert_span(weir_span a, weir_span b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.ptr ? a.ptr : "", b.ptr ? b.ptr : "", a.len);
}

static void assert_event(const struct wr_event *a, const struct wr_event *b)
{
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->at_ms, b->at_ms);
    assert_int_equal(a->kind, b->kind);
    assert_span(a->text, b->text);
    assert_span(a->hex, b->hex);
    assert_span(a->model, b->model);
    assert_span(a->call_id, b->call_id);
    assert_span(a->name, b->name);
    assert_span(a->path, b->path);
    assert_span(a->why, b->why);
    assert_span(a->pieces, b->pieces);
    assert_int_equal(a->is_unpriced, b->is_unpriced);
    assert_int_equal(a->turns, b->turns);
    assert_int_equal(a->tool_calls, b->tool_calls);
    assert_int_equal(a->is_error, b->is_error);
    assert_int_equal(a->of, b->of);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->summary, b->summary);
    assert_int_equal(a->drops_words, b->drops_words);
    assert_memory_equal(&a->usage, &b->usage, sizeof(a->usage));
    assert_int_equal(a->cost_micro_usd, b->cost_micro_usd);
    assert_int_equal(a->calls_count, b->calls_count);
    for (uint32_t i = 0; i < a->calls_count; i++) {
        assert_span(a->calls[i].id, b->calls[i].id);
        assert_span(a->calls[i].name, b->calls[i].name);
        assert_span(a->calls[i].arguments, b->calls[i].arguments);
    }
    assert_int_equal(a->items_count, b->items_count);
    for (uint32_t i = 0; i < a->items_count; i++)
        assert_span(a->items[i], b->items[i]);
    assert_int_equal(a->kept_count, b->kept_count);
    for (uint32_t i = 0; i < a->kept_count; i++)
        assert_int_equal(a->kept[i], b->kept[i]);
}

static void what_is_written_is_what_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(whole); i++) {
        struct wr_event read, copy;
        struct wr_arena arena;
        struct wr_buf line;
        print_message("%s\n", whole[i].behaviour);
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&line, 1 << 20);
        wr_event_write(&line, &whole[i].event);
        assert_int_equal(wr_buf_status(&line), WEIR_OK);
        assert_int_equal(line.bytes[line.len - 1], '\n');
        assert_null(memchr(line.bytes, '\n', line.len - 1));
        weir_span text = wr_span_cut(wr_buf_view(&line), 0, line.len - 1);
        assert_int_equal(wr_event_read(&read, &arena, text, NULL), WEIR_OK);
        assert_event(&read, &whole[i].event);
        assert_int_equal(wr_event_copy(&copy, &arena, &read), WEIR_OK);
        memset(line.bytes, 'x', line.len);
        assert_event(&copy, &whole[i].event);
        wr_buf_release(&line);
        wr_arena_release(&arena);
    }
}

static void a_text_that_is_not_utf8_is_kept_whole_in_hex(void **state)
{
    struct wr_event event = {.seq = 1, .kind = WR_EVENT_RESULT}, read;
    struct wr_arena arena;
    struct wr_buf line;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&line, 1 << 20);
    assert_int_equal(wr_event_set_text(&event, &arena, WR_LIT("a\xff\xc3(b")), WEIR_OK);
    wr_event_write(&line, &event);
    assert_int_equal(wr_buf_status(&line), WEIR_OK);
    assert_int_equal(
        wr_event_read(&read, &arena, wr_span_cut(wr_buf_view(&line), 0, line.len - 1), NULL),
        WEIR_OK);
    assert_span(read.text, WR_LIT("a\xEF\xBF\xBD\xEF\xBF\xBD(b"));
    assert_span(read.hex, WR_LIT("61ffc32862"));
    wr_buf_release(&line);
    wr_arena_release(&arena);
}

static const struct {
    const char *behaviour, *line;
    weir_status status;
} wrong[] = {
    {"no JSON", "{\"seq\":1", WEIR_SYNTAX},
    {"no object", "[1]", WEIR_INVALID},
    {"no seq", "{\"kind\":\"user\"}", WEIR_INVALID},
    {"seq 0", "{\"seq\":0,\"kind\":\"user\"}", WEIR_INVALID},
    {"a seq that is no number", "{\"seq\":\"1\",\"kind\":\"user\"}", WEIR_INVALID},
    {"no kind", "{\"seq\":1}", WEIR_INVALID},
    {"a text that is a number", "{\"seq\":1,\"kind\":\"user\",\"text\":5}", WEIR_INVALID},
    {"a key twice", "{\"seq\":1,\"seq\":1,\"kind\":\"user\"}", WEIR_INVALID},
    {"calls that are no list", "{\"seq\":1,\"kind\":\"assistant\",\"calls\":{}}", WEIR_INVALID},
    {"items without an api", "{\"seq\":1,\"kind\":\"assistant\",\"items\":[{}]}", WEIR_INVALID},
    {"an item that is no JSON",
     "{\"seq\":1,\"kind\":\"assistant\",\"api\":\"chat\",\"items\":[\"{x}\"]}", WEIR_INVALID},
    {"a number below zero", "{\"seq\":1,\"kind\":\"usage\",\"input\":-1}", WEIR_INVALID},
    {"a kind of a newer Weir is no error", "{\"seq\":1,\"kind\":\"hologram\",\"text\":[1]}",
     WEIR_OK},
    {"a key of a newer Weir is no error", "{\"seq\":1,\"kind\":\"user\",\"mood\":1}", WEIR_OK},
};

static void a_line_that_is_no_event_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(wrong); i++) {
        struct weir_err err = {0};
        struct wr_event event;
        struct wr_arena arena;
        print_message("%s\n", wrong[i].behaviour);
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_event_read(&event, &arena, wr_span_of(wrong[i].line), &err),
                         wrong[i].status);
        assert_true(!wrong[i].status || err.text[0]);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_what_is_read),
        cmocka_unit_test(a_text_that_is_not_utf8_is_kept_whole_in_hex),
        cmocka_unit_test(a_line_that_is_no_event_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
