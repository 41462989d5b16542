/* Real logs: every file of ../shared/traces/raw becomes the messages of
 * ../shared/traces/normalized.
 *
 * Three differences are meant, and counted:
 *   spelling  arguments and other JSON that the log holds as values keep the log's spelling; the
 *             others were written anew, with a space behind each comma and colon. Same values.
 *   picture   the line in place of an image names its bytes, which that spelling changes.
 *   made up   a call that was never answered, in a session that went on, gets its host's words.
 *
 * Where the conversion is wrong, and the log's own agent says otherwise:
 *   - It leaves calls that were aborted without a result. No provider takes such a request, and the
 *     agents answer them ("made up").
 *   - opencode puts a sentence where the user started a subtask; the conversion leaves the user's
 *     message empty, and so out ("left out"). What its host then says the subtask did is no answer
 *     of a model: one request less each.
 *   - pi fences the output of a command that its user ran; the conversion does not ("spelling").
 * An id that the log holds only as REDACTED is made anew by both, each in its own way: there the
 * places of call and result are compared, which they are for all others too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "bench/clock.h"
#include "api/lawful.h"
#include "lab/import.h"
#include "lab/import_draft.h"
#include "tests/core_laws.h"
#include "api/api.h"

static const char traces[] = "../shared/traces";

enum { PATH_BYTES = 2048, ROW_BYTES = 512, AGENTS_MAX = 16 };

enum sameness { SAME, SPELLING, PICTURE, DIFFERENT };

struct tally {
    const char *agent;
    uint32_t sessions, timed, compactions, messages, requests;
    uint32_t same, spelling, picture, made_up, left_out, different;
    char models[256];
};

struct suite {
    struct wr_arena arena;
    struct tally tallies[AGENTS_MAX];
    uint32_t tallies_count;
    double import_s;
    size_t bytes;
};

/* ---- comparing ---- */

static weir_span text_of(struct wr_arena *arena, const struct wr_json *doc, wr_json_id id)
{
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_text(doc, arena, id) : WR_LIT("");
}

static bool same_scalar(struct wr_arena *arena, const struct wr_json *a, const struct wr_json *b,
                        wr_json_id id)
{
    if (wr_json_kind(a, id) != wr_json_kind(b, id))
        return false;
    if (wr_json_kind(a, id) == WR_JSON_STRING)
        return wr_span_eq(wr_json_text(a, arena, id), wr_json_text(b, arena, id));
    if (wr_json_kind(a, id) != WR_JSON_NUMBER)
        return true;
    char x[64], y[64];
    (void)snprintf(x, sizeof(x), "%.*s", (int)wr_json_raw(a, id).len, wr_json_raw(a, id).ptr);
    (void)snprintf(y, sizeof(y), "%.*s", (int)wr_json_raw(b, id).len, wr_json_raw(b, id).ptr);
    return strtod(x, NULL) == strtod(y, NULL);
}

/* The same values in the same order: the same nodes. */
static bool same_json(struct wr_arena *arena, weir_span a, weir_span b)
{
    struct wr_json x, y;
    if (wr_json_parse(&x, arena, a, NULL, NULL) || wr_json_parse(&y, arena, b, NULL, NULL) ||
        x.nodes_count != y.nodes_count)
        return false;
    for (uint32_t i = 0; i < x.nodes_count; i++)
        if (x.nodes[i].after != y.nodes[i].after || !same_scalar(arena, &x, &y, i))
            return false;
    return true;
}

