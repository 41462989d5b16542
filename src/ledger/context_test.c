#include "ledger/context.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"
#include "json/json.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

struct fixture {
    struct wr_test_dir dir;
    struct wr_ledger *ledger;
    struct wr_models *models;
    struct wr_arena arena;
    struct wr_context context;
    struct weir_err err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_models_new(&f->models, NULL, NULL), WEIR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_ledger_close(f->ledger);
    wr_models_free(f->models);
    wr_arena_release(&f->arena);
    wr_test_dir_remove(&f->dir);
    free(f);
    return 0;
}

static void add(struct fixture *f, const char *session, const char *model, int64_t time_ms,
                const char *members)
{
    struct wr_buf line;
    wr_buf_init(&line, 8192);
    wr_buf_printf(&line, "{\"api\":\"chat\",\"path\":\"/v1/chat/completions\",\"status\":200%s}",
                  members);
    struct wr_ledger_row row = {.time_ms = time_ms,
                                .tenant = LOCAL,
                                .session = wr_span_of(session),
                                .agent = WR_LIT("pi"),
                                .model = wr_span_of(model),
                                .line = wr_buf_view(&line)};
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    wr_buf_release(&line);
}

static weir_status read_context(struct fixture *f, const char *session)
{
    return wr_context_read(f->ledger, LOCAL, wr_span_of(session), f->models, &f->arena, &f->context,
                           &f->err);
}

static const char full[] =
    ",\"estimated_tokens_before\":9000,\"estimated_tokens_after\":6000,\"changed\":true,"
    "\"policy\":\"tiered\",\"model_context_window_tokens\":100000,"
    "\"effective_usable_context_tokens\":90000,\"context_results_tokens\":5000,"
    "\"context_user_tokens\":1000,\"usage_known\":true,\"usage_input_tokens\":6500,"
    "\"usage_cache_read_tokens\":4096,\"usage_output_tokens\":10";

/* ---- which session ---- */

static const struct {
    const char *behaviour, *word;
    weir_status status;
    const char *session; /* NULL: none */
} finds[] = {
    {"its whole name", "codex:abc", WEIR_OK, "codex:abc"},
    {"a whole name that another begins with", "codex:ab", WEIR_OK, "codex:ab"},
    {"how it begins", "claude:", WEIR_OK, "claude:x1"},
    {"how it begins behind the agent", "x1", WEIR_OK, "claude:x1"},
    {"one letter that fits one", "z", WEIR_OK, "z"},
    {"several", "codex:", WEIR_INVALID, NULL},
    {"several behind the agent", "a", WEIR_INVALID, NULL},
    {"none", "nobody", WEIR_NOTFOUND, NULL},
    {"a part that is not the beginning", "bc", WEIR_NOTFOUND, NULL},
    {"how both parts begin", "hash:b9e4/fa", WEIR_OK, "hash:b9e449c8aff5406a/fa47287a69ab2622"},
    {"the same without the agent", "b9/fa", WEIR_OK, "hash:b9e449c8aff5406a/fa47287a69ab2622"},
    {"a first part of several", "hash:b9e4", WEIR_INVALID, NULL},
    {"a second part of none", "hash:b9e4/x", WEIR_NOTFOUND, NULL},
    {"nothing: the most recent", "", WEIR_OK, "z"},
};

static void a_name_of_two_parts_is_found_by_its_short_form(void **state)
{
    static const struct {
        const char *name, *wanted;
    } cases[] = {
        {"hash:b9e449c8aff5406a/fa47287a69ab2622", "hash:b9e449/fa4728"},
        {"claude:0a1b2c3d-4e5f-6071/a7", "claude:0a1b2c/a7"},
        {"hash:b9e449c8aff5406a", "hash:b9e449c8aff5406a"},
        {"weir:our-project/a-long-branch", "weir:our-project/a-long-branch"},
        {"key:a/b:cdefghijk", "key:a/b:cdefghijk"},
        {"a/b:c", "a/b:c"},
    };
    struct wr_buf out;

    (void)state;
    wr_buf_init(&out, 1000);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        wr_buf_reset(&out);
        wr_session_put_short(&out, wr_span_of(cases[i].name));
        if (!wr_span_is(wr_buf_view(&out), cases[i].wanted))
            fail_msg("%s: %.*s", cases[i].name, (int)out.len, out.bytes);
    }
    wr_buf_release(&out);
}

