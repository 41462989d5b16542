#include "engine/trail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_run.h"
#include "tests/test_transcript.h"

/* ---- turns ---- */

/* What the chain of a conversation notices, and what it does not. */

enum { BODY_BYTES_MAX = 4096 };

/* Written with ' for ". The first of each pair is `base` of its dialect. */
#define MESSAGES_HEAD \
    "{'model':'m','system':[{'type':'text','text':'be kind'}],'tools':[{'name':'a'}],"
#define MESSAGES                                                                                  \
    MESSAGES_HEAD "'messages':[{'role':'user','content':'start'},{'role':'assistant','content':[" \
                  "{'type':'text','text':'hm'},"                                                  \
                  "{'type':'tool_use','id':'c1','name':'Bash','input':{'command':'ls'}}]},"       \
                  "{'role':'user','content':[{'type':'tool_result','tool_use_id':'c1',"           \
                  "'content':'out'}]}]}"
#define IMAGE                                                                                  \
    "{'messages':[{'role':'user','content':[{'type':'image','source':{'data':'AA'}}]},"        \
    "{'role':'assistant','content':'hm'},{'role':'user','content':'next'}],'system':'s','max_" \
    "tokens':9}"
#define CHAT                                                                          \
    "{'model':'m','tools':[{'type':'function','function':{'name':'a'}}],'messages':[" \
    "{'role':'system','content':'be kind'},{'role':'user','content':'start'},"        \
    "{'role':'assistant','content':null,'tool_calls':[{'id':'c1','type':'function',"  \
    "'function':{'name':'Bash','arguments':'{}'}}]},"                                 \
    "{'role':'tool','tool_call_id':'c1','content':'out'}]}"
#define RESPONSES                                                                              \
    "{'model':'m','instructions':'be kind','tools':[{'type':'function','name':'a'}],'input':[" \
    "{'role':'user','content':'start'},{'type':'function_call','call_id':'c1','name':'Bash',"  \
    "'arguments':'{}'},{'type':'function_call_output','call_id':'c1','output':'out'}]}"

enum what { SAME, HEAD, MODEL, CHAIN, FIRST };

static const struct {
    const char *behaviour, *base;
    const char *from, *to; /* replaced in the base */
    enum what changes;
} cases[] = {
    {"the same request", MESSAGES, "'out'", "'out'", SAME},
    {"a marker on a result is nothing", MESSAGES, "'content':'out'",
     "'content':'out','cache_control':{'type':'ephemeral'}", SAME},
    {"a marker on a call is nothing", MESSAGES, "{'command':'ls'}",
     "{'command':'ls'},'cache_control':{'type':'ephemeral','ttl':'1h'}", SAME},
    {"a marker on the model's words is nothing", MESSAGES, "'text':'hm'",
     "'text':'hm','cache_control':{'type':'ephemeral'}", SAME},
    {"words that become a block for their marker stay the same words", MESSAGES,
     "'content':'start'",
     "'content':[{'type':'text','text':'start','cache_control':{'type':'ephemeral'}}]", SAME},
    {"so does a result", MESSAGES, "'content':'out'",
     "'content':[{'type':'text','text':'out','cache_control':{'type':'ephemeral'}}]", SAME},
    {"a marker on the instructions is nothing", MESSAGES, "'text':'be kind'",
     "'text':'be kind','cache_control':{'type':'ephemeral'}", SAME},
    {"other instructions are another head only", MESSAGES, "be kind", "be quick", HEAD},
    {"another tool is another head only", MESSAGES, "{'name':'a'}", "{'name':'a'},{'name':'b'}",
     HEAD},
    {"another model is not another conversation", MESSAGES, "'model':'m'", "'model':'n'", MODEL},
    {"a byte of a result", MESSAGES, "'out'", "'ouT'", CHAIN},
    {"an escape of a result", MESSAGES, "'out'", "'o\\u0075t'", CHAIN},
    {"a result that failed", MESSAGES, "'content':'out'", "'content':'out','is_error':true", CHAIN},
    {"the id of a call and its result", MESSAGES, "'c1'", "'c2'", CHAIN},
    {"the name of a call", MESSAGES, "Bash", "bash", CHAIN},
    {"a byte of the arguments", MESSAGES, "'ls'", "'lS'", CHAIN},
    {"a key of the arguments", MESSAGES, "'command'", "'commanD'", CHAIN},
    {"the model's words", MESSAGES, "'hm'", "'Hm'", CHAIN},
    {"the user's words", MESSAGES, "start", "Start", FIRST},

    {"a marker on an image is nothing", IMAGE, "{'data':'AA'}",
     "{'data':'AA'},'cache_control':{'type':'ephemeral'}", SAME},
    {"a byte of an image", IMAGE, "'AA'", "'AB'", FIRST},

    {"the same chat", CHAT, "out", "out", SAME},
    {"a chat's instructions", CHAT, "be kind", "be quick", HEAD},
    {"a developer instead of a system", CHAT, "'role':'system'", "'role':'developer'", HEAD},
    {"a chat's tools", CHAT, "'name':'a'", "'name':'b'", HEAD},
    {"a byte of a chat's result", CHAT, "out", "ouT", CHAIN},
    {"a byte of a chat's arguments", CHAT, "'{}'", "'{ }'", CHAIN},
    {"the first words of a chat", CHAT, "start", "stars", FIRST},

    {"the same items", RESPONSES, "out", "out", SAME},
    {"the instructions of items", RESPONSES, "be kind", "be quick", HEAD},
    {"the tools of items", RESPONSES, "'name':'a'", "'name':'b'", HEAD},
    {"a byte of an item's output", RESPONSES, "'out'", "'ouT'", CHAIN},
    {"a byte of an item's arguments", RESPONSES, "'{}'", "'{ }'", CHAIN},
    {"the call id of items", RESPONSES, "'c1'", "'c2'", CHAIN},
    {"the first words of items", RESPONSES, "start", "stars", FIRST},
};

