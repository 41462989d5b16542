#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "json/json.h"
#include "models/registry.h"
#include "tests/test_file.h"

static struct wr_models *models;

static const struct {
    const char *behaviour, *name;
    enum wr_model_rule rule;
    const char *id;
    uint32_t window_tokens;
} cases[] = {
    {"an id is itself", "gpt-5.4", WR_RULE_EXACT, "gpt-5.4", 1050000},
    {"letter case does not matter", "minimax-m3", WR_RULE_EXACT, "MiniMax-M3", 1000000},
    {"blanks around it neither", " o3\n", WR_RULE_EXACT, "o3", 200000},
    {"a provider in front", "openai/gpt-5-mini", WR_RULE_FORM, "gpt-5-mini", 400000},
    {"two providers in front", "openrouter/anthropic/claude-opus-5-5", WR_RULE_FORM,
     "claude-opus-5-5", 1000000},
    {"a date behind", "claude-opus-4-5-20251101", WR_RULE_FORM, "claude-opus-4-5", 200000},
    {"a date with @", "claude-opus-4-5@20251101", WR_RULE_FORM, "claude-opus-4-5", 200000},
    {"a date with dashes", "gpt-4.1-mini-2025-04-14", WR_RULE_FORM, "gpt-4.1-mini", 1047576},
    {"Bedrock's form", "us.anthropic.claude-haiku-4-5-20251001-v1:0", WR_RULE_FORM,
     "claude-haiku-4-5", 200000},
    {"an inference profile's ARN",
     "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-6", WR_RULE_FORM,
     "claude-sonnet-4-6", 1000000},
    {"Vertex's path", "publishers/anthropic/models/claude-sonnet-4-5@20250929", WR_RULE_FORM,
     "claude-sonnet-4-5", 200000},
    {"-latest", "gemini-2.5-pro-latest", WR_RULE_FORM, "gemini-2.5-pro", 1048576},
    {"a dated preview", "gemini-2.5-pro-preview-05-06", WR_RULE_FORM, "gemini-2.5-pro", 1048576},
    {"-latest that belongs to an id stays", "mistral-medium-latest", WR_RULE_EXACT,
     "mistral-medium-latest", 262144},
    {"a date that belongs to an id stays", "qwen/qwen3.8-max-0902", WR_RULE_FORM,
     "qwen3.8-max-0902", 991000},
    {"Claude Code's window", "claude-sonnet-4-5[1m]", WR_RULE_FORM, "claude-sonnet-4-5", 1000000},
    {"window behind a date", "claude-sonnet-4-5-20250929[1m]", WR_RULE_FORM, "claude-sonnet-4-5",
     1000000},
    {":free", "moonshotai/kimi-k2.6:free", WR_RULE_FORM, "kimi-k2.6", 262144},
    {"a dot for a dash", "anthropic/claude-opus-4.5", WR_RULE_FORM, "claude-opus-4-5", 200000},
    {"-thinking", "claude-opus-4-5-thinking", WR_RULE_FORM, "claude-opus-4-5", 200000},
    {"an unlisted Claude", "anthropic/claude-sonnet-4", WR_RULE_FAMILY, "family/claude", 200000},
    {"the more specific family first", "gpt-4o-2024-05-13", WR_RULE_FAMILY, "family/gpt-4o",
     128000},
    {"a family asked with a window", "claude-sonnet-4[1m]", WR_RULE_FAMILY, "family/claude",
     1000000},
    {"a family tied to the start", "openai/gpt-6.2-nova", WR_RULE_FAMILY, "family/gpt-6", 400000},
    {"a tied pattern does not fit elsewhere", "foo3", WR_RULE_FALLBACK, "unknown", 0},
    {"an Ollama tag", "llama3.3:70b", WR_RULE_FAMILY, "family/llama", 128000},
    {"a family's own id", "family/llama", WR_RULE_EXACT, "family/llama", 128000},
    {"anything else", "my-own-model", WR_RULE_FALLBACK, "unknown", 0},
    {"no name at all", "", WR_RULE_FALLBACK, "unknown", 0},
    {"only decoration", "/:[1m]", WR_RULE_FALLBACK, "unknown", 1000000},
};

static void names(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(cases[i].name));
        if (match.rule != cases[i].rule || !wr_span_is(match.model->id, cases[i].id) ||
            match.window_tokens != cases[i].window_tokens)
            fail_msg("%s: %.*s by rule %s, window %u", cases[i].behaviour, (int)match.model->id.len,
                     match.model->id.ptr, wr_model_rule_text(match.rule), match.window_tokens);
    }
}