static void a_session_is_found_by_what_somebody_writes(void **state)
{
    static const char *const names[] = {"codex:abc",
                                        "codex:ab",
                                        "claude:x1",
                                        "hash:b9e449c8aff5406a/fa47287a69ab2622",
                                        "hash:b9e449c8aff5406a/0b47287a69ab2622",
                                        "z"};
    struct fixture *f = *state;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        add(f, names[i], "gpt-5", 100 + (int64_t)i, full);
    for (size_t i = 0; i < WR_COUNT_OF(finds); i++) {
        struct wr_ledger_session found = {.requests_count = 0};
        weir_status status = wr_session_find(f->ledger, LOCAL, wr_span_of(finds[i].word), &f->arena,
                                             &found, &f->err);
        if (status != finds[i].status ||
            (finds[i].session && !wr_span_is(found.session, finds[i].session)))
            fail_msg("%s: %d, %.*s", finds[i].behaviour, (int)status, (int)found.session.len,
                     found.session.len ? found.session.ptr : "");
    }
}

static void an_empty_ledger_has_none(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_context(f, ""), WEIR_NOTFOUND);
    assert_true(f->err.text[0] != '\0');
}

/* ---- what is shown ---- */

static void the_figures_are_those_of_the_line(void **state)
{
    struct fixture *f = *state;
    const struct wr_context *c = &f->context;

    add(f, "s", "gpt-5", 100, ",\"estimated_tokens_before\":10");
    add(f, "s", "gpt-5", 200, full);
    assert_int_equal(read_context(f, "s"), WEIR_OK);
    assert_int_equal(c->time_ms, 200);
    assert_int_equal(c->raw_tokens, 9000);
    assert_int_equal(c->sent_tokens, 6000);
    assert_int_equal(c->usage_tokens, 6500);
    assert_int_equal(c->usage_read_tokens, 4096);
    assert_int_equal(wr_context_used(c), 6000); /* the estimate; the provider's stands beside it */
    assert_int_equal(c->tokens[WR_CATEGORY_RESULTS], 5000);
    assert_int_equal(c->tokens[WR_CATEGORY_TOOLS], 0);
    assert_int_equal(c->tally.requests_count, 2);
    assert_int_equal(c->prompts_count, 1);
}

static uint64_t sum_of(const struct wr_context *c)
{
    uint64_t sum = wr_context_held(c);
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        sum += c->tokens[i];
    return sum;
}

static void the_parts_add_up_to_the_window(void **state)
{
#define LINE(size, usage)                                                           \
    ",\"estimated_tokens_before\":" size ",\"model_context_window_tokens\":100000," \
    "\"context_results_tokens\":" size ",\"usage_known\":true,\"usage_input_tokens\":" usage
    static const struct {
        const char *behaviour, *members;
        uint64_t held_tokens;
        int64_t free_tokens;
    } cases[] = {
        {"the provider counts more", LINE("70000", "90000"), 0, 30000},
        {"the provider counts less", LINE("70000", "50000"), 0, 30000},
        {"the provider holds the history", LINE("70000", "90000") ",\"delta\":true", 20000, 10000},
        {"it counts less than what is new", LINE("70000", "100") ",\"delta\":true", 0, 30000},
        {"it is over", LINE("120000", "90000"), 0, 0},
        {"what is held is not known",
         ",\"estimated_tokens_before\":7,\"model_context_window_tokens\":100000,\"delta\":true", 0,
         -1},
        {"no window", ",\"estimated_tokens_before\":7", 0, -1},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        add(f, "s", "gpt-5", 100 + (int64_t)i, cases[i].members);
        assert_int_equal(read_context(f, "s"), WEIR_OK);
        const struct wr_context *c = &f->context;
        int64_t free_tokens = wr_context_free(c);
        if (free_tokens != cases[i].free_tokens || wr_context_held(c) != cases[i].held_tokens ||
            (free_tokens > 0 && sum_of(c) + (uint64_t)free_tokens != c->window_tokens))
            fail_msg("%s: %lld free", cases[i].behaviour, (long long)free_tokens);
    }
#undef LINE
}

