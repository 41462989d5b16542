#include "agent/agent_prompt.h"

#include <sys/utsname.h>

#include "agent/toolbox.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

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
