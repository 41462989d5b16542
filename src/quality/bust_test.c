#include "quality/bust.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>

#include "base/span.h"
#include "tests/test_transcript.h"

enum { BLOCKS_MAX = 8 };

/* A prompt is a letter a block: T tools, S system, others a message each. Upper case X to Z are
 * sent in another form. */
struct made {
    struct wr_prompt_block blocks[BLOCKS_MAX];
    struct wr_prompt prompt;
};

static void make(struct made *made, const char *letters)
{
    *made = (struct made){.prompt = {.blocks = made->blocks}};
    for (; *letters; letters++) {
        uint32_t n = made->prompt.blocks_count++;
        bool is_head = *letters == 'T' || *letters == 't' || *letters == 'S' || *letters == 's';
        bool is_sent_so = *letters >= 'X' && *letters <= 'Z';
        made->blocks[n] = (struct wr_prompt_block){
            .original = (uint64_t)(is_sent_so ? *letters + 32 : *letters),
            .sent = (uint64_t)*letters,
            .message = is_head ? 0 : n - 1,
            .kind = *letters == 'T' || *letters == 't'   ? WEIR_KIND_TOOLS
                    : *letters == 'S' || *letters == 's' ? WEIR_KIND_SYSTEM
                                                         : WEIR_KIND_TOOL_RESULT};
    }
}

static const struct {
    const char *behaviour, *last, *now;
    int64_t gap_s, cached;
    bool other_model;
    const char *cause, *place; /* NULL: nothing is expected */
} rows[] = {
    {"it goes on where the last one ended", "TSabc", "TSabcde", 9, 5000, false, "provider", ""},
    {"an earlier message has changed", "TSabc", "TSaBcd", 9, 5000, false, "host",
     "message 2, tool result"},
    {"the instructions have changed", "TSabc", "Tsabcd", 9, 5000, false, "host", "system"},
    {"the tools have changed", "TSabc", "tSabcd", 9, 5000, false, "model", "tools"},
    {"another model", "TSabc", "TSabcd", 9, 5000, true, "model", "model"},
    {"messages were taken back", "TSabc", "TSa", 9, 5000, false, "host", "message 2, tool result"},
    {"only what was sent differs", "TSaxc", "TSaXcd", 9, 5000, false, "weir",
     "message 2, tool result: cold"},
    {"a form is undone", "TSaXc", "TSaxcd", 9, 5000, false, "weir", "message 2, tool result: cold"},
    {"a form that stays is no difference", "TSaXc", "TSaXcd", 9, 5000, false, "provider", ""},
    {"the host changed it before we did", "TSabx", "TSaBXd", 9, 5000, false, "host",
     "message 2, tool result"},
    {"the pause was too long", "TSabc", "TSabcd", 301, 5000, false, "expired", "a pause of 301 s"},
    {"expired it may change", "TSaxc", "TSaXcd", 400, 5000, false, "expired", "a pause of 400 s"},
    {"the last answer did not say what it left", "TSabc", "TSabcd", 9, -1, false, NULL, NULL},
    {"it left nothing", "TSabc", "TSabcd", 9, 0, false, NULL, NULL},
};

static void the_first_difference_names_the_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct made last, now;
        make(&last, rows[i].last);
        make(&now, rows[i].now);
        struct wr_bust_sent a = {.prompt = &last.prompt,
                                 .model = 1,
                                 .at_ms = 1000000,
                                 .ttl_ms = 300000,
                                 .cached_tokens = rows[i].cached};
        struct wr_bust_sent b = {.prompt = &now.prompt,
                                 .model = 1 + rows[i].other_model,
                                 .at_ms = 1000000 + rows[i].gap_s * 1000,
                                 .step_reason = "cold"};
        struct wr_bust_check check = wr_bust_compare(&a, &b);
        if (check.is_known != (rows[i].cause != NULL))
            fail_msg("%s: known %d", rows[i].behaviour, check.is_known);
        if (rows[i].cause && (strcmp(wr_bust_name(check.cause), rows[i].cause) != 0 ||
                              strcmp(check.place, rows[i].place) != 0))
            fail_msg("%s: %s, '%s'", rows[i].behaviour, wr_bust_name(check.cause), check.place);
    }
}

/* What left otherwise than the marks say, and is as they say again, is declared by whoever sends
 * the next; what left as they say and changes is no such thing, nor is what the host has changed.
 */
