/* pi: ~/.pi/agent/sessions/DIR/TIME_ID.jsonl, and runs saved as one document with `messages`.
 *
 * One entry a line: type, id, timestamp, message (role user, assistant, toolResult, bashExecution,
 * custom). A compaction has a summary and names the first entry that is kept: by its id, or, in
 * logs of 2025 whose entries have none, by its number, the header being 0.
 *
 * An output that was aborted or failed stays in the log. Until January 2026 pi sent it again, its
 * calls answered with "No result provided"; since then it sends nothing of it (pi issue 838).
 */
#include "lab/import_reader.h"

#include "base/limits.h"
#include "base/span.h"

/* 2026-01-19: aborted outputs are not sent again from here on. */
static const int64_t aborted_left_out_ms = INT64_C(1768780800000);

struct pi {
    struct wr_importer *in;
    struct wr_draft draft;
    uint32_t entries_count;  /* entries so far, the header among them */
    struct wr_names entries; /* ids of entries; the draft's first message at or after each */
};

static bool is_pi_message(wr_node message)
{
    static const char *const blocks[] = {"toolCall", "thinking", "text"};
    wr_node role = wr_node_get(message, "role");
    if (wr_node_text_is(role, "toolResult") || wr_node_text_is(role, "bashExecution"))
        return true;
    if (!wr_node_text_is(role, "assistant") || !wr_node_has(message, "api", WR_JSON_STRING))
        return false;
    wr_node type = wr_node_get(wr_node_first(wr_node_get(message, "content")), "type");
    for (size_t i = 0; i < 3; i++)
        if (wr_node_text_is(type, blocks[i]))
            return true;
    return false;
}

static bool claims_pi_line(wr_node line)
{
    wr_node type = wr_node_get(line, "type");
    if (wr_node_text_is(type, "session"))
        return wr_node_has(line, "cwd", WR_JSON_STRING) && wr_node_has(line, "id", WR_JSON_STRING);
    return wr_node_text_is(type, "message") && wr_node_has(line, "id", WR_JSON_STRING) &&
           wr_node_has(wr_node_get(line, "message"), "role", WR_JSON_STRING);
}

static bool claims_pi(wr_node document)
{
    WR_NODE_EACH(message, wr_node_get(document, "messages"))
        if (is_pi_message(message))
            return true;
    return false;
}

static bool is_left_out(wr_node message, int64_t time_ms)
{
    wr_node reason = wr_node_get(message, "stopReason");
    return (wr_node_text_is(reason, "aborted") || wr_node_text_is(reason, "error")) &&
           time_ms != WR_SESSION_NO_TIME && time_ms >= aborted_left_out_ms;
}

static void read_pi_output(struct pi *p, wr_node message, int64_t time_ms)
{
    wr_node content = wr_node_get(message, "content");
    if (is_left_out(message, time_ms)) {
        wr_import_note(p->in, WR_IMPORT_ANSWER_ABORTED);
        return;
    }
    uint32_t output = wr_draft_answer(&p->draft, wr_node_inner(content), time_ms);
    wr_draft_model(&p->draft, wr_node_text(p->in, wr_node_get(message, "model")));
    WR_NODE_EACH(block, content) {
        wr_node type = wr_node_get(block, "type");
        if (wr_node_text_is(type, "text"))
            wr_draft_append(&p->draft, output, wr_node_inner(wr_node_get(block, "text")));
        else if (wr_node_text_is(type, "toolCall"))
            wr_draft_call(&p->draft, output, wr_node_text(p->in, wr_node_get(block, "id")),
                          wr_node_text(p->in, wr_node_get(block, "name")),
                          wr_import_arguments(&p->draft, wr_node_get(block, "arguments")));
        else if (!wr_node_text_is(type, "thinking"))
            wr_import_note(p->in, WR_IMPORT_BLOCK_UNKNOWN);
    }
}

/* A command that the user ran, worded as pi words it. */
static void read_bash(struct pi *p, wr_node message, int64_t time_ms)
{
    weir_span output = wr_node_inner(wr_node_get(message, "output"));
    wr_node code = wr_node_get(message, "exitCode");
    struct wr_buf text;
    if (wr_node_is_true(message, "excludeFromContext"))
        return;
    wr_buf_init(&text, WR_JSON_BODY_BYTES_MAX);
    wr_buf_text(&text, "Ran `");
    wr_buf_append(&text, wr_node_inner(wr_node_get(message, "command")));
    wr_buf_text(&text, output.len ? "`\\n```\\n" : "`\\n(no output)");
    wr_buf_append(&text, output);
    wr_buf_text(&text, output.len ? "\\n```" : "");
    if (wr_node_is_true(message, "cancelled")) {
        wr_buf_text(&text, "\\n\\n(command cancelled)");
    } else if (wr_node_is(code, WR_JSON_NUMBER) &&
               !wr_span_is(wr_json_raw(code.doc, code.id), "0")) {
        wr_buf_text(&text, "\\n\\nCommand exited with code ");
        wr_buf_append(&text, wr_json_raw(code.doc, code.id));
    }
    wr_draft_say(&p->draft, WEIR_ROLE_USER, wr_draft_take(&p->draft, &text), time_ms);
}

