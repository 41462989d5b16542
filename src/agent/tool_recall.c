#include "agent/tool_args.h"

/* The same tool that agents have by MCP. */
void wr_tool_recall_text(const struct wr_toolbox *box, struct wr_tool_args *args,
                         struct wr_tool_output *output)
{
    struct wr_mcp_call call = {.arena = &args->arena,
                               .tenant = box->tenant,
                               .doc = &args->doc,
                               .arguments = 0,
                               .out = &output->text};

    wr_mcp_recall(box->world, &call);
    output->is_error = call.is_error;
}
