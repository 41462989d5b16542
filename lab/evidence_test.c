#include "lab/evidence_tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "api/api.h"

/* Messages in short: u user, a assistant, c call with arguments, r result. */
#define U(text)     "{\"role\":\"user\",\"content\":\"" text "\"}"
#define A(text)     "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define R(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define C(id, args) CALL(id, "Tool", args)
#define CALL(id, tool, args)                                                              \
    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"" id              \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" tool "\",\"arguments\":\"{" args \
    "}\"}}]}"
#define KEY(key, value) "\\\"" key "\\\":\\\"" value "\\\""

static weir_status read_request(struct wr_transcript *t, struct wr_arena *arena,
                                const char *messages)
{
    struct wr_api_options options = {.dialect = "chat"};
    struct wr_buf body;
    struct wr_json *doc = wr_arena_zalloc(arena, sizeof(*doc));
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&body, "{\"model\":\"m\",\"messages\":[%s]}", messages);
    weir_span text = wr_arena_copy(arena, wr_buf_view(&body));
    wr_buf_release(&body);
    weir_status status = wr_json_parse(doc, arena, text, NULL, NULL);
    return status ? status : wr_api_read(t, arena, doc, &options, NULL);
}

static const struct {
    const char *behaviour, *messages, *answer;
    const char *expected; /* kind text <-segment; `*` at first sight, `~` repeated, `u` the user's,
                             `o` the model's own, `w` written */
} cases[] = {
    {"a path from a listing",
     U("go") "," C("1", KEY("cmd", "ls")) "," R("1", "src/net/poll_loop.c\\nMakefile"),
     C("2", KEY("path", "/repo/src/net/poll_loop.c")), "path src/net/poll_loop.c<-2*\n"},
    {"an identifier, but no word of prose",
     U("go") "," C("1", KEY("cmd", "x")) "," R("1", "call take_ticket here, important"),
     C("2", KEY("cmd", "rg take_ticket important")), "identifier take_ticket<-2*\n"},
    {"lines of an edit, and not the words in them again",
     U("go") "," C("1", KEY("path", "f")) "," R("1", "   7→    count_tokens = limit_now + 1;\\n"),
     C("2", KEY("old_string", "    count_tokens = limit_now + 1;\\\\n    x = 1;")),
     "line count_tokens = limit_now + 1;<-2*\n"},
    {"context and removed lines of a patch",
     U("go") "," C("1", KEY("cmd", "cat f")) "," R("1", "  if (ready_count > 3)\\n    wake_all();"),
     C("2", KEY("input", "*** Update File: f\\\\n@@\\\\n   if (ready_count > 3)\\\\n+  stop();")),
     "line if (ready_count > 3)<-2*\n"},
    {"what the user said since is not counted",
     U("go") "," C("1", KEY("cmd", "x")) "," R("1", "take_ticket") "," A("hm") "," U(
         "look at take_ticket"),
     C("2", KEY("pattern", "take_ticket")), "identifier take_ticket<-2~\n"},
    {"what the call itself said is not counted",
     U("go") "," C("1", KEY("pattern", "take_ticket")) "," R("1", "f.c:1: take_ticket(queue_head)"),
     C("2", KEY("pattern", "take_ticket")), "identifier take_ticket<-1~o\n"},
    {"the newest result is the source, and not seen for the first time",
     U("go") "," C("1", KEY("a", "x")) "," R("1", "take_ticket") "," C("2", KEY("a", "y")) "," R(
         "2", "nothing here"),
     C("3", KEY("pattern", "take_ticket")), "identifier take_ticket<-2\n"},
    {"a name in back quotes, also where it is a plain word",
     U("go") "," C("1", KEY("a", "x")) "," R("1", "def snapshot(self): pass"),
     A("It is `snapshot` that fails."), "quoted snapshot<-2*\n"},
    {"a name that every project has is no evidence of another folder's",
     U("go") "," C("1", KEY("a", "x")) "," R("1", "docs/README.md"),
     C("2", KEY("path", "/repo/web/README.md")), ""},
    {"strings inside JSON results are found",
     U("go") "," C("1", KEY("a", "x")) "," R("1", "{\\\"out\\\":\\\"one\\\\ntake_ticket\\\"}"),
     C("2", KEY("pattern", "take_ticket")), "identifier take_ticket<-2*\n"},
    {"what is said twice counts once", U("go") "," C("1", KEY("a", "x")) "," R("1", "take_ticket"),
     C("2", KEY("a", "take_ticket take_ticket")), "identifier take_ticket<-2*\n"},
    {"what only the user said is kept apart", U("see take_ticket"), A("take_ticket it is"),
     "identifier take_ticket<-0*~u\n"},
    {"a line of the user's, and not the words in it", U("make it\\nreturn take_ticket + 1;"),
     A("return take_ticket + 1;"), "line return take_ticket + 1;<-0*~u\n"},
    {"what only the model said is no result's evidence",
     U("go") "," A("I call it take_ticket") "," U("yes"), A("so take_ticket it is"),
     "identifier take_ticket<-1~o\n"},
    {"what it wrote into a file is known as that",
     U("go") "," CALL(
         "1", "Write",
         KEY("file_path", "a.c") "," KEY("content", "return take_ticket;")) "," R("1", "ok"),
     A("return take_ticket;"), "line return take_ticket;<-1~ow\n"},
};

