/* What agents tell their hooks, by row. */
#include "hook/hook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* ---- event ---- */

/* What agents tell their hooks, by row. */

#define EVENT(tool, response)                                                    \
    "{\"session_id\":\"s\",\"tool_name\":\"" tool "\",\"tool_input\":{\"a\":1}," \
    "\"tool_response\":" response "}"
#define UPDATED(response)                                                                        \
    "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"updatedToolOutput\":" response \
    "}}\n"

static const struct {
    const char *sentence, *agent, *event, *text; /* NULL: it stays whole */
    const char *answer;                          /* that puts X there */
} cases[] = {
    {"Bash: stdout, and nothing else of the response changes", "claude",
     EVENT("Bash", "{\"stdout\":\"a\\nb\", \"stderr\":\"\\u00e9\",\"n\":1.50}"), "a\nb",
     UPDATED("{\"stdout\":\"X\", \"stderr\":\"\\u00e9\",\"n\":1.50}")},
    {"a text that stands alone", "claude", EVENT("mcp__a__b", "\"t\""), "t", UPDATED("\"X\"")},
    {"a list of one text", "claude", EVENT("mcp__a__b", "[{\"type\":\"text\",\"text\":\"t\"}]"),
     "t", UPDATED("[{\"type\":\"text\",\"text\":\"X\"}]")},
    {"our plugin's text", "opencode", EVENT("bash", "\"t\""), "t", "{\"output\":\"X\"}\n"},
    {"a list of two stays", "claude",
     EVENT("mcp__a__b", "[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"text\",\"text\":\"u\"}]"),
     NULL, NULL},
    {"a block that is no text stays", "claude",
     EVENT("mcp__a__b", "[{\"type\":\"image\",\"text\":\"t\"}]"), NULL, NULL},
    {"Read stays: its lines are numbered afterwards", "claude",
     EVENT("Read", "{\"type\":\"text\",\"file\":{\"content\":\"t\"}}"), NULL, NULL},
    {"an object of a tool that is not known stays", "claude", EVENT("Wonder", "{\"stdout\":\"t\"}"),
     NULL, NULL},
    {"an image stays", "claude", EVENT("Bash", "{\"stdout\":\"t\",\"isImage\":true}"), NULL, NULL},
    {"what is not so is not said", "claude",
     EVENT("Bash", "{\"stdout\":\"t\",\"isImage\":false,\"backgroundTaskId\":null}"), "t",
     UPDATED("{\"stdout\":\"X\",\"isImage\":false,\"backgroundTaskId\":null}")},
    {"a text of a tool that gives objects stays", "claude", EVENT("Bash", "\"t\""), NULL, NULL},
    {"a number stays", "claude", EVENT("Bash", "7"), NULL, NULL},
    {"a subagent's stays", "claude",
     "{\"agent_id\":\"a\",\"tool_name\":\"Bash\",\"tool_input\":{},\"tool_response\":\"t\"}", NULL,
     NULL},
    {"Codex keeps all", "codex", EVENT("Bash", "\"t\""), NULL, NULL},
    {"Gemini keeps all", "gemini", EVENT("run_shell_command", "\"t\""), NULL, NULL},
};

static void reads_and_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        const struct wr_hook_agent *agent = wr_hook_agent_find(cases[i].agent);
        struct wr_hook_event event;
        struct wr_arena arena;
        struct wr_buf out;

        print_message("%s\n", cases[i].sentence);
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        assert_int_equal(
            wr_hook_event_read(&event, &arena, agent, wr_span_of(cases[i].event), NULL), WEIR_OK);
        assert_int_equal(event.whole == NULL, cases[i].text != NULL);
        if (cases[i].text) {
            assert_true(wr_span_is(event.text, cases[i].text));
            assert_int_equal(wr_hook_event_answer(&event, &arena, agent, WR_LIT("X"), &out, NULL),
                             WEIR_OK);
            assert_true(wr_span_is(wr_buf_view(&out), cases[i].answer));
        }
        wr_buf_release(&out);
        wr_arena_release(&arena);
    }
}

static void refuses_what_is_no_event(void **state)
{
    static const char *const events[] = {
        "",
        "[]",
        "{}",
        "{\"tool_name\":\"a\",\"tool_input\":{}}",
        "{\"tool_name\":\"a\",\"tool_input\":1,\"tool_response\":\"t\"}",
        "{\"tool_name\":1,\"tool_input\":{},\"tool_response\":\"t\"}",
        "{\"tool_name\":\"a\",\"tool_input\":{},\"tool_response\":\"t\",\"tool_response\":\"u\"}",
    };

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(events); i++) {
        struct wr_hook_event event;
        struct wr_arena arena;

        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_not_equal(
            wr_hook_event_read(&event, &arena, wr_hook_agent_at(0), wr_span_of(events[i]), NULL),
            WEIR_OK);
        wr_arena_release(&arena);
    }
}

static void names_its_agents(void **state)
{
    (void)state;
    for (size_t i = 0; wr_hook_agent_at(i); i++) {
        const struct wr_hook_agent *agent = wr_hook_agent_at(i);
        assert_ptr_equal(wr_hook_agent_find(agent->name), agent);
        assert_true(agent->taker != WR_TAKES_NOTHING || *agent->lack);
    }
    assert_null(wr_hook_agent_find("claud"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_answers),
        cmocka_unit_test(refuses_what_is_no_event),
        cmocka_unit_test(names_its_agents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
