#include "agent/mcp_link.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "mcp/client.h"

void wr_mcp_link_init(struct wr_mcp_link *link, const struct wr_mcp_setting *setting,
                      struct wr_client *client, const char *root)
{
    *link = (struct wr_mcp_link){
        .setting = setting, .client = client, .root = root, .in = -1, .out = -1, .errors = -1};
    wr_buf_init(&link->answer, WR_AGENT_MCP_BYTES_MAX);
    wr_buf_init(&link->going, WR_AGENT_MCP_BYTES_MAX);
}

void wr_mcp_link_release(struct wr_mcp_link *link)
{
    wr_mcp_link_close(link);
    wr_buf_release(&link->answer);
    wr_buf_release(&link->going);
}

bool wr_mcp_link_open(struct wr_mcp_link *link)
{
    link->why[0] = link->noise[0] = '\0';
    link->session[0] = link->version[0] = '\0';
    wr_buf_reset(&link->going);
    link->is_open = link->setting->url || wr_mcp_stdio_open(link);
    return link->is_open;
}

void wr_mcp_link_close(struct wr_mcp_link *link)
{
    if (!link->is_open)
        return;
    if (link->setting->url)
        wr_mcp_http_close(link);
    else
        wr_mcp_stdio_close(link);
    link->is_open = false;
}

bool wr_mcp_link_is_interrupted(const struct wr_mcp_link *link)
{
    return link->interrupt && link->interrupt(link->interrupt_user);
}

static void run(struct wr_mcp_link *link, uint64_t timeout_s)
{
    if (link->setting->url)
        wr_mcp_http_run(link, timeout_s);
    else
        wr_mcp_stdio_run(link, timeout_s);
}

bool wr_mcp_link_ask(struct wr_mcp_link *link, weir_span message, uint64_t id, uint64_t timeout_s)
{
    link->wanted = id;
    link->has_answer = false;
    link->why[0] = '\0';
    wr_buf_reset(&link->answer);
    wr_buf_append(&link->going, message);
    wr_buf_byte(&link->going, '\n');
    run(link, timeout_s);
    size_t len = strlen(link->why);
    if (!link->has_answer && link->noise[0])
        (void)snprintf(link->why + len, sizeof(link->why) - len, "; it said what is no message: %s",
                       link->noise);
    return link->has_answer;
}

void wr_mcp_link_tell(struct wr_mcp_link *link, weir_span message)
{
    link->wanted = 0;
    wr_buf_append(&link->going, message);
    wr_buf_byte(&link->going, '\n');
    run(link, 0);
}

void wr_mcp_link_take(struct wr_mcp_link *link, weir_span text)
{
    struct wr_mcp_said_message said;
    struct wr_arena arena;
    struct wr_buf line;

    wr_arena_init(&arena, WR_AGENT_TOOL_BYTES_MAX);
    switch (wr_mcp_read(&said, &arena, text, link->wanted)) {
    case WR_MCP_SAID_RESULT:
    case WR_MCP_SAID_ERROR:
        if (link->has_answer || !link->wanted)
            break;
        wr_buf_append(&link->answer, text);
        link->has_answer = !wr_buf_status(&link->answer);
        break;
    case WR_MCP_SAID_REQUEST:
        /* One that asks on and on and reads no answers gets none. */
        if (link->going.len > WR_AGENT_MCP_REPLIES_BYTES_MAX)
            break;
        wr_buf_append(&link->going, wr_buf_view(&said.reply));
        wr_buf_byte(&link->going, '\n');
        break;
    case WR_MCP_SAID_NOTHING:
        wr_buf_init(&line, sizeof(link->noise) * 4);
        wr_text_one_line_max(&line, wr_text_head(text, 400), 100);
        (void)snprintf(link->noise, sizeof(link->noise), "%.*s", (int)line.len,
                       line.len ? line.bytes : "");
        wr_buf_release(&line);
        break;
    case WR_MCP_SAID_OTHER:
        break;
    }
    wr_buf_release(&said.reply);
    wr_arena_release(&arena);
}