static void describe(const struct wr_evidence_items *found, struct wr_buf *out)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const struct wr_evidence_item *item = &found->items[i];
        wr_buf_printf(out, "%s %.*s<-%u%s%s%s%s%s\n", wr_evidence_kind_text(item->kind),
                      (int)item->text.len, item->text.ptr, item->source,
                      item->is_first_sight ? "*" : "", item->is_repeated ? "~" : "",
                      item->is_users ? "u" : "", item->is_own ? "o" : "",
                      item->is_written ? "w" : "");
    }
}

static void answers_use_what_the_rules_say(void **state)
{
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_evidence evidence;
        struct wr_evidence_items found;
        struct wr_evidence_at at;
        struct wr_transcript t;
        struct wr_arena arena;
        struct wr_json answer;
        struct wr_buf out;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&out, 65536);
        assert_int_equal(read_request(&t, &arena, cases[i].messages), WEIR_OK);
        assert_int_equal(wr_json_parse(&answer, &arena, wr_span_of(cases[i].answer), NULL, NULL),
                         WEIR_OK);
        assert_int_equal(wr_evidence_init(&evidence, &arena), WEIR_OK);
        assert_int_equal(wr_evidence_note(&evidence, &t, &at), WEIR_OK);
        assert_int_equal(wr_evidence_find(&evidence, &at, &answer, &arena, &found), WEIR_OK);
        describe(&found, &out);
        if (!wr_span_is(wr_buf_view(&out), cases[i].expected)) {
            printf("FAILED: %s:\n%.*s", cases[i].behaviour, (int)out.len, out.bytes);
            failed++;
        }
        wr_buf_release(&out);
        wr_evidence_release(&evidence);
        wr_arena_release(&arena);
    }
    assert_int_equal(failed, 0);
}

/* ---- judging ---- */

#define SOURCE   "one\\ntake_ticket(queue_head)\\nthree"
#define BEFORE   U("go") "," C("1", KEY("a", "x")) ","
#define ORIGINAL BEFORE R("1", SOURCE) "," C("2", KEY("a", "y")) "," R("2", "fine")
#define AFTER    "," C("2", KEY("a", "y")) "," R("2", "fine")
/* The handle of the result's own text, and one of a text that holds it. */
#define OWN  "%OWN%"
#define WIDE "wr_00000000000000000000"

static const struct {
    const char *behaviour, *projected, *expected;
} judged_cases[] = {
    {"whole: supported", ORIGINAL, "supported"},
    {"the line is still there", BEFORE R("1", "take_ticket(queue_head)\\n[cut]") AFTER,
     "supported"},
    {"its own handle stands in its place", BEFORE R("1", "[weir " OWN ": left out]") AFTER,
     "recallable"},
    {"nothing stands in its place", BEFORE R("1", "[cleared]") AFTER, "lost"},
    {"another handle, whose original does not hold it",
     BEFORE R("1", "[weir wr_11111111111111111111: left out]") AFTER, "lost"},
    {"a handle that leads nowhere", BEFORE R("1", "[weir wr_22222222222222222222: left out]") AFTER,
     "lost"},
    {"the group is gone and a summary says it",
     U("go") "," U("summary: take_ticket was called") AFTER, "supported"},
    {"the group is gone and a summary has a handle",
     U("go") "," U("summary [weir " WIDE ": left out]") AFTER, "recallable"},
    {"the group is gone", U("go") AFTER, "lost"},
    {"a recalled copy stands later",
     BEFORE R("1", "[cleared]") AFTER
     "," C("9", KEY("h", "x")) "," R("9", "take_ticket(queue_head)"),
     "supported"},
};

