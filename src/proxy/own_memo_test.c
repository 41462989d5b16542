#include "proxy/own_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/span.h"

#define SESSION(n) WR_LIT("session " n)

static const weir_span tenant = {"t", 1};
static const wr_hash128 some_pin = {1, 2};

static void a_session_is_found_again_by_tenant_and_name(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(1024);
    (void)state;

    assert_non_null(memos);
    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    wr_own_memo_define(memo, some_pin, WR_LIT("{}"));
    assert_true(wr_own_memo_add(
        memo,
        &(struct wr_own_found){.answer = 3, .is_left = true, .exchange = WR_LIT("exchange")}));
    assert_int_equal(memo->bytes, 10);

    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_true(wr_span_eq(memo->definition, WR_LIT("{}")));
    assert_int_equal(memo->found_count, 1);
    assert_int_equal(memo->found[0].answer, 3);
    assert_true(memo->found[0].is_left);
    assert_true(wr_span_eq(memo->found[0].exchange, WR_LIT("exchange")));
    memo = wr_own_memo_of(memos, WR_LIT("u"), SESSION("1"));
    assert_int_equal(memo->found_count, 0);
    assert_int_equal(memo->definition.len, 0);
    wr_own_memos_free(memos);
}

static void past_its_bytes_the_oldest_sessions_give_way(void **state)
{
    enum { BYTES_EACH = 100, ROOM_FOR = 10, SESSIONS = 40 };
    struct wr_own_memos *memos = wr_own_memos_new(BYTES_EACH * ROOM_FOR);
    char text[BYTES_EACH] = "", name[32];
    uint32_t kept = 0;
    (void)state;

    for (uint32_t i = 0; i < SESSIONS; i++) {
        (void)snprintf(name, sizeof(name), "session %u", i);
        struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, wr_span_of(name));
        assert_true(wr_own_memo_add(
            memo, &(struct wr_own_found){
                      .answer = 0, .is_left = false, .exchange = (weir_span){text, sizeof(text)}}));
    }
    for (uint32_t i = SESSIONS; i > 0; i--) {
        (void)snprintf(name, sizeof(name), "session %u", i - 1);
        struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, wr_span_of(name));
        if (memo->found_count)
            assert_int_equal(kept++, SESSIONS - i); /* the newest, without a gap */
    }
    assert_in_range(kept, ROOM_FOR - 1, ROOM_FOR + 1);
    wr_own_memos_free(memos);
}

static void the_session_at_hand_stays_however_large_it_is(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(4);
    (void)state;

    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_true(wr_own_memo_add(
        memo, &(struct wr_own_found){
                  .answer = 0, .is_left = false, .exchange = WR_LIT("larger than all the room")}));
    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_int_equal(memo->found_count, 1);
    (void)wr_own_memo_of(memos, tenant, SESSION("2"));
    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_int_equal(memo->found_count, 0);
    wr_own_memos_free(memos);
}

static void what_was_added_can_be_taken_back(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(1024);
    (void)state;

    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_true(wr_own_memo_add(
        memo, &(struct wr_own_found){.answer = 0, .is_left = false, .exchange = WR_LIT("first")}));
    assert_true(wr_own_memo_add(
        memo, &(struct wr_own_found){.answer = 1, .is_left = false, .exchange = WR_LIT("second")}));
    wr_own_memo_shorten(memo, 1);
    assert_int_equal(memo->found_count, 1);
    assert_int_equal(memo->bytes, 5);
    wr_own_memo_define(memo, some_pin, WR_LIT("{}"));
    wr_own_memo_define(memo, some_pin, (weir_span){"", 0});
    assert_true(memo->has_none);
    assert_int_equal(memo->bytes, 5);
    wr_own_memo_forget_found(memo);
    assert_int_equal(memo->bytes, 0);
    wr_own_memos_free(memos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_found_again_by_tenant_and_name),
        cmocka_unit_test(past_its_bytes_the_oldest_sessions_give_way),
        cmocka_unit_test(the_session_at_hand_stays_however_large_it_is),
        cmocka_unit_test(what_was_added_can_be_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
