/* Claude Code: ~/.claude/projects/PROJECT/SESSION.jsonl.
 *
 * One entry a line: type, uuid, timestamp, isSidechain, message (as the Messages API has it). One
 * model output is several entries with the same message.id, one a block. A compaction is an entry
 * of type system, subtype compact_boundary; the summary follows as a user entry. A microcompaction
 * (microcompact_boundary) names the calls whose results were cleared. A compaction may preserve a
 * segment of the history, from one uuid to another, which then stands behind its anchor: the
 * boundary, or the summary.
 */
#include "lab/import_reader.h"

#include "base/span.h"

/* What a compaction preserves: it is put in place once its anchor has been read. */
struct preserved {
    bool is_awaited;
    weir_span anchor, head, tail; /* uuids */
    uint32_t from;                /* the draft's first message behind the boundary */
};

struct claude {
    struct wr_importer *in;
    struct wr_draft draft;
    struct wr_names uuids; /* of entries; the draft's newest message then */
    struct preserved segment;
    struct wr_names outputs;     /* ids of model outputs; the draft's message of each */
    uint32_t newest_output;      /* that no user entry has come behind yet, or NONE */
    bool is_side, is_side_known; /* a file of its own holds a side chain alone */
};

static bool claims_claude_line(wr_node line)
{
    wr_node type = wr_node_get(line, "type");
    bool is_message = wr_node_text_is(type, "user") || wr_node_text_is(type, "assistant");
    if (is_message)
        return wr_node_has(line, "message", WR_JSON_OBJECT) &&
               (wr_node_has(line, "uuid", WR_JSON_STRING) ||
                wr_node_has(line, "sessionId", WR_JSON_STRING));
    return wr_node_text_is(type, "file-history-snapshot") ||
           wr_node_has(line, "leafUuid", WR_JSON_STRING) ||
           (wr_node_text_is(type, "system") && wr_node_has(line, "uuid", WR_JSON_STRING));
}

/* Whether an entry is of the chain that is read: that of the first message. */
static bool is_of_chain(struct claude *c, wr_node entry)
{
    bool is_side = wr_node_is_true(entry, "isSidechain");
    if (!c->is_side_known)
        c->is_side = is_side;
    c->is_side_known = true;
    return is_side == c->is_side;
}

/* Numbers an entry by its uuid. False: it was there already. */
static bool note_entry(struct claude *c, weir_span uuid, uint32_t *number)
{
    bool is_new = true;
    *number = WR_NAMES_NONE;
    if (!uuid.len)
        return true;
    *number = wr_names_add(&c->uuids, &c->in->scratch, uuid, &is_new);
    if (*number == WR_NAMES_NONE)
        c->in->status = c->in->scratch.status;
    return is_new || *number == WR_NAMES_NONE;
}

/* The draft's message of a model output, which other entries may have begun. Where ids are redacted
 * all alike, an output goes on until a user entry comes. */
static uint32_t output_message(struct claude *c, weir_span id, int64_t time_ms)
{
    bool is_new, is_redacted = wr_span_find(id, WR_LIT("REDACTED"), 0) != SIZE_MAX;
    if (is_redacted && c->newest_output != WR_DRAFT_NONE)
        return c->newest_output;
    if (!id.len || is_redacted)
        return wr_draft_answer(&c->draft, WR_LIT(""), time_ms);
    uint32_t item = wr_names_add(&c->outputs, &c->in->scratch, id, &is_new);
    if (item == WR_NAMES_NONE) {
        c->in->status = c->in->scratch.status;
        return WR_DRAFT_NONE;
    }
    if (is_new)
        c->outputs.values[item] = wr_draft_answer(&c->draft, WR_LIT(""), time_ms);
    return c->outputs.values[item];
}

static void read_claude_block(struct claude *c, uint32_t message, wr_node block)
{
    wr_node type = wr_node_get(block, "type");
    if (wr_node_text_is(type, "text"))
        wr_draft_append(&c->draft, message, wr_node_inner(wr_node_get(block, "text")));
    else if (wr_node_text_is(type, "tool_use"))
        wr_draft_call(&c->draft, message, wr_node_text(c->in, wr_node_get(block, "id")),
                      wr_node_text(c->in, wr_node_get(block, "name")),
                      wr_import_arguments(&c->draft, wr_node_get(block, "input")));
    else if (wr_import_is_thinking(block))
        wr_draft_think(&c->draft, message);
    else if (!wr_node_text_is(type, "thinking"))
        wr_import_note(c->in, WR_IMPORT_BLOCK_UNKNOWN);
}

static void read_claude_output(struct claude *c, wr_node entry, int64_t time_ms)
{
    wr_node message = wr_node_get(entry, "message"), content = wr_node_get(message, "content");
    /* What Claude Code itself says in the model's place; it is not sent. */
    if (wr_node_text_is(wr_node_get(message, "model"), "<synthetic>")) {
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
        return;
    }
    wr_draft_model(&c->draft, wr_node_text(c->in, wr_node_get(message, "model")));
    uint32_t output = output_message(c, wr_node_text(c->in, wr_node_get(message, "id")), time_ms);
    c->newest_output = output;
    wr_draft_append(&c->draft, output, wr_node_inner(content));
    WR_NODE_EACH(block, content)
        read_claude_block(c, output, block);
}

