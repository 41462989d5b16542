/* `weir mcp`: the MCP server on stdin and stdout, as agents start it. */
#include "cli/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/open.h"
#include "hook/presence.h"
#include "mcp/line_reader.h"
#include "mcp/server.h"
#include "proxy/door.h"

struct mcp_options {
    const char *store;
};

#define VALUES struct mcp_options

static const struct wr_option options[] = {
    {"store", WR_DIR(store),
     "the store (unless told $XDG_DATA_HOME/weir or ~/.local/share/weir); a server may be writing "
     "it, and it may be made later"},
    {"WEIR_TOKEN", WR_NOTE,
     "in the environment: the access token whose texts are to be read; without it those of this "
     "machine's own sessions"},
};

enum { CHUNK_BYTES = 64 * 1024 };

struct stream {
    struct wr_mcp *mcp;
    struct wr_mcp_peer peer;
    char tenant[WR_TENANT_BYTES];
    bool is_over; /* nobody reads the answers any more */
};

static void on_line(void *user, weir_span line, bool is_too_long)
{
    struct stream *stream = user;
    struct wr_mcp_answer answer;

    if (stream->is_over)
        return;
    if (is_too_long)
        wr_mcp_answer_too_long(&answer);
    else
        wr_mcp_answer(stream->mcp, wr_span_of(stream->tenant), &stream->peer, line, &answer);
    if (answer.message.len && (!wr_os_write_all(STDOUT_FILENO, answer.message) ||
                               !wr_os_write_all(STDOUT_FILENO, WR_LIT("\n"))))
        stream->is_over = true;
}

static int serve_stream(struct stream *stream)
{
    static char chunk[CHUNK_BYTES];
    struct wr_mcp_line_reader reader;
    ssize_t got = 1;

    wr_mcp_line_reader_init(&reader, WR_MCP_LINE_BYTES_MAX, on_line, stream);
    while (!stream->is_over && got) {
        got = read(STDIN_FILENO, chunk, sizeof(chunk));
        if (got < 0 && errno != EINTR)
            break;
        if (got > 0)
            wr_mcp_line_reader_feed(&reader, (weir_span){chunk, (size_t)got});
    }
    int error = got < 0 ? errno : 0;
    wr_mcp_line_reader_end(&reader);
    wr_mcp_line_reader_release(&reader);
    return error ? wr_cli_fail("stdin: %s", strerror(error)) : WR_EXIT_OK;
}

/* While it lives, a hook of the same agent knows that what it takes out can be had again. Only this
 * machine's own sessions have hooks, and `weir doctor`, who only looks, is no agent. */
static int serve_hooked(struct stream *stream, const char *store)
{
    struct wr_presence presence = {.fd = -1};

    if (!strcmp(stream->tenant, WR_CLI_TENANT) && !getenv("WEIR_LOOK_ONLY"))
        wr_presence_leave(&presence, store);
    int code = serve_stream(stream);
    wr_presence_take_back(&presence);
    return code;
}

static bool name_tenant(struct stream *stream)
{
    const char *token = getenv("WEIR_TOKEN");

    (void)snprintf(stream->tenant, sizeof(stream->tenant), "%s", WR_CLI_TENANT);
    if (!token || !*token || !wr_door_tenant(wr_span_of(token), stream->tenant))
        return true;
    (void)wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    return false;
}

static int run_mcp(void *values, const struct wr_words *words)
{
    const struct mcp_options *o = values;
    struct stream stream = {.mcp = NULL};
    struct wr_buf path;
    int code = WR_EXIT_USAGE;

    (void)words;
    (void)signal(SIGPIPE, SIG_IGN);
    if (wr_cli_store_path(o->store, &path)) {
        if (wr_mcp_new(&stream.mcp, path.bytes))
            (void)wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
        else if (name_tenant(&stream))
            code = serve_hooked(&stream, path.bytes);
    }
    wr_mcp_free(stream.mcp);
    wr_buf_release(&path);
    return code;
}

const struct wr_command wr_cmd_mcp = {
    .name = "mcp",
    .purpose = "recall for agents: an MCP server on stdin and stdout",
    .usage = "[--store DIR]",
    .about = "An MCP server on stdin and stdout, one message a line, for an agent to start. Its "
             "tools: weir_recall brings back what was left out of a request, by lines or pattern, "
             "in pages; weir_context shows what fills the window. It ends with its input. It "
             "speaks the protocol of 2026-07-28 and those from 2024-11-05 to 2025-11-25. `weir "
             "serve` has the same at /mcp.",
    WR_OPTIONS(options),
    .example = "claude mcp add weir -- weir mcp\ncodex mcp add weir -- weir mcp",
    .run = run_mcp,
};
