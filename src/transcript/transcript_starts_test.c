#include "transcript/transcript.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"

/* A body read with what is known of earlier ones must be what it is when it is read alone. */

enum {
    BODY_BYTES_MAX = 4 * 1024 * 1024,
    MESSAGE_BYTES = 900,
    BLOCK_BYTES = 4096 /* as transcript.c hashes them */
};

struct reading {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
};

static void read_body(struct reading *r, struct wr_starts *starts, weir_span body,
                      const char *dialect)
{
    struct wr_start start;
    bool is_known = wr_starts_find(starts, body, &start);
    struct wr_json_options json = {.start = is_known ? &start.json : NULL};
    struct wr_api_options options = {.dialect = dialect, .start = &start};
    struct weir_err err = {0};

    wr_arena_init(&r->arena, WR_ARENA_BYTES_MAX);
    if (wr_json_parse(&r->doc, &r->arena, body, &json, &err) ||
        wr_api_read(&r->transcript, &r->arena, &r->doc, &options, &err))
        fail_msg("%s at byte %zu", err.text, err.at_byte);
    wr_starts_keep(starts, &r->transcript, &start);
}

static void same_span(weir_span a, weir_span b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void same_segment(const struct wr_segment *a, const struct wr_segment *b)
{
    same_span(a->tool, b->tool);
    same_span(a->call_id, b->call_id);
    same_span(a->other_id, b->other_id);
    assert_int_equal(a->parts_count, b->parts_count);
    for (uint32_t i = 0; i < a->parts_count; i++)
        assert_int_equal(a->parts[i], b->parts[i]);
    assert_int_equal(a->handles == NULL, b->handles == NULL);
    if (a->handles) {
        same_span(a->handles->path, b->handles->path);
        same_span(a->handles->command, b->handles->command);
    }
    /* Everything else: the same but for the pointers, which were compared by what they point at. */
    struct wr_segment x = *a, y = *b;
    x.tool = y.tool = x.call_id = y.call_id = x.other_id = y.other_id = (weir_span){"", 0};
    x.parts = y.parts = NULL;
    x.handles = y.handles = NULL;
#define SAME(field) assert_int_equal((intmax_t)x.field, (intmax_t)y.field)
    SAME(role);
    SAME(kind);
    SAME(class_);
    SAME(why_other);
    SAME(from_model);
    SAME(is_error);
    SAME(is_opaque);
    SAME(is_signed);
    SAME(is_continuation);
    SAME(has_exact_blocks);
    SAME(link);
    SAME(payload);
    SAME(element);
    SAME(array);
    SAME(message);
    SAME(block);
    SAME(marker);
    SAME(turn);
    SAME(loop);
    SAME(group);
    SAME(pair);
    SAME(is_steering);
    SAME(is_repeated_result);
    SAME(staleness);
    SAME(stale_by);
    SAME(touched_by);
    SAME(has_slack);
    SAME(is_slack_known);
    SAME(is_superseded);
#undef SAME
    assert_string_equal(x.why, y.why);
}

static void same_reading(const struct reading *a, const struct reading *b)
{
    const struct wr_transcript *x = &a->transcript, *y = &b->transcript;
    assert_int_equal(a->doc.nodes_count, b->doc.nodes_count);
    for (uint32_t i = 0; i < a->doc.nodes_count; i++) {
        const struct wr_json_node *m = &a->doc.nodes[i], *n = &b->doc.nodes[i];
        assert_true(m->start == n->start && m->end == n->end && m->after == n->after);
        assert_true(m->kind == n->kind && m->escaped == n->escaped);
        assert_true(m->is_key == n->is_key && m->ascii == n->ascii);
    }
    assert_int_equal(x->segments_count, y->segments_count);
    for (uint32_t i = 0; i < x->segments_count; i++) {
        same_segment(&x->segments[i], &y->segments[i]);
        wr_hash128 h = wr_segment_body_hash(x, &x->segments[i]);
        wr_hash128 k = wr_segment_body_hash(y, &y->segments[i]);
        assert_true(h.low == k.low && h.high == k.high);
    }
    assert_int_equal(x->turns_count, y->turns_count);
    assert_int_equal(x->loops_count, y->loops_count);
    assert_int_equal(x->binds_prefix, y->binds_prefix);
    assert_int_equal(x->list, y->list);
}

/* Reads the body with and without what is known; says how many segments were taken over. */
static uint32_t check_body(struct wr_starts *starts, weir_span body, const char *dialect)
{
    struct reading known, alone;
    read_body(&known, starts, body, dialect);
    read_body(&alone, NULL, body, dialect);
    same_reading(&known, &alone);
    uint32_t taken_count = known.transcript.taken_count;
    wr_arena_release(&known.arena);
    wr_arena_release(&alone.arena);
    return taken_count;
}

/* ---- bodies ---- */

struct body_plan {
    const char *dialect;
    uint32_t messages;
    uint32_t changed;      /* this message has another text; 0: none */
    uint32_t marked;       /* and this one a cache marker */
    const char *tools;     /* what the last tool is called; NULL: no tools */
    bool has_tools_behind; /* the tools stand behind the messages */
    uint32_t early;        /* Responses: this result stands before its call */
};

static void write_text(struct wr_buf *out, const struct body_plan *plan, uint32_t i)
{
    wr_buf_printf(out, "message %u%s ", i, i == plan->changed && i ? " is another" : "");
    for (uint32_t k = 0; k < MESSAGE_BYTES; k += 10)
        wr_buf_printf(out, "%09u\\n", i * 977 + k);
}

static const char *marker(const struct body_plan *plan, uint32_t i)
{
    return i == plan->marked && i ? ",\"cache_control\":{\"type\":\"ephemeral\"}" : "";
}

static void write_chat(struct wr_buf *out, const struct body_plan *plan, uint32_t i)
{
    if (i % 3 == 0) {
        wr_buf_text(out, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
        write_text(out, plan, i);
        wr_buf_printf(out, "\"%s}]}", marker(plan, i));
    } else if (i % 3 == 1) {
        wr_buf_printf(out,
                      "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
                      "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":"
                      "\"{\\\"path\\\":\\\"src/f%u.c\\\"}\"}}]}",
                      i, i % 2 ? "read_file" : "read\\u005ffile", i % 5);
    } else {
        wr_buf_printf(out, "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"", i - 1);
        write_text(out, plan, i);
        wr_buf_text(out, "\"}");
    }
}

static void write_messages(struct wr_buf *out, const struct body_plan *plan, uint32_t i)
{
    if (i % 2 == 0 && (i / 2) % 2 == 0) {
        wr_buf_text(out, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"");
        write_text(out, plan, i);
        wr_buf_printf(out, "\"%s}]}", marker(plan, i));
    } else if (i % 2 == 1) {
        wr_buf_printf(out,
                      "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
                      "\"so\",\"signature\":\"s%u\"},{\"type\":\"tool_use\",\"id\":\"t%u\","
                      "\"name\":\"Read\",\"input\":{\"file_path\":\"/a/f%u.c\"}}]}",
                      i, i, i % 5);
    } else {
        wr_buf_printf(out,
                      "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                      "\"tool_use_id\":\"t%u\",\"content\":\"",
                      i - 1);
        write_text(out, plan, i);
        wr_buf_printf(out, "\"%s}]}", marker(plan, i));
    }
}

static void write_responses(struct wr_buf *out, const struct body_plan *plan, uint32_t i)
{
    if (i % 3 == 0) {
        wr_buf_text(out, "{\"type\":\"message\",\"role\":\"user\",\"content\":\"");
        write_text(out, plan, i);
        wr_buf_text(out, "\"}");
    } else if ((i % 3 == 1) != (plan->early && i / 3 == plan->early / 3)) {
        wr_buf_printf(
            out,
            "{\"type\":\"local_shell_call\",\"id\":\"i%u\",\"call_id\":\"c%u\",\"action\":"
            "{\"type\":\"exec\",\"command\":[\"cat\",\"f%u.c\"]}}",
            i, i / 3, i % 5);
    } else {
        wr_buf_printf(
            out, "{\"type\":\"local_shell_call_output\",\"call_id\":\"c%u\",\"output\":\"", i / 3);
        write_text(out, plan, i);
        wr_buf_text(out, "\"}");
    }
}

static void write_tools(struct wr_buf *out, const struct body_plan *plan)
{
    wr_buf_printf(out, "\"tools\":[{\"type\":\"function\",\"name\":\"%s\"}]", plan->tools);
}

static void write_body(struct wr_buf *out, const struct body_plan *plan)
{
    bool is_responses = !strcmp(plan->dialect, "responses");

    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_text(out, "{\"model\":\"m\",");
    if (plan->tools && !plan->has_tools_behind) {
        write_tools(out, plan);
        wr_buf_byte(out, ',');
    }
    wr_buf_printf(out, "\"%s\":[", is_responses ? "input" : "messages");
    for (uint32_t i = 0; i < plan->messages; i++) {
        if (i)
            wr_buf_text(out, i % 7 ? "," : " , ");
        if (is_responses)
            write_responses(out, plan, i);
        else if (!strcmp(plan->dialect, "chat"))
            write_chat(out, plan, i);
        else
            write_messages(out, plan, i);
    }
    wr_buf_byte(out, ']');
    if (plan->tools && plan->has_tools_behind) {
        wr_buf_byte(out, ',');
        write_tools(out, plan);
    }
    wr_buf_byte(out, '}');
    assert_int_equal(wr_buf_status(out), WEIR_OK);
}

static uint32_t check_plan(struct wr_starts *starts, const struct body_plan *plan)
{
    struct wr_buf body;
    write_body(&body, plan);
    uint32_t taken_count = check_body(starts, wr_buf_view(&body), plan->dialect);
    wr_buf_release(&body);
    return taken_count;
}

/* ---- what is taken over ---- */

static void a_longer_body_takes_over_what_it_repeats(void **state)
{
    static const char *const dialects[] = {"chat", "messages", "responses"};
    (void)state;

    for (size_t d = 0; d < 3; d++) {
        struct wr_starts *starts;
        struct body_plan plan = {dialects[d], .messages = 30, .tools = "t"};
        assert_int_equal(wr_starts_new(&starts, BODY_BYTES_MAX), WEIR_OK);
        assert_int_equal(check_plan(starts, &plan), 0);
        for (plan.messages = 31; plan.messages < 60; plan.messages++)
            assert_true(check_plan(starts, &plan) >= plan.messages - 10);
        wr_starts_free(starts);
    }
}

struct change_case {
    const char *behaviour;
    struct body_plan before, after;
    uint32_t taken_min, taken_max;
};

static void a_changed_body_takes_over_what_is_before_the_change(void **state)
{
    static const struct change_case cases[] = {
        {"a cache marker that moves costs the messages behind it",
         {"messages", .messages = 60, .marked = 56},
         {"messages", .messages = 62, .marked = 60},
         45,
         90},
        {"a text that is edited costs what is behind it",
         {"chat", .messages = 60, .tools = "t"},
         {"chat", .messages = 60, .changed = 30, .tools = "t"},
         20,
         31},
        {"a history that was cut takes over what is left",
         {"chat", .messages = 60},
         {"chat", .messages = 20},
         12,
         20},
        {"another tool before the messages costs everything",
         {"chat", .messages = 60, .tools = "t"},
         {"chat", .messages = 60, .tools = "u"},
         0,
         0},
        {"another tool behind the messages costs nothing",
         {"chat", .messages = 60, .tools = "t", .has_tools_behind = true},
         {"chat", .messages = 60, .tools = "uvw", .has_tools_behind = true},
         50,
         60},
        {"the same bytes in another dialect are read again",
         {"chat", .messages = 60},
         {"messages", .messages = 60},
         0,
         0},
        {"a result before its call is read again, and all behind it",
         {"responses", .messages = 60, .early = 30},
         {"responses", .messages = 63, .early = 30},
         20,
         31},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_starts *starts;
        assert_int_equal(wr_starts_new(&starts, BODY_BYTES_MAX), WEIR_OK);
        (void)check_plan(starts, &cases[i].before);
        uint32_t taken_count = check_plan(starts, &cases[i].after);
        if (taken_count < cases[i].taken_min || taken_count > cases[i].taken_max)
            fail_msg("%s: %u segments were taken over", cases[i].behaviour, taken_count);
        wr_starts_free(starts);
    }
}

static void chat_that_is_read_as_messages_is_read_anew(void **state)
{
    struct body_plan plan = {"chat", .messages = 40};
    struct wr_starts *starts;
    struct wr_buf body;
    (void)state;

    assert_int_equal(wr_starts_new(&starts, BODY_BYTES_MAX), WEIR_OK);
    write_body(&body, &plan);
    assert_int_equal(check_body(starts, wr_buf_view(&body), "chat"), 0);
    assert_int_equal(check_body(starts, wr_buf_view(&body), "messages"), 0);
    wr_buf_release(&body);
    wr_starts_free(starts);
}

struct ending_case {
    const char *behaviour, *dialect;
    const char *shared;         /* what both bodies hold up to the end of a block */
    const char *before, *after; /* what each has behind it */
};

static void write_ending(struct wr_buf *out, const struct ending_case *c, const char *ending)
{
    const char *list = !strcmp(c->dialect, "responses") ? "input" : "messages";
    size_t shared_bytes = strlen(c->shared);

    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_printf(out, "{\"%s\":[{\"role\":\"user\",\"content\":\"", list);
    while ((out->len + 2 + shared_bytes) % BLOCK_BYTES)
        wr_buf_byte(out, 'x');
    wr_buf_printf(out, "\"}%s%s", c->shared, ending);
    assert_int_equal(wr_buf_status(out), WEIR_OK);
}

static void what_comes_behind_changes_what_was_read(void **state)
{
    static const struct ending_case cases[] = {
        {"a number goes on behind its block", "chat", ",1",
         ",{\"role\":\"user\",\"content\":\"b\"}]}", "2]}"},
        {"a key that comes twice makes all of it exact", "messages",
         ",{\"role\":\"user\",\"content\":\"b\"}", "],\"system\":\"s\"}",
         "],\"system\":\"s\",\"system\":\"t\"}"},
        {"an approval before what it approves has its name from behind", "responses",
         ",{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"q\",\"approve\":true}"
         ",{\"role\":\"user\",\"content\":\"b\"}",
         ",{\"type\":\"mcp_approval_request\",\"id\":\"q\",\"name\":\"n\"}]}",
         ",{\"role\":\"user\",\"content\":\"c\"}]}"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_starts *starts;
        struct wr_buf before, after;
        print_message("%s\n", cases[i].behaviour);
        assert_int_equal(wr_starts_new(&starts, BODY_BYTES_MAX), WEIR_OK);
        write_ending(&before, &cases[i], cases[i].before);
        write_ending(&after, &cases[i], cases[i].after);
        (void)check_body(starts, wr_buf_view(&before), cases[i].dialect);
        (void)check_body(starts, wr_buf_view(&after), cases[i].dialect);
        wr_buf_release(&before);
        wr_buf_release(&after);
        wr_starts_free(starts);
    }
}

static void sessions_that_begin_alike_each_keep_their_own(void **state)
{
    struct body_plan one = {"chat", .messages = 60}, two = {"chat", .messages = 60, .changed = 6};
    struct wr_starts *starts;
    (void)state;

    assert_int_equal(wr_starts_new(&starts, BODY_BYTES_MAX), WEIR_OK);
    (void)check_plan(starts, &one);
    (void)check_plan(starts, &two);
    for (uint32_t i = 61; i < 70; i++) {
        one.messages = two.messages = i;
        assert_true(check_plan(starts, &one) >= i - 10);
        assert_true(check_plan(starts, &two) >= i - 10);
    }
    wr_starts_free(starts);
}

static void what_does_not_fit_is_forgotten(void **state)
{
    struct body_plan plan = {"chat", .messages = 60};
    struct wr_starts *starts;
    (void)state;

    assert_int_equal(wr_starts_new(&starts, 1000), WEIR_OK);
    assert_int_equal(check_plan(starts, &plan), 0);
    assert_int_equal(check_plan(starts, &plan), 0);
    wr_starts_free(starts);
}

static void more_bodies_than_are_known_push_out_the_oldest(void **state)
{
    struct body_plan plan = {"chat", .messages = 12, .tools = "t"};
    char name[16];
    struct wr_starts *starts;
    (void)state;

    assert_int_equal(wr_starts_new(&starts, (size_t)WR_STARTS_BYTES_MAX), WEIR_OK);
    plan.tools = name;
    for (uint32_t i = 0; i < WR_STARTS_COUNT_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "t%u", i);
        assert_int_equal(check_plan(starts, &plan), 0);
    }
    (void)snprintf(name, sizeof(name), "t%u", 1);
    assert_true(check_plan(starts, &plan) > 0);
    (void)snprintf(name, sizeof(name), "t%u", 0);
    assert_int_equal(check_plan(starts, &plan), 0);
    wr_starts_free(starts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_longer_body_takes_over_what_it_repeats),
        cmocka_unit_test(a_changed_body_takes_over_what_is_before_the_change),
        cmocka_unit_test(chat_that_is_read_as_messages_is_read_anew),
        cmocka_unit_test(what_comes_behind_changes_what_was_read),
        cmocka_unit_test(sessions_that_begin_alike_each_keep_their_own),
        cmocka_unit_test(what_does_not_fit_is_forgotten),
        cmocka_unit_test(more_bodies_than_are_known_push_out_the_oldest),
    };
    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