static void what_left_otherwise_comes_back(void **state)
{
    static const struct {
        const char *last, *now;
        bool is_other, other_model;
        int64_t cached;
        const char *place; /* NULL: it does not come back */
    } ways[] = {{"TSaxc", "TSaXcd", true, false, 5000, "message 2, tool result: back"},
                {"TSaxc", "TSaXcd", true, false, -1, ""},
                {"TSaxc", "TSaXcd", false, false, 5000, NULL},
                {"TSaxc", "TSaXcd", true, true, 5000, NULL},
                {"TSaxc", "TSaxcd", true, false, 5000, NULL},
                {"TSabx", "TSaBXd", true, false, 5000, NULL}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ways); i++) {
        struct made last, now;
        make(&last, ways[i].last);
        make(&now, ways[i].now);
        struct wr_bust_sent a = {
            .prompt = &last.prompt, .cached_tokens = ways[i].cached, .is_other = ways[i].is_other};
        struct wr_bust_sent b = {.prompt = &now.prompt, .model = ways[i].other_model};
        struct wr_bust_check check = wr_bust_compare(&a, &b);
        if (check.is_back != (ways[i].place != NULL) ||
            (ways[i].place && strcmp(check.place, ways[i].place) != 0))
            fail_msg("%zu: %d, '%s'", i, check.is_back, check.place);
    }
}

static void parameters_are_the_hosts(void **state)
{
    struct made last, now;
    (void)state;
    make(&last, "TSabc");
    make(&now, "TSabcd");
    now.prompt.parameters = 7;
    struct wr_bust_sent a = {.prompt = &last.prompt, .cached_tokens = 5000};
    struct wr_bust_sent b = {.prompt = &now.prompt};
    struct wr_bust_check check = wr_bust_compare(&a, &b);
    assert_int_equal(check.cause, WR_BUST_HOST);
    assert_string_equal(check.place, "parameters");
}

static const struct {
    const char *behaviour;
    uint64_t cached, read, step, expected, lost;
} judgements[] = {
    {"all of it was read", 10000, 10000, 0, 10000, 0},
    {"more was read", 10000, 12000, 0, 10000, 0},
    {"nothing was read", 10000, 0, 0, 10000, 10000},
    {"half was read", 10000, 5000, 0, 10000, 5000},
    {"a small rest is how caches count", 10000, 9600, 0, 10000, 0},
    {"steps are rounded down", 10001, 9800, 128, 9984, 0},
    {"below the minimum nothing is kept", 900, 0, 0, 0, 0},
    {"just above it is", 1100, 0, 0, 1100, 1100},
};

static void what_was_not_read_is_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(judgements); i++) {
        struct wr_cache_rule rule = {.mode = WR_CACHE_PREFIX,
                                     .step_tokens = (uint32_t)judgements[i].step};
        struct wr_model model = {.min_cacheable_tokens = 1024, .cache = &rule};
        struct wr_bust_check check = {.is_known = true, .cached_tokens = judgements[i].cached};
        struct wr_bust_usage usage = {
            .is_known = true, .prompt_tokens = 20000, .read_tokens = judgements[i].read};
        struct wr_bust_result result = wr_bust_judge(&check, &usage, &model);
        if (result.expected_tokens != judgements[i].expected ||
            result.lost_tokens != judgements[i].lost)
            fail_msg("%s: expected %llu, lost %llu", judgements[i].behaviour,
                     (unsigned long long)result.expected_tokens,
                     (unsigned long long)result.lost_tokens);
        usage.is_known = false;
        assert_int_equal(wr_bust_judge(&check, &usage, &model).expected_tokens, 0);
    }
}

static void what_is_left_follows_the_providers_rule(void **state)
{
    struct wr_cache_rule rule = {.mode = WR_CACHE_EXPLICIT, .ttl_s = 300, .ttl_long_s = 3600};
    struct wr_model model = {.cache = &rule};
    struct wr_bust_usage usage = {
        .is_known = true, .prompt_tokens = 9000, .read_tokens = 4000, .written_tokens = 1000};
    (void)state;
    assert_int_equal(wr_bust_cached(&usage, &model), 5000);
    rule.mode = WR_CACHE_PREFIX;
    assert_int_equal(wr_bust_cached(&usage, &model), 9000);
    rule.mode = WR_CACHE_BREAKPOINT;
    assert_int_equal(wr_bust_cached(&usage, &model), 5000);
    usage.written_tokens = 0;
    assert_int_equal(wr_bust_cached(&usage, &model), 9000);
    rule.mode = WR_CACHE_NONE;
    assert_int_equal(wr_bust_cached(&usage, &model), -1);
    assert_int_equal(wr_bust_ttl_ms(&(struct wr_prompt){0}, &model), 300000);
    assert_int_equal(wr_bust_ttl_ms(&(struct wr_prompt){.has_long_marker = true}, &model), 3600000);
}

