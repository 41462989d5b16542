/* task.c -- what a thread that projects needs beside the projection; projector.c has the threads.
 *
 * What a task says of itself, the stores of its thread, what is kept of a projection (the plan of
 * the session, shadow's files).
 */
#include "proxy/task.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record.h"

weir_span wr_task_failure(weir_status status, uint64_t took_us)
{
    if (status == WEIR_NOTFOUND)
        return WR_LIT("no_such_policy");
    if (status == WEIR_NOMEM)
        return WR_LIT("no_memory");
    if (status != WEIR_LIMIT)
        return WR_LIT("not_projected");
    return took_us >= (uint64_t)WR_PROJECT_MS_MAX * 1000 ? WR_LIT(WR_DEADLINE_HARD)
                                                         : WR_LIT("too_large");
}

enum wr_recall wr_task_recall(const struct wr_task *task)
{
    enum wr_recall recall = task->decision.recall;
    (void)wr_recall_parse(task->recall, &recall);
    return recall;
}

bool wr_task_may_take_out(const struct wr_task *task)
{
    const struct wr_policies *policies = task->config->policies;
    weir_span name = task->policy.len ? task->policy : wr_span_of(task->decision.policy);
    const struct wr_policy *policy = policies ? wr_policies_find(policies, name) : NULL;

    return !policy || policy->stages_count;
}

void wr_task_release(struct wr_task *task)
{
    wr_buf_release(&task->out);
    wr_buf_release(&task->report);
    wr_own_release(&task->own);
}

/* ---- the stores of a thread ---- */

void wr_thread_stores_open(struct wr_thread_stores *stores)
{
    weir_trouble trouble;

    if (stores->store || !stores->dir)
        return;
    if (weir_store_open(stores->dir, NULL, &stores->store, &trouble, NULL)) {
        stores->store = NULL;
        wr_store_state_failed(stores->metrics, stores->dir, trouble);
    }
}

void wr_thread_stores_close(struct wr_thread_stores *stores)
{
    weir_store_close(stores->shadow);
    weir_store_close(stores->store);
    stores->store = stores->shadow = NULL;
}

struct weir_store *wr_thread_stores_for(struct wr_thread_stores *stores,
                                        const struct wr_decision *decision)
{
    /* The last time of a session that was projected so far: the engine compares, and says whether
     * that is a step. */
    if (decision->action == WR_ACTION_PROJECT || decision->turn == WR_MODE_TURNS_WHOLE)
        return stores->store;
    if (decision->action != WR_ACTION_SHADOW)
        return NULL;
    if (!stores->shadow && weir_store_new_memory(WR_PROXY_SHADOW_BYTES_MAX, &stores->shadow))
        stores->shadow = NULL;
    return stores->shadow;
}

void wr_thread_stores_note(struct wr_thread_stores *stores, weir_trouble trouble)
{
    wr_store_state_seen(stores->metrics, stores->dir, stores->store, &stores->place);
    wr_store_state_failed(stores->metrics, stores->dir, trouble);
}

void wr_thread_stores_empty_shadow(struct wr_thread_stores *stores)
{
    if (!stores->shadow || weir_store_trouble(stores->shadow) != WEIR_TROUBLE_FULL)
        return;
    weir_store_close(stores->shadow);
    stores->shadow = NULL;
}

/* ---- what is kept of a projection ---- */

void wr_plan_keep(struct wr_notes *notes, struct weir_request *request, weir_span tenant,
                  weir_span session, int64_t now_ms)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    struct wr_buf plan;

    if (!notes)
        return;
    wr_buf_init(&plan, WR_LEDGER_NOTE_BYTES_MAX);
    wr_plan_key(session, key);
    if (!wr_engine_foretell(request, &plan))
        wr_notes_keep_as(notes, key, tenant, session, wr_buf_view(&plan), now_ms);
    wr_buf_release(&plan);
}

enum { PATH_BYTES_MAX = 4096 };

static bool write_all(int fd, weir_span text)
{
    while (text.len) {
        ssize_t bytes = write(fd, text.ptr, text.len);
        if (bytes <= 0)
            return false;
        text = wr_span_cut(text, (size_t)bytes, text.len);
    }
    return true;
}

static void replace_file(const char *dir, uint64_t name, const char *what, weir_span text)
{
    char path[PATH_BYTES_MAX], draft[PATH_BYTES_MAX + 8];
    int bytes =
        snprintf(path, sizeof(path), "%s/%016llx.%s.json", dir, (unsigned long long)name, what);

    if (bytes < 0 || (size_t)bytes >= sizeof(path))
        return;
    (void)snprintf(draft, sizeof(draft), "%s.new", path);
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    bool ok = write_all(fd, text);
    if (close(fd) || !ok || rename(draft, path))
        (void)unlink(draft);
}

void wr_shadow_keep(const char *dir, const struct wr_record *record, weir_span came, weir_span made)
{
    uint64_t name = wr_hash64_seeded(wr_span_of(record->model),
                                     wr_hash64_seeded(record->session, wr_hash64(record->tenant)));
    struct wr_buf report;

    wr_buf_init(&report, WR_LEDGER_REPORT_BYTES_MAX);
    wr_record_report(record, &report);
    if (!wr_buf_status(&report)) {
        replace_file(dir, name, "came", came);
        replace_file(dir, name, "made", made);
        replace_file(dir, name, "report", wr_buf_view(&report));
    }
    wr_buf_release(&report);
}

void wr_shadow_forget_tool(struct wr_record *record)
{
    uint64_t tokens = record->own_tools_tokens;

    if (record->tokens_before <= tokens || record->came_tokens[WR_CATEGORY_TOOLS] < tokens)
        return;
    record->tokens_before -= tokens;
    record->came_tokens[WR_CATEGORY_TOOLS] -= tokens;
}
