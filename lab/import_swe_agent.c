/* SWE-agent: NAME.traj.
 *
 * One document: trajectory, history, info. `history` is what the model was sent: role, content, and
 * of model outputs thought and action. Without tool_calls the action becomes a call named by its
 * first word, and the message that follows its result. Demonstrations stay text.
 */
#include "lab/import_reader.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { NAME_CHARS_MAX = 64 };

struct swe {
    struct wr_importer *in;
    struct wr_draft draft;
    bool is_pending; /* the next message is what the last action gave */
};

static bool claims_swe_agent(wr_node document)
{
    wr_node first = wr_node_first(wr_node_get(document, "history"));
    return wr_node_has(document, "trajectory", WR_JSON_ARRAY) &&
           wr_node_has(first, "role", WR_JSON_STRING);
}

static weir_span first_word(weir_span action)
{
    size_t from = 0, to;
    while (from < action.len && wr_is_space(action.ptr[from]))
        from++;
    for (to = from; to < action.len && !wr_is_space(action.ptr[to]);)
        to++;
    return wr_text_head(wr_span_cut(action, from, to), NAME_CHARS_MAX);
}

static void read_action(struct swe *s, wr_node entry, weir_span action)
{
    uint32_t output = wr_draft_answer(&s->draft, wr_node_inner(wr_node_get(entry, "thought")),
                                      WR_SESSION_NO_TIME);
    wr_draft_call(&s->draft, output, WR_LIT(""), first_word(action),
                  wr_import_command(&s->draft, action));
    s->is_pending = true;
}

static void read_swe_agent_output(struct swe *s, wr_node entry, weir_span text)
{
    weir_span action = wr_node_text(s->in, wr_node_get(entry, "action"));
    bool has_calls = wr_node_first(wr_node_get(entry, "tool_calls")).id != WR_JSON_NONE;
    if (has_calls) {
        wr_import_chat_message(s->in, &s->draft, entry);
        s->is_pending = true;
    } else if (wr_node_is_true(entry, "is_demo")) {
        wr_draft_answer(&s->draft, text, WR_SESSION_NO_TIME);
        s->is_pending = false;
    } else if (!wr_text_is_blank(action)) {
        read_action(s, entry, action);
    } else {
        wr_draft_answer(&s->draft, text, WR_SESSION_NO_TIME);
    }
}

static void read_tool(struct swe *s, wr_node entry, weir_span text)
{
    wr_node ids = wr_node_get(entry, "tool_call_ids");
    if (wr_node_first(ids).id == WR_JSON_NONE)
        wr_draft_result(&s->draft, WR_LIT(""), text, WR_SESSION_NO_TIME);
    WR_NODE_EACH(id, ids)
        wr_draft_result(&s->draft, wr_node_text(s->in, id), text, WR_SESSION_NO_TIME);
    s->is_pending = false;
}

static void read_swe_agent_entry(struct swe *s, wr_node entry)
{
    wr_node role = wr_node_get(entry, "role");
    weir_span text = wr_import_content(s->in, &s->draft, wr_node_get(entry, "content"), NULL);
    if (wr_node_text_is(role, "system")) {
        wr_draft_say(&s->draft, WEIR_ROLE_SYSTEM, text, WR_SESSION_NO_TIME);
    } else if (wr_node_text_is(role, "assistant")) {
        read_swe_agent_output(s, entry, text);
    } else if (wr_node_text_is(role, "tool")) {
        read_tool(s, entry, text);
    } else if (s->is_pending && wr_draft_has_open(&s->draft)) {
        wr_draft_result(&s->draft, WR_LIT(""), text, WR_SESSION_NO_TIME);
        s->is_pending = false;
    } else if (wr_node_text_is(role, "user")) {
        wr_draft_say(&s->draft, WEIR_ROLE_USER, text, WR_SESSION_NO_TIME);
    } else {
        wr_import_note(s->in, WR_IMPORT_ROLE_UNKNOWN);
    }
}

/* The configuration is an object, or one in a string; the text of either names the model. */
static void read_swe_agent_model(struct swe *s, wr_node config)
{
    struct wr_json doc;
    weir_span text = wr_node_text(s->in, config);
    if (text.len) {
        if (wr_json_parse(&doc, &s->in->scratch, text, NULL, NULL))
            return;
        config = (wr_node){&doc, 0};
    }
    wr_node model = wr_node_get(wr_node_get(config, "agent"), "model");
    wr_draft_model(&s->draft, wr_node_text(s->in, wr_node_get(model, "name")));
}

static weir_status read_swe_agent_log(struct wr_importer *in)
{
    struct swe s = {.in = in};
    wr_node root = wr_import_root(in);
    wr_import_begin_draft(in, &s.draft);
    read_swe_agent_model(&s, wr_node_get(root, "replay_config"));
    WR_NODE_EACH(entry, wr_node_get(root, "history"))
        read_swe_agent_entry(&s, entry);
    wr_import_end_draft(in, &s.draft);
    return in->status;
}

const struct wr_import_format wr_import_swe_agent = {"swe-agent", NULL, claims_swe_agent,
                                                     read_swe_agent_log, WEIR_DIALECT_CHAT};
