#include "session/prompt.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "session/disk.h"
#include "tests/test_agent.h"

/* ---- pieces ---- */

static const struct {
    const char *name, *before, *now, *diff;
} rows[] = {
    {"the same says nothing", "a=1 b=2", "a=1 b=2", ""},
    {"one more", "a=1", "a=1 b=2", "+b"},
    {"one less", "a=1 b=2", "a=1", "-b"},
    {"another text under the same name", "a=1 b=2", "a=1 b=3", "~b"},
    {"all three", "a=1 b=2", "b=3 c=4", "~b +c -a"},
    {"all new", "", "a=1 b=2", "+a +b"},
    {"all gone", "a=1", "", "-a"},
    {"only the order", "a=1 b=2", "b=2 a=1", "their order"},
    {"a name that begins as another", "ab=1", "a=1", "+a -ab"},
};

static void what_differs_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 1000);
        wr_pieces_diff(&out, wr_span_of(rows[i].before), wr_span_of(rows[i].now));
        if (!wr_span_is(wr_buf_view(&out), rows[i].diff))
            fail_msg("%s: '%.*s'", rows[i].name, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

static void a_tool_is_its_name_its_description_and_its_schema(void **state)
{
    struct weir_tool tools[] = {{WR_LIT("read me=1"), WR_LIT("d"), WR_LIT("{}")},
                                {WR_LIT("b"), WR_LIT("d"), WR_LIT("{}")}};
    struct wr_buf first, second, diff;
    (void)state;
    wr_buf_init(&first, 1000);
    wr_buf_init(&second, 1000);
    wr_buf_init(&diff, 1000);
    wr_pieces_of_tools(&first, tools, 2);
    tools[0].description = WR_LIT("e");
    tools[1].schema = WR_LIT("{ }");
    wr_pieces_of_tools(&second, tools, 2);
    wr_pieces_diff(&diff, wr_buf_view(&first), wr_buf_view(&second));
    assert_true(wr_span_is(wr_buf_view(&diff), "~read_me_1 ~b"));
    wr_buf_release(&diff);
    wr_buf_release(&second);
    wr_buf_release(&first);
}

/* ---- the prompt ---- */

static void put(const struct test_agent *agent, const char *name, const char *text)
{
    char path[256];
    char *slash;
    (void)snprintf(path, sizeof(path), "%s/%s", agent->dir, name);
    slash = strrchr(path, '/');
    *slash = 0;
    assert_int_equal(wr_disk_make_dir(path, NULL), WEIR_OK);
    *slash = '/';
    assert_int_equal(wr_disk_replace(path, wr_span_of(text), NULL), WEIR_OK);
}

static struct weir_prompt *new_prompt(void)
{
    struct weir_prompt *prompt;
    assert_int_equal(weir_prompt_new(&prompt), WEIR_OK);
    return prompt;
}

static void add(struct weir_prompt *prompt, const char *name, weir_phase phase, int priority,
                bool is_sticky)
{
    struct weir_section section = {
        .name = name, .phase = phase, .priority = priority, .is_sticky = is_sticky};
    char text[64];
    (void)snprintf(text, sizeof(text), "text of %s", name);
    section.text = wr_span_of(text);
    assert_int_equal(weir_prompt_add(prompt, &section, NULL), WEIR_OK);
}

static void sections_come_by_phase_then_priority_then_order(void **state)
{
    static const char *const wanted[] = {"c-high", "c-low", "t-first", "t-second", "task", "m"};
    struct weir_prompt *prompt = new_prompt();
    (void)state;
    add(prompt, "m", WEIR_PHASE_MEMORY, 1000, false);
    add(prompt, "t-first", WEIR_PHASE_TOOLS, 5, false);
    add(prompt, "task", WEIR_PHASE_TASK, 0, false);
    add(prompt, "c-low", WEIR_PHASE_CONSTRAINT, 1, true);
    add(prompt, "t-second", WEIR_PHASE_TOOLS, 5, false);
    add(prompt, "c-high", WEIR_PHASE_CONSTRAINT, 2, true);
    assert_int_equal(weir_prompt_build(prompt, "gpt-5", 0, NULL), WEIR_OK);
    assert_int_equal(weir_prompt_sections(prompt), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(weir_prompt_section(prompt, i)->name, wanted[i]);
        assert_true(weir_prompt_section(prompt, i)->tokens > 0);
    }
    assert_true(wr_span_starts(weir_prompt_system(prompt),
                               WR_LIT("text of c-high\n\ntext of c-low\n\ntext of t-first")));
    weir_prompt_free(prompt);
}

static void over_the_cap_only_what_is_not_sticky_leaves_the_last_first(void **state)
{
    struct weir_prompt *prompt = new_prompt();
    struct weir_section big = {
        .name = "memory",
        .phase = WEIR_PHASE_MEMORY,
        .source = "MEMORY.md",
        .text = WR_LIT("many words of notes that nobody needs at this very "
                       "moment, in a long row of words, and then again as many words "
                       "of notes that nobody will ever need, in a row")};
    (void)state;
    add(prompt, "identity", WEIR_PHASE_CONSTRAINT, 1, true);
    add(prompt, "hints", WEIR_PHASE_TASK, 1, false);
    assert_int_equal(weir_prompt_add(prompt, &big, NULL), WEIR_OK);
    assert_int_equal(weir_prompt_build(prompt, "gpt-5", 36, NULL), WEIR_OK);
    assert_has(weir_prompt_system(prompt), "text of identity");
    assert_has(weir_prompt_system(prompt), "text of hints");
    assert_has(weir_prompt_system(prompt), "[memory left out: ~");
    assert_has(weir_prompt_system(prompt), "read MEMORY.md]");
    assert_true(weir_prompt_section(prompt, 2)->is_left_out);
    assert_int_equal(weir_prompt_build(prompt, "gpt-5", 1, NULL), WEIR_OK);
    assert_has(weir_prompt_system(prompt), "text of identity"); /* sticky: never */
    assert_has_not(weir_prompt_system(prompt), "text of hints");
    weir_prompt_free(prompt);
}

static void clock_and_footprint_are_not_in_the_system_text(void **state)
{
    struct weir_prompt *prompt = new_prompt();
    struct weir_runtime runtime = {.os = "linux",
                                   .cwd = "/src",
                                   .now_ms = 1763218200000,
                                   .footprint = WR_LIT("- ran make: ok")};
    (void)state;
    assert_int_equal(weir_prompt_add_runtime(prompt, &runtime, NULL), WEIR_OK);
    assert_int_equal(weir_prompt_build(prompt, NULL, 1, NULL), WEIR_OK);
    assert_true(wr_span_is(weir_prompt_system(prompt), "os: linux\nworking directory: /src"));
    assert_true(wr_span_is(weir_prompt_context(prompt),
                           "<context>\nclock: 2025-11-15T14:50Z\nrecent actions:\n- ran make: "
                           "ok\n</context>"));
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++)
        assert_true(weir_prompt_section(prompt, i)->is_sticky);
    weir_prompt_free(prompt);
}

