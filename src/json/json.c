/* Reading a document (at the end of the file), looking things up in it, unescaping its strings.
 *
 * Everything before the reader trusts it: a node's bytes are valid JSON, so an escape is one of the
 * nine that JSON has, and four hexadecimal digits follow each `\u`. That is why nothing there can
 * fail but for memory.
 *
 * Keys are compared as they stand in the text. Agents send the same few keys thousands of times, so
 * key_is() looks at the first letter before it calls anything, and escaped keys, which are legal
 * and rare, are compared escape by escape without unescaping them into memory.
 *
 * A key that stands in an object twice has no agreed meaning: most readers take the last one, and
 * so does wr_json_find(). wr_json_pick() tells its caller, who may refuse such an object.
 */
#include "json/json.h"

#include <string.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/scan.h"

static uint32_t hex4(const char *digits)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        code = code << 4 | digit;
    }
    return code;
}

/* Without a branch: which one comes next cannot be foretold. */
static char simple_escape(char c)
{
    static const char meanings['t' + 1] = {
        ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    char meaning = meanings[(unsigned char)c <= 't' ? (unsigned char)c : 0];
    return meaning ? meaning : c; /* quote, backslash, slash */
}

static bool is_unicode_escape(weir_span rest)
{
    return rest.len >= 6 && rest.ptr[0] == '\\' && rest.ptr[1] == 'u';
}

/* Reads the escape at the start of `rest`; returns its bytes and puts what it means in `out`. */
static size_t read_escape(weir_span rest, char out[4], size_t *out_bytes)
{
    if (!is_unicode_escape(rest)) {
        out[0] = simple_escape(rest.ptr[1]);
        *out_bytes = 1;
        return 2;
    }
    uint32_t code = hex4(rest.ptr + 2);
    size_t used = 6;
    weir_span next = wr_span_cut(rest, 6, rest.len);
    if (code >= 0xD800 && code <= 0xDBFF && is_unicode_escape(next)) {
        uint32_t low = hex4(next.ptr + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            used = 12;
        }
    }
    *out_bytes = wr_utf8_encode(code, out);
    return used;
}

static wr_copy_plain_fn *pick_copy(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
        return wr_copy_plain_avx2;
#endif
    return wr_copy_plain_scalar;
}

/* Unescapes into `out`, which has room for all of `inner`: unescaping never makes text longer. */
static size_t unescape_into(char *out, weir_span inner)
{
    wr_copy_plain_fn *copy_plain = pick_copy();
    size_t written = 0;
    while (inner.len) {
        size_t plain = copy_plain(out + written, inner);
        written += plain;
        inner = wr_span_cut(inner, plain, inner.len);
        if (!inner.len)
            break;
        char meaning[4];
        size_t bytes;
        size_t used = read_escape(inner, meaning, &bytes);
        if (bytes == 1)
            out[written] = meaning[0];
        else
            memcpy(out + written, meaning, bytes);
        written += bytes;
        inner = wr_span_cut(inner, used, inner.len);
    }
    return written;
}

void wr_json_unescape(struct wr_buf *out, weir_span inner)
{
    wr_buf_reserve(out, inner.len);
    if (!out->status && inner.len)
        out->len += unescape_into(out->bytes + out->len, inner);
}

weir_span wr_json_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    weir_span inner = wr_json_inner(doc, id);
    if (!doc->nodes[id].escaped)
        return inner;
    char *text = wr_arena_alloc(arena, inner.len);
    if (!text)
        return (weir_span){NULL, 0};
    return (weir_span){text, unescape_into(text, inner)};
}

/* Compares without unescaping into memory; keys with escapes are rare but legal. */
static bool escaped_text_is(weir_span inner, weir_span text)
{
    while (inner.len) {
        char meaning[4] = {inner.ptr[0]};
        size_t bytes = 1;
        size_t used = inner.ptr[0] == '\\' ? read_escape(inner, meaning, &bytes) : 1;
        if (!wr_span_starts(text, (weir_span){meaning, bytes}))
            return false;
        text = wr_span_cut(text, bytes, text.len);
        inner = wr_span_cut(inner, used, inner.len);
    }
    return !text.len;
}

