#include "proxy/quality_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "proxy/answers.h"

static const struct wr_prompt_block blocks[] = {
    {.original = 11, .sent = 11, .message = 0, .kind = WEIR_KIND_TOOLS},
    {.original = 12, .sent = 12, .message = 0, .kind = WEIR_KIND_SYSTEM},
    {.original = UINT64_MAX, .sent = UINT64_MAX, .message = 1, .kind = WEIR_KIND_TEXT},
    {.original = 14, .sent = 15, .message = 2, .kind = WEIR_KIND_TOOL_RESULT},
    {.original = 16, .sent = 16, .message = 2, .kind = WEIR_KIND_TEXT},
    {.original = 17, .sent = 1, .message = 3, .kind = WEIR_KIND_TOOL_CALL},
};
enum { COUNT = WR_COUNT_OF(blocks) };

static const struct wr_bust_chain chain = {.model = 1,
                                           .tools = 2,
                                           .instructions = 3,
                                           .parameters = 4,
                                           .at_ms = 5,
                                           .ttl_ms = 6,
                                           .cached_tokens = -1};

struct fixture {
    struct wr_arena arena;
    struct wr_buf note;
    struct wr_prompt prompt, back;
    struct wr_bust_sent sent, back_sent;
    struct wr_prompt_block copy[COUNT];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&f->note, WR_LEDGER_NOTE_BYTES_MAX);
    memcpy(f->copy, blocks, sizeof(blocks));
    f->prompt = (struct wr_prompt){.blocks = f->copy,
                                   .blocks_count = COUNT,
                                   .first_user = 77,
                                   .parameters = 78,
                                   .has_marker = true,
                                   .has_long_marker = true};
    f->sent = (struct wr_bust_sent){.prompt = &f->prompt,
                                    .model = 79,
                                    .at_ms = 1700000000000,
                                    .ttl_ms = 300000,
                                    .cached_tokens = -1,
                                    .is_other = true};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_arena_release(&f->arena);
    wr_buf_release(&f->note);
    free(f);
    return 0;
}

static bool decode(struct fixture *f, weir_span bytes)
{
    return wr_prompt_note_decode(&f->arena, bytes, &f->back, &f->back_sent);
}

static void a_prompt_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;

    wr_prompt_note_encode(&f->sent, &f->note);
    assert_true(decode(f, wr_buf_view(&f->note)));
    assert_ptr_equal(f->back_sent.prompt, &f->back);
    assert_int_equal(f->back_sent.model, 79);
    assert_int_equal(f->back_sent.at_ms, 1700000000000);
    assert_int_equal(f->back_sent.ttl_ms, 300000);
    assert_int_equal(f->back_sent.cached_tokens, -1);
    assert_true(f->back_sent.is_other);
    assert_int_equal(f->back.first_user, 77);
    assert_int_equal(f->back.parameters, 78);
    assert_true(f->back.has_marker && f->back.has_long_marker);
    assert_int_equal(f->back.blocks_count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(f->back.blocks[i].original, blocks[i].original);
        assert_int_equal(f->back.blocks[i].sent, blocks[i].sent);
        assert_int_equal(f->back.blocks[i].message, blocks[i].message);
        assert_int_equal(f->back.blocks[i].kind, blocks[i].kind);
    }
}

static void what_is_cut_or_goes_on_is_no_note(void **state)
{
    struct fixture *f = *state;
    struct wr_bust_chain back;
    struct wr_buf other;

    wr_buf_init(&other, 1024);
    wr_chain_note_encode(&chain, &other);
    assert_true(wr_chain_note_decode(wr_buf_view(&other), &back));
    assert_memory_equal(&back, &chain, sizeof(chain));
    wr_prompt_note_encode(&f->sent, &f->note);
    for (size_t i = 0; i < f->note.len; i++)
        assert_false(decode(f, (weir_span){f->note.bytes, i}));
    for (size_t i = 0; i < other.len; i++)
        assert_false(wr_chain_note_decode((weir_span){other.bytes, i}, &back));
    wr_buf_byte(&f->note, 0);
    assert_false(decode(f, wr_buf_view(&f->note)));
    wr_buf_byte(&other, 0);
    assert_false(wr_chain_note_decode(wr_buf_view(&other), &back));
    f->note.len--;
    f->note.bytes[0]++; /* the version */
    assert_false(decode(f, wr_buf_view(&f->note)));
    wr_buf_release(&other);
}