static void a_helper_that_came_last_is_not_shown(void **state)
{
    struct fixture *f = *state;
    add(f, "s", "gpt-5", 100, full);
    add(f, "s", "gpt-5-mini", 200, ",\"estimated_tokens_before\":50,\"policy\":\"exact\"");
    assert_int_equal(read_context(f, ""), WEIR_OK);
    assert_true(wr_span_is(f->context.model, "gpt-5"));
    assert_int_equal(f->context.time_ms, 100);
    assert_int_equal(f->context.prompts_count, 2);
    assert_int_equal(f->context.tally.requests_count, 2);
}

static void what_was_not_read_cannot_be_shown(void **state)
{
    struct fixture *f = *state;
    add(f, "s", "gpt-5", 100, "");
    assert_int_equal(read_context(f, "s"), WEIR_NOTFOUND);
}

static void without_usage_the_estimate_stands(void **state)
{
    struct fixture *f = *state;
    add(f, "s", "gpt-5", 100, ",\"estimated_tokens_before\":70,\"usage_known\":false");
    assert_int_equal(read_context(f, "s"), WEIR_OK);
    assert_int_equal(f->context.usage_tokens, -1);
    assert_int_equal(wr_context_used(&f->context), 70);
    assert_false(f->context.is_policy_known);
}

/* Shadow figures say what the window is, never what was sent. */
static void a_shadow_is_not_taken_for_the_thing(void **state)
{
    struct fixture *f = *state;
    add(f, "s", "gpt-5", 100,
        ",\"estimated_tokens_before\":9000,\"shadow_changed\":true,"
        "\"shadow_estimated_tokens_after\":100,\"shadow_policy\":\"tiered\","
        "\"shadow_model_context_window_tokens\":100000");
    assert_int_equal(read_context(f, "s"), WEIR_OK);
    assert_int_equal(f->context.sent_tokens, 9000);
    assert_int_equal(f->context.window_tokens, 100000);
    assert_int_equal(f->context.thresholds_count, 4);
}

static const struct {
    const char *policy, *stage;
    uint64_t at_tokens;
    const char *when;
} thresholds[] = {
    {"tiered", "evict", 0, "on arrival"},
    {"tiered", "clear", 60000, NULL},
    {"tiered", "summary", 85000, NULL},
    /* At the latest at a share of the room for the prompt; mostly long before that. */
    {"auto", "deepen", 76500, "as soon as it pays, or when the cache has expired"},
    {"auto", "drop_groups", 90000, NULL},
    {"auto", "fit", 90000, NULL},
    {"auto", "weigh", 0, "on arrival"},
    {"layers", "fill", 20000, NULL},
    {"layers", "mask", 0, "when enough results lie between"},
    {"guarded-mid", "summarise_active", 80000, NULL},
    {"guarded-mid", "fold_loops", 0, "when a loop is completed"},
    {"smart", "select", 0, "as the room shrinks"},
};

