#include "agent/tool_args.h"
#include "base/span.h"

/* A note's first line stands for it in the index, where nothing else was said. */
static weir_span first_line(weir_span text)
{
    weir_span line = {"", 0};
    while (wr_span_line(&text, &line) && !wr_span_trim(line).len)
        ;
    line = wr_span_trim(line);
    while (line.len && line.ptr[0] == '#')
        line = wr_span_trim(wr_span_cut(line, 1, line.len));
    return line;
}

static void show(struct wr_tool_output *output, weir_status status, weir_span text,
                 const struct weir_err *err)
{
    if (status) {
        wr_tool_fail(output, "%s", err->text);
        return;
    }
    wr_buf_append(&output->text, text);
    weir_text_free(text);
}

static void write_note(const struct wr_toolbox *box, struct wr_tool_args *args, const char *name,
                       struct wr_tool_output *output)
{
    weir_span content, about = {"", 0};
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "content", &content) ||
        !wr_tool_args_may_text(args, "about", &about))
        return;
    about = first_line(about.len ? about : content);
    if (weir_note_write(box->agent_dir, name, about.len ? about : WR_LIT("a note"), content, &err))
        wr_tool_fail(output, "%s", err.text);
    else
        wr_buf_printf(&output->text, "Noted '%s'.", name);
}

void wr_tool_memory(const struct wr_toolbox *box, struct wr_tool_args *args,
                    struct wr_tool_output *output)
{
    weir_span action, name, text;
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "action", &action) || !wr_tool_args_text(args, "name", &name))
        return;
    const char *note = wr_tool_string(args, name);
    if (!note)
        return;
    if (wr_span_is(action, "read"))
        show(output, weir_note_read(box->agent_dir, note, &text, &err), text, &err);
    else if (wr_span_is(action, "write"))
        write_note(box, args, note, output);
    else
        wr_tool_fail(output, "action is read or write");
}

void wr_tool_skill(const struct wr_toolbox *box, struct wr_tool_args *args,
                   struct wr_tool_output *output)
{
    weir_span name, text;
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "name", &name))
        return;
    const char *skill = wr_tool_string(args, name);
    if (skill)
        show(output, weir_skill_read(box->agent_dir, skill, &text, &err), text, &err);
}