struct read {
    char body[BODY_BYTES_MAX];
    struct test_transcript test;
    struct wr_trail trail;
};

static void read_trail(struct read *r, const char *text)
{
    size_t len = strlen(text);
    assert_true(len < BODY_BYTES_MAX);
    for (size_t i = 0; i <= len; i++)
        r->body[i] = text[i] == '\'' ? '"' : text[i];
    test_transcript_open(&r->test, (weir_span){r->body, len});
    assert_int_equal(wr_trail_read(&r->trail, &r->test.arena, &r->test.transcript), WEIR_OK);
}

static void close_trail(struct read *r)
{
    test_transcript_close(&r->test);
}

static void replace_all(char out[BODY_BYTES_MAX], const char *base, const char *from,
                        const char *to)
{
    size_t len = 0;
    const char *at = strstr(base, from);
    assert_non_null(at);
    for (; at; base = at + strlen(from), at = strstr(base, from))
        len +=
            (size_t)snprintf(out + len, BODY_BYTES_MAX - len, "%.*s%s", (int)(at - base), base, to);
    (void)snprintf(out + len, BODY_BYTES_MAX - len, "%s", base);
}

static bool equal(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

static void a_chain_notices_what_was_said_and_nothing_else(void **state)
{
    static struct read a, b;
    char other[BODY_BYTES_MAX];
    int wrong = 0;
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        replace_all(other, cases[i].base, cases[i].from, cases[i].to);
        read_trail(&a, cases[i].base);
        read_trail(&b, other);
        if (a.trail.turns_count != 2 || b.trail.turns_count != 2)
            fail_msg("%s: %u and %u turns", cases[i].behaviour, a.trail.turns_count,
                     b.trail.turns_count);
        bool first = !equal(a.trail.turns[0], b.trail.turns[0]);
        bool last = !equal(a.trail.turns[1], b.trail.turns[1]);
        bool head = a.trail.head != b.trail.head, model = a.trail.model != b.trail.model;
        enum what what = cases[i].changes;
        if (first != (what == FIRST) || last != (what == FIRST || what == CHAIN) ||
            head != (what == HEAD) || model != (what == MODEL)) {
            print_error("%s: first turn %d, last turn %d, head %d, model %d\n", cases[i].behaviour,
                        first, last, head, model);
            wrong++;
        }
        close_trail(&a);
        close_trail(&b);
    }
    assert_int_equal(wrong, 0);
}