/* A line that JSON spells otherwise, in a result that is JSON, and in what stands for it. */
static const struct {
    const char *behaviour, *shown, *behind, *expected;
} json_cases[] = {
    {"JSON in the prompt", "{\\\"out\\\":\\\"print(\\\\\\\"one two\\\\\\\")\\\"}", "", "supported"},
    {"a piece of it in the prompt", "...\\\"print(\\\\\\\"one two\\\\\\\")\\\", cut]", "",
     "supported"},
    {"a handle that leads to JSON", "[weir " WIDE ": left out]",
     "[{\"out\":\"print(\\\"one two\\\")\"}]", "recallable"},
    {"a handle that leads to messages with JSON in them", "[weir " WIDE ": left out]",
     "[{\"content\":\"{\\\"out\\\":\\\"print(\\\\\\\"one two\\\\\\\")\\\"}\"}]", "recallable"},
    {"JSON that spells a letter by its number", "[weir " WIDE ": left out]",
     "{\"out\":\"\\u0070rint(\\u0022one two\\u0022)\"}", "recallable"},
    {"JSON without it", "[weir " WIDE ": left out]", "{\"out\":\"print('one two')\"}", "lost"},
};

static bool give_text(void *user, weir_handle handle, weir_span *text)
{
    (void)handle;
    *text = wr_span_of(user);
    return true;
}

static void json_is_read_before_and_behind_a_handle(void **state)
{
    static const char answer_text[] = C("3", KEY("old", "print(\\\\\\\"one two\\\\\\\")"));
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(json_cases); i++) {
        struct wr_evidence_ways ways = {give_text, (void *)(uintptr_t)json_cases[i].behind};
        struct wr_evidence evidence;
        struct wr_evidence_items found;
        struct wr_evidence_judged judged[4];
        struct wr_evidence_view view;
        struct wr_evidence_at at;
        struct wr_transcript original, projected;
        struct wr_arena arena;
        struct wr_json answer;
        char body[1024];
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(
            read_request(&original, &arena,
                         BEFORE R("1", "{\\\"out\\\":\\\"print(\\\\\\\"one two\\\\\\\")\\\"}")
                             AFTER),
            WEIR_OK);
        (void)snprintf(body, sizeof(body), "%s%s%s%s", BEFORE,
                       "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"",
                       json_cases[i].shown, "\"}" AFTER);
        assert_int_equal(read_request(&projected, &arena, body), WEIR_OK);
        assert_int_equal(wr_json_parse(&answer, &arena, wr_span_of(answer_text), NULL, NULL),
                         WEIR_OK);
        assert_int_equal(wr_evidence_init(&evidence, &arena), WEIR_OK);
        assert_int_equal(wr_evidence_note(&evidence, &original, &at), WEIR_OK);
        assert_int_equal(wr_evidence_find(&evidence, &at, &answer, &arena, &found), WEIR_OK);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.items[0].kind, WR_EVIDENCE_LINE);
        assert_int_equal(wr_evidence_view_read(&view, &arena, &original, &projected), WEIR_OK);
        wr_evidence_judge(&evidence, &at, &found, &view, &ways, judged);
        const char *verdict = wr_evidence_verdict_text(judged[0].verdict);
        if (!wr_span_is(wr_span_of(verdict), json_cases[i].expected)) {
            printf("FAILED: %s: %s\n", json_cases[i].behaviour, verdict);
            failed++;
        }
        wr_evidence_release(&evidence);
        wr_arena_release(&arena);
    }
    assert_int_equal(failed, 0);
}

static bool give_original(void *user, weir_handle handle, weir_span *text)
{
    (void)user;
    *text = wr_span_of(handle.bytes[0] ? "something else" : "turn 1: take_ticket(queue_head)");
    return handle.bytes[0] < 0x22;
}