static bool unescaped_is(const struct wr_json *doc, wr_json_id id, weir_span text)
{
    weir_span inner = wr_json_inner(doc, id);
    return doc->nodes[id].escaped ? escaped_text_is(inner, text) : wr_span_eq(inner, text);
}

/* Most keys differ in their first letter, so that is compared before anything is called. A string
 * without escapes holds no NUL, so strncmp() cannot read past the end of `name`. */
static bool key_is(const struct wr_json *doc, wr_json_id key, const char *name)
{
    weir_span inner = wr_json_inner(doc, key);
    if (doc->nodes[key].escaped)
        return escaped_text_is(inner, wr_span_of(name));
    if (!inner.len)
        return !name[0];
    return inner.ptr[0] == name[0] && !strncmp(name, inner.ptr, inner.len) && !name[inner.len];
}

bool wr_json_text_is(const struct wr_json *doc, wr_json_id id, const char *text)
{
    return wr_json_is(doc, id, WR_JSON_STRING) && unescaped_is(doc, id, wr_span_of(text));
}

wr_json_id wr_json_find(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id value;
    (void)wr_json_pick(doc, object, &key, 1, &value);
    return value;
}

weir_span wr_json_find_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id object,
                            const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    weir_span text = {NULL, 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, arena, id);
    return text.ptr ? text : (weir_span){"", 0};
}

int64_t wr_json_find_i64(const struct wr_json *doc, wr_json_id object, const char *key)
{
    int64_t number;

    return wr_json_i64(doc, wr_json_find(doc, object, key), &number) ? number : 0;
}

uint64_t wr_json_find_u64(const struct wr_json *doc, wr_json_id object, const char *key)
{
    int64_t number = wr_json_find_i64(doc, object, key);

    return number > 0 ? (uint64_t)number : 0;
}

bool wr_json_pick(const struct wr_json *doc, wr_json_id object, const char *const *names,
                  size_t count, wr_json_id *values)
{
    bool unique = true;

    for (size_t i = 0; i < count; i++)
        values[i] = WR_JSON_NONE;
    if (!wr_json_is(doc, object, WR_JSON_OBJECT))
        return true;
    for (wr_json_id key = wr_json_first(doc, object); key != WR_JSON_NONE;
         key = wr_json_next(doc, object, key)) {
        for (size_t i = 0; i < count; i++) {
            if (!key_is(doc, key, names[i]))
                continue;
            unique &= values[i] == WR_JSON_NONE;
            values[i] = wr_json_value(key);
            break;
        }
    }
    return unique;
}