static void read_pi_message(struct pi *p, wr_node message, int64_t time_ms)
{
    wr_node role = wr_node_get(message, "role"), content = wr_node_get(message, "content");
    if (time_ms == WR_SESSION_NO_TIME)
        time_ms = wr_node_time(wr_node_get(message, "timestamp"));
    if (wr_node_text_is(role, "assistant"))
        read_pi_output(p, message, time_ms);
    else if (wr_node_text_is(role, "toolResult"))
        wr_draft_result(&p->draft, wr_node_text(p->in, wr_node_get(message, "toolCallId")),
                        wr_import_content(p->in, &p->draft, content, NULL), time_ms);
    else if (wr_node_text_is(role, "bashExecution"))
        read_bash(p, message, time_ms);
    else if (wr_node_text_is(role, "user") || wr_node_text_is(role, "custom"))
        wr_draft_say(&p->draft, WEIR_ROLE_USER, wr_import_content(p->in, &p->draft, content, NULL),
                     time_ms);
    else
        wr_import_note(p->in, WR_IMPORT_ROLE_UNKNOWN);
}

/* What a compaction calls an entry that has no id. No id begins like this. */
static weir_span name_number(struct pi *p, weir_span digits)
{
    char text[32];
    int used =
        snprintf(text, sizeof(text), "#%.*s", (int)(digits.len < 16 ? digits.len : 16), digits.ptr);
    return wr_arena_copy(&p->in->scratch, (weir_span){text, (size_t)used});
}

/* Remembers where an entry begins, for compactions that name it. */
static void note_entry(struct pi *p, wr_node entry)
{
    weir_span id = wr_node_text(p->in, wr_node_get(entry, "id"));
    char number[16];
    bool is_new = false;
    int digits = snprintf(number, sizeof(number), "%u", p->entries_count++);
    if (!id.len)
        id = name_number(p, (weir_span){number, (size_t)digits});
    uint32_t item = wr_names_add(&p->entries, &p->in->scratch, id, &is_new);
    if (item == WR_NAMES_NONE)
        p->in->status = p->in->scratch.status;
    else if (is_new)
        p->entries.values[item] = p->draft.messages_count;
}

static void keep_summary(struct pi *p, weir_span summary)
{
    struct wr_buf text;
    wr_buf_init(&text, WR_JSON_BODY_BYTES_MAX);
    wr_buf_text(&text, "The conversation history before this point was compacted into the "
                       "following summary:\\n\\n<summary>\\n");
    wr_buf_append(&text, summary);
    wr_buf_text(&text, "\\n</summary>");
    wr_draft_keep(&p->draft, wr_draft_say(&p->draft, WEIR_ROLE_USER,
                                          wr_draft_take(&p->draft, &text), WR_SESSION_NO_TIME));
}

/* The entry that a compaction kept first, in `entries`, or NONE. */
static uint32_t find_first_kept(struct pi *p, wr_node compaction)
{
    weir_span name = wr_node_text(p->in, wr_node_get(compaction, "firstKeptEntryId"));
    wr_node number = wr_node_get(compaction, "firstKeptEntryIndex");
    if (!name.len && wr_node_is(number, WR_JSON_NUMBER)) {
        name = name_number(p, wr_json_raw(number.doc, number.id));
    }
    return wr_names_find(&p->entries, name);
}

static void read_compaction(struct pi *p, wr_node entry)
{
    uint32_t first = find_first_kept(p, entry);
    uint32_t message, at = 0;
    if (wr_draft_compact(&p->draft) == WR_DRAFT_NONE)
        return;
    p->draft.is_hiding = true;
    keep_summary(p, wr_node_inner(wr_node_get(entry, "summary")));
    p->draft.is_hiding = false;
    while (first != WR_NAMES_NONE &&
           (message = wr_draft_view_next(&p->draft, &at)) != WR_DRAFT_NONE)
        if (message >= p->entries.values[first] && !p->draft.messages[message].is_hidden)
            wr_draft_keep(&p->draft, message);
}

static void read_pi_entry(struct pi *p, wr_node entry)
{
    wr_node type = wr_node_get(entry, "type");
    int64_t time_ms = wr_node_time(wr_node_get(entry, "timestamp"));
    note_entry(p, entry);
    if (p->in->status)
        return;
    if (wr_node_text_is(type, "message"))
        read_pi_message(p, wr_node_get(entry, "message"), time_ms);
    else if (wr_node_text_is(type, "custom_message"))
        wr_draft_say(&p->draft, WEIR_ROLE_USER,
                     wr_import_content(p->in, &p->draft, wr_node_get(entry, "content"), NULL),
                     time_ms);
    else if (wr_node_text_is(type, "compaction"))
        read_compaction(p, entry);
    else
        wr_import_note(p->in, WR_IMPORT_ENTRY_OTHER);
}

static weir_status read_pi_log(struct wr_importer *in)
{
    struct pi p = {.in = in};
    wr_node root = wr_import_root(in), entry;
    wr_import_begin_draft(in, &p.draft);
    p.draft.missing = "No result provided";
    if (!in->is_lines) {
        wr_draft_say(&p.draft, WEIR_ROLE_USER, wr_node_inner(wr_node_get(root, "prompt")),
                     wr_node_time(wr_node_get(root, "startedAt")));
        wr_import_walk_list(in, wr_node_get(root, "messages"));
    }
    while (wr_import_next(in, &entry))
        if (in->is_lines)
            read_pi_entry(&p, entry);
        else
            read_pi_message(&p, entry, WR_SESSION_NO_TIME);
    wr_import_end_draft(in, &p.draft);
    return in->status;
}

const struct wr_import_format wr_import_pi = {"pi", claims_pi_line, claims_pi, read_pi_log,
                                              WEIR_DIALECT_CHAT};
