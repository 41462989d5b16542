#include "proxy/leave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"

enum { TURNS = 6 };

/* A request of six turns, with a segment each, of which some are not sent as they came. */
struct request {
    struct wr_transcript transcript;
    struct wr_segment segments[TURNS];
    struct wr_record_change changes[TURNS];
    struct wr_record record;
};

static void make(struct request *r, const char *session, const char *changed)
{
    *r = (struct request){
        .transcript = {.segments = r->segments, .segments_count = TURNS, .turns_count = TURNS},
        .record = {.tenant = WR_LIT("local"),
                   .session = wr_span_of(session),
                   .model = "m",
                   .changes = r->changes}};
    for (uint32_t i = 0; i < TURNS; i++)
        r->segments[i].turn = i;
    for (; *changed; changed++)
        r->changes[r->record.changes_count++] =
            (struct wr_record_change){.segment = (uint32_t)(*changed - '0')};
}

static struct wr_departures *departures_new(void)
{
    struct wr_departures *departures = calloc(1, sizeof(*departures));
    assert_non_null(departures);
    return departures;
}

static void the_next_declares_what_had_left_otherwise(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_departure before;
        const char *changed; /* turns of the next */
        bool is_viewed;
        const char *reason; /* NULL: no step */
    } cases[] = {
        {"as the marks say", {.is_other = false}, "0123", false, NULL},
        {"whole, and older turns are short again", {.is_other = true, .to = 3}, "1", false, "back"},
        {"whole, and what came since is short", {.is_other = true, .to = 3}, "45", false, NULL},
        {"whole, nobody counted",
         {.is_other = true, .to = WR_DEPARTURE_TURNS_MAX},
         "4",
         false,
         "back"},
        {"whole, nobody counted, the newest is short",
         {.is_other = true, .to = WR_DEPARTURE_TURNS_MAX},
         "5",
         false,
         NULL},
        {"whole, and nothing is short", {.is_other = true, .to = 3}, "", false, NULL},
        {"its newest turn whole, and that stays so",
         {.is_other = true, .from = 3, .to = 3},
         "012",
         false,
         NULL},
        {"its newest turn whole, and that is short",
         {.is_other = true, .from = 3, .to = 3},
         "3",
         false,
         "back"},
        {"without our own recall, and it is there", {.is_other = true, .to = 3}, "", true, "back"},
        {"with it, and it is not there",
         {.is_other = true, .is_viewed = true, .from = 3, .to = 3},
         "",
         false,
         "back"},
        {"with it, as now",
         {.is_other = true, .is_viewed = true, .from = 3, .to = 3},
         "",
         true,
         NULL},
        {"without a step that is marked",
         {.is_other = true, .reason = WR_STEP_COLD + 1, .from = 1, .to = 0},
         "",
         false,
         "cold"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_departures *departures = departures_new();
        struct request r;
        make(&r, "one", cases[i].changed);
        wr_departures_note(departures, &r.record, &cases[i].before);
        (void)wr_departures_tell(departures, &r.record, &r.transcript, cases[i].is_viewed, true);
        if (r.record.is_step != (cases[i].reason != NULL) ||
            (cases[i].reason && !wr_span_is(r.record.step_reason, cases[i].reason)))
            fail_msg("%s: step %d, %.*s", cases[i].behaviour, r.record.is_step,
                     (int)r.record.step_reason.len,
                     r.record.step_reason.len ? r.record.step_reason.ptr : "");
        free(departures);
    }
}