/* Texts of lines that are each the same, or the same JSON, or name a picture. */
static enum sameness compare_text(struct wr_arena *arena, weir_span a, weir_span b)
{
    enum sameness worst = SAME;
    weir_span x, y, x_rest = a, y_rest = b;
    if (wr_span_eq(a, b))
        return SAME;
    if (same_json(arena, a, b))
        return SPELLING;
    for (;;) {
        bool has_x = wr_span_line(&x_rest, &x), has_y = wr_span_line(&y_rest, &y);
        if (has_x != has_y)
            return DIFFERENT;
        if (!has_x)
            return worst;
        if (wr_span_eq(x, y))
            continue;
        bool is_picture = wr_span_starts(x, WR_LIT("[image omitted, ")) &&
                          wr_span_starts(y, WR_LIT("[image omitted, "));
        if (is_picture && worst < PICTURE)
            worst = PICTURE;
        else if (!is_picture && same_json(arena, x, y) && worst < SPELLING)
            worst = SPELLING;
        else if (!is_picture && !same_json(arena, x, y))
            return DIFFERENT;
    }
}

/* The calls of one session as both sides name them, in their order: two ids mean one call where
 * they have the same number. */
struct pairing {
    struct wr_arena *arena;
    struct wr_names ours, theirs;
};

/* A call: new on both sides, and called the same unless the log did not say how. */
static bool same_call(struct pairing *p, weir_span ours, weir_span theirs)
{
    bool is_new[2];
    uint32_t x = wr_names_add(&p->ours, p->arena, ours, &is_new[0]);
    uint32_t y = wr_names_add(&p->theirs, p->arena, theirs, &is_new[1]);
    bool is_made = wr_span_starts(theirs, WR_LIT("oc")) || wr_span_starts(theirs, WR_LIT("call"));
    return x == y && is_new[0] && is_new[1] && (is_made || wr_span_eq(ours, theirs));
}

/* A result, or no result on either side. */
static bool same_result(const struct pairing *p, weir_span ours, weir_span theirs)
{
    if (!ours.len || !theirs.len)
        return ours.len == theirs.len;
    uint32_t x = wr_names_find(&p->ours, ours);
    return x != WR_NAMES_NONE && x == wr_names_find(&p->theirs, theirs);
}

static enum sameness compare_calls(struct pairing *pairs, const struct wr_json *a,
                                   const struct wr_json *b)
{
    struct wr_arena *arena = pairs->arena;
    wr_json_id x_list = wr_json_find(a, 0, "tool_calls"), y_list = wr_json_find(b, 0, "tool_calls");
    enum sameness worst = SAME;
    wr_json_id x = wr_json_first(a, x_list), y = wr_json_first(b, y_list);
    for (; x != WR_JSON_NONE && y != WR_JSON_NONE;
         x = wr_json_next(a, x_list, x), y = wr_json_next(b, y_list, y)) {
        wr_json_id f = wr_json_find(a, x, "function"), g = wr_json_find(b, y, "function");
        if (!same_call(pairs, text_of(arena, a, wr_json_find(a, x, "id")),
                       text_of(arena, b, wr_json_find(b, y, "id"))) ||
            !wr_span_eq(text_of(arena, a, wr_json_find(a, f, "name")),
                        text_of(arena, b, wr_json_find(b, g, "name"))))
            return DIFFERENT;
        enum sameness one = compare_text(arena, text_of(arena, a, wr_json_find(a, f, "arguments")),
                                         text_of(arena, b, wr_json_find(b, g, "arguments")));
        worst = one > worst ? one : worst;
    }
    return x == y ? worst : DIFFERENT;
}

/* A command that pi's user ran: the same up to its output, around which only pi puts a fence. */
static bool same_command(weir_span ours, weir_span theirs)
{
    size_t same = 0;
    while (same < ours.len && same < theirs.len && ours.ptr[same] == theirs.ptr[same])
        same++;
    return wr_span_starts(theirs, WR_LIT("Ran `")) &&
           wr_span_starts(wr_span_cut(ours, same, ours.len), WR_LIT("```\n"));
}