/* `projected` with the handle of the source's text in it. */
static const char *with_handle(struct wr_arena *arena, const char *projected)
{
    char handle[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_handle own;
    struct wr_buf out;
    size_t at = wr_span_find(wr_span_of(projected), WR_LIT(OWN), 0);
    if (at == SIZE_MAX)
        return projected;
    assert_int_equal(weir_handle_of(WR_LIT("one\ntake_ticket(queue_head)\nthree"), &own), WEIR_OK);
    weir_handle_format(own, handle);
    wr_buf_init(&out, 65536);
    wr_buf_printf(&out, "%.*s%s%s", (int)at, projected, handle, projected + at + sizeof(OWN) - 1);
    wr_buf_byte(&out, '\0');
    const char *text = wr_arena_copy(arena, wr_buf_view(&out)).ptr;
    wr_buf_release(&out);
    return text;
}

static void what_a_prompt_lacks_is_recallable_or_lost(void **state)
{
    static const char answer_text[] = C("3", KEY("pattern", "take_ticket"));
    struct wr_evidence_ways ways = {.original = give_original};
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(judged_cases); i++) {
        struct wr_evidence evidence;
        struct wr_evidence_items found;
        struct wr_evidence_judged judged[4];
        struct wr_evidence_view view;
        struct wr_evidence_at at;
        struct wr_transcript original, projected;
        struct wr_arena arena;
        struct wr_json answer;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(read_request(&original, &arena, ORIGINAL), WEIR_OK);
        const char *body = with_handle(&arena, judged_cases[i].projected);
        assert_int_equal(read_request(&projected, &arena, body), WEIR_OK);
        assert_int_equal(wr_json_parse(&answer, &arena, wr_span_of(answer_text), NULL, NULL),
                         WEIR_OK);
        assert_int_equal(wr_evidence_init(&evidence, &arena), WEIR_OK);
        assert_int_equal(wr_evidence_note(&evidence, &original, &at), WEIR_OK);
        assert_int_equal(wr_evidence_find(&evidence, &at, &answer, &arena, &found), WEIR_OK);
        assert_int_equal(found.count, 1);
        assert_int_equal(wr_evidence_view_read(&view, &arena, &original, &projected), WEIR_OK);
        wr_evidence_judge(&evidence, &at, &found, &view, &ways, judged);
        const char *verdict = wr_evidence_verdict_text(judged[0].verdict);
        assert_int_equal(wr_evidence_view_whole(&view, &arena, at.segments_count), WEIR_OK);
        wr_evidence_judge(&evidence, &at, &found, &view, NULL, &judged[1]);
        assert_int_equal(judged[1].verdict, WR_EVIDENCE_SUPPORTED);
        if (!wr_span_is(wr_span_of(verdict), judged_cases[i].expected)) {
            printf("FAILED: %s: %s\n", judged_cases[i].behaviour, verdict);
            failed++;
        }
        wr_evidence_release(&evidence);
        wr_arena_release(&arena);
    }
    assert_int_equal(failed, 0);
}

/* Where the host compacted, what it took away has not been seen any more. */
static void a_compaction_begins_anew(void **state)
{
    static const char answer_text[] = C("3", KEY("pattern", "take_ticket"));
    struct wr_evidence evidence;
    struct wr_evidence_items found;
    struct wr_evidence_at at;
    struct wr_transcript first, second;
    struct wr_arena arena;
    struct wr_json answer;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(read_request(&first, &arena, ORIGINAL), WEIR_OK);
    assert_int_equal(read_request(&second, &arena, U("summary of it") "," U("go on")), WEIR_OK);
    assert_int_equal(wr_json_parse(&answer, &arena, wr_span_of(answer_text), NULL, NULL), WEIR_OK);
    assert_int_equal(wr_evidence_init(&evidence, &arena), WEIR_OK);
    assert_int_equal(wr_evidence_note(&evidence, &first, &at), WEIR_OK);
    assert_int_equal(at.base, 0);
    assert_int_equal(wr_evidence_note(&evidence, &first, &at), WEIR_OK);
    assert_int_equal(at.base, 0);
    assert_int_equal(wr_evidence_note(&evidence, &second, &at), WEIR_OK);
    assert_int_equal(at.base, first.segments_count);
    assert_int_equal(wr_evidence_find(&evidence, &at, &answer, &arena, &found), WEIR_OK);
    assert_int_equal(found.count, 0);
    wr_evidence_release(&evidence);
    wr_arena_release(&arena);
}