static void how_one_leaves_is_in_its_record(void **state)
{
    static const struct {
        const char *behaviour, *changed, *not_read;
        bool is_viewed, is_kept, is_delta;
        struct wr_departure expected;
    } cases[] = {
        {"its marks are kept", "12", NULL, false, true, false, {.is_other = false}},
        {"it was not read", "", "not_projected", true, false, false, {.is_other = true, .to = 5}},
        {"older turns keep their forms",
         "12",
         NULL,
         true,
         false,
         false,
         {.is_other = true, .is_viewed = true, .from = 5, .to = 5}},
        {"all of it is whole",
         "",
         NULL,
         true,
         false,
         false,
         {.is_other = true, .is_viewed = true, .to = 5}},
        {"the provider has the rest", "", NULL, false, false, true, {.is_other = false}},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct request r;
        make(&r, "one", cases[i].changed);
        r.record.not_read = wr_word_of(cases[i].not_read);
        r.transcript.is_delta = cases[i].is_delta;
        struct wr_departure d =
            wr_departure_of(&r.record, &r.transcript, cases[i].is_viewed, cases[i].is_kept);
        const struct wr_departure *e = &cases[i].expected;
        if (d.is_other != e->is_other || d.is_viewed != e->is_viewed || d.from != e->from ||
            d.to != e->to || d.reason)
            fail_msg("%s: %d %d, %u to %u", cases[i].behaviour, d.is_other, d.is_viewed, d.from,
                     d.to);
    }
}

static bool is_declared(struct wr_departures *departures, const char *session, const char *changed)
{
    struct request r;
    make(&r, session, changed);
    (void)wr_departures_tell(departures, &r.record, &r.transcript, false, true);
    return r.record.is_step;
}

static void turns_that_were_not_kept_add_up(void **state)
{
    struct wr_departures *departures = departures_new();
    struct request r;
    (void)state;
    make(&r, "one", "");
    wr_departures_note(departures, &r.record,
                       &(struct wr_departure){.is_other = true, .from = 2, .to = 2});
    wr_departures_note(departures, &r.record,
                       &(struct wr_departure){.is_other = true, .from = 4, .to = 4});
    assert_true(is_declared(departures, "one", "2"));
    assert_true(is_declared(departures, "one", "4"));
    assert_false(is_declared(departures, "one", "1"));
    wr_departures_note(departures, &r.record, &(struct wr_departure){.is_other = false});
    assert_false(is_declared(departures, "one", "24"));
    free(departures);
}

static void conversations_are_apart(void **state)
{
    struct wr_departures *departures = departures_new();
    struct wr_departure whole = wr_departure_whole(TURNS);
    struct request r;
    (void)state;
    make(&r, "one", "");
    wr_departures_note(departures, &r.record, &whole);
    assert_true(is_declared(departures, "one", "1"));
    assert_false(is_declared(departures, "two", "1"));
    r.record.first_turn = 7; /* a side call of the same session */
    wr_departures_note(departures, &r.record, &(struct wr_departure){.is_other = false});
    assert_true(is_declared(departures, "one", "1"));
    free(departures);
}

/* Nobody knows which conversation it was: the next that leaves settles it for its session. */
static void one_that_was_not_read_is_its_sessions(void **state)
{
    struct wr_departures *departures = departures_new();
    struct request unread, next, other;
    (void)state;

    make(&next, "a", ""); /* its newest turn had left whole, which changes nothing here */
    wr_departures_note(departures, &next.record,
                       &(struct wr_departure){.is_other = true, .from = 5, .to = 5});
    make(&unread, "a", "");
    *unread.record.model = '\0';
    wr_departures_note_unread(departures, &unread.record);
    make(&other, "b", "1");
    (void)wr_departures_tell(departures, &other.record, &other.transcript, false, true);
    assert_false(other.record.is_step);
    make(&next, "a", "1");
    struct wr_departure d =
        wr_departures_tell(departures, &next.record, &next.transcript, false, true);
    assert_true(next.record.is_step);
    assert_true(wr_span_is(next.record.step_reason, "back"));
    wr_departures_note(departures, &next.record, &d);
    make(&next, "a", "12");
    (void)wr_departures_tell(departures, &next.record, &next.transcript, false, true);
    assert_false(next.record.is_step);
    free(departures);
}

static void no_session_is_noted_for_all(void **state)
{
    struct wr_departures *departures = departures_new();
    struct request r;
    (void)state;

    make(&r, "", "1");
    wr_departures_note_unread(departures, &r.record);
    (void)wr_departures_tell(departures, &r.record, &r.transcript, false, true);
    assert_false(r.record.is_step);
    free(departures);
}