bool wr_json_i64(const struct wr_json *doc, wr_json_id id, int64_t *number)
{
    if (!wr_json_is(doc, id, WR_JSON_NUMBER))
        return false;
    weir_span digits = wr_json_raw(doc, id);
    bool negative = digits.ptr[0] == '-';
    uint64_t magnitude;
    if (!wr_span_u64(wr_span_cut(digits, negative, digits.len), &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    /* The smallest number has no positive counterpart to negate. */
    *number = negative && magnitude ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    return true;
}

uint32_t wr_json_count(const struct wr_json *doc, wr_json_id container)
{
    uint32_t count = 0;
    for (wr_json_id id = wr_json_first(doc, container); id != WR_JSON_NONE;
         id = wr_json_next(doc, container, id))
        count++;
    return count;
}

void wr_json_line_column(weir_span text, size_t at_byte, size_t *line, size_t *column)
{
    size_t line_start = 0;
    *line = 1;
    if (at_byte > text.len)
        at_byte = text.len;
    for (size_t i = 0; i < at_byte; i++) {
        if (text.ptr[i] == '\n') {
            ++*line;
            line_start = i + 1;
        }
    }
    *column = at_byte - line_start + 1;
}

/* ==== the reader ====
 *
 * The reader proper: a loop over what may come next, with a stack of open containers.
 *
 *               '{' '['                 value read
 *   WANT_VALUE ---------> WANT_FIRST ---------------> WANT_MORE --- ',' ---> WANT_VALUE / WANT_KEY
 *        ^                   | '}' ']'                    | '}' ']'
 *        |  ':' read         v close_container()          v close_container()
 *   WANT_KEY              WANT_MORE of the parent, or WANT_NOTHING at the root
 *
 * A stack instead of recursion keeps a deeply nested body from using up the thread's own stack. A
 * node is added when its value begins; its `end` is set when it is closed, and so is a container's
 * `after`. Nearly all bytes of a request stand in long strings, so the time goes into finding where
 * a string ends: that is scan.h, with a scanner for AVX2 and one for any machine.
 *
 * A conversation's next request begins like its last one. Such a reading starts inside the
 * outermost object and its list of messages with the nodes of the earlier reading (go_on_from),
 * which gives the same nodes as reading all of it.
 */

enum want { WANT_VALUE, WANT_FIRST, WANT_KEY, WANT_MORE, WANT_NOTHING };

struct parser {
    weir_span text;
    size_t at;
    struct wr_arena *arena;
    struct wr_json_node *nodes;
    uint32_t nodes_count, nodes_cap, nodes_max;
    uint32_t depth, depth_max;
    wr_scan_fn *scan;
    struct weir_err *err;
    uint32_t open[WR_JSON_DEPTH_MAX]; /* nodes of the containers we are inside of */
};

static wr_scan_fn *pick_scanner(enum wr_json_path path)
{
#if defined(__x86_64__)
    bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
    if (has_avx2 && path != WR_JSON_PATH_SCALAR)
        return wr_scan_avx2;
#endif
    (void)path;
    return wr_scan_scalar;
}

static weir_status grow_nodes(struct parser *p)
{
    if (p->nodes_count >= p->nodes_max)
        return wr_fail(p->err, WEIR_LIMIT, p->at, "more than %u values", p->nodes_max);
    uint32_t cap = p->nodes_cap > p->nodes_max / 2 ? p->nodes_max : p->nodes_cap * 2;
    struct wr_json_node *nodes =
        wr_arena_grow(p->arena, p->nodes, p->nodes_cap * sizeof(*nodes), cap * sizeof(*nodes));
    if (!nodes)
        return wr_fail(p->err, wr_arena_status(p->arena), p->at, "no memory for the document");
    p->nodes = nodes;
    p->nodes_cap = cap;
    return WEIR_OK;
}

/* Adds a node that starts here; its `end` and `after` are set when they are known. */
static weir_status add_node(struct parser *p, enum wr_json_kind kind, struct wr_json_node **added)
{
    if (p->nodes_count == p->nodes_cap) {
        weir_status status = grow_nodes(p);
        if (status)
            return status;
    }
    struct wr_json_node *node = &p->nodes[p->nodes_count++];
    *node = (struct wr_json_node){
        .start = (uint32_t)p->at, .after = p->nodes_count, .kind = (uint8_t)kind};
    *added = node;
    return WEIR_OK;
}

static weir_status bad_byte(struct parser *p, const char *expected)
{
    if (p->at >= p->text.len)
        return wr_fail(p->err, WEIR_SYNTAX, p->text.len, "the text ends where %s should come",
                       expected);
    unsigned char c = (unsigned char)p->text.ptr[p->at];
    if (c > 0x20 && c < 0x7F)
        return wr_fail(p->err, WEIR_SYNTAX, p->at, "found '%c' where %s should come", c, expected);
    return wr_fail(p->err, WEIR_SYNTAX, p->at, "found byte 0x%02X where %s should come", c,
                   expected);
}

static weir_status bad_string(struct parser *p, const struct wr_scan *scan)
{
    static const char *const why[] = {
        [WR_SCAN_CONTROL] = "a control byte inside a string must be escaped",
        [WR_SCAN_BAD_ESCAPE] = "this escape is not one that JSON has",
        [WR_SCAN_BAD_UTF8] = "this is not UTF-8",
        [WR_SCAN_OPEN] = "the text ends inside a string",
    };
    return wr_fail(p->err, WEIR_SYNTAX, scan->at, "%s", why[scan->end]);
}

static weir_status read_string(struct parser *p, bool is_key)
{
    struct wr_json_node *node;
    struct wr_scan scan;
    weir_status status = add_node(p, WR_JSON_STRING, &node);
    if (status)
        return status;

    p->scan(&scan, p->text, p->at + 1);
    if (scan.end != WR_SCAN_QUOTE)
        return bad_string(p, &scan);
    p->at = scan.at + 1;
    node->end = (uint32_t)p->at;
    node->escaped = scan.escaped;
    node->ascii = scan.ascii;
    node->is_key = is_key;
    return WEIR_OK;
}

static bool digit_at(const struct parser *p)
{
    return p->at < p->text.len && wr_is_digit(p->text.ptr[p->at]);
}

static bool skip_digits(struct parser *p)
{
    if (!digit_at(p))
        return false;
    while (digit_at(p))
        p->at++;
    return true;
}

static bool take_byte(struct parser *p, char byte)
{
    if (p->at >= p->text.len || p->text.ptr[p->at] != byte)
        return false;
    p->at++;
    return true;
}

static bool skip_number(struct parser *p)
{
    (void)take_byte(p, '-');
    if (!take_byte(p, '0') && !skip_digits(p))
        return false;
    if (take_byte(p, '.') && !skip_digits(p))
        return false;
    if (take_byte(p, 'e') || take_byte(p, 'E')) {
        if (!take_byte(p, '+'))
            (void)take_byte(p, '-');
        return skip_digits(p);
    }
    return true;
}

static weir_status read_number_node(struct parser *p)
{
    struct wr_json_node *node;
    weir_status status = add_node(p, WR_JSON_NUMBER, &node);
    if (status)
        return status;
    if (!skip_number(p))
        return bad_byte(p, "a digit");
    node->end = (uint32_t)p->at;
    return WEIR_OK;
}

static weir_status read_word_node(struct parser *p, enum wr_json_kind kind, const char *word)
{
    struct wr_json_node *node;
    weir_status status = add_node(p, kind, &node);
    if (status)
        return status;
    for (; *word; word++)
        if (!take_byte(p, *word))
            return bad_byte(p, "null, true or false");
    node->end = (uint32_t)p->at;
    return WEIR_OK;
}

static weir_status open_container(struct parser *p, enum wr_json_kind kind)
{
    struct wr_json_node *node;
    if (p->depth == p->depth_max)
        return wr_fail(p->err, WEIR_LIMIT, p->at, "nested deeper than %u levels", p->depth_max);
    weir_status status = add_node(p, kind, &node);
    if (status)
        return status;
    p->open[p->depth++] = p->nodes_count - 1;
    p->at++;
    return WEIR_OK;
}

static void close_container(struct parser *p)
{
    struct wr_json_node *node = &p->nodes[p->open[--p->depth]];
    p->at++;
    node->end = (uint32_t)p->at;
    node->after = p->nodes_count;
}

static weir_status read_value(struct parser *p, enum want *next)
{
    *next = p->depth ? WANT_MORE : WANT_NOTHING;
    switch (p->at < p->text.len ? p->text.ptr[p->at] : '\0') {
    case '"':
        return read_string(p, false);
    case '{':
        *next = WANT_FIRST;
        return open_container(p, WR_JSON_OBJECT);
    case '[':
        *next = WANT_FIRST;
        return open_container(p, WR_JSON_ARRAY);
    case 't':
        return read_word_node(p, WR_JSON_TRUE, "true");
    case 'f':
        return read_word_node(p, WR_JSON_FALSE, "false");
    case 'n':
        return read_word_node(p, WR_JSON_NULL, "null");
    default:
        if (digit_at(p) || (p->at < p->text.len && p->text.ptr[p->at] == '-'))
            return read_number_node(p);
        return bad_byte(p, "a value");
    }
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.len) {
        char c = p->text.ptr[p->at];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            return;
        p->at++;
    }
}

static weir_status read_key(struct parser *p)
{
    if (p->at >= p->text.len || p->text.ptr[p->at] != '"')
        return bad_byte(p, "a key in quotes");
    weir_status status = read_string(p, true);
    if (status)
        return status;
    skip_space(p);
    return take_byte(p, ':') ? WEIR_OK : bad_byte(p, "':'");
}

static bool in_object(const struct parser *p)
{
    return p->nodes[p->open[p->depth - 1]].kind == WR_JSON_OBJECT;
}

static bool closes_here(const struct parser *p)
{
    return p->at < p->text.len && p->text.ptr[p->at] == (in_object(p) ? '}' : ']');
}

static weir_status read_more(struct parser *p, enum want *next)
{
    if (closes_here(p)) {
        close_container(p);
        *next = p->depth ? WANT_MORE : WANT_NOTHING;
        return WEIR_OK;
    }
    if (!take_byte(p, ','))
        return bad_byte(p, in_object(p) ? "',' or '}'" : "',' or ']'");
    *next = in_object(p) ? WANT_KEY : WANT_VALUE;
    return WEIR_OK;
}

static weir_status read_step(struct parser *p, enum want *want)
{
    weir_status status;

    skip_space(p);
    switch (*want) {
    case WANT_FIRST:
        if (closes_here(p))
            return read_more(p, want);
        *want = in_object(p) ? WANT_KEY : WANT_VALUE;
        return WEIR_OK;
    case WANT_KEY:
        status = read_key(p);
        *want = WANT_VALUE;
        return status;
    case WANT_VALUE:
        return read_value(p, want);
    case WANT_MORE:
        return read_more(p, want);
    case WANT_NOTHING:
        break;
    }
    return WEIR_OK;
}

static weir_status parser_init(struct parser *p, struct wr_arena *arena, weir_span text,
                               const struct wr_json_options *options, struct weir_err *err)
{
    p->text = text;
    p->at = 0;
    p->arena = arena;
    p->err = err;
    p->depth = 0;
    p->scan = pick_scanner(options ? options->path : WR_JSON_PATH_BEST);
    p->depth_max = options && options->depth_max ? options->depth_max : WR_JSON_DEPTH_MAX;
    p->nodes_max = options && options->nodes_max ? options->nodes_max : WR_JSON_NODES_MAX;
    WR_ASSERT(p->depth_max <= WR_JSON_DEPTH_MAX);
    WR_ASSERT(p->nodes_max <= WR_JSON_NODES_MAX);

    /* Requests are mostly long strings; a node for every 128 bytes is seldom outgrown. */
    size_t cap = text.len / 128 + 64;
    p->nodes_cap = cap < p->nodes_max ? (uint32_t)cap : p->nodes_max;
    p->nodes_count = 0;
    p->nodes = wr_arena_alloc(arena, p->nodes_cap * sizeof(*p->nodes));
    if (!p->nodes)
        return wr_fail(err, wr_arena_status(arena), 0, "no memory for the document");
    return WEIR_OK;
}

/* Takes over the nodes of an earlier reading. We are then inside the outermost object and its list,
 * where the next element or the list's end comes. Closing these two containers writes their own
 * `end` and `after` anew. */
static weir_status go_on_from(struct parser *p, const struct wr_json_start *start)
{
    WR_ASSERT(start->at_byte <= p->text.len);
    WR_ASSERT(start->list < start->nodes_count);
    if (start->nodes_count > p->nodes_max)
        return wr_fail(p->err, WEIR_LIMIT, 0, "more than %u values", p->nodes_max);
    while (p->nodes_cap < start->nodes_count) {
        weir_status status = grow_nodes(p);
        if (status)
            return status;
    }
    memcpy(p->nodes, start->nodes, start->nodes_count * sizeof(*p->nodes));
    p->nodes_count = start->nodes_count;
    p->at = start->at_byte;
    p->open[0] = 0;
    p->open[1] = start->list;
    p->depth = 2;
    return WEIR_OK;
}

weir_status wr_json_parse(struct wr_json *doc, struct wr_arena *arena, weir_span text,
                          const struct wr_json_options *options, struct weir_err *err)
{
    struct parser p; /* not cleared: its stack is large, and written before it is read */
    const struct wr_json_start *start = options ? options->start : NULL;
    enum want want = start ? WANT_MORE : WANT_VALUE;

    *doc = (struct wr_json){0};
    if (text.len > WR_JSON_BODY_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, WR_JSON_BODY_BYTES_MAX,
                       "the body has %zu bytes, at most %d are read", text.len,
                       (int)WR_JSON_BODY_BYTES_MAX);
    weir_status status = parser_init(&p, arena, text, options, err);
    if (!status && start)
        status = go_on_from(&p, start);
    while (!status && want != WANT_NOTHING)
        status = read_step(&p, &want);
    if (status)
        return status;

    skip_space(&p);
    if (p.at != text.len)
        return bad_byte(&p, "the end of the text");
    *doc = (struct wr_json){text, p.nodes, p.nodes_count};
    return WEIR_OK;
}
