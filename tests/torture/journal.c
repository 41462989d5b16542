/* A journal read into a thread, cut, and written as a request of each API; and a prompt. */
#include "tests/torture/torture.h"

#include "base/span.h"
#include "session/cut.h"
#include "session/journal.h"
#include "session/prompt.h"
#include "session/render.h"
#include "session/settings.h"
#include "session/thread.h"

static const char lines[] =
    "{\"seq\":1,\"kind\":\"prompt\",\"text\":\"be brief\"}\n"
    "{\"seq\":2,\"kind\":\"model\",\"model\":\"m\"}\n"
    "{\"seq\":3,\"kind\":\"user\",\"text\":\"caf\\u00e9\"}\n"
    "{\"seq\":4,\"kind\":\"turn\",\"text\":\"clock: noon\"}\n"
    "{\"seq\":5,\"kind\":\"assistant\",\"model\":\"m\",\"text\":\"t\",\"calls\":[{\"id\":\"c.1\","
    "\"name\":\"Bash\",\"arguments\":\"{}\"}],\"api\":\"messages\",\"items\":[{\"type\":"
    "\"thinking\",\"signature\":\"s\"},{\"type\":\"tool_use\",\"id\":\"c.1\",\"name\":\"Bash\","
    "\"input\":{}}]}\n"
    "{\"seq\":6,\"kind\":\"result\",\"call_id\":\"c.1\",\"name\":\"Bash\",\"text\":\"r\"}\n"
    "{\"seq\":7,\"kind\":\"steering\",\"text\":\"faster\"}\n"
    "{\"seq\":8,\"kind\":\"turn\"}\n"
    "{\"seq\":9,\"kind\":\"assistant\",\"model\":\"m\",\"text\":\"done\"}\n"
    "{\"seq\":10,\"kind\":\"user\",\"text\":\"more\"}\n"
    "{\"seq\":11,\"kind\":\"summary\",\"before\":9,\"text\":\"it was done\"}\n"
    "{\"seq\":12,\"kind\":\"importance\",\"of\":9,\"score\":5}\n";

static const char compaction[] =
    "{\"seq\":13,\"kind\":\"compaction\",\"before\":9,\"summary\":11,\"omitted\":2,\"kept\":[4]}\n";

static uint64_t count(void *user, weir_span text)
{
    (void)user;
    return text.len;
}

static weir_status add(void *user, const struct wr_event *event, weir_span line)
{
    struct wr_staged staged;
    (void)line;
    weir_status status = wr_thread_stage(user, event, &staged);
    if (!status)
        wr_thread_commit(user, &staged, event);
    return status;
}

static weir_status write_all(const struct wr_thread *thread, struct wr_buf *out)
{
    struct weir_tool tool = {WR_LIT("Bash"), WR_LIT("runs"), WR_LIT("")};
    struct wr_cut_budget budget = {.messages_max = 2};
    struct wr_arena arena;
    struct wr_view view;
    struct wr_cut cut;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_view_build(&view, &arena, thread);
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_CONVERSE && !status; d++) {
        struct wr_render render = {.view = &view,
                                   .dialect = (weir_dialect)d,
                                   .prompt = thread->prompt,
                                   .model = thread->model,
                                   .tools = &tool,
                                   .tools_count = 1,
                                   .has_markers = true};
        wr_render_write(&render, out);
        status = wr_buf_status(out);
    }
    if (!status)
        status = wr_cut_for_budget(&cut, &arena, &view, thread, &budget);
    wr_arena_release(&arena);
    return status;
}

weir_status torture_prompt(void)
{
    struct weir_section section = {.name = "identity",
                                   .phase = WEIR_PHASE_CONSTRAINT,
                                   .text = WR_LIT("you are"),
                                   .source = "AGENT.md"};
    struct weir_runtime runtime = {.os = "linux", .now_ms = 1763218200000};
    weir_span name = {"", 0}, description = {"", 0};
    struct weir_prompt *prompt;

    weir_status status = weir_prompt_new(&prompt);
    if (status)
        return status;
    status = weir_prompt_add(prompt, &section, NULL);
    if (!status)
        status = weir_prompt_add_runtime(prompt, &runtime, NULL);
    if (!status)
        status = wr_skill_front(WR_LIT("---\nname: a\ndescription: b c\n---\nd\n"), &prompt->arena,
                                &name, &description, NULL);
    for (size_t i = 0; i < weir_prompt_sections(prompt) && !status; i++)
        torture_tell(weir_prompt_section(prompt, i)->text);
    if (!status)
        torture_tell(description);
    weir_prompt_free(prompt);
    return status;
}

weir_status torture_journal(void)
{
    struct wr_journal_scan scan;
    struct wr_settings settings;
    struct wr_thread thread;
    struct wr_buf out;

    wr_thread_init(&thread, count, NULL);
    wr_buf_init(&out, 1 << 20);
    wr_journal_scan_init(&scan, add, &thread);
    weir_status status = wr_journal_scan_feed(&scan, wr_span_of(lines), NULL);
    if (!status)
        status = write_all(&thread, &out);
    if (!status)
        status = wr_journal_scan_feed(&scan, wr_span_of(compaction), NULL);
    if (!status)
        status = write_all(&thread, &out);
    if (!status)
        status = wr_settings_read(&settings, WR_LIT("session: {context: {max_history_tokens: 5}}"),
                                  NULL);
    if (!status)
        torture_tell(wr_buf_view(&out));
    wr_journal_scan_release(&scan);
    wr_buf_release(&out);
    wr_thread_release(&thread);
    return status;
}
