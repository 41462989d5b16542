/* The facts of a summary, checked on recorded sessions against a second reader (tests/raw_facts.c)
 * that shares no code with the first. Precision: how much of what the summary says the second
 * reader says too. Recall: how much of what the second reader says the summary says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/stage.h"
#include "policy/summary.h"
#include "tests/raw_facts.h"
#include "tests/traces.h"

enum { SESSIONS_MAX = 20, TOKENS_MAX = 4000 };
#define FLOOR 0.9

struct score {
    const char *name;
    size_t ours, ours_confirmed, theirs, theirs_found;
};

struct session {
    struct wr_arena arena;
    struct wr_buf text, body;
    struct wr_session messages;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_facts facts;
};

static void open_session(struct session *s, const struct traces *traces, size_t index)
{
    struct wr_api_options options = {0};
    struct weir_err err = {0};

    wr_arena_init(&s->arena, WR_ARENA_BYTES_MAX);
    traces_read(traces, index, &s->text, &s->arena, &s->messages);
    struct wr_session_request request = {WEIR_DIALECT_CHAT, s->messages.messages_count, "m", true};
    wr_buf_init(&s->body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(&s->messages, &request, &s->body);
    if (wr_json_parse(&s->doc, &s->arena, wr_buf_view(&s->body), NULL, &err) ||
        wr_api_read(&s->transcript, &s->arena, &s->doc, &options, &err))
        fail_msg("%s: %s", traces->paths[index], err.text);
    struct wr_facts_range range = {&s->transcript, 0, s->transcript.segments_count, NULL};
    s->facts = (struct wr_facts){0};
    assert_int_equal(wr_facts_add(&s->facts, &s->arena, &range), WEIR_OK);
}

static void close_session(struct session *s)
{
    wr_buf_release(&s->text);
    wr_buf_release(&s->body);
    wr_arena_release(&s->arena);
}

static bool has(const struct raw_list *list, weir_span text, size_t bytes_max)
{
    for (size_t i = 0; i < list->count; i++) {
        weir_span other = wr_span_of(list->texts[i]);
        if (other.len > bytes_max)
            other.len = bytes_max;
        if (wr_span_eq(other, text))
            return true;
    }
    return false;
}

/* With WEIR_SHOW set, says where the two differ. */
static void show(const char *what, const char *name, weir_span text)
{
    if (getenv("WEIR_SHOW"))
        printf("  %s %s: %.*s\n", name, what, (int)text.len, text.ptr);
}

/* Our items of one kind, made alike to the second reader's. */
struct items {
    weir_span *texts;
    size_t count;
};

static void compare(struct score *score, const struct items *ours, const struct raw_list *theirs,
                    size_t bytes_max)
{
    score->ours += ours->count;
    score->theirs += theirs->count;
    for (size_t i = 0; i < ours->count; i++) {
        if (has(theirs, ours->texts[i], bytes_max))
            score->ours_confirmed++;
        else
            show("only in the summary", score->name, ours->texts[i]);
    }
    for (size_t i = 0; i < theirs->count; i++) {
        weir_span text = wr_span_of(theirs->texts[i]);
        bool found = false;
        if (text.len > bytes_max)
            text.len = bytes_max;
        for (size_t n = 0; n < ours->count && !found; n++)
            found = wr_span_eq(ours->texts[n], text);
        if (found)
            score->theirs_found++;
        else
            show("missing in the summary", score->name, text);
    }
}

static weir_span cut_line(weir_span line)
{
    if (wr_span_ends(line, WR_LIT(" ...")))
        line.len -= 4;
    if (line.len > RAW_LINE_BYTES)
        line.len = RAW_LINE_BYTES;
    return line;
}

static void compare_session(struct score scores[3], struct session *s)
{
    const struct wr_facts *facts = &s->facts;
    struct raw_facts raw;
    struct items changed = {WR_ARENA_ARRAY(&s->arena, weir_span, facts->files_count), 0};
    struct items failing = {WR_ARENA_ARRAY(&s->arena, weir_span, facts->tasks_count), 0};
    struct items open = {WR_ARENA_ARRAY(&s->arena, weir_span, facts->tasks_count), 0};

    for (uint32_t i = 0; i < facts->files_count; i++)
        if (facts->files[i].changes_count)
            changed.texts[changed.count++] = facts->files[i].path;
    for (uint32_t i = 0; i < facts->tasks_count; i++) {
        const struct wr_fact_task *task = &facts->tasks[i];
        if (task->outcome != WR_FACT_FAILED)
            continue;
        if (task->is_command)
            failing.texts[failing.count++] = cut_line(task->line);
        open.texts[open.count++] = s->transcript.segments[task->last].call_id;
    }
    raw_facts_read(&raw, s->text.bytes, s->text.len);
    compare(&scores[0], &changed, &raw.changed, SIZE_MAX);
    compare(&scores[1], &failing, &raw.failing, RAW_LINE_BYTES);
    compare(&scores[2], &open, &raw.open, SIZE_MAX);
    raw_facts_free(&raw);
}

static uint64_t count(void *user, weir_span text)
{
    (void)user;
    return (text.len + 3) / 4;
}

/* The summary of the whole session stays within its cap and says every open failure it has room
 * for. */
static void check_text(struct session *s)
{
    struct wr_summary_input input = {
        {&s->transcript, 0, s->transcript.segments_count, NULL}, TOKENS_MAX, count, NULL};
    weir_span text, again;
    assert_int_equal(wr_summary_write(&s->facts, &input, &s->arena, &text), WEIR_OK);
    assert_true(count(NULL, text) <= TOKENS_MAX);
    assert_true(wr_span_starts(text, WR_LIT("[CONVERSATION SUMMARY]\n")));
    assert_int_equal(wr_summary_build(&input, &s->arena, &again), WEIR_OK);
    assert_true(wr_span_eq(text, again));
}

static void print_score(const struct score *score)
{
    printf("note: %s: precision %.3f (%zu of %zu), recall %.3f (%zu of %zu)\n", score->name,
           (double)score->ours_confirmed / (double)score->ours, score->ours_confirmed, score->ours,
           (double)score->theirs_found / (double)score->theirs, score->theirs_found, score->theirs);
}

static void facts_agree_with_a_second_reader(void **state)
{
    struct score scores[3] = {
        {.name = "files changed"}, {.name = "failing commands"}, {.name = "open errors"}};
    struct traces traces;
    (void)state;

    traces_open(&traces);
    size_t sessions = traces.count < SESSIONS_MAX ? traces.count : SESSIONS_MAX;
    for (size_t i = 0; i < sessions; i++) {
        struct session s = {0};
        size_t index = i * traces.count / sessions; /* of every agent some */
        open_session(&s, &traces, index);
        if (getenv("WEIR_SHOW"))
            printf("%s\n", traces.paths[index]);
        compare_session(scores, &s);
        check_text(&s);
        close_session(&s);
    }
    bool are_recorded = traces.are_recorded;
    traces_close(&traces);
    if (!are_recorded) {
        printf("SKIPPED: no recorded sessions to compare on\n");
        skip();
    }
    for (size_t i = 0; i < 3; i++)
        print_score(&scores[i]);
    for (size_t i = 0; i < 3; i++) {
        assert_true((double)scores[i].ours_confirmed >= FLOOR * (double)scores[i].ours);
        assert_true((double)scores[i].theirs_found >= FLOOR * (double)scores[i].theirs);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(facts_agree_with_a_second_reader)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