/* A longer request has the hashes of the shorter one, turn by turn, and new ones behind. */
static void a_request_that_extends_another_has_its_hashes(void **state)
{
    static const char *const shorter[] = {
        "{'messages':[{'role':'user','content':'a'}]}",
        "{'messages':[{'role':'user','content':'a'},{'role':'assistant','content':'b'},"
        "{'role':'user','content':'c'}]}",
        "{'messages':[{'role':'user','content':'a'},{'role':'assistant','content':'b'},"
        "{'role':'user','content':'c'},{'role':'assistant','content':'d'},"
        "{'role':'user','content':'e'},{'role':'user','content':'f'}]}",
    };
    static struct read reads[3];
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        read_trail(&reads[i], shorter[i]);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(reads[i].trail.turns_count, i + 1);
        for (uint32_t turn = 0; turn < i; turn++) {
            assert_true(equal(reads[i].trail.turns[turn], reads[turn].trail.turns[turn]));
            assert_false(equal(reads[i].trail.turns[turn], reads[i].trail.turns[i]));
            assert_int_equal(reads[i].trail.ends[turn], reads[turn].trail.ends[turn]);
        }
        assert_int_equal(reads[i].trail.ends[i], reads[i].test.transcript.segments_count);
    }
    for (uint32_t i = 0; i < 3; i++)
        close_trail(&reads[i]);
}

/* What stands in two places is not the same as what stands in one. */
static void where_one_text_ends_is_noticed(void **state)
{
    static struct read a, b;
    (void)state;
    read_trail(&a, "{'messages':[{'role':'user','content':'ab'},{'role':'user','content':'c'}]}");
    read_trail(&b, "{'messages':[{'role':'user','content':'a'},{'role':'user','content':'bc'}]}");
    assert_false(equal(a.trail.turns[0], b.trail.turns[0]));
    close_trail(&a);
    close_trail(&b);
}

/* What is no text of a result was said as well: an image, a file, a reference. */
static void what_stands_beside_the_text_of_a_result_is_noticed(void **state)
{
    static struct read plain, image, other;
    char body[BODY_BYTES_MAX], second[BODY_BYTES_MAX];
    (void)state;
    replace_all(body, MESSAGES, "'content':'out'",
                "'content':[{'type':'text','text':'out'},{'type':'image','source':{'data':'AA'}}]");
    replace_all(second, body, "'AA'", "'AB'");
    read_trail(&plain, MESSAGES);
    read_trail(&image, body);
    read_trail(&other, second);
    bool is_noticed = !equal(plain.trail.turns[1], image.trail.turns[1]);
    bool is_told_apart = !equal(image.trail.turns[1], other.trail.turns[1]);
    close_trail(&plain);
    close_trail(&image);
    close_trail(&other);
    assert_true(is_noticed);
    assert_true(is_told_apart);
}

static void a_request_without_turns_has_no_chain(void **state)
{
    static struct read a;
    (void)state;
    read_trail(&a, "{'messages':[]}");
    assert_int_equal(a.trail.turns_count, 0);
    close_trail(&a);
}

/* ---- folds ---- */

/* Which fold is found again, which is forgotten first, and what a key depends on. */

static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}]}";
#define POLICY "policies: {p: {stages: [{stage: mask}]}, q: {stages: [{stage: clear}]}}"

static wr_hash128 key_of(uint64_t number)
{
    return (wr_hash128){number, 7};
}

struct world {
    struct test_run r;
    struct wr_fold_memo *memo;
    struct wr_sent sent;
    weir_hash originals[3];
};

static void open_world(struct world *w)
{
    *w = (struct world){0};
    test_run_open(&w->r, wr_span_of(body), POLICY, 1000);
    assert_int_equal(wr_fold_memo_new(&w->memo), WEIR_OK);
    memset(w->originals, 'x', sizeof(w->originals));
}

static void close_world(struct world *w)
{
    wr_fold_memo_free(w->memo);
    test_run_close(&w->r);
}

static void put(struct world *w, uint64_t key, uint32_t originals_count)
{
    struct wr_fold_commit commit = {&w->sent, w->originals, originals_count, 100 + key};
    wr_fold_memo_put(w->memo, key_of(key), &commit, &w->r.run.fold);
}

static void a_fold_is_found_by_its_key(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    put(&w, 1, 3);
    put(&w, 2, 0);
    const struct wr_folded *found = wr_fold_memo_find(w.memo, key_of(1));
    assert_non_null(found);
    assert_int_equal(found->replaced_count, 101);
    assert_int_equal(found->originals_count, 3);
    assert_memory_equal(found->originals, w.originals, sizeof(w.originals));
    assert_int_equal(wr_fold_state_segments(found->state), w.r.run.fold.arrived);
    assert_int_equal(wr_fold_memo_find(w.memo, key_of(2))->replaced_count, 102);
    assert_null(wr_fold_memo_find(w.memo, key_of(3)));
    assert_null(wr_fold_memo_find(w.memo, (wr_hash128){1, 8}));
    assert_null(wr_fold_memo_find(NULL, key_of(1)));
    wr_fold_memo_put(NULL, key_of(1), NULL, NULL);
    wr_fold_memo_clear(w.memo);
    assert_null(wr_fold_memo_find(w.memo, key_of(1)));
    close_world(&w);
}

