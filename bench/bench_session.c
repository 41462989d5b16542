/* How long a session takes to open: from its journal alone, and from its checkpoint. The journal is
 * made here, as an agent's long session leaves it: turns with results of tools, a cut now and then.
 * Both are measured in one run, the best of some tries, in time that passed.
 *
 * usage: bench_session [MEGABYTES [DIR]]    size of the journal; where it is made */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "session/disk.h"
#include "session/journal.h"
#include "session/session.h"

enum { MEGABYTES = 100, TRIES = 5, RESULT_BYTES = 4000, CUT_EVERY = 800, KEPT_EVENTS = 600 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static weir_status ignore(void *user, const struct wr_event *event, weir_span line)
{
    (void)user;
    (void)event;
    (void)line;
    return WEIR_OK;
}

static void write_result(struct wr_buf *out, uint64_t turn)
{
    static const char *const words[] = {"river", "stone", "gate", "water", "level", "bank", "sill"};
    wr_buf_reset(out);
    for (uint64_t line = 0; out->len < RESULT_BYTES; line++)
        wr_buf_printf(out, "src/part_%llu.c:%llu: the %s of the %s holds %llu\n",
                      (unsigned long long)(turn % 97), (unsigned long long)line,
                      words[(line + turn) % 7], words[line * 3 % 7],
                      (unsigned long long)(turn * 7919 + line));
}

static weir_status append(struct wr_journal *journal, struct wr_event event)
{
    event.at_ms = 1763218000000 + (int64_t)journal->seq;
    return wr_journal_append(journal, &event, NULL);
}

/* One turn: a call and its result; the user speaks every 25 of them. */
static weir_status append_turn(struct wr_journal *journal, uint64_t turn, weir_span result)
{
    char id[32];
    (void)snprintf(id, sizeof(id), "call_%llu", (unsigned long long)turn);
    struct weir_call call = {wr_span_of(id), WR_LIT("grep"), WR_LIT("{\"pattern\":\"river\"}")};
    weir_status status = WEIR_OK;

    if (turn % 25 == 0)
        status = append(journal, (struct wr_event){.kind = WR_EVENT_USER,
                                                   .text = WR_LIT("now look at the next part")});
    if (!status)
        status = append(journal, (struct wr_event){.kind = WR_EVENT_TURN});
    if (!status)
        status = append(journal, (struct wr_event){.kind = WR_EVENT_ASSISTANT,
                                                   .model = WR_LIT("gpt-5"),
                                                   .text = WR_LIT("I look for it."),
                                                   .calls = &call,
                                                   .calls_count = 1});
    if (!status)
        status = append(journal, (struct wr_event){.kind = WR_EVENT_RESULT,
                                                   .call_id = call.id,
                                                   .name = call.name,
                                                   .text = result});
    if (!status && turn % CUT_EVERY == CUT_EVERY - 1)
        status = append(journal, (struct wr_event){.kind = WR_EVENT_COMPACTION,
                                                   .why = WR_LIT("actor bound"),
                                                   .of = journal->seq - KEPT_EVENTS,
                                                   .number = turn});
    return status;
}

static weir_status make_journal(const char *dir, uint64_t bytes, struct weir_err *err)
{
    struct wr_journal_options options = {0};
    struct weir_session_opened opened;
    struct wr_journal journal;
    struct wr_buf result;

    weir_status status = wr_disk_make_dir(dir, err);
    if (!status)
        status = wr_journal_open(&journal, dir, &options, ignore, NULL, &opened, err);
    if (status)
        return status;
    wr_buf_init(&result, 2 * RESULT_BYTES);
    status = append(&journal, (struct wr_event){.kind = WR_EVENT_RUN});
    if (!status)
        status =
            append(&journal, (struct wr_event){.kind = WR_EVENT_MODEL, .model = WR_LIT("gpt-5")});
    for (uint64_t turn = 0; !status && journal.end_bytes < bytes; turn++) {
        write_result(&result, turn);
        status = append_turn(&journal, turn, wr_buf_view(&result));
    }
    wr_buf_release(&result);
    wr_journal_close(&journal);
    return status;
}

struct figures {
    double best_s;
    struct weir_session_opened opened;
    uint64_t messages, tokens;
};

static weir_status measure(const char *dir, struct weir_session_host *host, bool is_read_only,
                           struct figures *figures, struct weir_err *err)
{
    struct weir_session_options options = {
        .dir = dir, .host = host, .is_read_only = is_read_only, .now_ms = 1};
    struct weir_session_context context;
    struct weir_session *session;

