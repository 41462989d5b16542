/* A session on the disk: opened anew, worked in, compacted, asked for its next request, and opened
 * again. */
#include "tests/torture/torture.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/span.h"
#include "weir/weir.h"

enum { CALLS = 5, LINES = 30, NOW_MS = 1000 };

static const char yaml[] =
    "model: {name: claude-sonnet-4-5, max_input_tokens: 4000, max_output_tokens: 500}\n"
    "session: {policy: tiered, max_tool_iterations: 1000}\n";

/* ---- its directory ---- */

static int remove_one(const char *path, const struct stat *found, int flag, struct FTW *walk)
{
    (void)found;
    (void)flag;
    (void)walk;
    return remove(path);
}

/* The same each time: what is told names it. */
static bool make_root(char *root, size_t root_max)
{
    (void)snprintf(root, root_max, "%s/weir-torture-%ld",
                   access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
    return !mkdir(root, 0700);
}

/* ---- the work ---- */

/* What is held back for want of memory failed, as far as this is concerned. */
static weir_status ask(struct weir_session *session, struct weir_session_turn *turn)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT, .now_ms = NOW_MS};
    weir_status status = weir_session_request(session, &want, turn, NULL);
    return !status && turn->held_back ? WEIR_NOMEM : status;
}

static weir_status work_once(struct weir_session *session, int number)
{
    struct weir_session_turn turn;
    char id[32], text[LINES * 64];
    size_t len = 0;

    weir_status status = ask(session, &turn);
    (void)snprintf(id, sizeof(id), "c%d", number);
    struct weir_call call = {wr_span_of(id), WR_LIT("Bash"), WR_LIT("{\"command\":\"make\"}")};
    struct weir_answer answer = {.calls = &call, .calls_count = 1};
    if (!status)
        status = weir_session_answer(session, &answer, NOW_MS, NULL);
    for (int line = 0; line < LINES; line++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "result %d line %d: the gate holds the level\n", number, line);
    if (!status)
        status = weir_session_result(session, call.id, (weir_span){text, len}, false, NOW_MS, NULL);
    return status;
}

static weir_status compact(struct weir_session *session)
{
    struct weir_compacted compacted;
    weir_status status = weir_session_compact(session, "asked", NOW_MS, &compacted, NULL);
    return !status && !compacted.is_taken ? WEIR_INVALID : status;
}

static weir_status put_request(struct weir_session *session, struct wr_buf *out)
{
    struct weir_session_turn turn;
    weir_status status = ask(session, &turn);
    if (!status) {
        wr_buf_append(out, turn.body);
        status = wr_buf_status(out);
    }
    return status;
}

static weir_status open_with_tool(struct weir_session_options *options,
                                  struct weir_session **session)
{
    const struct weir_tool tool = {WR_LIT("Bash"), WR_LIT("runs"), WR_LIT("")};
    weir_status status = weir_session_open(options, session, NULL);
    return status ? status : weir_session_set_tools(*session, &tool, 1, NULL);
}

static weir_status live(struct weir_session_options *options, struct wr_buf *out)
{
    struct weir_session *session = NULL;
    weir_status status = open_with_tool(options, &session);
    if (!status)
        status = weir_session_set_prompt(session, WR_LIT("be brief"), NOW_MS, NULL);
    if (!status)
        status = weir_session_say(session, WR_LIT("hold the gate"), NOW_MS, NULL);
    for (int i = 0; i < CALLS && !status; i++)
        status = work_once(session, i);
    if (!status)
        status = compact(session);
    if (!status)
        status = put_request(session, out);
    weir_session_close(session);
    return status;
}

static weir_status go_on(struct weir_session_options *options, struct wr_buf *out)
{
    struct weir_session *session = NULL;
    weir_status status = open_with_tool(options, &session);
    if (!status)
        status = put_request(session, out);
    weir_session_close(session);
    return status;
}

weir_status torture_kept(void)
{
    char root[64], dir[80];
    struct weir_store *store = NULL;
    struct wr_buf out;

    if (!make_root(root, sizeof(root)))
        return WEIR_IO;
    (void)snprintf(dir, sizeof(dir), "%s/s", root);
    struct weir_session_options options = {
        .dir = dir, .config = wr_span_of(yaml), .now_ms = NOW_MS};
    wr_buf_init(&out, 1 << 20);
    weir_status status = weir_store_new_memory(0, &store);
    options.store = store;
    if (!status)
        status = live(&options, &out);
    if (!status)
        status = go_on(&options, &out);
    if (!status)
        torture_tell(wr_buf_view(&out));
    weir_store_close(store);
    wr_buf_release(&out);
    (void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}
