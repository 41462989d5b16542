/* mini-swe-agent: NAME.traj.json.
 *
 * One document: info (config.model.model_name), messages. The model writes one command in a block
 * of bash, and the user's next message is what it printed: these become a call and its result.
 * Version 2 has tool_calls instead.
 */
#include "lab/import_reader.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"

static bool claims_mini_swe(wr_node document)
{
    wr_node info = wr_node_get(document, "info"), config = wr_node_get(info, "config");
    weir_span format = wr_node_inner(wr_node_get(document, "trajectory_format"));
    if (!wr_node_has(document, "messages", WR_JSON_ARRAY))
        return false;
    return wr_span_starts(format, WR_LIT("mini-swe-agent")) ||
           wr_node_has(info, "mini_version", WR_JSON_STRING) ||
           (wr_node_has(config, "agent", WR_JSON_OBJECT) &&
            wr_node_has(config, "model", WR_JSON_OBJECT));
}

/* The bytes [start, end) of a text that hold its block of bash, and the command inside. */
struct block {
    size_t start, end;
    weir_span command;
};

/* The command behind the opening fence that ends at `at`: white space up to the last line break
 * that leaves a closing fence behind it. */
static bool find_command(weir_span text, size_t at, struct block *block)
{
    size_t spaces_end = at;
    while (spaces_end < text.len && wr_is_space(text.ptr[spaces_end]))
        spaces_end++;
    for (size_t i = spaces_end; i > at; i--) {
        if (text.ptr[i - 1] != '\n')
            continue;
        size_t close = wr_span_find(text, WR_LIT("\n```"), i);
        if (close == SIZE_MAX)
            continue;
        block->command = wr_span_cut(text, i, close);
        block->end = close + 4;
        return true;
    }
    return false;
}

static bool find_block(weir_span text, struct block *block)
{
    static const char *const fences[] = {"```bash", "```mswea_bash_command"};
    size_t at = 0, close = 0;
    while ((at = wr_span_find(text, WR_LIT("```"), at)) != SIZE_MAX) {
        weir_span rest = wr_span_cut(text, at, text.len);
        if (close < at)
            close = wr_span_find(text, WR_LIT("\n```"), at);
        if (close == SIZE_MAX)
            return false; /* nothing closes this fence, nor a later one */
        for (size_t i = 0; i < 2; i++) {
            weir_span fence = wr_span_of(fences[i]);
            block->start = at;
            if (wr_span_starts(rest, fence) && find_command(text, at + fence.len, block))
                return true;
        }
        at++;
    }
    return false;
}

static weir_span strip(weir_span text)
{
    while (text.len && wr_is_space(text.ptr[0]))
        text = wr_span_cut(text, 1, text.len);
    while (text.len && wr_is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* What the model said around its command. */
static weir_span around(struct wr_draft *draft, weir_span text, const struct block *block)
{
    struct wr_buf buf;
    wr_buf_init(&buf, text.len);
    wr_buf_append(&buf, wr_span_cut(text, 0, block->start));
    wr_buf_append(&buf, wr_span_cut(text, block->end, text.len));
    weir_span kept = wr_draft_take(draft, &buf);
    return wr_draft_escape(draft, strip(kept));
}

static void read_mini_swe_output(struct wr_importer *in, struct wr_draft *draft, wr_node message,
                                 int64_t time_ms)
{
    weir_span content = wr_import_content(in, draft, wr_node_get(message, "content"), NULL);
    weir_span text = wr_node_text(in, wr_node_get(message, "content"));
    struct block block;
    if (!find_block(text, &block)) {
        wr_draft_answer(draft, content, time_ms);
        return;
    }
    uint32_t output = wr_draft_answer(draft, around(draft, text, &block), time_ms);
    wr_draft_call(draft, output, WR_LIT(""), WR_LIT("bash"),
                  wr_import_command(draft, block.command));
}

static int64_t time_of(wr_node message)
{
    wr_node extra = wr_node_get(message, "extra");
    int64_t time_ms = wr_node_time(wr_node_get(extra, "timestamp"));
    if (time_ms == WR_SESSION_NO_TIME)
        time_ms = wr_node_time(wr_node_get(wr_node_get(extra, "response"), "created"));
    return time_ms;
}

static void read_mini_swe_message(struct wr_importer *in, struct wr_draft *draft, wr_node message)
{
    wr_node role = wr_node_get(message, "role");
    wr_node calls = wr_node_get(message, "tool_calls");
    bool has_calls = wr_node_first(calls).id != WR_JSON_NONE;
    if (wr_node_text_is(role, "assistant") && !has_calls)
        read_mini_swe_output(in, draft, message, time_of(message));
    else if (wr_node_text_is(role, "user") && wr_draft_has_open(draft))
        wr_draft_result(draft, WR_LIT(""),
                        wr_import_content(in, draft, wr_node_get(message, "content"), NULL),
                        time_of(message));
    else
        wr_import_chat_message(in, draft, message);
}

static weir_status read_mini_swe_log(struct wr_importer *in)
{
    struct wr_draft draft;
    wr_node root = wr_import_root(in), config = wr_node_get(wr_node_get(root, "info"), "config");
    wr_import_begin_draft(in, &draft);
    wr_draft_model(&draft,
                   wr_node_text(in, wr_node_get(wr_node_get(config, "model"), "model_name")));
    WR_NODE_EACH(message, wr_node_get(root, "messages"))
        read_mini_swe_message(in, &draft, message);
    wr_import_end_draft(in, &draft);
    return in->status;
}

const struct wr_import_format wr_import_mini_swe = {"mini-swe-agent", NULL, claims_mini_swe,
                                                    read_mini_swe_log, WEIR_DIALECT_CHAT};