static void answers_are_stable(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < wr_models_count(models); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_models_at(models, i)->id);
        assert_ptr_equal(match.model, wr_models_at(models, i));
        assert_int_equal(match.rule, WR_RULE_EXACT);
    }
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(cases[i].name));
        assert_ptr_equal(wr_models_lookup(models, match.model->id).model, match.model);
    }
}

static const struct {
    const char *name, *text;
} descriptions[] = {
    {"gpt-5.4", "exact id"},
    {"us.anthropic.claude-haiku-4-5-20251001-v1:0",
     "prefixed, dated, tagged form of claude-haiku-4-5"},
    {"claude-9", "not listed; the name fits the family pattern \"claude\""},
    {"nobody", "not listed, no family pattern fits: the fallback"},
};

static void says_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(descriptions); i++) {
        struct wr_buf text;
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(descriptions[i].name));
        wr_buf_init(&text, 1024);
        wr_model_match_describe(&match, &text);
        if (!wr_span_is(wr_buf_view(&text), descriptions[i].text))
            fail_msg("%s: %.*s", descriptions[i].name, (int)text.len, text.bytes);
        wr_buf_release(&text);
    }
}

static const struct {
    const char *behaviour, *name, *first;
} suggestions[] = {
    {"a letter too many", "gpt-6-sool", "gpt-6-sol"},
    {"two letters changed about", "claude-opsu-5-5", "claude-opus-5-5"},
    {"decoration aside", "openai/gpt-6.1-tera-2026-01-01", "gpt-6.1-terra"},
    {"a part of a name", "astra", "gpt-6-astra"},
    {"nothing near", "zzzzzzzz", NULL},
    {"a short name is not near every short name", "zzz", NULL},
};

static void suggests(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(suggestions); i++) {
        weir_span near[WR_SUGGESTIONS_MAX];
        uint32_t count = wr_models_suggest(models, wr_span_of(suggestions[i].name), near);
        bool right =
            suggestions[i].first ? count && wr_span_is(near[0], suggestions[i].first) : !count;
        if (!right)
            fail_msg("%s: %u near, first %.*s", suggestions[i].behaviour, count,
                     count ? (int)near[0].len : 0, count ? near[0].ptr : "");
    }
}

static const struct {
    const char *name;
    uint32_t window_tokens;
} table[] = {
    {"anthropic/claude-sonnet-4", 200000},
    {"Claude-Opus-5-5", 200000},
    {"gpt-5.4", 400000},
    {"gpt-4.1-mini", 1000000},
    {"gpt-4-turbo", 128000},
    {"gemini-4-argon", 1000000},
    {"grok-4.7", 2000000},
    {"grok-3", 131072},
    {"deepseek-chat-v3", 163840},
    {"qwen3-235b", 131072},
    {"llama-4-maverick", 327680},
    {"mixtral-8x7b", 128000},
    {"kimi-k3", 128000},
    {"", 128000},
};

static void default_windows(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(table); i++)
        if (wr_models_table_window(models, wr_span_of(table[i].name)) != table[i].window_tokens)
            fail_msg("the table's window of %s", table[i].name);
}

static void default_windows_of_the_fixture(void **state)
{
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_json doc;
    uint32_t checked = 0;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    wr_arena_init(&arena, 1 << 24);
    if (wr_test_file("../shared/fixtures/duragent.json", &text)) {
        assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&text), NULL, NULL), WEIR_OK);
        wr_json_id windows = wr_json_find(&doc, 0, "default_context_window");
        for (wr_json_id key = wr_json_first(&doc, windows); key != WR_JSON_NONE;
             key = wr_json_next(&doc, windows, key)) {
            int64_t want;
            assert_true(wr_json_i64(&doc, wr_json_value(key), &want));
            weir_span name = wr_json_inner(&doc, key);
            if (wr_models_table_window(models, name) != want)
                fail_msg("the table's window of %.*s", (int)name.len, name.ptr);
            checked++;
        }
        assert_int_equal(checked, 18);
    }
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

static int set_up(void **state)
{
    (void)state;
    return wr_models_new(&models, NULL, NULL) != WEIR_OK;
}

static int tear_down(void **state)
{
    (void)state;
    wr_models_free(models);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),           cmocka_unit_test(answers_are_stable),
        cmocka_unit_test(says_why),        cmocka_unit_test(suggests),
        cmocka_unit_test(default_windows), cmocka_unit_test(default_windows_of_the_fixture),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
