/* task.c -- what a task says of itself; projector.c has the threads that carry it out. */
#include "base/span.h"
#include "proxy/projector.h"

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