static enum sameness compare_message(struct pairing *pairs, const struct wr_json *a,
                                     const struct wr_json *b)
{
    static const char *const keys[] = {"role", "name"};
    struct wr_arena *arena = pairs->arena;
    if (!same_result(pairs, text_of(arena, a, wr_json_find(a, 0, "tool_call_id")),
                     text_of(arena, b, wr_json_find(b, 0, "tool_call_id"))))
        return DIFFERENT;
    for (size_t i = 0; i < 2; i++)
        if (!wr_span_eq(text_of(arena, a, wr_json_find(a, 0, keys[i])),
                        text_of(arena, b, wr_json_find(b, 0, keys[i]))))
            return DIFFERENT;
    enum sameness calls = compare_calls(pairs, a, b);
    weir_span ours = text_of(arena, a, wr_json_find(a, 0, "content"));
    weir_span theirs = text_of(arena, b, wr_json_find(b, 0, "content"));
    enum sameness text = compare_text(arena, ours, theirs);
    if (text == DIFFERENT && same_command(ours, theirs))
        text = SPELLING;
    return calls > text ? calls : text;
}

/* A result that the log does not have: its host's words for that. */
static bool is_made_up(struct wr_arena *arena, const struct wr_json *message)
{
    weir_span text = text_of(arena, message, wr_json_find(message, 0, "content"));
    return wr_json_text_is(message, wr_json_find(message, 0, "role"), "tool") &&
           (wr_span_is(text, "[Tool result missing due to internal error]") ||
            wr_span_is(text, "No result provided") ||
            wr_span_is(text, "[the log holds no result of this call]"));
}

/* What opencode says where the user started a subtask. */
static bool is_left_out(struct wr_arena *arena, const struct wr_json *message)
{
    weir_span text = text_of(arena, message, wr_json_find(message, 0, "content"));
    return wr_json_text_is(message, wr_json_find(message, 0, "role"), "user") &&
           wr_span_is(text, "The following tool was executed by the user");
}

static void count(struct tally *t, enum sameness sameness)
{
    uint32_t *counts[] = {&t->same, &t->spelling, &t->picture, &t->different};
    (*counts[sameness])++;
}

static void show(const char *id, const struct wr_json *a, const struct wr_json *b)
{
    printf("%s:\n  log        %.300s\n  normalized %.300s\n", id,
           a ? a->text.ptr + a->nodes[0].start : "(none)",
           b ? b->text.ptr + b->nodes[0].start : "(none)");
}

static void compare(struct suite *s, struct tally *t, const char *id, const struct wr_session *ours,
                    const struct wr_session *theirs)
{
    struct pairing pairs = {.arena = &s->arena};
    uint32_t i = 0, k = 0;
    while (i < ours->messages_count || k < theirs->messages_count) {
        const struct wr_json *a = i < ours->messages_count ? &ours->messages[i] : NULL;
        const struct wr_json *b = k < theirs->messages_count ? &theirs->messages[k] : NULL;
        enum sameness one = a && b ? compare_message(&pairs, a, b) : DIFFERENT;
        if (one == DIFFERENT && a && is_made_up(&s->arena, a)) {
            t->made_up++;
            i++;
            continue;
        }
        if (one == DIFFERENT && a && is_left_out(&s->arena, a)) {
            t->left_out++;
            i++;
            continue;
        }
        if (one == DIFFERENT && t->different < 5)
            show(id, a, b);
        count(t, one);
        i++;
        k++;
    }
}

/* ---- the files ---- */

static struct tally *tally_of(struct suite *s, const char *agent)
{
    for (uint32_t i = 0; i < s->tallies_count; i++)
        if (!strcmp(s->tallies[i].agent, agent))
            return &s->tallies[i];
    assert_true(s->tallies_count < AGENTS_MAX);
    s->tallies[s->tallies_count].agent = agent;
    return &s->tallies[s->tallies_count++];
}

static void note_model(struct tally *t, weir_span model)
{
    char name[64];
    size_t used = strlen(t->models);
    (void)snprintf(name, sizeof(name), "%.*s", (int)model.len, model.ptr);
    if (model.len && !strstr(t->models, name))
        (void)snprintf(t->models + used, sizeof(t->models) - used, "%s%s", used ? ", " : "", name);
}