static const struct {
    int64_t ms;
    const char *clock;
} clocks[] = {{60000, "1970-01-01T00:01Z"},
              {951782400000, "2000-02-29T00:00Z"},
              {1709251199999, "2024-02-29T23:59Z"},
              {4107542399000, "2100-02-28T23:59Z"},
              {4107542400000, "2100-03-01T00:00Z"}};

static void the_clock_knows_the_calendar(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(clocks); i++) {
        struct weir_prompt *prompt = new_prompt();
        struct weir_runtime runtime = {.now_ms = clocks[i].ms};
        assert_int_equal(weir_prompt_add_runtime(prompt, &runtime, NULL), WEIR_OK);
        assert_int_equal(weir_prompt_build(prompt, NULL, 0, NULL), WEIR_OK);
        assert_has(weir_prompt_context(prompt), clocks[i].clock);
        weir_prompt_free(prompt);
    }
}

static void skills_are_an_index_until_one_is_read(void **state)
{
    struct weir_prompt *prompt = new_prompt();
    struct test_agent agent;
    weir_span text;
    (void)state;
    test_agent_init(&agent);
    put(&agent, "AGENT.md", "You keep the weir.\n");
    put(&agent, "CONTRACT.md", "Never open two gates.");
    put(&agent, "HINTS.md", "Gates stick in winter.");
    put(&agent, "MEMORY.md", "- [gate](memory/gate.md): how the gate sticks\n");
    put(&agent, "skills/plot/SKILL.md",
        "---\nname: plot\ndescription: >\n  draws\n  levels\n---\nBODY of plot\n");
    put(&agent, "skills/bad/SKILL.md", "no front matter\n");
    put(&agent, "skills/worse/SKILL.md", "---\nname: [\n---\n");
    put(&agent, "skills/nameless/SKILL.md", "---\nname: x\n---\n");
    assert_int_equal(weir_prompt_add_dir(prompt, agent.dir, NULL), WEIR_OK);
    assert_int_equal(weir_prompt_build(prompt, NULL, 0, NULL), WEIR_OK);
    weir_span system = weir_prompt_system(prompt);
    assert_true(
        wr_span_starts(system, WR_LIT("You keep the weir.\n\nNever open two gates.\n\nGates "
                                      "stick in winter.\n\nSkills (")));
    assert_has(system, "- plot: draws levels");
    assert_has_not(system, "BODY");
    assert_has(system, "memory/gate.md");
    assert_string_equal(weir_prompt_trouble(prompt, 0),
                        "skill bad: it does not begin with front matter between two lines `---`");
    assert_has(wr_span_of(weir_prompt_trouble(prompt, 1)),
               "skill nameless: its front matter has no description");
    assert_has(wr_span_of(weir_prompt_trouble(prompt, 2)), "skill worse: line");
    assert_null(weir_prompt_trouble(prompt, 3));
    assert_int_equal(weir_skill_read(agent.dir, "plot", &text, NULL), WEIR_OK);
    assert_has(text, "BODY of plot");
    weir_text_free(text);
    assert_int_equal(weir_skill_read(agent.dir, "no", &text, &agent.err), WEIR_NOTFOUND);
    assert_has(wr_span_of(agent.err.text),
               "there is no skill 'no'; there are: bad, nameless, plot");
    assert_int_equal(weir_skill_read(agent.dir, "../x", &text, &agent.err), WEIR_INVALID);
    weir_prompt_free(prompt);
    test_agent_release(&agent);
}