static void the_provider_knows_what_we_could_not_see(void **state)
{
    (void)state;
    assert_int_equal(wr_bust_cause_of(WR_LIT("tools_changed"), WR_BUST_PROVIDER), WR_BUST_MODEL);
    assert_int_equal(wr_bust_cause_of(WR_LIT("system_changed"), WR_BUST_PROVIDER), WR_BUST_HOST);
    assert_int_equal(wr_bust_cause_of(WR_LIT("unavailable"), WR_BUST_PROVIDER), WR_BUST_PROVIDER);
    assert_int_equal(wr_bust_cause_of(WR_LIT("tools_changed"), WR_BUST_WEIR), WR_BUST_WEIR);
}

/* What is kept of a request that a later process compares with: no blocks, hashes alone. */
static const struct {
    const char *behaviour;
    struct wr_bust_chain now; /* the last one is all ones, at 1000000 */
    const char *cause, *place;
} chains[] = {
    {"nothing differs", {1, 1, 1, 1, 1009000, 0, 0}, "provider", ""},
    {"another model", {2, 1, 1, 1, 1009000, 0, 0}, "model", "model"},
    {"the pause was too long", {1, 1, 2, 1, 1301000, 0, 0}, "expired", "a pause of 301 s"},
    {"the tools have changed", {1, 2, 2, 2, 1009000, 0, 0}, "model", "tools"},
    {"the instructions have changed", {1, 1, 2, 2, 1009000, 0, 0}, "host", "system"},
    {"the parameters have changed", {1, 1, 1, 2, 1009000, 0, 0}, "host", "parameters"},
};

static void chains_name_the_cause_too(void **state)
{
    struct wr_bust_chain last = {1, 1, 1, 1, 1000000, 300000, 5000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(chains); i++) {
        struct wr_bust_check check = wr_bust_compare_chain(&last, &chains[i].now);
        if (!check.is_known || strcmp(wr_bust_name(check.cause), chains[i].cause) != 0 ||
            strcmp(check.place, chains[i].place) != 0)
            fail_msg("%s: %s, '%s'", chains[i].behaviour, wr_bust_name(check.cause), check.place);
    }
    last.cached_tokens = 0;
    assert_false(wr_bust_compare_chain(&last, &chains[0].now).is_known);
}

/* ==== prompts ==== */

static const char body[] =
    "{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"tools\":[{\"name\":\"Read\"}],"
    "\"system\":\"You mend.\",\"messages\":["
    "{\"role\":\"user\",\"content\":\"go\"},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\","
    "\"input\":{\"file_path\":\"a\"}}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":"
    "\"one two three\",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}]}]}";

/* The same with its marker gone, and one message more. */
static const char longer[] =
    "{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"tools\":[{\"name\":\"Read\"}],"
    "\"system\":\"You mend.\",\"messages\":["
    "{\"role\":\"user\",\"content\":\"go\"},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\","
    "\"input\":{\"file_path\":\"a\"}}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":"
    "\"one two three\"}]},{\"role\":\"assistant\",\"content\":\"Done.\"}],"
    "\"tool_choice\":{\"type\":\"auto\"}}";

struct opened {
    struct test_transcript test;
    struct wr_prompt prompt;
};

static void open_prompt(struct opened *o, const char *text, const struct wr_record *record)
{
    test_transcript_open(&o->test, wr_span_of(text));
    assert_int_equal(wr_prompt_read(&o->prompt, &o->test.arena, &o->test.transcript, record),
                     WEIR_OK);
}