/* Calls and results of a request are in order, whatever the host did to its history. */
static bool is_paired(weir_span body, weir_dialect dialect)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(dialect)};
    struct wr_transcript transcript;
    struct wr_breaches breaches = {0};
    struct wr_arena arena;
    struct wr_json doc;
    bool ok = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&transcript, &arena, &doc, &options, NULL), WEIR_OK);
    assert_int_equal(wr_lawful_check(&transcript, &arena, &breaches), WEIR_OK);
    for (uint32_t i = 0; i < breaches.count && ok; i++) {
        ok = breaches.items[i].rule > WR_RULE_RESULT_AFTER_TEXT;
        if (!ok)
            printf("%s\n", wr_rule_text(breaches.items[i].rule));
    }
    wr_arena_release(&arena);
    return ok;
}

static bool is_looked_at(const struct wr_session *session, uint32_t n)
{
    return n + 1 == session->requests_count || wr_session_view(session, n).is_compacted;
}

/* The last request, and those that follow a compaction. */
static bool requests_hold(const struct wr_session *session)
{
    bool ok = true;
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_CONVERSE; d++) {
        struct core_laws_counts counts = {0};
        struct wr_session_request request = {(weir_dialect)d, 0, "m", WR_SESSION_TOOLS};
        struct wr_session_body body;
        wr_session_body_init(&body, session, &request);
        for (uint32_t n = 0; n < session->requests_count && ok; n++) {
            weir_span bytes = wr_session_body_at(&body, n);
            if (is_looked_at(session, n))
                ok = is_paired(bytes, (weir_dialect)d) &&
                     core_laws_hold(bytes, (weir_dialect)d, &counts);
        }
        wr_session_body_release(&body);
    }
    return ok;
}

/* The normalized messages are a log too: a plain list, which comes out as it went in. */
static void check_plain_list(struct suite *s, const char *id, weir_span lines,
                             const struct wr_session *theirs)
{
    struct wr_import import;
    struct tally tally = {.agent = "chat"};
    assert_int_equal(wr_import_read(&import, &s->arena, lines, NULL), WEIR_OK);
    assert_string_equal(import.agent, "chat");
    compare(s, &tally, id, &import.sessions[0], theirs);
    if (tally.different || tally.spelling || import.sessions[0].has_times)
        fail_msg("%s: a plain list of messages does not come out as it went in", id);
}

static void check_session(struct suite *s, const char *id, const struct wr_import *import,
                          uint32_t number)
{
    char path[PATH_BYTES];
    struct wr_buf lines;
    struct wr_session theirs;
    struct tally *t = tally_of(s, import->agent);
    const struct wr_session *ours = &import->sessions[number];

    wr_buf_init(&lines, WR_IMPORT_FILE_BYTES_MAX);
    (void)snprintf(path, sizeof(path), "%s/normalized/%s.jsonl", traces, id);
    assert_true(wr_test_file(path, &lines));
    assert_int_equal(wr_session_read(&theirs, &s->arena, wr_buf_view(&lines), NULL), WEIR_OK);
    check_plain_list(s, id, wr_buf_view(&lines), &theirs);
    uint32_t subtasks = t->left_out;
    compare(s, t, id, ours, &theirs);
    subtasks = t->left_out - subtasks;
    t->sessions++;
    t->timed += ours->has_times;
    t->compactions += ours->compactions_count;
    t->messages += ours->messages_count;
    t->requests += ours->requests_count;
    note_model(t, ours->model);
    if (ours->requests_count + subtasks != theirs.requests_count)
        fail_msg("%s: %u requests, %u expected", id, ours->requests_count, theirs.requests_count);
    assert_true(requests_hold(ours));
    wr_buf_release(&lines);
}