static void recalls_are_counted_once(void **state)
{
    struct wr_evidence_item items[3] = {[2].is_repeated = true};
    struct wr_evidence_items found = {.items = items, .count = 3, .cap = 3};
    struct wr_evidence_judged judged[3] = {{WR_EVIDENCE_RECALLABLE, {{1}}},
                                           {WR_EVIDENCE_RECALLABLE, {{1}}},
                                           {WR_EVIDENCE_RECALLABLE, {{2}}}};
    struct wr_evidence_tally tally = {0};
    weir_handle handles[3];
    (void)state;
    assert_int_equal(wr_evidence_recalls(&found, judged, handles), 1);
    wr_evidence_count(&tally, &found, judged);
    assert_int_equal(tally.all[WR_EVIDENCE_RECALLABLE], 2);
    assert_int_equal(tally.repeated[WR_EVIDENCE_RECALLABLE], 1);
    assert_int_equal(tally.answers_wanting, 1);
}

/* ---- sums ---- */

static const enum wr_evidence_verdict there = WR_EVIDENCE_SUPPORTED, away = WR_EVIDENCE_RECALLABLE;

struct used {
    enum wr_evidence_kind kind;
    uint32_t source, age;
    enum wr_evidence_verdict verdict;
    bool is_repeated;
};

static void count_used(struct wr_evidence_tally *tally, const struct used *used, uint32_t count)
{
    struct wr_evidence_item items[8];
    struct wr_evidence_judged judged[8];
    struct wr_evidence_items found = {.items = items, .count = count, .cap = 8};
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (struct wr_evidence_item){.kind = used[i].kind,
                                             .source = used[i].source,
                                             .age = used[i].age,
                                             .is_first_sight = !used[i].age,
                                             .is_repeated = used[i].is_repeated};
        judged[i] = (struct wr_evidence_judged){.verdict = used[i].verdict};
    }
    wr_evidence_count(tally, &found, judged);
}

static void a_blind_quote_is_a_request_that_lacks_a_line(void **state)
{
    struct wr_evidence_tally t = {0}, sum = {0};
    (void)state;
    count_used(&t, (struct used[]){{WR_EVIDENCE_LINE, 3, 9, there, false}}, 1);
    assert_int_equal(t.answers_blind, 0);
    count_used(&t, (struct used[]){{WR_EVIDENCE_PATH, 3, 9, away, false}}, 1);
    assert_int_equal(t.answers_blind, 0); /* a path is no line */
    assert_int_equal(t.answers_all_missing, 1);
    count_used(&t, (struct used[]){{WR_EVIDENCE_LINE, 3, 9, away, true}}, 1);
    assert_int_equal(t.answers_blind, 0); /* it was said since */
    count_used(&t,
               (struct used[]){{WR_EVIDENCE_LINE, 3, 40, away, false},
                               {WR_EVIDENCE_LINE, 5, 11, WR_EVIDENCE_LOST, false},
                               {WR_EVIDENCE_LINE, 6, 0, there, false}},
               3);
    assert_int_equal(t.answers_blind, 1); /* once a request, by its newest line */
    assert_int_equal(t.blind_by_age[3], 1);
    assert_int_equal(t.answers, 3);
    assert_int_equal(t.answers_wanting, 2);
    assert_int_equal(t.answers_all_missing, 1);
    count_used(&t, (struct used[]){{WR_EVIDENCE_LINE, 6, 3, away, false}}, 1);
    assert_int_equal(t.blind_by_age[1], 1);
    wr_evidence_tally_add(&sum, &t);
    wr_evidence_tally_add(&sum, &t);
    assert_int_equal(sum.answers_blind, 4);
    assert_int_equal(sum.blind_by_age[3], 2);
}

