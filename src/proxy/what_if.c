/* Sessions under other policies (what_if.h).
 *
 *   begin ──▶ file ──▶ start_child ──▶ on_output ... on_child_exit ──▶ the next policy, or the end
 *
 * What a child printed is read when it has ended and its pipe is closed, whichever comes last.
 */
#include "proxy/what_if.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

static const char *const policies[] = {"exact", "careful", "auto", "lean"};

enum { POLICIES_COUNT = WR_COUNT_OF(policies) };

struct result {
    uint64_t micro_usd, sent_tokens, blind, recalls, steps;
    bool is_known;
};

struct wr_what_if {
    uv_loop_t *loop;
    const char *store_dir;
    char tenant[WR_TENANT_BYTES], session[WR_WHAT_IF_BYTES], model[WR_WHAT_IF_BYTES],
        path[WR_WHAT_IF_BYTES];
    struct result results[POLICIES_COUNT];
    uint32_t done; /* policies that were played */
    bool has_job, is_running, is_closed;
    const char *trouble; /* NULL: none */
    uv_process_t child;
    uv_pipe_t pipe;
    uint32_t open_count; /* of child and pipe, not closed yet */
    int64_t exit_status;
    struct wr_buf output;
    char chunk[16 * 1024];
};

static void start_child(struct wr_what_if *w);

/* ---- what a child said ---- */

static double number_at(const struct wr_json *doc, wr_json_id object, const char *key)
{
    char text[64];
    wr_json_id id = wr_json_find(doc, object, key);

    if (!wr_json_is(doc, id, WR_JSON_NUMBER))
        return 0;
    weir_span raw = wr_json_raw(doc, id);
    (void)snprintf(text, sizeof(text), "%.*s", (int)raw.len, raw.ptr);
    double number = strtod(text, NULL);
    return number > 0 ? number : 0;
}

static void read_result(struct wr_what_if *w, struct result *result)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_buf_status(&w->output) &&
        !wr_json_parse(&doc, &arena, wr_buf_view(&w->output), NULL, NULL)) {
        wr_json_id list = wr_json_find(&doc, 0, "policies");
        wr_json_id first =
            wr_json_is(&doc, list, WR_JSON_ARRAY) ? wr_json_first(&doc, list) : WR_JSON_NONE;
        if (wr_json_is(&doc, first, WR_JSON_OBJECT)) {
            wr_json_id evidence = wr_json_find(&doc, first, "evidence");
            *result = (struct result){
                .micro_usd = (uint64_t)(number_at(&doc, first, "cost_usd") * 1e6 + 0.5),
                .sent_tokens = (uint64_t)number_at(&doc, first, "prompt_tokens"),
                .blind = (uint64_t)number_at(&doc, evidence, "blind_quotes_requests"),
                .recalls = (uint64_t)number_at(&doc, first, "recalls"),
                .steps = (uint64_t)number_at(&doc, first, "steps"),
                .is_known = true,
            };
        }
    }
    wr_arena_release(&arena);
}

static void end_job(struct wr_what_if *w, const char *trouble)
{
    w->is_running = false;
    w->trouble = trouble;
    (void)unlink(w->path);
}

/* ---- a child ---- */

static void on_closed(uv_handle_t *handle)
{
    struct wr_what_if *w = handle->data;

    if (--w->open_count)
        return;
    if (w->is_closed) {
        end_job(w, "the server ended");
        return;
    }
    read_result(w, &w->results[w->done]);
    if (w->exit_status || !w->results[w->done].is_known) {
        end_job(w, "the session could not be played: its log has too little in it");
        return;
    }
    if (++w->done == POLICIES_COUNT)
        end_job(w, NULL);
    else
        start_child(w);
}

static void on_child_exit(uv_process_t *child, int64_t status, int signal)
{
    struct wr_what_if *w = child->data;
    w->exit_status = status ? status : signal;
    uv_close((uv_handle_t *)child, on_closed);
}

static void give_chunk(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct wr_what_if *w = handle->data;
    (void)suggested;
    *buf = uv_buf_init(w->chunk, sizeof(w->chunk));
}

static void on_output(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buf)
{
    struct wr_what_if *w = stream->data;

    if (bytes > 0)
        wr_buf_append(&w->output, (weir_span){buf->base, (size_t)bytes});
    else if (bytes < 0 && !uv_is_closing((uv_handle_t *)stream))
        uv_close((uv_handle_t *)stream, on_closed);
}