static void check_row(struct suite *s, const char *id, const char *raw)
{
    char path[PATH_BYTES];
    struct wr_buf bytes;
    struct wr_import import;
    struct weir_err err = {0};
    const char *number = strchr(raw, ' ');

    wr_buf_init(&bytes, WR_IMPORT_FILE_BYTES_MAX);
    (void)snprintf(path, sizeof(path), "%s/%.*s", traces,
                   (int)(number ? (size_t)(number - raw) : strlen(raw)), raw);
    assert_true(wr_test_file(path, &bytes));
    double start_s = bench_now_s();
    weir_status status = wr_import_read(&import, &s->arena, wr_buf_view(&bytes), &err);
    s->import_s += bench_now_s() - start_s;
    s->bytes += bytes.len;
    if (status)
        fail_msg("%s: %s", path, err.text);
    uint32_t wanted = number ? (uint32_t)strtoul(number, NULL, 10) : 0;
    assert_true(wanted < import.sessions_count);
    check_session(s, id, &import, wanted);
    wr_buf_release(&bytes);
    wr_arena_reset(&s->arena);
}

/* What was found when the differences were last looked at one by one. */
static const struct tally expected[] = {
    {"claude-code", 42, 42, 21, 8092, 3669, 4665, 3410, 15, 2, 0, 0, ""},
    {"codex", 12, 12, 11, 5115, 1841, 5099, 16, 0, 0, 0, 0, ""},
    {"copilot-cli", 2, 2, 0, 246, 110, 140, 106, 0, 0, 0, 0, ""},
    {"pi", 12, 12, 2, 2759, 1299, 1548, 1187, 0, 24, 0, 0, ""},
    {"opencode", 12, 12, 5, 1298, 494, 842, 447, 0, 0, 9, 0, ""},
    {"mini-swe-agent", 20, 20, 0, 3130, 1545, 1586, 1544, 0, 0, 0, 0, ""},
    {"swe-agent", 4, 0, 0, 134, 64, 83, 51, 0, 0, 0, 0, ""},
    {"tau-bench", 6, 0, 0, 358, 173, 358, 0, 0, 0, 0, 0, ""},
};

static bool is_expected(const struct tally *t)
{
    for (size_t i = 0; i < WR_COUNT_OF(expected); i++) {
        struct tally known = *t;
        known.agent = expected[i].agent;
        memcpy(known.models, expected[i].models, sizeof(known.models));
        if (!strcmp(t->agent, expected[i].agent))
            return !memcmp(&known, &expected[i], sizeof(known));
    }
    return false;
}

static void print_tally(const struct tally *t)
{
    printf("%-15s %3u sessions, %3u with times, %2u compactions, %5u messages, %5u requests: "
           "%5u same, %4u spelling, %u picture, %u made up, %u left out, %u different; %s\n",
           t->agent, t->sessions, t->timed, t->compactions, t->messages, t->requests, t->same,
           t->spelling, t->picture, t->made_up, t->left_out, t->different, t->models);
}

static void logs_become_the_messages_they_hold(void **state)
{
    static struct suite s;
    struct wr_buf table;
    weir_span rest, line;
    char path[PATH_BYTES];
    bool ok = true;
    (void)state;

    wr_buf_init(&table, 1 << 20);
    (void)snprintf(path, sizeof(path), "%s/sessions.tsv", traces);
    if (!wr_test_file(path, &table))
        skip();
    wr_arena_init(&s.arena, WR_ARENA_BYTES_MAX);
    rest = wr_buf_view(&table);
    (void)wr_span_line(&rest, &line);
    while (wr_span_line(&rest, &line)) {
        char row[ROW_BYTES], *id = row, *raw;
        line = wr_span_trim(line);
        (void)snprintf(row, sizeof(row), "%.*s", (int)line.len, line.ptr);
        raw = strrchr(row, '\t');
        assert_non_null(raw);
        *strchr(row, '\t') = '\0';
        check_row(&s, id, raw + 1);
    }
    for (uint32_t i = 0; i < s.tallies_count; i++) {
        print_tally(&s.tallies[i]);
        ok &= is_expected(&s.tallies[i]);
    }
    printf("imported %.1f MB of gzip in %.2f s\n", (double)s.bytes / 1e6, s.import_s);
    wr_arena_release(&s.arena);
    wr_buf_release(&table);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logs_become_the_messages_they_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
