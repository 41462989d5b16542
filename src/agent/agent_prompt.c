#include "agent/agent_prompt.h"

#include <sys/utsname.h>

#include "agent/toolbox.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "session/session.h"

static const char contract[] =
    "Work in the user's directory with the tools you have. Read before you change; change as "
    "little "
    "as does it; run what proves it. Say what you did and what you could not do. Text in results "
    "that looks like [weir ...] stands for text that was taken out: weir_recall brings it back; "
    "never copy such a line into a file.";

weir_status wr_agent_prompt_add(struct weir_prompt *prompt, const char *root, const char *dir,
                                int64_t now_ms, struct weir_err *err)
{
    struct utsname system;
    struct weir_section rules = {.name = "rules",
                                 .phase = WEIR_PHASE_CONSTRAINT,
                                 .priority = 50,
                                 .is_sticky = true,
                                 .text = wr_span_of(contract)};
    struct weir_runtime runtime = {
        .os = uname(&system) ? NULL : system.sysname, .shell = "sh", .cwd = root, .now_ms = now_ms};

    weir_status status = weir_prompt_add(prompt, &rules, err);
    if (!status)
        status = weir_prompt_add_dir(prompt, dir, err);
    return status ? status : weir_prompt_add_runtime(prompt, &runtime, err);
}

weir_status wr_agent_prompt_add_tools(struct weir_prompt *prompt, struct weir_err *err)
{
    struct weir_tool tools[WR_TOOLBOX_TOOLS_MAX];
    struct wr_toolbox box = {.is_list_only = true};
    size_t count = wr_toolbox_tools(&box, tools);
    struct wr_buf text;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        wr_buf_append(&text, tools[i].name);
        wr_buf_byte(&text, '\n');
        wr_buf_append(&text, tools[i].description);
        wr_buf_byte(&text, '\n');
        wr_buf_append(&text, tools[i].schema);
        wr_buf_byte(&text, '\n');
    }
    struct weir_section section = {.name = "tools",
                                   .phase = WEIR_PHASE_TOOLS,
                                   .priority = 100,
                                   .is_sticky = true,
                                   .is_field = true,
                                   .text = wr_buf_view(&text)};
    weir_status status = wr_buf_status(&text);
    if (!status)
        status = weir_prompt_add(prompt, &section, err);
    wr_buf_release(&text);
    return status;
}

/* ---- moment ---- */

enum { ACTIONS_MAX = 6, ACTION_CHARS_MAX = 100 };

static const struct weir_call *find_call(const struct wr_thread *t, uint32_t at, weir_span id)
{
    while (at-- > 0) {
        const struct wr_event *event = &t->messages[at].event;
        if (event->kind != WR_EVENT_ASSISTANT)
            continue;
        for (uint32_t i = 0; i < event->calls_count; i++)
            if (wr_span_eq(event->calls[i].id, id))
                return &event->calls[i];
        return NULL; /* a result belongs to the answer before it */
    }
    return NULL;
}

static void put_action(struct wr_buf *out, const struct weir_call *call, bool is_error)
{
    struct wr_tool_call_text text = {call->name, call->arguments};
    struct wr_buf line;

    wr_buf_init(&line, WR_AGENT_READ_BYTES_MAX);
    wr_toolbox_describe(&text, &line);
    wr_buf_text(out, out->len ? "\n- " : "- ");
    wr_text_one_line_max(out, wr_buf_status(&line) ? call->name : wr_buf_view(&line),
                         ACTION_CHARS_MAX);
    wr_buf_text(out, is_error ? ": failed" : ": done");
    wr_buf_release(&line);
}

void wr_moment_footprint(const struct weir_session *session, struct wr_buf *out)
{
    const struct wr_thread *t = &session->thread;
    uint32_t from = t->messages_count, count = 0;

    while (from > 0 && count < ACTIONS_MAX) {
        from--;
        count += t->messages[from].event.kind == WR_EVENT_RESULT;
    }
    for (uint32_t i = from; i < t->messages_count; i++) {
        const struct wr_event *event = &t->messages[i].event;
        const struct weir_call *call =
            event->kind == WR_EVENT_RESULT ? find_call(t, i, event->call_id) : NULL;
        if (call)
            put_action(out, call, event->is_error);
    }
}

weir_status wr_moment_write(const struct weir_session *session, int64_t now_ms, struct wr_buf *out,
                            struct weir_err *err)
{
    struct weir_prompt *prompt = NULL;
    struct wr_buf footprint;

    if (!wr_thread_has_words(&session->thread))
        return WEIR_OK;
    wr_buf_init(&footprint, WR_AGENT_READ_BYTES_MAX);
    wr_moment_footprint(session, &footprint);
    struct weir_runtime runtime = {.now_ms = now_ms, .footprint = wr_buf_view(&footprint)};
    weir_status status = wr_buf_status(&footprint);
    if (!status)
        status = weir_prompt_new(&prompt);
    if (!status)
        status = weir_prompt_add_runtime(prompt, &runtime, err);
    if (!status)
        status = weir_prompt_build(prompt, NULL, 0, err);
    if (!status)
        wr_buf_append(out, weir_prompt_context(prompt));
    weir_prompt_free(prompt);
    wr_buf_release(&footprint);
    return status ? status : wr_buf_status(out);
}
