/* Oracles: the reader accepts exactly what the reference does and stops where it does; every
 * scanner gives the same document; the nodes nest and cover one another as json.h says; escaping
 * and unescaping undo one another; a splice without edits is the same bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "json/splice.h"
#include "json_reference.h"

#define CHECK(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

_Noreturn static void broken(const char *condition, int line)
{
    fprintf(stderr, "line %d: %s does not hold\n", line, condition);
    abort();
}

static void check_verdict(weir_status status, const struct weir_err *err, weir_span text)
{
    static const weir_status statuses[] = {
        [JSON_IS] = WEIR_OK, [JSON_IS_NOT] = WEIR_SYNTAX, [JSON_TOO_DEEP] = WEIR_LIMIT};
    size_t at;
    enum json_verdict verdict = json_reference(text.ptr, text.len, WR_JSON_DEPTH_MAX, &at);

    CHECK(status == statuses[verdict]);
    if (status) {
        CHECK(err->code == status);
        CHECK(err->at_byte == at);
    }
}

static void check_same(const struct wr_json *a, const struct wr_json *b)
{
    CHECK(a->nodes_count == b->nodes_count);
    CHECK(!memcmp(a->nodes, b->nodes, a->nodes_count * sizeof(*a->nodes)));
}

static size_t skip_space(weir_span text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.ptr[at], 4))
        at++;
    return at;
}

/* Between neighbours in the text there is white space and one separator, nothing else. */
static void check_gap(weir_span text, size_t from, size_t to, char separator)
{
    size_t at = skip_space(text, from);
    if (separator) {
        CHECK(at < to && text.ptr[at] == separator);
        at = skip_space(text, at + 1);
    }
    CHECK(at == to);
}

static void check_string(const struct wr_json *doc, const struct wr_json_node *node)
{
    weir_span raw = {doc->text.ptr + node->start, node->end - node->start};
    bool ascii = true;

    CHECK(raw.len >= 2 && raw.ptr[0] == '"' && raw.ptr[raw.len - 1] == '"');
    for (size_t i = 0; i < raw.len; i++)
        ascii &= (unsigned char)raw.ptr[i] < 0x80;
    CHECK(node->ascii == ascii);
    CHECK(node->escaped == (memchr(raw.ptr, '\\', raw.len) != NULL));
}

/* Walks one container by first and next; returns how many nodes it met. */
static uint32_t check_children(const struct wr_json *doc, wr_json_id container)
{
    const struct wr_json_node *n = doc->nodes;
    bool in_object = n[container].kind == WR_JSON_OBJECT;
    size_t at = n[container].start + 1;
    wr_json_id expected = container + 1;
    uint32_t count = 0;

    for (wr_json_id id = wr_json_first(doc, container); id != WR_JSON_NONE;
         id = wr_json_next(doc, container, id), count++) {
        wr_json_id last = in_object ? wr_json_value(id) : id;
        CHECK(id == expected && n[id].is_key == in_object);
        CHECK(n[last].after <= n[container].after);
        check_gap(doc->text, at, n[id].start, count ? ',' : '\0');
        if (in_object)
            check_gap(doc->text, n[id].end, n[last].start, ':');
        at = n[last].end;
        expected = n[last].after;
    }
    CHECK(expected == n[container].after && count == wr_json_count(doc, container));
    check_gap(doc->text, at, n[container].end - 1, '\0');
    return in_object ? 2 * count : count;
}

static void check_nodes(const struct wr_json *doc)
{
    uint32_t met = 1; /* the root */

    check_gap(doc->text, 0, doc->nodes[0].start, '\0');
    check_gap(doc->text, doc->nodes[0].end, doc->text.len, '\0');
    CHECK(doc->nodes[0].after == doc->nodes_count);
    for (uint32_t i = 0; i < doc->nodes_count; i++) {
        const struct wr_json_node *node = &doc->nodes[i];
        CHECK(node->start < node->end && node->end <= doc->text.len);
        if (node->kind >= WR_JSON_ARRAY)
            met += check_children(doc, i);
        else
            CHECK(node->after == i + 1);
        if (node->kind == WR_JSON_STRING)
            check_string(doc, node);
    }
    CHECK(met == doc->nodes_count);
}

/* The text of a string, escaped again, is a string that says the same. */
static void check_round_trip(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    struct wr_buf again, back;
    struct wr_json second;
    weir_span text = wr_json_text(doc, arena, id);

    CHECK(text.ptr && wr_utf8_check(text, true) == text.len);
    wr_buf_init(&again, 16 * text.len + 16);
    wr_buf_init(&back, 16 * text.len + 16);
    wr_json_unescape(&back, wr_json_inner(doc, id));
    CHECK(wr_span_eq(wr_buf_view(&back), text));

    wr_buf_byte(&again, '"');
    wr_json_escape(&again, text);
    wr_buf_byte(&again, '"');
    CHECK(wr_buf_status(&again) == WEIR_OK);
    CHECK(wr_json_parse(&second, arena, wr_buf_view(&again), NULL, NULL) == WEIR_OK);
    CHECK(wr_span_eq(wr_json_text(&second, arena, 0), text));
    wr_buf_release(&again);
    wr_buf_release(&back);
}

/* Any text that is WTF-8 comes back from its escaped form, but that halves of a pair, side by side,
 * join. */
static void check_any_text(weir_span text)
{
    struct wr_buf inner, back;
    bool is_text = wr_utf8_check(text, true) == text.len;

    wr_buf_init(&inner, 16 * text.len + 16);
    wr_buf_init(&back, 16 * text.len + 16);
    wr_json_escape(&inner, text);
    CHECK(wr_buf_status(&inner) == (is_text ? WEIR_OK : WEIR_INVALID));
    if (is_text) {
        wr_json_unescape(&back, wr_buf_view(&inner));
        bool has_surrogates = wr_utf8_check(text, false) != text.len;
        CHECK(has_surrogates || wr_span_eq(wr_buf_view(&back), text));
        CHECK(wr_utf8_check(wr_buf_view(&back), true) == back.len);
    }
    wr_buf_release(&inner);
    wr_buf_release(&back);
}

static void check_no_edit(const struct wr_json *doc, struct wr_arena *arena)
{
    struct wr_splice splice;
    struct wr_buf out;

    wr_buf_init(&out, doc->text.len);
    wr_splice_init(&splice, doc, arena);
    CHECK(wr_splice_apply(&splice, &out, NULL) == WEIR_OK);
    CHECK(wr_span_eq(wr_buf_view(&out), doc->text));
    wr_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const struct wr_json_options scalar = {.path = WR_JSON_PATH_SCALAR},
                                 avx2 = {.path = WR_JSON_PATH_AVX2};
    weir_span text = {(const char *)bytes, len};
    struct weir_err err = {0}, err_avx2 = {0};
    struct wr_json doc, doc_avx2;
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_json_parse(&doc, &arena, text, &scalar, &err);
    CHECK(wr_json_parse(&doc_avx2, &arena, text, &avx2, &err_avx2) == status);
    CHECK(!memcmp(&err, &err_avx2, sizeof(err)));
    check_verdict(status, &err, text);
    check_any_text(text);
    if (!status) {
        check_same(&doc, &doc_avx2);
        check_nodes(&doc);
        for (uint32_t i = 0; i < doc.nodes_count; i++)
            if (doc.nodes[i].kind == WR_JSON_STRING)
                check_round_trip(&doc, &arena, i);
        check_no_edit(&doc, &arena);
    }
    wr_arena_release(&arena);
    return 0;
}
