#include "transcript/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* Transcripts are made here of letters, one a segment; what a reader would say of it is in the
 * letter: s system   u user   g user that begins as steering   U user, same message as the segment
 * before a answer   r reasoning   o other, of the model   x other, of nobody 1-9 a call with that
 * id    !-) its result (shifted digit)   n a call by name   m its result S server asks   T server
 * answers (of the model) Listings give for each segment a digit or `-`. */
struct row {
    const char *behaviour, *segments, *expected;
};

enum { SEGMENTS_MAX = 32 };

struct made {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    wr_json_id parts[2];
};

static const char *const ids[] = {"", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char shifted[] = " !@#$%^&*(";

static struct wr_segment segment_of(const struct made *made, char letter, wr_json_id message)
{
    struct wr_segment s = {
        .message = message, .payload = 0, .kind = WEIR_KIND_TEXT, .role = WEIR_ROLE_USER};
    const char *result = strchr(shifted + 1, letter);

    if (letter >= '1' && letter <= '9') {
        s.kind = WEIR_KIND_TOOL_CALL;
        s.tool = WR_LIT("frob");
        s.call_id = wr_span_of(ids[letter - '0']);
    } else if (letter && result) {
        s.kind = WEIR_KIND_TOOL_RESULT;
        s.role = WEIR_ROLE_TOOL;
        s.call_id = wr_span_of(ids[result - shifted]);
    } else if (letter == 'n' || letter == 'm') {
        s.kind = letter == 'n' ? WEIR_KIND_TOOL_CALL : WEIR_KIND_TOOL_RESULT;
        s.tool = WR_LIT("named");
    } else if (letter == 's') {
        s.role = WEIR_ROLE_SYSTEM;
        s.kind = WEIR_KIND_SYSTEM;
    } else if (letter == 'r') {
        s.kind = WEIR_KIND_REASONING;
    } else if (letter == 'o' || letter == 'x' || letter == 'S' || letter == 'T') {
        s.kind = WEIR_KIND_OTHER;
        s.role = WEIR_ROLE_NONE;
        s.link = letter == 'S' ? WR_LINK_ASKS : letter == 'T' ? WR_LINK_ANSWERS : WR_LINK_NONE;
        s.call_id = s.link ? WR_LIT("1") : s.call_id;
    } else if (letter != 'a') {
        s.parts = &made->parts[letter == 'g'];
        s.parts_count = 1;
    }
    s.from_model = letter && strchr("aroSTn123456789", letter);
    if (s.from_model)
        s.role = WEIR_ROLE_ASSISTANT;
    return s;
}

static void make(struct made *made, const char *letters, bool pairs_anywhere)
{
    wr_arena_init(&made->arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(
        wr_json_parse(&made->doc, &made->arena, WR_LIT("[\"go\",\"[steering] go\"]"), NULL, NULL),
        WEIR_OK);
    made->parts[0] = 1;
    made->parts[1] = 2;
    wr_transcript_init(&made->transcript, &made->arena, &made->doc, WEIR_DIALECT_CHAT);
    made->transcript.pairs_anywhere = pairs_anywhere;
    for (uint32_t i = 0; letters[i]; i++) {
        struct wr_segment s =
            segment_of(made, letters[i], letters[i] == 'U' ? 1000 + i - 1 : 1000 + i);
        assert_int_equal(wr_transcript_add(&made->transcript, &s), WEIR_OK);
    }
    assert_int_equal(wr_transcript_finish(&made->transcript), WEIR_OK);
}

typedef uint32_t value_fn(const struct wr_segment *s);

static uint32_t pair_of(const struct wr_segment *s)
{
    return s->pair;
}

static uint32_t turn_of(const struct wr_segment *s)
{
    return s->turn;
}

static uint32_t loop_of(const struct wr_segment *s)
{
    return s->loop;
}

static uint32_t group_of(const struct wr_segment *s)
{
    return s->group;
}

static uint32_t steering_of(const struct wr_segment *s)
{
    return s->is_steering;
}

static void check(const struct row *rows, size_t count, value_fn *value, bool pairs_anywhere)
{
    for (size_t i = 0; i < count; i++) {
        struct made made;
        char got[SEGMENTS_MAX + 1] = {0};
        make(&made, rows[i].segments, pairs_anywhere);
        for (uint32_t k = 0; k < made.transcript.segments_count; k++) {
            uint32_t number = value(&made.transcript.segments[k]);
            got[k] = "0123456789abcdefghijklmnopqrstuv"[number == WR_SEGMENT_NONE ? 0 : number];
            got[k] = number == WR_SEGMENT_NONE ? '-' : got[k];
        }
        wr_arena_release(&made.arena);
        if (strcmp(got, rows[i].expected))
            fail_msg("%s: of %s got %s, should be %s", rows[i].behaviour, rows[i].segments, got,
                     rows[i].expected);
    }
}

static void results_answer_calls(void **state)
{
    static const struct row rows[] = {
        {"a call and its result", "u1!", "-21"},
        {"parallel calls, results out of order", "u123#!@", "-564312"},
        {"a call without a result", "u12@", "--32"},
        {"a result without a call", "u1@", "---"},
        {"a result before its call", "u!1", "---"},
        {"an id that is used again pairs with its latest call", "u1!1!", "-2143"},
        {"a second result keeps the first pair", "u1!!", "-211"},
        {"calls by name", "unmnm", "-2143"},
        {"a name is no id", "u1m", "---"},
        {"what the server asked it answers", "uS1T!", "-3412"},
        {"texts and reasoning have no pair", "surao", "-----"},
        {"nothing at all", "", ""},
    };
    static const struct row anywhere[] = {
        {"a result before its call", "u!1", "-21"},
        {"a result before its call, and one behind it", "u!1!", "--32"},
        {"a result between two calls of one id is the first one's", "u1!1", "-21-"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), pair_of, false);
    check(rows, WR_COUNT_OF(rows), pair_of, false);
    check(anywhere, WR_COUNT_OF(anywhere), pair_of, true);
}

static void turns_begin_with_what_is_new(void **state)
{
    static const struct row rows[] = {
        {"everything before the first output is one turn", "ssuu", "0000"},
        {"an output belongs to the turn it answers", "sur1a", "00000"},
        {"results begin a turn", "u12!@1!a", "00011122"},
        {"so do the user, the system and what is nobody's", "uauasaxa", "00112233"},
        {"an output may come first", "aua", "011"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), turn_of, false);
}

static void loops_end_with_an_answer(void **state)
{
    static const struct row rows[] = {
        {"before the first user message there is none", "sxau", "---0"},
        {"one question, calls, an answer", "su1!2@a", "-000000"},
        {"the next question begins the next loop", "uauau", "00112"},
        {"several messages before an answer are one loop", "uuuau", "00001"},
        {"several blocks of one message too", "uUUauUa", "0000111"},
        {"words and calls are no answer yet", "ua1!au", "000001"},
        {"a word inside a loop does not end it", "u1!u2@au", "00000001"},
        {"an interrupted loop goes on", "u1u1!au", "0000001"},
        {"a loop that was broken off between results and answer goes on", "u1!uau", "000001"},
        {"steering behind an answer belongs to the loop", "uagau", "00001"},
        {"steering is told by the first text of its message", "uagUau", "000001"},
        {"steering may open the first loop", "ga", "00"},
        {"instructions in mid-conversation begin none", "uasau", "00001"},
        {"what the provider ran itself ends nothing", "uSTau", "00001"},
        {"reasoning alone is an output", "uru", "001"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), loop_of, false);
}

static void steering_is_marked(void **state)
{
    static const struct row rows[] = {
        {"a question is none", "uuau", "0000"},
        {"what is said while the model works is", "u1!u1!a", "0001000"},
        {"what says so of itself is, behind an answer too", "uaga", "0010"},
        {"all of its message is", "u1!uUua", "0001110"},
        {"the first message never is", "gU1", "000"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), steering_of, false);
}

static void groups_are_outputs_and_their_results(void **state)
{
    static const struct row rows[] = {
        {"an output with its results", "sur1a2@!", "--222222"},
        {"an answer is its own group", "u1!auau", "-113-5-"},
        {"a user's word between results is in none", "u12!u@", "-111-1"},
        {"a result without a call is in none", "u1@", "-1-"},
        {"a second result is in the group too", "u1!!", "-111"},
        {"an id used again keeps the groups apart", "u1!1!", "-1133"},
        {"what the server answers later joins both outputs", "uS1!Ta", "-11111"},
        {"and an output between them stays apart", "uS1!2@Ta", "-1114411"},
    };
    static const struct row early[] = {
        {"a result before its call opens the group", "u!1a", "-111"},
        {"so does one before an earlier output", "u!au1", "-12-1"},
    };
    (void)state;
    check(rows, WR_COUNT_OF(rows), group_of, false);
    check(early, WR_COUNT_OF(early), group_of, true);
}

static void counts_follow(void **state)
{
    static const struct {
        const char *segments;
        uint32_t turns, loops;
    } rows[] = {{"", 0, 0}, {"s", 1, 0}, {"u", 1, 1}, {"ua", 1, 1}, {"uau", 2, 2}, {"u1!a", 2, 1}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct made made;
        make(&made, rows[i].segments, WEIR_DIALECT_CHAT);
        assert_int_equal(made.transcript.turns_count, rows[i].turns);
        assert_int_equal(made.transcript.loops_count, rows[i].loops);
        wr_arena_release(&made.arena);
    }
}

static void a_repeated_result_says_so(void **state)
{
    struct made made;
    (void)state;
    make(&made, "u1!!", WEIR_DIALECT_CHAT);
    assert_false(made.transcript.segments[2].is_repeated_result);
    assert_true(made.transcript.segments[3].is_repeated_result);
    assert_true(wr_span_is(made.transcript.segments[3].tool, "frob"));
    wr_arena_release(&made.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_answer_calls),
        cmocka_unit_test(turns_begin_with_what_is_new),
        cmocka_unit_test(loops_end_with_an_answer),
        cmocka_unit_test(steering_is_marked),
        cmocka_unit_test(groups_are_outputs_and_their_results),
        cmocka_unit_test(counts_follow),
        cmocka_unit_test(a_repeated_result_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
