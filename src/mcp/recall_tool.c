/* weir_recall: the text behind a handle, by lines or pattern, a page at a time.
 *
 *   read_handle      the handle, in any of the ways in which models write it
 *   read_selection   which lines: ranges, head, tail, a pattern
 *   wr_mcp_world_get the text from the store; fail_to_get says why there is none, and what to do
 *   select_page      made valid UTF-8, cut to a page, and written
 *
 * Models copy more or less than the handle, and write ranges in the ways of other tools. Whatever
 * can only mean one thing is taken, because each call that is refused costs the model a turn. What
 * goes wrong is said in words that tell the model what to do instead.
 *
 * A page has at most WR_RECALL_PAGE_TOKENS_MAX tokens. Text so short that it fits however it is
 * counted is not counted: every byte is a token at most.
 */
#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "mcp/tool.h"

#define ANEW "Get it anew instead: read the file again, or run the command again."

/* Text up to this length is not counted. */
enum { COUNTED_BYTES_MIN = WR_RECALL_PAGE_TOKENS_MAX / 2 };

/* ---- the handle ---- */

enum { HANDLE_DIGITS = 2 * WEIR_HANDLE_BYTES, HASH_DIGITS = 64 };

/* Before the digits `wr` may stand, with or without a sign between. Any other letter makes them
 * part of some other word. */
static bool begins_handle(weir_span text, size_t at)
{
    if (at && (text.ptr[at - 1] == '_' || text.ptr[at - 1] == '-'))
        at--;
    if (!at || !wr_is_alpha(text.ptr[at - 1]))
        return true;
    return at >= 2 && wr_lower(text.ptr[at - 1]) == 'r' && wr_lower(text.ptr[at - 2]) == 'w' &&
           (at == 2 || !wr_is_alpha(text.ptr[at - 3]));
}

static bool ends_handle(weir_span text, size_t at)
{
    return at == text.len || (!wr_is_alpha(text.ptr[at]) && text.ptr[at] != '_');
}

static weir_handle read_digits(const char *digits)
{
    weir_handle handle;
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++)
        handle.bytes[i] =
            (unsigned char)(wr_hex_value(digits[2 * i]) << 4 | wr_hex_value(digits[2 * i + 1]));
    return handle;
}

enum wr_handle_word wr_handle_word_read(weir_span text, weir_handle *handle)
{
    enum wr_handle_word found = WR_HANDLE_WORD_NONE;
    size_t end;

    for (size_t at = 0; at < text.len; at = end + 1) {
        end = at;
        while (end < text.len && wr_hex_value(text.ptr[end]) >= 0)
            end++;
        bool is_handle = (end - at == HANDLE_DIGITS || end - at == HASH_DIGITS) &&
                         begins_handle(text, at) && ends_handle(text, end);
        if (!is_handle)
            continue;
        weir_handle one = read_digits(text.ptr + at);
        if (found && memcmp(&one, handle, sizeof(one)) != 0)
            return WR_HANDLE_WORD_SEVERAL;
        *handle = one;
        found = WR_HANDLE_WORD_ONE;
    }
    return found;
}

static bool read_handle(struct wr_mcp_call *call, weir_handle *handle)
{
    static const char *const names[] = {"handle", "id", "ref"};
    weir_span text = {"", 0};

    for (size_t i = 0; i < WR_COUNT_OF(names) && !text.len; i++)
        if (!wr_mcp_call_text(call, names[i], &text))
            return false;
    switch (wr_handle_word_read(text, handle)) {
    case WR_HANDLE_WORD_ONE:
        return true;
    case WR_HANDLE_WORD_SEVERAL:
        wr_mcp_call_fail(call, "One handle a call: ask for them one after the other.");
        return false;
    case WR_HANDLE_WORD_NONE:
        break;
    }
    wr_mcp_call_fail(call,
                     "%s A handle is wr_ and 20 hex digits; copy it from the line "
                     "[weir wr_...] that stands where the text was left out.",
                     text.len ? "That is no handle." : "The argument 'handle' is missing.");
    return false;
}

/* ---- lines ---- */