static void the_longest_prompt_fits(void **state)
{
    struct fixture *f = *state;
    struct wr_prompt_block *many = calloc(WR_QUALITY_BLOCKS_MAX, sizeof(*many));

    assert_non_null(many);
    for (uint32_t i = 0; i < WR_QUALITY_BLOCKS_MAX; i++)
        many[i] = (struct wr_prompt_block){.original = i, .sent = i + 1, .message = i + 1};
    f->prompt.blocks = many;
    f->prompt.blocks_count = WR_QUALITY_BLOCKS_MAX;
    wr_prompt_note_encode(&f->sent, &f->note);
    assert_false(wr_buf_status(&f->note));
    assert_true(decode(f, wr_buf_view(&f->note)));
    assert_true(f->back.blocks_count > WR_QUALITY_BLOCKS_MAX / 2);
    uint32_t last = f->back.blocks_count - 1;
    assert_int_equal(f->back.blocks[last].message, last + 1);
    free(many);
}

/* ---- answers ---- */

static void calls_come_back_with_or_without_their_arguments(void **state)
{
    struct fixture *f = *state;
    struct wr_known_answer known;
    struct wr_reply calls;

    wr_answer_init(&calls, &(struct wr_answer_options){.api = NULL});
    wr_answer_add_call(&calls, WR_LIT("call_1"), WR_LIT("read_file"), WR_LIT("{\"path\":\"x\"}"));
    wr_answer_add_call(&calls, WR_LIT("call_2"), WR_LIT("ls"), WR_LIT(""));
    wr_answer_encode(WR_LIT("s"), &calls, true, &f->note);
    assert_true(wr_answer_decode(&f->arena, wr_buf_view(&f->note), &known));
    assert_true(wr_span_is(known.session, "s"));
    assert_int_equal(known.calls_count, 2);
    assert_true(wr_span_is(known.calls[0].arguments, "{\"path\":\"x\"}"));
    assert_true(wr_span_is(known.calls[1].name, "ls"));
    for (size_t i = 0; i < f->note.len; i++)
        assert_false(wr_answer_decode(&f->arena, (weir_span){f->note.bytes, i}, &known));
    wr_buf_reset(&f->note);
    wr_answer_encode(WR_LIT("s"), &calls, false, &f->note);
    assert_int_equal(wr_span_find(wr_buf_view(&f->note), WR_LIT("path"), 0), SIZE_MAX);
    assert_true(wr_answer_decode(&f->arena, wr_buf_view(&f->note), &known));
    assert_true(wr_span_is(known.calls[0].id, "call_1"));
    assert_int_equal(known.calls[0].arguments.len, 0);
    wr_answer_release(&calls);
}

/* Nothing is believed that would need more memory than the bytes can mean. */
static void a_damaged_count_is_no_answer(void **state)
{
    struct fixture *f = *state;
    struct wr_known_answer known;
    static const char damaged[] = "\x00\x00\x00\x00\xff\xff\xff\x7f";

    assert_false(wr_answer_decode(&f->arena, (weir_span){damaged, sizeof(damaged) - 1}, &known));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_prompt_comes_back_as_it_was), TEST(what_is_cut_or_goes_on_is_no_note),
        TEST(the_longest_prompt_fits),       TEST(calls_come_back_with_or_without_their_arguments),
        TEST(a_damaged_count_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
