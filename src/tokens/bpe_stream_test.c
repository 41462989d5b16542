/* Whatever way a text is cut into chunks, the counts are those of the text itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/span.h"
#include "tokens/bpe.h"
#include "tokens/bpe_stream.h"

enum { TEXT_BYTES = 20000 };

static struct wr_bpe *bpe;
static struct wr_bpe_scratch *scratch;
static char *long_text; /* words, code, one piece of 6000 bytes, white space */

static int set_up(void **state)
{
    static const char part[] =
        "if (x != NULL) {\n\t\treturn it's_\xE4\xB8\xAD\xE6\x96\x87(1234);  \n\n  }\r\n";
    (void)state;
    if (wr_bpe_new(&bpe, WR_BPE_O200K_BASE, NULL) || wr_bpe_scratch_new(&scratch, bpe))
        return 1;
    long_text = malloc(TEXT_BYTES);
    for (size_t i = 0; i < TEXT_BYTES; i++)
        long_text[i] = i < 6000 || i >= 14000 ? part[i % (sizeof part - 1)] : 'a';
    memset(long_text + 12000, ' ', 2000);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(long_text);
    wr_bpe_scratch_free(scratch);
    wr_bpe_free(bpe);
    return 0;
}

static size_t count(weir_span text)
{
    size_t tokens;
    assert_int_equal(wr_bpe_count(scratch, text, &tokens), WEIR_OK);
    return tokens;
}

static void chunks_of_every_size_count_as_the_whole(void **state)
{
    static const size_t steps[] = {1, 2, 3, 7, 64, 1000, 4096, 4097, 9000, TEXT_BYTES};
    weir_span text = {long_text, TEXT_BYTES};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(steps); i++) {
        struct wr_bpe_stream stream;
        size_t tokens;
        wr_bpe_stream_init(&stream, scratch);
        for (size_t at = 0; at < text.len; at += steps[i]) {
            size_t to = at + steps[i] < text.len ? at + steps[i] : text.len;
            assert_int_equal(wr_bpe_stream_feed(&stream, wr_span_cut(text, at, to)), WEIR_OK);
        }
        assert_int_equal(wr_bpe_stream_count(&stream, &tokens), WEIR_OK);
        assert_int_equal(tokens, count(text));
        wr_bpe_stream_release(&stream);
    }
}

static void a_stream_can_be_asked_on_the_way(void **state)
{
    struct wr_bpe_stream stream;
    (void)state;
    wr_bpe_stream_init(&stream, scratch);
    for (size_t at = 0; at < 300; at++) {
        size_t tokens;
        assert_int_equal(wr_bpe_stream_count(&stream, &tokens), WEIR_OK);
        assert_int_equal(tokens, count((weir_span){long_text, at}));
        assert_int_equal(wr_bpe_stream_feed(&stream, (weir_span){long_text + at, 1}), WEIR_OK);
    }
    wr_bpe_stream_release(&stream);
}

static void a_stream_keeps_little(void **state)
{
    struct wr_bpe_stream stream;
    (void)state;
    wr_bpe_stream_init(&stream, scratch);
    assert_int_equal(wr_bpe_stream_feed(&stream, (weir_span){long_text, 5900}), WEIR_OK);
    assert_true(stream.held.len < 64);
    wr_bpe_stream_release(&stream);
}

static void a_memo_finds_what_it_counted(void **state)
{
    struct wr_bpe_memo *memo;
    size_t tokens;
    (void)state;
    assert_int_equal(wr_bpe_memo_new(&memo, scratch, 8), WEIR_OK);
    for (int round = 0; round < 2; round++) {
        weir_span text = {long_text, 500};
        assert_int_equal(wr_bpe_memo_count(memo, text, &tokens), WEIR_OK);
        assert_int_equal(tokens, count(text));
    }
    assert_int_equal(wr_bpe_memo_use(memo).found, 1);
    assert_int_equal(wr_bpe_memo_use(memo).counted, 1);
    wr_bpe_memo_free(memo);
}

static void a_full_memo_forgets_and_stays_right(void **state)
{
    struct wr_bpe_memo *memo;
    (void)state;
    assert_int_equal(wr_bpe_memo_new(&memo, scratch, 8), WEIR_OK);
    for (size_t i = 0; i < 200; i++) {
        weir_span text = {long_text + i % 50, 100};
        size_t tokens;
        assert_int_equal(wr_bpe_memo_count(memo, text, &tokens), WEIR_OK);
        assert_int_equal(tokens, count(text));
    }
    assert_true(wr_bpe_memo_use(memo).counted > 50);
    wr_bpe_memo_free(memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_every_size_count_as_the_whole),
        cmocka_unit_test(a_stream_can_be_asked_on_the_way),
        cmocka_unit_test(a_stream_keeps_little),
        cmocka_unit_test(a_memo_finds_what_it_counted),
        cmocka_unit_test(a_full_memo_forgets_and_stays_right),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
