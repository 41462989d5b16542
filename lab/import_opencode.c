/* opencode: what `opencode export SESSION` prints.
 *
 * One document: info, messages; a message has info (role, time, modelID) and parts. A part of type
 * tool holds the call and its result; step-start begins a new model output. Results that were
 * pruned have state.time.compacted. A compaction is a user message with a part of that type, which
 * the host words as a question, and the summary that answers it. A subtask that the user starts is
 * such a part too; the output behind it, a call of the tool `task` without a step-start, is the
 * host's own.
 */
#include "lab/import_reader.h"

#include <stdlib.h>

#include "base/span.h"

/* A result that was cleared, and when. */
struct pruned {
    int64_t time_ms;
    uint32_t call;
};

struct opencode {
    struct wr_importer *in;
    struct wr_draft draft;
    struct pruned *pruned; /* in the order of the log */
    struct pruned **by_time;
    uint32_t pruned_count, pruned_seen, pruned_done;
    uint32_t question; /* the message that asked for a summary, or NONE */
};

static bool claims_opencode(wr_node document)
{
    wr_node messages = wr_node_get(document, "messages"), first = wr_node_first(messages);
    return wr_node_has(document, "info", WR_JSON_OBJECT) &&
           wr_node_has(first, "info", WR_JSON_OBJECT) && wr_node_has(first, "parts", WR_JSON_ARRAY);
}

static int64_t pruned_ms(wr_node part)
{
    return wr_node_time(wr_node_get(wr_node_get(wr_node_get(part, "state"), "time"), "compacted"));
}