/* Models write ranges in the ways of other tools: 10:20, 10..20, L10-L20, "lines 10 to 20". */
static void put_plain_range(struct wr_buf *out, weir_span text)
{
    static const struct {
        weir_span from, to;
    } spellings[] = {
        {{"..", 2}, {"-", 1}},
        {{"\xE2\x80\x93", 3}, {"-", 1}},
        {{"\xE2\x80\xA6", 3}, {"-", 1}},
        {{"to", 2}, {"-", 1}},
        {{":", 1}, {"-", 1}},
        {{"lines", 5}, {"", 0}},
        {{"line", 4}, {"", 0}},
        {{"L", 1}, {"", 0}},
        {{"l", 1}, {"", 0}},
        {{" ", 1}, {"", 0}},
        {{"[", 1}, {"", 0}},
        {{"]", 1}, {"", 0}},
    };
    for (size_t at = 0; at < text.len;) {
        weir_span rest = wr_span_cut(text, at, text.len);
        size_t i = 0;
        while (i < WR_COUNT_OF(spellings) && !wr_span_starts(rest, spellings[i].from))
            i++;
        if (i < WR_COUNT_OF(spellings)) {
            wr_buf_append(out, spellings[i].to);
            at += spellings[i].from.len;
        } else {
            wr_buf_byte(out, text.ptr[at++]);
        }
    }
}

/* [10, 20] means lines 10 to 20. */
static bool pair_text(struct wr_mcp_call *call, wr_json_id list, struct wr_buf *out)
{
    int64_t first, last;
    wr_json_id a = wr_json_first(call->doc, list);
    wr_json_id b = a == WR_JSON_NONE ? a : wr_json_next(call->doc, list, a);
    if (wr_json_count(call->doc, list) != 2 || !wr_json_i64(call->doc, a, &first) ||
        !wr_json_i64(call->doc, b, &last))
        return false;
    wr_buf_printf(out, "%lld-%lld", (long long)first, (long long)last);
    return true;
}

static bool parse_lines(struct wr_mcp_call *call, struct wr_buf *text, struct weir_lines *lines,
                        size_t *lines_count)
{
    struct weir_err err = {0};
    wr_json_id value = wr_mcp_call_argument(call, "lines");
    weir_span raw;

    *lines_count = 0;
    if (value == WR_JSON_NONE)
        return true;
    if (wr_json_is(call->doc, value, WR_JSON_ARRAY)) {
        if (!pair_text(call, value, text)) {
            wr_mcp_call_fail(call, "The argument 'lines' is a text such as 10-20.");
            return false;
        }
    } else if (wr_mcp_call_text(call, "lines", &raw)) {
        put_plain_range(text, raw);
    } else {
        return false;
    }
    if (!wr_buf_status(text) &&
        !weir_lines_parse(wr_buf_view(text), lines, WR_RECALL_RANGES_MAX, lines_count, &err))
        return true;
    wr_mcp_call_fail(call, "The argument 'lines' cannot be read: %s.",
                     err.text[0] ? err.text : "it is too long");
    return false;
}

static bool read_line_ranges(struct wr_mcp_call *call, struct weir_lines *lines,
                             size_t *lines_count)
{
    struct wr_buf text;
    wr_buf_init(&text, WR_RECALL_PATTERN_BYTES_MAX);
    bool ok = parse_lines(call, &text, lines, lines_count);
    wr_buf_release(&text);
    return ok;
}

static bool read_selection(struct wr_mcp_call *call, struct weir_lines *lines,
                           struct weir_recall_options *o)
{
    o->lines = lines;
    return read_line_ranges(call, lines, &o->lines_count) &&
           wr_mcp_call_count(call, "head", &o->head_lines) &&
           wr_mcp_call_count(call, "tail", &o->tail_lines) &&
           wr_mcp_call_text(call, "grep", &o->pattern) &&
           wr_mcp_call_count(call, "context", &o->context_lines);
}

/* ---- the text ---- */

