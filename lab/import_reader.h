/* import_reader.h -- what the formats' readers share: entries of a log, values, content, times.
 *
 * A format is a row in the table of import.c: how its lines or documents are known, and the
 * function that turns them into drafts. Private to the importers.
 */
#ifndef WR_LAB_IMPORT_READER_H
#define WR_LAB_IMPORT_READER_H

#include "lab/import_draft.h"

/* A value of a document. `id` may be NONE: what is asked of nothing is nothing. */
typedef struct wr_node {
    const struct wr_json *doc;
    wr_json_id id;
} wr_node;

struct wr_importer;

struct wr_import_format {
    const char *agent;
    bool (*claims_line)(wr_node line); /* NULL: never one entry a line */
    bool (*claims)(wr_node document);  /* NULL: never one document */
    weir_status (*read)(struct wr_importer *importer);
    weir_dialect api; /* that the agent speaks: Chat Completions unless it is known better */
};

struct wr_importer {
    const struct wr_import_format *format;
    struct wr_import *import;
    struct wr_arena *arena;  /* borrowed: where sessions live */
    struct wr_arena scratch; /* as long as the file is read */
    struct wr_arena line;    /* as long as one line is */
    weir_span rest;          /* lines not read yet */
    uint64_t line_number;    /* of the line that is being read, from 1 */
    struct wr_json doc;      /* the document, or the line that is being read */
    bool is_lines;
    wr_node list, element; /* the list being walked where the log is a document */
    uint32_t sessions_cap;
    weir_status status; /* sticky */
};

/* ---- values ---- */

static inline bool wr_node_is(wr_node node, enum wr_json_kind kind)
{
    return wr_json_is(node.doc, node.id, kind);
}

static inline wr_node wr_node_get(wr_node object, const char *key)
{
    return (wr_node){object.doc, wr_json_find(object.doc, object.id, key)};
}

static inline bool wr_node_text_is(wr_node node, const char *text)
{
    return wr_json_text_is(node.doc, node.id, text);
}

static inline bool wr_node_has(wr_node object, const char *key, enum wr_json_kind kind)
{
    return wr_node_is(wr_node_get(object, key), kind);
}

static inline bool wr_node_is_true(wr_node object, const char *key)
{
    return wr_node_has(object, key, WR_JSON_TRUE);
}

/* for (wr_node block = wr_node_first(blocks); block.id != WR_JSON_NONE; ...): of an array only. */
static inline wr_node wr_node_first(wr_node array)
{
    bool is_array = wr_node_is(array, WR_JSON_ARRAY);
    return (wr_node){array.doc, is_array ? wr_json_first(array.doc, array.id) : WR_JSON_NONE};
}

static inline wr_node wr_node_next(wr_node array, wr_node child)
{
    return (wr_node){array.doc, wr_json_next(array.doc, array.id, child.id)};
}

#define WR_NODE_EACH(child, array)                                         \
    for (wr_node child = wr_node_first(array); (child).id != WR_JSON_NONE; \
         child = wr_node_next(array, child))

/* The inside of a string as it stands; empty where it is none. */
static inline weir_span wr_node_inner(wr_node node)
{
    return wr_node_is(node, WR_JSON_STRING) ? wr_json_inner(node.doc, node.id) : (weir_span){"", 0};
}

/* A string's text; empty where it is none. */
weir_span wr_node_text(struct wr_importer *importer, wr_node node);

/* A number's spelling, or a string's text: ids that may be either. */
weir_span wr_node_name(struct wr_importer *importer, wr_node node);

/* Milliseconds since 1970 of an ISO 8601 time (UTC where it has no zone), or of a number of seconds
 * or milliseconds. WR_SESSION_NO_TIME for all else. */
int64_t wr_node_time(wr_node node);

/* ---- what drafts are made of ---- */

/* The text of content: a string, or blocks whose texts are joined by line breaks; blocks of type
 * `skip` (or NULL) are passed over. Media become one line, what is not known stays as JSON. */
weir_span wr_import_content(struct wr_importer *importer, struct wr_draft *draft, wr_node content,
                            const char *skip);

/* Arguments: a string's own, or the JSON of a value; {} where there is none. */
weir_span wr_import_arguments(struct wr_draft *draft, wr_node arguments);

/* `{"command":"..."}` of a command's text. */
weir_span wr_import_command(struct wr_draft *draft, weir_span command);

/* A Chat Completions message, or one with Anthropic's blocks. */
void wr_import_chat_message(struct wr_importer *importer, struct wr_draft *draft, wr_node message);

/* Whether a block is thinking that its provider has signed. */
static inline bool wr_import_is_thinking(wr_node block)
{
    wr_node type = wr_node_get(block, "type");
    return wr_node_text_is(type, "redacted_thinking") ||
           (wr_node_text_is(type, "thinking") &&
            wr_node_inner(wr_node_get(block, "signature")).len);
}

/* Whether this is such a message. */
bool wr_import_is_chat(wr_node message);

/* ---- the log ---- */

void wr_import_begin_draft(struct wr_importer *importer, struct wr_draft *draft);

/* Ends a session: its draft joins the import, unless nothing was asked in it. */
void wr_import_end_draft(struct wr_importer *importer, struct wr_draft *draft);

/* The next line that is an object, or the next element of `list`. A line's nodes live until the
 * next call. */
bool wr_import_next(struct wr_importer *importer, wr_node *entry);

/* What wr_import_next() walks where the log is one document; nothing otherwise. */
void wr_import_walk_list(struct wr_importer *importer, wr_node list);

/* The format that claims a line, or NULL. */
const struct wr_import_format *wr_import_format_of(wr_node line);

static inline wr_node wr_import_root(struct wr_importer *importer)
{
    return (wr_node){&importer->doc, 0};
}

static inline void wr_import_note(struct wr_importer *importer, enum wr_import_note note)
{
    struct wr_import *import = importer->import;
    if (!import->notes[note]++)
        import->first_lines[note] = importer->is_lines ? importer->line_number : 0;
}

/* ---- the formats ---- */

extern const struct wr_import_format wr_import_claude, wr_import_codex, wr_import_copilot,
    wr_import_pi, wr_import_gemini, wr_import_gemini_stream, wr_import_opencode, wr_import_mini_swe,
    wr_import_swe_agent, wr_import_openhands, wr_import_openhands_messages, wr_import_tau,
    wr_import_langchain, wr_import_chat;

#endif