    figures->best_s = 1e9;
    for (int i = 0; i < (is_read_only ? TRIES : 1); i++) {
        double start_s = now_s();
        weir_status status = weir_session_open(&options, &session, err);
        double took_s = now_s() - start_s;
        if (status)
            return status;
        figures->best_s = took_s < figures->best_s ? took_s : figures->best_s;
        figures->opened = *weir_session_opened(session);
        weir_session_context(session, &context);
        figures->messages = context.messages_count;
        figures->tokens = context.total_tokens;
        weir_session_close(session);
    }
    return WEIR_OK;
}

static void tell(const char *how, const struct figures *f)
{
    printf("session open, %-16s %9.2f ms  %8llu events read, %llu messages of %llu tokens held\n",
           how, f->best_s * 1e3, (unsigned long long)f->opened.replayed_count,
           (unsigned long long)f->messages, (unsigned long long)f->tokens);
}

static weir_status run(const char *dir, uint64_t megabytes, struct weir_err *err)
{
    struct weir_session_host *host = NULL;
    struct figures first, replayed, from_checkpoint, touched;
    char path[WR_SESSION_PATH_BYTES_MAX];

    weir_status status = make_journal(dir, megabytes << 20, err);
    if (!status)
        status = weir_session_host_new(&host, err);
    if (!status)
        status = measure(dir, host, true, &replayed, err);
    if (!status)
        status = measure(dir, host, false, &first, err); /* closing it writes the checkpoint */
    if (!status)
        status = measure(dir, host, true, &from_checkpoint, err);
    if (!status)
        status = wr_disk_join(path, dir, WR_JOURNAL_FILE, err);
    if (!status && utimensat(AT_FDCWD, path, NULL, 0))
        status = WEIR_IO;
    if (!status)
        status = measure(dir, host, true, &touched, err);
    weir_session_host_free(host);
    if (status)
        return status;
    printf("a journal of %llu MB, %llu events\n", (unsigned long long)megabytes,
           (unsigned long long)replayed.opened.events_count);
    tell("journal alone", &replayed);
    tell("checkpoint", &from_checkpoint);
    tell("touched since", &touched); /* it is hashed again */
    printf("ratio %.1f, touched since %.1f\n", replayed.best_s / from_checkpoint.best_s,
           replayed.best_s / touched.best_s);
    if (from_checkpoint.opened.checkpoint || replayed.messages != from_checkpoint.messages ||
        replayed.tokens != from_checkpoint.tokens)
        return WEIR_INVALID;
    return WEIR_OK;
}

static void clean(const char *dir)
{
    static const char *const names[] = {WR_JOURNAL_FILE, WR_STATE_FILE, WR_TRACE_FILE};
    char path[WR_SESSION_PATH_BYTES_MAX];

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (!wr_disk_join(path, dir, names[i], NULL))
            (void)unlink(path);
    (void)rmdir(dir);
}

int main(int argc, char **argv)
{
    uint64_t megabytes = MEGABYTES;
    char dir[256];
    struct weir_err err = {0};

    if (argc > 1 && !wr_span_u64(wr_span_of(argv[1]), &megabytes)) {
        (void)fprintf(stderr, "usage: bench_session [MEGABYTES [DIR]]\n");
        return 2;
    }
    (void)snprintf(dir, sizeof(dir), "%.200s/weir-bench-session-%ld", argc > 2 ? argv[2] : "/tmp",
                   (long)getpid());
    weir_status status = run(dir, megabytes, &err);
    clean(dir);
    if (status)
        (void)fprintf(stderr, "bench_session: %s\n",
                      err.text[0] ? err.text : "the two sessions are not the same");
    return status != WEIR_OK;
}