static void notes_survive_the_session_and_enter_only_when_read(void **state)
{
    struct weir_prompt *prompt = new_prompt();
    struct test_agent agent;
    weir_span text;
    (void)state;
    test_agent_init(&agent);
    put(&agent, "AGENT.md", "You keep the weir.\n");
    TEST_OK(&agent, weir_note_write(agent.dir, "gate", WR_LIT("how the gate\nsticks"),
                                    WR_LIT("push twice"), &agent.err));
    TEST_OK(&agent,
            weir_note_write(agent.dir, "sill", WR_LIT("its level"), WR_LIT("12"), &agent.err));
    TEST_OK(&agent, weir_note_write(agent.dir, "gate", WR_LIT("it no longer sticks"),
                                    WR_LIT("push once"), &agent.err));
    assert_int_equal(weir_prompt_add_dir(prompt, agent.dir, NULL), WEIR_OK);
    assert_int_equal(weir_prompt_build(prompt, NULL, 0, NULL), WEIR_OK);
    assert_has(weir_prompt_system(prompt), "- [gate](memory/gate.md): it no longer sticks\n"
                                           "- [sill](memory/sill.md): its level");
    assert_has_not(weir_prompt_system(prompt), "push");
    assert_int_equal(weir_note_read(agent.dir, "gate", &text, NULL), WEIR_OK);
    assert_true(wr_span_is(text, "push once"));
    weir_text_free(text);
    assert_int_equal(weir_note_write(agent.dir, "../evil", WR_LIT("d"), WR_LIT("t"), &agent.err),
                     WEIR_INVALID);
    weir_prompt_free(prompt);
    test_agent_release(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(a_tool_is_its_name_its_description_and_its_schema),
        cmocka_unit_test(sections_come_by_phase_then_priority_then_order),
        cmocka_unit_test(over_the_cap_only_what_is_not_sticky_leaves_the_last_first),
        cmocka_unit_test(clock_and_footprint_are_not_in_the_system_text),
        cmocka_unit_test(the_clock_knows_the_calendar),
        cmocka_unit_test(skills_are_an_index_until_one_is_read),
        cmocka_unit_test(notes_survive_the_session_and_enter_only_when_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