static void read_claude_user(struct claude *c, wr_node entry, int64_t time_ms)
{
    wr_node content = wr_node_get(wr_node_get(entry, "message"), "content");
    c->newest_output = WR_DRAFT_NONE;
    WR_NODE_EACH(block, content) {
        if (wr_node_text_is(wr_node_get(block, "type"), "tool_result"))
            wr_draft_result(
                &c->draft, wr_node_text(c->in, wr_node_get(block, "tool_use_id")),
                wr_import_content(c->in, &c->draft, wr_node_get(block, "content"), NULL), time_ms);
    }
    wr_draft_say(&c->draft, WEIR_ROLE_USER,
                 wr_import_content(c->in, &c->draft, content, "tool_result"), time_ms);
}

static void keep_range(struct claude *c, uint32_t first, uint32_t last)
{
    uint32_t message, at = 0;
    while ((message = wr_draft_view_next(&c->draft, &at)) != WR_DRAFT_NONE)
        if (message >= first && message <= last)
            wr_draft_keep(&c->draft, message);
}

/* Puts the preserved segment behind what came since the boundary. */
static void place_segment(struct claude *c)
{
    uint32_t head = wr_names_find(&c->uuids, c->segment.head);
    uint32_t tail = wr_names_find(&c->uuids, c->segment.tail);
    c->segment.is_awaited = false;
    if (wr_draft_compact(&c->draft) == WR_DRAFT_NONE)
        return;
    keep_range(c, c->segment.from, UINT32_MAX);
    if (head != WR_NAMES_NONE && tail != WR_NAMES_NONE && c->uuids.values[tail] < c->segment.from)
        keep_range(c, c->uuids.values[head], c->uuids.values[tail]);
}

static void read_boundary(struct claude *c, wr_node entry)
{
    wr_node kept = wr_node_get(wr_node_get(entry, "compactMetadata"), "preservedSegment");
    weir_span anchor = wr_node_text(c->in, wr_node_get(kept, "anchorUuid"));
    if (!wr_node_is(kept, WR_JSON_OBJECT)) {
        wr_draft_compact(&c->draft);
        return;
    }
    c->segment = (struct preserved){
        true, anchor, wr_node_text(c->in, wr_node_get(kept, "headUuid")),
        wr_node_text(c->in, wr_node_get(kept, "tailUuid")), c->draft.messages_count};
}

static void read_system(struct claude *c, wr_node entry)
{
    wr_node subtype = wr_node_get(entry, "subtype");
    if (wr_node_text_is(subtype, "compact_boundary")) {
        read_boundary(c, entry);
    } else if (wr_node_text_is(subtype, "microcompact_boundary")) {
        wr_node cleared =
            wr_node_get(wr_node_get(entry, "microcompactMetadata"), "compactedToolIds");
        if (wr_draft_compact(&c->draft) == WR_DRAFT_NONE)
            return;
        wr_draft_keep_all(&c->draft);
        WR_NODE_EACH(id, cleared)
            wr_draft_clear(&c->draft, wr_draft_find_call(&c->draft, wr_node_text(c->in, id)));
    } else {
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
    }
}

/* An entry that is of the chain and new. */
static void read_new_entry(struct claude *c, wr_node entry, weir_span uuid, uint32_t number)
{
    wr_node type = wr_node_get(entry, "type");
    int64_t time_ms = wr_node_time(wr_node_get(entry, "timestamp"));
    bool is_output = wr_node_text_is(type, "assistant");
    if (is_output && c->segment.is_awaited)
        place_segment(c);
    if (is_output)
        read_claude_output(c, entry, time_ms);
    else if (wr_node_text_is(type, "user"))
        read_claude_user(c, entry, time_ms);
    else
        read_system(c, entry);
    if (number != WR_NAMES_NONE && c->draft.messages_count)
        c->uuids.values[number] = c->draft.messages_count - 1;
    if (c->segment.is_awaited && uuid.len && wr_span_eq(uuid, c->segment.anchor))
        place_segment(c);
}

static void read_claude_entry(struct claude *c, wr_node entry)
{
    wr_node type = wr_node_get(entry, "type");
    weir_span uuid = wr_node_text(c->in, wr_node_get(entry, "uuid"));
    uint32_t number;
    if (!wr_node_text_is(type, "user") && !wr_node_text_is(type, "system") &&
        !wr_node_text_is(type, "assistant"))
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
    else if (!is_of_chain(c, entry))
        wr_import_note(c->in, WR_IMPORT_SIDE_CHAIN);
    else if (!note_entry(c, uuid, &number))
        wr_import_note(c->in, WR_IMPORT_ENTRY_REPEATED);
    else
        read_new_entry(c, entry, uuid, number);
}

static weir_status read_claude_log(struct wr_importer *in)
{
    struct claude c = {.in = in, .newest_output = WR_DRAFT_NONE};
    wr_node entry;
    wr_import_begin_draft(in, &c.draft);
    c.draft.missing = "[Tool result missing due to internal error]";
    while (wr_import_next(in, &entry))
        read_claude_entry(&c, entry);
    wr_import_end_draft(in, &c.draft);
    return in->status;
}

const struct wr_import_format wr_import_claude = {"claude-code", claims_claude_line, NULL,
                                                  read_claude_log, WEIR_DIALECT_MESSAGES};