/* What is behind a handle that brings nothing back, and what a model can do about it. */
static void fail_to_get(struct wr_mcp_call *call, weir_handle handle, weir_miss miss,
                        weir_trouble trouble, const struct weir_err *err)
{
    char name[WEIR_HANDLE_TEXT_BYTES + 1];

    weir_handle_format(handle, name);
    call->miss = WR_MCP_MISS_UNREADABLE;
    switch (miss) {
    case WEIR_MISS_NEVER_STORED:
    case WEIR_MISS_OTHER_TENANT:
        call->miss = WR_MCP_MISS_NEVER_STORED;
        wr_mcp_call_fail(call,
                         "%s was never stored here. Compare it with the line that names it. "
                         "If it is right, the text cannot be brought back. " ANEW,
                         name);
        return;
    case WEIR_MISS_EXPIRED:
        call->miss = WR_MCP_MISS_EXPIRED;
        wr_mcp_call_fail(call, "%s has expired: it was stored and has been collected. " ANEW, name);
        return;
    case WEIR_MISS_CORRUPT:
        call->miss = WR_MCP_MISS_CORRUPT;
        wr_mcp_call_fail(call,
                         "%s is corrupt: what is stored is not what was put there, so it is "
                         "not given. " ANEW,
                         name);
        return;
    case WEIR_MISS_NONE:
        break;
    }
    if (trouble == WEIR_TROUBLE_MISSING)
        wr_mcp_call_fail(call, "Nothing has been stored here yet. " ANEW);
    else
        wr_mcp_call_fail(call, "The store cannot be read: %s. %s", err->text,
                         trouble == WEIR_TROUBLE_LOCKED ? "Try again." : ANEW);
}

static void write_page(struct wr_mcp_call *call, const struct weir_recalled *recalled,
                       const struct weir_recall_options *o)
{
    if (o->pattern.len && !recalled->matches_count)
        wr_buf_printf(call->out, "[weir: no line of %llu matches]\n",
                      (unsigned long long)recalled->lines_total);
    else if (!recalled->lines_total)
        wr_buf_text(call->out, "[weir: the text is empty]\n");
    else
        wr_buf_append(call->out, recalled->text);
}

static void write_replaced(struct wr_mcp_call *call, uint64_t replaced_count)
{
    if (!replaced_count)
        return;
    if (call->out->len && call->out->bytes[call->out->len - 1] != '\n')
        wr_buf_byte(call->out, '\n');
    wr_buf_printf(call->out,
                  "[weir: the text is not all UTF-8: %llu times U+FFFD stands for other bytes]\n",
                  (unsigned long long)replaced_count);
}

static void select_page(struct wr_mcp_world *world, struct wr_mcp_call *call, weir_span text,
                        struct weir_recall_options *o)
{
    struct weir_recalled recalled;
    struct weir_err err = {0};
    uint64_t replaced_count;

    if (wr_valid_text(call->arena, text, &text, &replaced_count)) {
        wr_mcp_call_fail(call, "There is no memory for the text. Try again.");
        return;
    }
    o->page_bytes_max = WR_MCP_PAGE_BYTES_MAX;
    if (text.len > COUNTED_BYTES_MIN) {
        o->page_tokens_max = WR_RECALL_PAGE_TOKENS_MAX;
        o->count_tokens = wr_mcp_world_count;
        o->user = world;
    }
    if (weir_recall_select(text, o, &recalled, &err)) {
        wr_mcp_call_fail(call, "That cannot be shown: %s.", err.text);
    } else {
        write_page(call, &recalled, o);
        write_replaced(call, replaced_count);
    }
    weir_recalled_release(&recalled);
}

void wr_mcp_recall(struct wr_mcp_world *world, struct wr_mcp_call *call)
{
    static const char *const names[] = {"handle", "lines",   "head", "tail",
                                        "grep",   "context", "id",   "ref"};
    struct weir_lookup lookup = {.tenant = call->tenant};
    struct weir_lines lines[WR_RECALL_RANGES_MAX];
    struct weir_recall_options o = {.lines = NULL};
    struct weir_err err = {0};
    weir_trouble trouble;
    weir_miss miss;
    weir_span text;

    if (!wr_mcp_call_knows(call, names, WR_COUNT_OF(names)) || !read_handle(call, &lookup.handle) ||
        !read_selection(call, lines, &o))
        return;
    if (wr_mcp_world_get(world, &lookup, &text, &miss, &trouble, &err))
        fail_to_get(call, lookup.handle, miss, trouble, &err);
    else
        select_page(world, call, text, &o);
}