static void a_full_table_still_takes_the_newest(void **state)
{
    struct wr_departures *departures = departures_new();
    struct wr_departure whole = wr_departure_whole(TURNS);
    (void)state;
    for (uint32_t i = 0; i < 4 * WR_PROXY_DEPARTURES_MAX; i++) {
        struct request r;
        char name[16];
        (void)snprintf(name, sizeof(name), "s%u", i);
        make(&r, name, "");
        wr_departures_note(departures, &r.record, &whole);
        assert_true(is_declared(departures, name, "1"));
    }
    free(departures);
}

/* ---- what the proxy's own recall adds ---- */

enum { ONE = 0x10000, TWO = 0x20000 }; /* tools, in the half that is noted */

/* What the next of that session says it lost; whether it is a step, and why. */
static uint64_t compare(struct wr_departures *departures, const char *session,
                        const struct wr_own_added *added, uint32_t lost_count, const char **reason)
{
    struct request r;

    make(&r, session, "");
    wr_departures_compare_own(departures, &r.record, added, lost_count);
    bool is_viewed = added->definition != 0;
    struct wr_departure d =
        wr_departures_tell(departures, &r.record, &r.transcript, is_viewed, true);
    wr_departures_note(departures, &r.record, &d);
    *reason = !r.record.is_step                           ? NULL
              : wr_span_is(r.record.step_reason, "store") ? "store"
                                                          : "back";
    return r.record.own_lost;
}

/* With `count` answers, and an exchange put back beside each that `puts` names. */
static struct wr_own_added added_of(uint64_t tool, uint32_t count, const char *puts)
{
    struct wr_own_added added = {.is_known = true, .definition = tool << 32};

    for (uint32_t end = count; end && added.extents_count < WR_OWN_EXTENTS_MAX; end--) {
        struct wr_own_extent *extent = &added.extents[added.extents_count++];
        extent->answers = end * UINT64_C(0x9E3779B97F4A7C15); /* as a hash */
        for (const char *put = puts; *put; put++)
            if ((uint32_t)(*put - '0') < end) {
                extent->puts = extent->puts * 31 + (uint64_t)*put;
                extent->puts_count++;
            }
    }
    return added;
}