static int by_time(const void *a, const void *b)
{
    const struct pruned *x = *(struct pruned *const *)a, *y = *(struct pruned *const *)b;
    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Finds all prunings before anything is read: they stand at the results they cleared, not where
 * they happened. */
static bool list_pruned(struct opencode *o, wr_node messages)
{
    uint32_t count = 0;
    WR_NODE_EACH(message, messages)
        WR_NODE_EACH(part, wr_node_get(message, "parts"))
            count += pruned_ms(part) != WR_SESSION_NO_TIME;
    o->pruned = WR_ARENA_ARRAY(&o->in->scratch, struct pruned, count);
    o->by_time = WR_ARENA_ARRAY(&o->in->scratch, struct pruned *, count);
    if (!o->pruned || !o->by_time) {
        o->in->status = o->in->scratch.status;
        return false;
    }
    WR_NODE_EACH(message, messages)
        WR_NODE_EACH(part, wr_node_get(message, "parts")) {
            int64_t time_ms = pruned_ms(part);
            if (time_ms == WR_SESSION_NO_TIME)
                continue;
            o->by_time[o->pruned_count] = &o->pruned[o->pruned_count];
            o->pruned[o->pruned_count++] = (struct pruned){time_ms, WR_DRAFT_NONE};
        }
    qsort(o->by_time, count, sizeof(o->by_time[0]), by_time);
    return true;
}

/* What was pruned before `time_ms` is cleared from here on. */
static void clear_pruned(struct opencode *o, int64_t time_ms)
{
    uint32_t from = o->pruned_done;
    while (o->pruned_done < o->pruned_count && o->by_time[o->pruned_done]->time_ms <= time_ms)
        o->pruned_done++;
    if (from == o->pruned_done || wr_draft_compact(&o->draft) == WR_DRAFT_NONE)
        return;
    wr_draft_keep_all(&o->draft);
    for (uint32_t i = from; i < o->pruned_done; i++)
        wr_draft_clear(&o->draft, o->by_time[i]->call);
}

static void read_opencode_user(struct opencode *o, wr_node parts, int64_t time_ms)
{
    uint32_t message = WR_DRAFT_NONE;
    bool is_compaction = false;
    WR_NODE_EACH(part, parts) {
        wr_node type = wr_node_get(part, "type");
        weir_span text = wr_node_inner(wr_node_get(part, "text"));
        if (wr_node_text_is(type, "compaction")) {
            text = WR_LIT("What did we do so far?");
            is_compaction = true;
        } else if (wr_node_text_is(type, "subtask")) {
            text = WR_LIT("The following tool was executed by the user");
        } else if (wr_node_text_is(type, "file")) {
            wr_import_note(o->in, WR_IMPORT_MEDIA_OMITTED);
            continue;
        } else if (!wr_node_text_is(type, "text")) {
            wr_import_note(o->in, WR_IMPORT_BLOCK_UNKNOWN);
            continue;
        }
        if (wr_node_is_true(part, "ignored"))
            continue;
        if (message == WR_DRAFT_NONE)
            message = wr_draft_say(&o->draft, WEIR_ROLE_USER, text, time_ms);
        else
            wr_draft_append(&o->draft, message, text);
    }
    if (is_compaction)
        o->question = message;
}

static void read_tool(struct opencode *o, uint32_t output, wr_node part)
{
    wr_node state = wr_node_get(part, "state"), result = wr_node_get(state, "output");
    wr_node metadata = wr_node_get(state, "metadata"), time = wr_node_get(state, "time");
    int64_t end_ms = wr_node_time(wr_node_get(time, "end"));
    uint32_t call =
        wr_draft_call(&o->draft, output, wr_node_text(o->in, wr_node_get(part, "callID")),
                      wr_node_text(o->in, wr_node_get(part, "tool")),
                      wr_import_arguments(&o->draft, wr_node_get(state, "input")));
    if (pruned_ms(part) != WR_SESSION_NO_TIME && o->pruned_seen < o->pruned_count)
        o->pruned[o->pruned_seen++].call = call;
    if (result.id == WR_JSON_NONE && wr_node_is_true(metadata, "interrupted"))
        result = wr_node_get(metadata, "output");
    if (result.id == WR_JSON_NONE)
        result = wr_node_get(state, "error");
    if (result.id != WR_JSON_NONE && call != WR_DRAFT_NONE)
        wr_draft_result_of(&o->draft, call, wr_import_content(o->in, &o->draft, result, NULL),
                           end_ms);
}

/* A part of a model output; `*output` is the message that it goes on with. */
static void read_part(struct opencode *o, wr_node part, int64_t time_ms, uint32_t *output)
{
    wr_node type = wr_node_get(part, "type");
    if (wr_node_text_is(type, "step-start"))
        *output = wr_draft_answer(&o->draft, WR_LIT(""), time_ms);
    else if (wr_node_text_is(type, "text"))
        wr_draft_append(&o->draft, *output, wr_node_inner(wr_node_get(part, "text")));
    else if (wr_node_text_is(type, "tool"))
        read_tool(o, *output, part);
    else if (!wr_node_text_is(type, "reasoning") && !wr_node_text_is(type, "step-finish") &&
             !wr_node_text_is(type, "patch") && !wr_node_text_is(type, "snapshot"))
        wr_import_note(o->in, WR_IMPORT_BLOCK_UNKNOWN);
}

/* Whether the host wrote an output, to say what a subtask of the user's did. */
static bool is_subtask(wr_node parts)
{
    bool calls_task = false;
    WR_NODE_EACH(part, parts) {
        if (wr_node_text_is(wr_node_get(part, "type"), "step-start"))
            return false;
        calls_task |= wr_node_text_is(wr_node_get(part, "tool"), "task");
    }
    return calls_task;
}

static void read_opencode_output(struct opencode *o, wr_node info, wr_node parts, int64_t time_ms)
{
    uint32_t output = wr_draft_answer(&o->draft, WR_LIT(""), time_ms);
    wr_draft_model(&o->draft, wr_node_text(o->in, wr_node_get(info, "modelID")));
    WR_NODE_EACH(part, parts)
        read_part(o, part, time_ms, &output);
    if (is_subtask(parts))
        wr_draft_by_host(&o->draft, output);
    if (o->question == WR_DRAFT_NONE || !wr_node_is_true(info, "summary"))
        return;
    if (wr_draft_compact(&o->draft) != WR_DRAFT_NONE) {
        wr_draft_keep(&o->draft, o->question);
        wr_draft_keep(&o->draft, output);
    }
    o->question = WR_DRAFT_NONE;
}

static weir_status read_opencode_log(struct wr_importer *in)
{
    struct opencode o = {.in = in, .question = WR_DRAFT_NONE};
    wr_node messages = wr_node_get(wr_import_root(in), "messages");
    wr_import_begin_draft(in, &o.draft);
    o.draft.missing = "[Tool execution was interrupted]";
    if (!list_pruned(&o, messages))
        return in->status;
    WR_NODE_EACH(message, messages) {
        wr_node info = wr_node_get(message, "info"), parts = wr_node_get(message, "parts");
        wr_node role = wr_node_get(info, "role");
        int64_t time_ms = wr_node_time(wr_node_get(wr_node_get(info, "time"), "created"));
        clear_pruned(&o, time_ms);
        if (wr_node_text_is(role, "user"))
            read_opencode_user(&o, parts, time_ms);
        else if (wr_node_text_is(role, "assistant"))
            read_opencode_output(&o, info, parts, time_ms);
        else
            wr_import_note(in, WR_IMPORT_ROLE_UNKNOWN);
    }
    wr_import_end_draft(in, &o.draft);
    return in->status;
}

const struct wr_import_format wr_import_opencode = {"opencode", NULL, claims_opencode,
                                                    read_opencode_log, WEIR_DIALECT_CHAT};