static void a_second_one_under_a_key_takes_the_place(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    for (uint64_t i = 0; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        put(&w, i, 0);
    put(&w, 5, 2); /* forgets no other */
    for (uint64_t i = 0; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        assert_int_equal(wr_fold_memo_find(w.memo, key_of(i))->originals_count, i == 5 ? 2 : 0);
    close_world(&w);
}

static void the_one_unused_longest_is_forgotten(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    for (uint64_t i = 0; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        put(&w, i, 0);
    assert_non_null(wr_fold_memo_find(w.memo, key_of(0)));
    put(&w, 1000, 0);
    assert_non_null(wr_fold_memo_find(w.memo, key_of(0)));
    assert_null(wr_fold_memo_find(w.memo, key_of(1)));
    for (uint64_t i = 2; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        assert_non_null(wr_fold_memo_find(w.memo, key_of(i)));
    put(&w, 1001, 0);
    assert_null(wr_fold_memo_find(w.memo, key_of(1000)));
    close_world(&w);
}

/* ---- keys ---- */

static bool is_same(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

#define DIFFERS(member, value)                           \
    do {                                                 \
        struct wr_fold_input other = input;              \
        other.member = (value);                          \
        if (is_same(seed, wr_fold_memo_seed(&other, 1))) \
            fail_msg("%s makes no difference", #member); \
    } while (0)

static void a_seed_depends_on_all_that_a_fold_is_told(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    const struct wr_fold_input input = w.r.input;
    wr_hash128 seed = wr_fold_memo_seed(&input, 1);
    assert_true(is_same(seed, wr_fold_memo_seed(&input, 1)));
    assert_false(is_same(seed, wr_fold_memo_seed(&input, 2)));
    DIFFERS(memo_seed, 1);
    DIFFERS(policy, wr_policies_find(w.r.policies, WR_LIT("q")));
    DIFFERS(window_tokens, 1001);
    DIFFERS(reserve_tokens, 1);
    DIFFERS(base_tokens, 1);
    DIFFERS(message_overhead_tokens, 1);
    DIFFERS(prices.write_pct, 1);
    DIFFERS(prices.read_pct, 1);
    DIFFERS(prices.output_pct, 1);
    DIFFERS(prices.tier_tokens, 1);
    DIFFERS(binds_thinking, true);
    DIFFERS(tools, "-run");
    close_world(&w);
}

static void a_key_depends_on_the_turns_before(void **state)
{
    wr_hash128 turns[2] = {{1, 2}, {3, 4}}, heads[2] = {{5, 6}, {7, 8}};
    uint32_t ends[2] = {9, 10};
    struct wr_trail trail = {.turns = turns, .heads = heads, .ends = ends};
    const wr_hash128 seed = {11, 12};
    wr_hash128 key = wr_fold_memo_key(seed, &trail, 1);
    (void)state;

    assert_false(is_same(key, wr_fold_memo_key(seed, &trail, 0)));
    assert_false(is_same(key, wr_fold_memo_key((wr_hash128){11, 13}, &trail, 1)));
    turns[0].low = heads[0].low = ends[0] = 99; /* in the chain of the later turn already */
    assert_true(is_same(key, wr_fold_memo_key(seed, &trail, 1)));
    uint64_t *parts[] = {&turns[1].low, &turns[1].high, &heads[1].low, &heads[1].high};
    for (size_t i = 0; i < WR_COUNT_OF(parts); i++) {
        *parts[i] += 100;
        assert_false(is_same(key, wr_fold_memo_key(seed, &trail, 1)));
        *parts[i] -= 100;
    }
    ends[1]++;
    assert_false(is_same(key, wr_fold_memo_key(seed, &trail, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_notices_what_was_said_and_nothing_else),
        cmocka_unit_test(a_request_that_extends_another_has_its_hashes),
        cmocka_unit_test(where_one_text_ends_is_noticed),
        cmocka_unit_test(what_stands_beside_the_text_of_a_result_is_noticed),
        cmocka_unit_test(a_request_without_turns_has_no_chain),
        cmocka_unit_test(a_fold_is_found_by_its_key),
        cmocka_unit_test(a_second_one_under_a_key_takes_the_place),
        cmocka_unit_test(the_one_unused_longest_is_forgotten),
        cmocka_unit_test(a_seed_depends_on_all_that_a_fold_is_told),
        cmocka_unit_test(a_key_depends_on_the_turns_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