static void what_own_recall_adds_is_compared_with_the_request_before(void **state)
{
    static const struct {
        const char *behaviour;
        uint64_t tool_before;
        uint32_t answers_before;
        const char *puts_before;
        uint64_t tool;
        uint32_t answers;
        const char *puts;
        const char *reason; /* NULL: no step */
        uint64_t lost_count;
    } cases[] = {
        {"the first request, sent again", ONE, 0, "", ONE, 0, "", NULL, 0},
        {"the same", ONE, 2, "01", ONE, 2, "01", NULL, 0},
        {"one answer more, whose exchange is new", ONE, 2, "01", ONE, 3, "012", NULL, 0},
        {"three answers more", ONE, 2, "01", ONE, 5, "014", NULL, 0},
        {"an exchange less", ONE, 2, "01", ONE, 3, "0", "store", 1},
        {"two less", ONE, 3, "012", ONE, 3, "1", "store", 2},
        {"one more than there was", ONE, 2, "0", ONE, 3, "01", "back", 0},
        {"as many, but others", ONE, 3, "01", ONE, 3, "12", "back", 0},
        {"the tool is another", ONE, 2, "01", TWO, 3, "01", "back", 0},
        {"the tool is another by its last bit", ONE, 2, "01", ONE + 1, 3, "01", "back", 0},
        {"the tool is gone", ONE, 2, "01", 0, 0, "", "store", 0},
        {"the tool is there, and was not", 0, 0, "", ONE, 2, "", NULL, 0},
        {"the conversation was rewound further than is noted", ONE, 9, "01", ONE, 2, "0", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_departures *departures = departures_new();
        struct wr_own_added before =
            added_of(cases[i].tool_before, cases[i].answers_before, cases[i].puts_before);
        struct wr_own_added now = added_of(cases[i].tool, cases[i].answers, cases[i].puts);
        const char *reason;
        struct request r;
        make(&r, "one", "");
        wr_departures_note_own(departures, &r.record, &before);
        assert_int_equal(compare(departures, "two", &now, 0, &reason), 0);
        assert_null(reason);
        uint64_t lost_count = compare(departures, "one", &now, 0, &reason);
        if (lost_count != cases[i].lost_count || !reason != !cases[i].reason ||
            (reason && strcmp(reason, cases[i].reason) != 0))
            fail_msg("%s: %d are lost, %s", cases[i].behaviour, (int)lost_count,
                     reason ? reason : "no step");
        free(departures);
    }
}

/* A conversation of very many exchanges: so many are counted, and the rest by their hash. */
static void so_many_exchanges_are_counted(void **state)
{
    static const struct {
        const char *behaviour;
        uint32_t before, now;
        uint64_t lost_count;
        bool is_same; /* by their hash */
        const char *reason;
    } cases[] = {
        {"as many as are counted", 255, 255, 0, true, NULL},
        {"one less than that", 255, 254, 1, false, "store"},
        {"more than are counted", 300, 300, 0, true, NULL},
        {"less of those", 300, 256, 0, false, "back"},
        {"less than are counted", 300, 250, 5, false, "store"},
        {"more than are counted, after one less", 254, 511, 0, false, "back"},
    };
    static const char *const sessions[] = {"a", "b", "c", "d", "e", "f"}; /* tags of all kinds */
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases) * WR_COUNT_OF(sessions); i++) {
        size_t at = i / WR_COUNT_OF(sessions);
        const char *session = sessions[i % WR_COUNT_OF(sessions)];
        struct wr_departures *departures = departures_new();
        struct wr_own_added before = added_of(ONE, 1, ""), now = added_of(ONE, 1, "");
        const char *reason;
        struct request r;
        before.extents[0].puts_count = cases[at].before;
        now.extents[0].puts_count = cases[at].now;
        now.extents[0].puts = !cases[at].is_same;
        make(&r, session, "");
        wr_departures_note_own(departures, &r.record, &before);
        uint64_t lost_count = compare(departures, session, &now, 0, &reason);
        if (lost_count != cases[at].lost_count || !reason != !cases[at].reason ||
            (reason && strcmp(reason, cases[at].reason) != 0))
            fail_msg("%s, %s: %d are lost, %s", cases[at].behaviour, session, (int)lost_count,
                     reason ? reason : "no step");
        free(departures);
    }
}

/* What is not known of a request changes nothing; what left with fewer answers is forgotten. */
static void what_own_recall_adds_is_that_of_the_newest_known(void **state)
{
    struct wr_departures *departures = departures_new();
    struct wr_own_added first = added_of(ONE, 2, "01"), less = added_of(ONE, 3, "0"),
                        rewound = added_of(ONE, 2, "0"), unknown = {.is_known = false};
    struct request r;
    const char *reason;
    (void)state;

    make(&r, "one", "");
    wr_departures_note_own(departures, &r.record, &first);
    wr_departures_note_own(departures, &r.record, &unknown);
    assert_int_equal(compare(departures, "one", &first, 0, &reason), 0);
    assert_null(reason);
    wr_departures_note_own(departures, &r.record, &less);
    assert_int_equal(compare(departures, "one", &rewound, 0, &reason), 0);
    assert_null(reason);
    free(departures);
}