static void what_the_model_wrote_is_counted_apart(void **state)
{
    struct wr_evidence_item items[2] = {
        {.kind = WR_EVIDENCE_LINE, .is_repeated = true, .is_own = true, .is_written = true},
        {.kind = WR_EVIDENCE_LINE, .is_repeated = true, .is_own = true}};
    struct wr_evidence_judged judged[2] = {{.verdict = away}, {.verdict = away}};
    struct wr_evidence_items found = {.items = items, .count = 2, .cap = 2};
    struct wr_evidence_tally t = {0}, sum = {0};
    weir_handle handles[2];
    (void)state;
    judged[1].handle.bytes[0] = 1;
    wr_evidence_count(&t, &found, judged);
    assert_int_equal(t.answers, 0); /* no evidence of a result, so no blind quote */
    assert_int_equal(t.answers_blind, 0);
    assert_int_equal(t.own[away], 2);
    assert_int_equal(t.answers_own, 1);
    assert_int_equal(t.answers_own_blind, 1);
    assert_int_equal(wr_evidence_recalls(&found, judged, handles), 1); /* not the plain word */
    assert_int_equal(handles[0].bytes[0], 0);
    judged[0].verdict = there;
    wr_evidence_count(&t, &found, judged);
    assert_int_equal(t.answers_own_blind, 1);
    wr_evidence_tally_add(&sum, &t);
    wr_evidence_tally_add(&sum, &t);
    assert_int_equal(sum.answers_own, 4);
    assert_int_equal(sum.own[there], 2);
}

static void first_sight_is_counted_by_result_and_request_too(void **state)
{
    struct wr_evidence_tally t = {0};
    (void)state;
    count_used(&t,
               (struct used[]){{WR_EVIDENCE_LINE, 7, 0, away, false},
                               {WR_EVIDENCE_LINE, 7, 0, there, false},
                               {WR_EVIDENCE_PATH, 8, 0, there, false},
                               {WR_EVIDENCE_PATH, 2, 5, away, false}},
               4);
    count_used(&t, (struct used[]){{WR_EVIDENCE_PATH, 9, 0, there, false}}, 1);
    assert_int_equal(t.sight_results, 3);
    assert_int_equal(t.sight_results_whole, 2);
    assert_int_equal(t.sight_answers, 2);
    assert_int_equal(t.sight_answers_whole, 1);
    assert_int_equal(t.first_sight[WR_EVIDENCE_SUPPORTED], 3);
}

static uint64_t count_bytes(void *user, weir_span text)
{
    (void)user;
    return text.len;
}

/* A line of the user's is gone where it stands nowhere in the prompt, and counted once. */
static void words_of_the_user_are_missed_once(void **state)
{
    static const struct {
        const char *behaviour, *projected;
        uint64_t tokens;
    } gone[] = {
        {"all is there", U("mend the gate\\nand be quick") AFTER, 0},
        {"it is gone", U("something else") AFTER, 25},
        {"a summary holds a line of it", U("he said: mend the gate") AFTER, 12},
        {"a summary holds all of it", U("asked:\\n mend the gate\\n and be quick") AFTER, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(gone); i++) {
        struct wr_transcript original, projected;
        struct wr_evidence_view view;
        struct wr_evidence_at at;
        struct wr_arena arena;
        uint64_t tokens;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        struct wr_evidence_gone seen = {.arena = &arena};
        assert_int_equal(read_request(&original, &arena, U("mend the gate\\nand be quick") AFTER),
                         WEIR_OK);
        assert_int_equal(read_request(&projected, &arena, gone[i].projected), WEIR_OK);
        assert_int_equal(wr_evidence_view_read(&view, &arena, &original, &projected), WEIR_OK);
        at = (struct wr_evidence_at){.segments_count = original.segments_count};
        assert_int_equal(
            wr_evidence_user_tokens_gone(&seen, &original, &at, &view, count_bytes, NULL, &tokens),
            WEIR_OK);
        if (tokens != gone[i].tokens)
            fail_msg("%s: %llu", gone[i].behaviour, (unsigned long long)tokens);
        assert_int_equal(
            wr_evidence_user_tokens_gone(&seen, &original, &at, &view, count_bytes, NULL, &tokens),
            WEIR_OK);
        assert_int_equal(tokens, 0);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_use_what_the_rules_say),
        cmocka_unit_test(what_a_prompt_lacks_is_recallable_or_lost),
        cmocka_unit_test(json_is_read_before_and_behind_a_handle),
        cmocka_unit_test(a_compaction_begins_anew),
        cmocka_unit_test(recalls_are_counted_once),
        cmocka_unit_test(a_blind_quote_is_a_request_that_lacks_a_line),
        cmocka_unit_test(what_the_model_wrote_is_counted_apart),
        cmocka_unit_test(first_sight_is_counted_by_result_and_request_too),
        cmocka_unit_test(words_of_the_user_are_missed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