static void thresholds_are_where_the_policy_acts(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < WR_COUNT_OF(thresholds); i++) {
        char members[512];
        bool found = false;
        (void)snprintf(members, sizeof(members),
                       ",\"estimated_tokens_before\":9000,\"policy\":\"%s\","
                       "\"model_context_window_tokens\":100000,"
                       "\"effective_usable_context_tokens\":90000",
                       thresholds[i].policy);
        add(f, "s", "gpt-5", 100 + (int64_t)i, members);
        assert_int_equal(read_context(f, "s"), WEIR_OK);
        for (uint32_t j = 0; j < f->context.thresholds_count; j++) {
            const struct wr_threshold *t = &f->context.thresholds[j];
            if (strcmp(t->stage, thresholds[i].stage))
                continue;
            found = true;
            assert_int_equal(t->when.at_tokens, thresholds[i].at_tokens);
            if (thresholds[i].when)
                assert_string_equal(t->when.words, thresholds[i].when);
            else
                assert_null(t->when.words);
        }
        if (!found)
            fail_msg("%s has no %s", thresholds[i].policy, thresholds[i].stage);
    }
}

static void the_last_step_is_told(void **state)
{
    struct fixture *f = *state;
    add(f, "s", "gpt-5", 100, ",\"estimated_tokens_before\":9000,\"changed\":false");
    assert_int_equal(read_context(f, "s"), WEIR_OK);
    assert_int_equal(f->context.last_step.time_ms, 0);
    add(f, "s", "gpt-5", 200,
        ",\"estimated_tokens_before\":9000,\"estimated_tokens_after\":900,\"changed\":true,"
        "\"step\":true,\"step_reason\":\"pays\"");
    add(f, "s", "gpt-5", 300,
        ",\"estimated_tokens_before\":9100,\"estimated_tokens_after\":990,\"changed\":true,"
        "\"step\":false");
    assert_int_equal(read_context(f, "s"), WEIR_OK);
    assert_int_equal(f->context.last_step.time_ms, 200);
    assert_string_equal(f->context.last_step.reason, "pays");
    assert_int_equal(f->context.last_step.tokens_before, 9000);
    assert_int_equal(f->context.last_step.tokens_after, 900);
}

static void it_can_be_had_as_json(void **state)
{
    struct fixture *f = *state;
    struct wr_buf out;
    struct wr_json doc;
    int64_t number;

    wr_buf_init(&out, 64 * 1024);
    add(f, "s \"quoted\"", "gpt-5", 100, full);
    assert_int_equal(wr_context_write_json(f->ledger, LOCAL, WR_LIT(""), f->models, &out, NULL),
                     WEIR_OK);
    assert_int_equal(wr_json_parse(&doc, &f->arena, wr_buf_view(&out), NULL, NULL), WEIR_OK);
    assert_true(wr_json_text_is(&doc, wr_json_find(&doc, 0, "session"), "s \"quoted\""));
    wr_json_id categories = wr_json_find(&doc, 0, "categories");
    assert_true(wr_json_i64(&doc, wr_json_find(&doc, categories, "free"), &number));
    assert_int_equal(number, 100000 - 6000);
    assert_int_equal(wr_json_count(&doc, wr_json_find(&doc, 0, "thresholds")), 4);
    wr_buf_reset(&out);
    assert_int_equal(
        wr_context_write_json(f->ledger, WR_LIT("other"), WR_LIT(""), f->models, &out, &f->err),
        WEIR_NOTFOUND);
    assert_int_equal(out.len, 0);
    wr_buf_release(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_found_by_what_somebody_writes),
        cmocka_unit_test(a_name_of_two_parts_is_found_by_its_short_form),
        TEST(an_empty_ledger_has_none),
        TEST(the_figures_are_those_of_the_line),
        TEST(the_parts_add_up_to_the_window),
        TEST(a_helper_that_came_last_is_not_shown),
        TEST(what_was_not_read_cannot_be_shown),
        TEST(without_usage_the_estimate_stands),
        TEST(a_shadow_is_not_taken_for_the_thing),
        TEST(thresholds_are_where_the_policy_acts),
        TEST(it_can_be_had_as_json),
        TEST(the_last_step_is_told),
        TEST(it_can_be_had_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