/* The newest request is what counts, and one that left without the tool counts too. */
static void what_own_recall_adds_is_noted_anew_with_each_request(void **state)
{
    struct wr_departures *departures = departures_new();
    struct wr_own_added first = added_of(ONE, 2, "01"), less = added_of(ONE, 3, "0"),
                        none = added_of(0, 0, ""), unknown = {.is_known = false};
    struct request r;
    const char *reason;
    (void)state;

    make(&r, "one", "");
    wr_departures_note_own(departures, &r.record, &first);
    wr_departures_note_own(departures, &r.record, &less);
    assert_int_equal(compare(departures, "one", &less, 0, &reason), 0);
    assert_null(reason);
    assert_int_equal(compare(departures, "one", &less, 3, &reason), 3); /* known without us */
    assert_string_equal(reason, "store");
    assert_int_equal(compare(departures, "one", &unknown, 0, &reason), 0);
    assert_null(reason);
    wr_departures_note_own(departures, &r.record, &none);
    wr_departures_note_own(departures, &r.record, &unknown);
    assert_int_equal(compare(departures, "one", &none, 0, &reason), 0);
    assert_null(reason);
    assert_int_equal(compare(departures, "one", &less, 0, &reason), 0);
    assert_string_equal(reason, "back");
    free(departures);
}

/* Nothing of it is for others before it has left; what is sent again after a refusal says it too.
 */
static void what_differs_is_the_requests_own_until_it_leaves(void **state)
{
    struct wr_departures *departures = departures_new();
    struct wr_own_added first = added_of(ONE, 2, "01"), less = added_of(ONE, 3, "0");
    struct request stays, again;
    const char *reason;
    (void)state;

    make(&stays, "one", "");
    wr_departures_note_own(departures, &stays.record, &first);
    wr_departures_compare_own(departures, &stays.record, &less, 0);
    assert_int_equal(compare(departures, "one", &first, 0, &reason), 0);
    assert_null(reason);

    make(&again, "one", "");
    wr_departures_compare_own(departures, &again.record, &less, 0);
    wr_departures_note_own(departures, &again.record, &less);
    wr_record_forget(&again.record);
    again.record.session = WR_LIT("one");
    wr_departures_compare_own(departures, &again.record, &less, 0);
    (void)wr_departures_tell(departures, &again.record, &again.transcript, true, true);
    assert_int_equal(again.record.own_lost, 1);
    assert_true(again.record.is_step);
    assert_true(wr_span_is(again.record.step_reason, "store"));
    free(departures);
}

/* Whoever has no room takes another's place, now and then that of its own tool, and is not read as
 * another. */
static void a_full_table_of_own_recall_still_takes_the_newest(void **state)
{
    struct wr_departures *departures = departures_new();
    struct wr_own_added added = added_of(ONE, 2, "01"), less = added_of(ONE, 3, "0");
    unsigned found_count = 0, all_count = 3 * WR_PROXY_DEPARTURES_MAX;
    const char *reason;
    (void)state;

    for (unsigned i = 0; i < all_count; i++) {
        char name[32];
        struct request r;
        (void)snprintf(name, sizeof(name), "session %u", i);
        make(&r, name, "");
        wr_departures_note_own(departures, &r.record, &added);
        assert_int_equal(compare(departures, name, &added, 0, &reason), 0);
        assert_null(reason);
        found_count += compare(departures, name, &less, 0, &reason) == 1;
    }
    assert_true(found_count > all_count / 100 * 99);
    free(departures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_declares_what_had_left_otherwise),
        cmocka_unit_test(how_one_leaves_is_in_its_record),
        cmocka_unit_test(turns_that_were_not_kept_add_up),
        cmocka_unit_test(conversations_are_apart),
        cmocka_unit_test(one_that_was_not_read_is_its_sessions),
        cmocka_unit_test(no_session_is_noted_for_all),
        cmocka_unit_test(a_full_table_still_takes_the_newest),
        cmocka_unit_test(what_own_recall_adds_is_compared_with_the_request_before),
        cmocka_unit_test(so_many_exchanges_are_counted),
        cmocka_unit_test(what_own_recall_adds_is_that_of_the_newest_known),
        cmocka_unit_test(what_own_recall_adds_is_noted_anew_with_each_request),
        cmocka_unit_test(what_differs_is_the_requests_own_until_it_leaves),
        cmocka_unit_test(a_full_table_of_own_recall_still_takes_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