static void blocks_have_places_and_markers_are_none_of_it(void **state)
{
    static const char *const places[] = {"tools", "system", "message 1, text",
                                         "message 2, tool call", "message 3, tool result"};
    struct opened a, b;
    char place[WR_PROMPT_PLACE_BYTES];
    (void)state;
    open_prompt(&a, body, NULL);
    open_prompt(&b, longer, NULL);
    assert_int_equal(a.prompt.blocks_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        wr_prompt_place(&a.prompt.blocks[i], place);
        assert_string_equal(place, places[i]);
    }
    assert_true(a.prompt.has_marker && a.prompt.has_long_marker);
    assert_false(b.prompt.has_marker);
    assert_int_equal(wr_prompt_common_original(&a.prompt, &b.prompt), 5);
    assert_int_equal(wr_prompt_common_sent(&a.prompt, &b.prompt), 5);
    assert_int_equal(wr_prompt_common_messages(&a.prompt, &b.prompt), 3);
    assert_int_equal(wr_prompt_messages(&b.prompt), 4);
    assert_true(a.prompt.first_user && a.prompt.first_user == b.prompt.first_user);
    assert_true(a.prompt.parameters != b.prompt.parameters);
    test_transcript_close(&a.test);
    test_transcript_close(&b.test);
}

static struct wr_record_change change_to(enum wr_form form)
{
    return (struct wr_record_change){
        .segment = 4, .form = form, .handle = "wr_1", .tokens_before = 100, .tokens_after = 40};
}

static void changes_are_in_what_was_sent(void **state)
{
    const struct wr_record_change capped = change_to(WR_FORM_CAPPED),
                                  cleared = change_to(WR_FORM_CLEARED);
    const struct wr_record_insert insert = {.before = 3, .handle = "wr_2", .tokens = 9};
    const struct wr_record cap = {.changes = &capped, .changes_count = 1},
                           clear = {.changes = &cleared, .changes_count = 1},
                           both = {.changes = &capped,
                                   .changes_count = 1,
                                   .inserts = &insert,
                                   .inserts_count = 1};
    struct opened raw, cut, same, other, put_in;
    (void)state;
    open_prompt(&raw, body, NULL);
    open_prompt(&cut, body, &cap);
    open_prompt(&same, longer, &cap);
    open_prompt(&other, body, &clear);
    open_prompt(&put_in, body, &both);
    assert_int_equal(wr_prompt_common_original(&raw.prompt, &cut.prompt), 5);
    assert_int_equal(wr_prompt_common_sent(&raw.prompt, &cut.prompt), 4);
    assert_int_equal(wr_prompt_common_sent(&cut.prompt, &same.prompt), 5);
    assert_int_equal(wr_prompt_common_sent(&cut.prompt, &other.prompt), 4);
    assert_int_equal(wr_prompt_common_sent(&cut.prompt, &put_in.prompt), 3);
    assert_int_equal(cut.prompt.changed_count, 1);
    assert_int_equal(put_in.prompt.changed_count, 2);
    assert_string_equal(cut.prompt.form, "capped");
    assert_null(raw.prompt.form);
    assert_true(cut.prompt.weight < raw.prompt.weight);
    test_transcript_close(&raw.test);
    test_transcript_close(&cut.test);
    test_transcript_close(&same.test);
    test_transcript_close(&other.test);
    test_transcript_close(&put_in.test);
}

static void what_was_taken_back_or_is_not_there_changes_nothing(void **state)
{
    struct wr_record_change changes[] = {change_to(WR_FORM_CAPPED), change_to(WR_FORM_CAPPED)};
    const struct wr_record record = {.changes = changes, .changes_count = 2};
    struct opened raw, o;
    (void)state;
    changes[0].is_rolled_back = true;
    changes[1].segment = 99;
    open_prompt(&raw, body, NULL);
    open_prompt(&o, body, &record);
    assert_int_equal(wr_prompt_common_sent(&raw.prompt, &o.prompt), 5);
    assert_int_equal(o.prompt.changed_count, 0);
    test_transcript_close(&o.test);
    test_transcript_close(&raw.test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_difference_names_the_cause),
        cmocka_unit_test(what_left_otherwise_comes_back),
        cmocka_unit_test(parameters_are_the_hosts),
        cmocka_unit_test(chains_name_the_cause_too),
        cmocka_unit_test(what_was_not_read_is_lost),
        cmocka_unit_test(what_is_left_follows_the_providers_rule),
        cmocka_unit_test(the_provider_knows_what_we_could_not_see),
        cmocka_unit_test(blocks_have_places_and_markers_are_none_of_it),
        cmocka_unit_test(changes_are_in_what_was_sent),
        cmocka_unit_test(what_was_taken_back_or_is_not_there_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