static void start_child(struct wr_what_if *w)
{
    char self[WR_WHAT_IF_BYTES];
    size_t self_bytes = sizeof(self);
    char nice[] = "nice", n[] = "-n", most[] = "19", simulate[] = "simulate", json[] = "--json",
         jobs[] = "--jobs", one[] = "1", policy[] = "--policy", model[] = "--model", name[64];
    char *arguments[] = {nice, n,      most, self,  simulate, json,    jobs,
                         one,  policy, name, model, w->model, w->path, NULL};
    uv_stdio_container_t streams[3] = {
        {.flags = UV_IGNORE}, {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE}, {.flags = UV_IGNORE}};
    uv_process_options_t options = {.exit_cb = on_child_exit,
                                    .file = nice,
                                    .args = arguments,
                                    .stdio = streams,
                                    .stdio_count = 3};

    (void)snprintf(name, sizeof(name), "%s", policies[w->done]);
    wr_buf_reset(&w->output);
    if (uv_exepath(self, &self_bytes) || uv_pipe_init(w->loop, &w->pipe, 0)) {
        end_job(w, "the simulator cannot be started");
        return;
    }
    streams[1].data.stream = (uv_stream_t *)&w->pipe;
    w->pipe.data = w->child.data = w;
    w->open_count = 2;
    w->exit_status = 0;
    if (uv_spawn(w->loop, &w->child, &options)) {
        w->exit_status = 1;
        uv_close((uv_handle_t *)&w->child, on_closed);
        uv_close((uv_handle_t *)&w->pipe, on_closed);
        return;
    }
    if (uv_read_start((uv_stream_t *)&w->pipe, give_chunk, on_output))
        uv_close((uv_handle_t *)&w->pipe, on_closed);
}

/* ---- jobs ---- */

weir_status wr_what_if_log(const struct wr_what_if *w, weir_span log, char path[WR_WHAT_IF_BYTES],
                           struct weir_err *err)
{
    const char *folder = access(w->store_dir, W_OK) ? "/tmp" : w->store_dir; /* else: a database */
    (void)snprintf(path, WR_WHAT_IF_BYTES, "%s/whatif-XXXXXX", folder);
    int fd = mkstemp(path);
    bool ok = fd >= 0;

    while (log.len && ok) {
        ssize_t bytes = write(fd, log.ptr, log.len);
        ok = bytes > 0;
        log = wr_span_from(log, ok ? (size_t)bytes : 0);
    }
    if (fd >= 0)
        ok = !close(fd) && ok;
    if (ok)
        return WEIR_OK;
    if (fd >= 0)
        (void)unlink(path);
    return wr_fail(err, WEIR_IO, 0, "the session could not be written into %s", folder);
}

weir_status wr_what_if_begin(struct wr_what_if *w, const struct wr_what_if_job *job,
                             struct weir_err *err)
{
    if (w->is_running || w->is_closed) {
        (void)unlink(job->path);
        return wr_fail(err, WEIR_LIMIT, 0, "another session is being played; try again soon");
    }
    (void)snprintf(w->path, sizeof(w->path), "%s", job->path);
    (void)snprintf(w->tenant, sizeof(w->tenant), "%s", job->tenant);
    (void)snprintf(w->session, sizeof(w->session), "%s", job->session);
    (void)snprintf(w->model, sizeof(w->model), "%s", job->model);
    memset(w->results, 0, sizeof(w->results));
    w->done = 0;
    w->trouble = NULL;
    w->has_job = w->is_running = true;
    start_child(w);
    return WEIR_OK;
}

static void put_result(struct wr_json_writer *w, const char *policy, const struct result *r)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "policy", policy);
    wr_json_member_number(w, "micro_usd", r->micro_usd);
    wr_json_member_number(w, "sent_tokens", r->sent_tokens);
    wr_json_member_number(w, "blind", r->blind);
    wr_json_member_number(w, "recalls", r->recalls);
    wr_json_member_number(w, "steps", r->steps);
    wr_json_write_object_end(w);
}

void wr_what_if_write(const struct wr_what_if *what_if, const char *tenant, struct wr_buf *out)
{
    bool is_theirs = what_if->has_job && !strcmp(what_if->tenant, tenant);
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "session", is_theirs ? what_if->session : "");
    wr_json_member_bool(&w, "is_done", !is_theirs || !what_if->is_running);
    wr_json_member_number(&w, "done", is_theirs ? what_if->done : 0);
    wr_json_member_number(&w, "total", POLICIES_COUNT);
    wr_json_member_word(&w, "error", is_theirs ? what_if->trouble : NULL);
    wr_json_write_key(&w, "results");
    wr_json_write_array(&w);
    for (uint32_t i = 0; is_theirs && i < what_if->done; i++)
        put_result(&w, policies[i], &what_if->results[i]);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
}

/* ---- life ---- */

struct wr_what_if *wr_what_if_new(uv_loop_t *loop, const char *store_dir)
{
    struct wr_what_if *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->loop = loop;
    w->store_dir = store_dir;
    wr_buf_init(&w->output, WR_TRAFFIC_ANSWER_BYTES_MAX);
    return w;
}

void wr_what_if_close(struct wr_what_if *w)
{
    if (!w || w->is_closed)
        return;
    w->is_closed = true;
    if (w->is_running && w->open_count && !uv_is_closing((uv_handle_t *)&w->child))
        (void)uv_process_kill(&w->child, SIGKILL);
    if (w->is_running && w->open_count && !uv_is_closing((uv_handle_t *)&w->pipe))
        uv_close((uv_handle_t *)&w->pipe, on_closed);
}

void wr_what_if_free(struct wr_what_if *w)
{
    if (!w)
        return;
    wr_buf_release(&w->output);
    free(w);
}
