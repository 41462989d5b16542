/* Every text is read by every scanner, at every place within a block, in memory of exactly its
 * size. */
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

#define TEXT(s)             \
    {                       \
        "" s, sizeof(s) - 1 \
    }

enum { SPACES_MAX = 130 };

static const struct {
    enum wr_json_path path;
    const char *name;
} paths[] = {
    {WR_JSON_PATH_SCALAR, "scalar"}, {WR_JSON_PATH_AVX2, "avx2"}, {WR_JSON_PATH_BEST, "best"}};

/* shape: n f t (words), # (number), s (string), k (key), [ ] { } around what is inside. */
static const struct {
    const char *behaviour;
    weir_span text;
    const char *shape;
} accepted[] = {
    {"null", TEXT("null"), "n"},
    {"false", TEXT("false"), "f"},
    {"true", TEXT("true"), "t"},
    {"zero", TEXT("0"), "#"},
    {"minus zero", TEXT("-0"), "#"},
    {"a fraction", TEXT("-0.0"), "#"},
    {"many digits", TEXT("12345678901234567890123456789"), "#"},
    {"an exponent", TEXT("1e5"), "#"},
    {"an exponent with a plus", TEXT("1e+5"), "#"},
    {"an exponent with a minus", TEXT("1E-5"), "#"},
    {"an exponent with zeros", TEXT("0e00"), "#"},
    {"a fraction and an exponent", TEXT("10.250E+007"), "#"},
    {"an exponent no double has", TEXT("1e99999"), "#"},
    {"an empty string", TEXT("\"\""), "s"},
    {"a string", TEXT("\"a b\""), "s"},
    {"every short escape", TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "s"},
    {"an escape by number", TEXT("\"\\u0000\\uABCD\\uabcd\\u09aF\""), "s"},
    {"a pair of surrogate escapes", TEXT("\"\\ud83d\\ude00\""), "s"},
    {"a lone high surrogate escape", TEXT("\"\\ud83d\""), "s"},
    {"a lone low surrogate escape", TEXT("\"\\ude00\""), "s"},
    {"surrogate escapes the wrong way round", TEXT("\"\\ude00\\ud83d\""), "s"},
    {"a high surrogate escape before a letter", TEXT("\"\\ud83dx\\n\""), "s"},
    {"a solidus needs no escape", TEXT("\"/\""), "s"},
    {"DEL is no control byte", TEXT("\"\x7F\""), "s"},
    {"two bytes of UTF-8", TEXT("\"\xC2\x80\xDF\xBF\""), "s"},
    {"three bytes of UTF-8", TEXT("\"\xE0\xA0\x80\xEF\xBF\xBF\""), "s"},
    {"the neighbours of the surrogates", TEXT("\"\xED\x9F\xBF\xEE\x80\x80\""), "s"},
    {"four bytes of UTF-8", TEXT("\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\""), "s"},
    {"a BOM inside a string", TEXT("\"\xEF\xBB\xBF\""), "s"},
    {"line separators inside a string", TEXT("\"\xE2\x80\xA8\xE2\x80\xA9\""), "s"},
    {"an empty array", TEXT("[]"), "[]"},
    {"an empty array with space inside", TEXT("[ \t\r\n]"), "[]"},
    {"an empty object", TEXT("{}"), "{}"},
    {"an empty object with space inside", TEXT("{ \t\r\n}"), "{}"},
    {"an array of each kind", TEXT("[null,false,true,1,\"\",[],{}]"), "[nft#s[]{}]"},
    {"an object of each kind", TEXT("{\"a\":null,\"b\":1,\"c\":\"\",\"d\":[0],\"e\":{\"f\":1}}"),
     "{knk#ksk[#]k{k#}}"},
    {"every kind of space at every place",
     TEXT(" \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n1 \t\r\n, \t\r\n\"b\" \t\r\n: \t\r\n[ \t\r\n1 "
          "\t\r\n, \t\r\n2 \t\r\n] "
          "\t\r\n} \t\r\n"),
     "{k#k[##]}"},
    {"duplicate keys are all kept", TEXT("{\"a\":1,\"a\":2,\"a\":[]}"), "{k#k#k[]}"},
    {"an empty key", TEXT("{\"\":0}"), "{k#}"},
    {"nested arrays", TEXT("[[[]],[[],[]]]"), "[[[]][[][]]]"},
    {"numbers close to one another", TEXT("[1,-1,0,-0,1.5,2e3]"), "[######]"},
};

/* at: where the text stops being JSON. */
static const struct {
    const char *behaviour;
    weir_span text;
    size_t at;
} refused[] = {
    {"nothing", TEXT(""), 0},
    {"only space", TEXT(" \t\r\n"), 4},
    {"a BOM", TEXT("\xEF\xBB\xBF{}"), 0},
    {"a NUL", TEXT("\0"), 0},
    {"a NUL behind the value", TEXT("1\0"), 1},
    {"a NUL between values", TEXT("[1,\0 2]"), 3},
    {"a NUL inside a string", TEXT("\"a\0b\""), 2},
    {"a NUL in place of a colon", TEXT("{\"a\"\0 1}"), 4},
    {"a vertical tab is no space", TEXT("\v1"), 0},
    {"a form feed is no space", TEXT("1\f"), 1},
    {"a no-break space is no space", TEXT("1\xC2\xA0"), 1},
    {"a comment", TEXT("1 // one"), 2},
    {"two values", TEXT("1 2"), 2},
    {"two objects", TEXT("{}{}"), 2},
    {"a comma behind the value", TEXT("1,"), 1},
    {"a leading zero", TEXT("01"), 1},
    {"a leading zero behind a minus", TEXT("-01"), 2},
    {"a point without digits", TEXT("1."), 2},
    {"a point before something else", TEXT("[1.]"), 3},
    {"a point in front", TEXT(".5"), 0},
    {"a plus in front", TEXT("+1"), 0},
    {"a minus alone", TEXT("-"), 1},
    {"a minus before a letter", TEXT("-a"), 1},
    {"two minuses", TEXT("--1"), 1},
    {"an exponent without digits", TEXT("1e"), 2},
    {"an exponent of a sign alone", TEXT("1e+"), 3},
    {"an exponent of two signs", TEXT("1e+-1"), 3},
    {"an exponent with a point", TEXT("1e1.5"), 3},
    {"two points", TEXT("1.2.3"), 3},
    {"hexadecimal", TEXT("0x10"), 1},
    {"infinity", TEXT("Infinity"), 0},
    {"minus infinity", TEXT("-Infinity"), 1},
    {"NaN", TEXT("NaN"), 0},
    {"half a word", TEXT("nul"), 3},
    {"a wrong word", TEXT("trve"), 2},
    {"a word in capitals", TEXT("NULL"), 0},
    {"a word with more behind it", TEXT("truex"), 4},
    {"a word run into another", TEXT("[truefalse]"), 5},
    {"single quotes", TEXT("'a'"), 0},
    {"an open string", TEXT("\"abc"), 4},
    {"a quote alone", TEXT("\""), 1},
    {"an open string that ends in a backslash", TEXT("\"abc\\"), 4},
    {"a string whose closing quote is escaped", TEXT("\"abc\\\""), 6},
    {"a line end inside a string", TEXT("\"a\nb\""), 2},
    {"a tab inside a string", TEXT("\"a\tb\""), 2},
    {"the last control byte", TEXT("\"\x1F\""), 1},
    {"an escape JSON does not have", TEXT("\"a\\x41\""), 2},
    {"an escaped single quote", TEXT("\"\\'\""), 1},
    {"an escape in capitals", TEXT("\"\\N\""), 1},
    {"an escaped line end", TEXT("\"\\\n\""), 1},
    {"an escape before UTF-8", TEXT("\"\\\xC3\xA9\""), 1},
    {"\\u with three digits", TEXT("\"\\u123\""), 1},
    {"\\u with three digits and a letter", TEXT("\"\\u123g\""), 1},
    {"\\u with a space", TEXT("\"\\u 123\""), 1},
    {"\\u at the end of the text", TEXT("\"\\u12"), 1},
    {"\\U", TEXT("\"\\U00000041\""), 1},
    {"a second half with a bad digit", TEXT("\"\\ud83d\\ude0z\""), 7},
    {"a tail byte alone", TEXT("\"\x80\""), 1},
    {"a lead byte before the closing quote", TEXT("\"\xC3\""), 1},
    {"a lead byte before a letter", TEXT("\"\xC3\x41\""), 1},
    {"two of three bytes", TEXT("\"\xE2\x82\""), 1},
    {"three of four bytes", TEXT("\"\xF0\x9F\x98\""), 1},
    {"one tail byte too many", TEXT("\"\xC3\xA9\xA9\""), 3},
    {"an overlong slash of two bytes", TEXT("\"\xC0\xAF\""), 1},
    {"an overlong DEL of two bytes", TEXT("\"\xC1\xBF\""), 1},
    {"an overlong form of three bytes", TEXT("\"\xE0\x9F\xBF\""), 1},
    {"an overlong form of four bytes", TEXT("\"\xF0\x8F\xBF\xBF\""), 1},
    {"the first surrogate in UTF-8", TEXT("\"\xED\xA0\x80\""), 1},
    {"the last surrogate in UTF-8", TEXT("\"\xED\xBF\xBF\""), 1},
    {"a pair of surrogates in UTF-8", TEXT("\"\xED\xA0\xBD\xED\xB8\x80\""), 1},
    {"above U+10FFFF", TEXT("\"\xF4\x90\x80\x80\""), 1},
    {"a lead byte for five bytes", TEXT("\"\xF8\x88\x80\x80\x80\""), 1},
    {"the bytes UTF-8 never has", TEXT("\"a\xFF\xFE\""), 2},
    {"UTF-8 outside a string", TEXT("\xC3\xA9"), 0},
    {"UTF-16", TEXT("[\0]\0"), 1},
    {"an open array", TEXT("["), 1},
    {"an open array behind a value", TEXT("[1"), 2},
    {"an open array behind a comma", TEXT("[1,"), 3},
    {"a comma before the end", TEXT("[1,]"), 3},
    {"a comma in front", TEXT("[,1]"), 1},
    {"two commas", TEXT("[1,,2]"), 3},
    {"a comma alone", TEXT("[,]"), 1},
    {"no comma", TEXT("[1 2]"), 3},
    {"a colon in an array", TEXT("[\"a\":1]"), 4},
    {"the wrong bracket", TEXT("[1}"), 2},
    {"the wrong bracket at once", TEXT("[}"), 1},
    {"the wrong brace", TEXT("{\"a\":1]"), 6},
    {"a bracket too many", TEXT("[]]"), 2},
    {"a bracket that closes nothing", TEXT("]"), 0},
    {"an open object", TEXT("{"), 1},
    {"an open object behind a key", TEXT("{\"a\""), 4},
    {"an open object behind a colon", TEXT("{\"a\":"), 5},
    {"an open object behind a value", TEXT("{\"a\":1"), 6},
    {"an open object behind a comma", TEXT("{\"a\":1,"), 7},
    {"a comma before the closing brace", TEXT("{\"a\":1,}"), 7},
    {"a key without quotes", TEXT("{a:1}"), 1},
    {"a number for a key", TEXT("{1:1}"), 1},
    {"a key without a value", TEXT("{\"a\"}"), 4},
    {"a key with a comma", TEXT("{\"a\",1}"), 4},
    {"a key with two colons", TEXT("{\"a\"::1}"), 5},
    {"a colon without a value", TEXT("{\"a\":}"), 5},
    {"an equals sign", TEXT("{\"a\"=1}"), 4},
    {"a comma in front in an object", TEXT("{,\"a\":1}"), 1},
    {"a bad key", TEXT("{\"\\q\":1}"), 2},
    {"a bad string deep inside", TEXT("{\"a\":[{\"b\":[\"ok\",\"\\q\"]}]}"), 18},
};

static void append_shape(char *shape, size_t *len, const struct wr_json_node *node)
{
    static const char letters[] = {
        [WR_JSON_NULL] = 'n',   [WR_JSON_FALSE] = 'f',  [WR_JSON_TRUE] = 't',
        [WR_JSON_NUMBER] = '#', [WR_JSON_STRING] = 's', [WR_JSON_ARRAY] = '[',
        [WR_JSON_OBJECT] = '{',
    };
    shape[(*len)++] = node->is_key ? 'k' : letters[node->kind];
}

static void shape_of(const struct wr_json *doc, char *shape)
{
    uint32_t open[64], depth = 0;
    size_t len = 0;

    for (uint32_t i = 0; i < doc->nodes_count; i++) {
        append_shape(shape, &len, &doc->nodes[i]);
        if (doc->nodes[i].kind >= WR_JSON_ARRAY)
            open[depth++] = i;
        while (depth && doc->nodes[open[depth - 1]].after == i + 1)
            shape[len++] = doc->nodes[open[--depth]].kind == WR_JSON_OBJECT ? '}' : ']';
    }
    shape[len] = '\0';
}

/* What one reading gave. */
struct reading {
    weir_status status;
    struct weir_err err;
    char shape[256];
};

static void read_text(struct reading *reading, enum wr_json_path path, size_t spaces,
                      weir_span text)
{
    struct wr_json_options options = {.path = path};
    struct wr_arena arena;
    struct wr_json doc;
    size_t len = spaces + text.len;
    char *own = malloc(len ? len : 1);

    assert_non_null(own);
    memset(own, ' ', spaces);
    if (text.len)
        memcpy(own + spaces, text.ptr, text.len);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    memset(reading, 0, sizeof(*reading));
    reading->status = wr_json_parse(&doc, &arena, (weir_span){own, len}, &options, &reading->err);
    if (!reading->status)
        shape_of(&doc, reading->shape);
    wr_arena_release(&arena);
    free(own);
}

static void accepts_what_is_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(accepted); i++) {
        for (size_t p = 0; p < WR_COUNT_OF(paths); p++) {
            for (size_t spaces = 0; spaces <= SPACES_MAX; spaces++) {
                struct reading got;
                read_text(&got, paths[p].path, spaces, accepted[i].text);
                if (got.status || strcmp(got.shape, accepted[i].shape))
                    fail_msg("%s (%s, behind %zu spaces): %s \"%s\"", accepted[i].behaviour,
                             paths[p].name, spaces, weir_status_text(got.status), got.shape);
            }
        }
    }
}

static void refuses_what_is_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        for (size_t p = 0; p < WR_COUNT_OF(paths); p++) {
            for (size_t spaces = 0; spaces <= SPACES_MAX; spaces++) {
                struct reading got;
                read_text(&got, paths[p].path, spaces, refused[i].text);
                if (got.status != WEIR_SYNTAX || got.err.code != WEIR_SYNTAX || !got.err.text[0] ||
                    got.err.at_byte != spaces + refused[i].at)
                    fail_msg("%s (%s, behind %zu spaces): %s at %zu", refused[i].behaviour,
                             paths[p].name, spaces, weir_status_text(got.status),
                             got.err.at_byte - spaces);
            }
        }
    }
}

/* A text of everything, cut at each byte: never accepted, and all scanners say the same. */
static void a_cut_text_is_refused(void **state)
{
    static const weir_span whole =
        TEXT(" {\"model\" : \"x\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\udc00\", "
             "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\" "
             ": [ -0.5e+10 ,true, false,null,[],{ } , \"a long string without anything special in "
             "it, two blocks "
             "of sixty-four bytes at least, so that the end of the text comes inside it at each "
             "place \xE2\x82\xAC\" ] } ");
    struct reading first, got;
    (void)state;

    for (size_t len = 0; len < whole.len - 1; len++) {
        weir_span cut = wr_span_cut(whole, 0, len);
        read_text(&first, WR_JSON_PATH_SCALAR, 0, cut);
        assert_int_equal(first.status, WEIR_SYNTAX);
        /* At the end, or at the start of the escape or character that the end cuts in two. */
        assert_true(first.err.at_byte <= len && first.err.at_byte + 6 > len);
        read_text(&got, WR_JSON_PATH_AVX2, 0, cut);
        assert_int_equal(got.status, WEIR_SYNTAX);
        assert_int_equal(got.err.at_byte, first.err.at_byte);
        assert_string_equal(got.err.text, first.err.text);
    }
    read_text(&got, WR_JSON_PATH_BEST, 0, whole);
    assert_int_equal(got.status, WEIR_OK);
}

static weir_status parse_with(weir_span text, const struct wr_json_options *options,
                              size_t arena_bytes_max, struct weir_err *err)
{
    struct wr_arena arena;
    struct wr_json doc;
    wr_arena_init(&arena, arena_bytes_max);
    weir_status status = wr_json_parse(&doc, &arena, text, options, err);
    wr_arena_release(&arena);
    return status;
}

static void depth_is_capped(void **state)
{
    char text[2 * (WR_JSON_DEPTH_MAX + 1)];
    struct weir_err err;
    (void)state;

    memset(text, '[', WR_JSON_DEPTH_MAX);
    memset(text + WR_JSON_DEPTH_MAX, ']', WR_JSON_DEPTH_MAX);
    assert_int_equal(
        parse_with((weir_span){text, 2 * WR_JSON_DEPTH_MAX}, NULL, WR_ARENA_BYTES_MAX, &err),
        WEIR_OK);

    memset(text, '[', WR_JSON_DEPTH_MAX + 1);
    memset(text + WR_JSON_DEPTH_MAX + 1, ']', WR_JSON_DEPTH_MAX + 1);
    assert_int_equal(parse_with((weir_span){text, sizeof(text)}, NULL, WR_ARENA_BYTES_MAX, &err),
                     WEIR_LIMIT);
    assert_int_equal(err.code, WEIR_LIMIT);
    assert_int_equal(err.at_byte, WR_JSON_DEPTH_MAX);

    const struct wr_json_options two = {.depth_max = 2};
    assert_int_equal(parse_with(WR_LIT("[{\"a\":1},[1]]"), &two, WR_ARENA_BYTES_MAX, &err),
                     WEIR_OK);
    assert_int_equal(parse_with(WR_LIT("[{\"a\":1},[{}]]"), &two, WR_ARENA_BYTES_MAX, &err),
                     WEIR_LIMIT);
    assert_int_equal(err.at_byte, 10);
}

static void siblings_are_not_depth(void **state)
{
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1 << 20);
    wr_buf_byte(&buf, '[');
    for (int i = 0; i < 4 * WR_JSON_DEPTH_MAX; i++)
        wr_buf_text(&buf, "[{}],");
    wr_buf_text(&buf, "0]");
    assert_int_equal(parse_with(wr_buf_view(&buf), NULL, WR_ARENA_BYTES_MAX, NULL), WEIR_OK);
    wr_buf_release(&buf);
}

static void nodes_are_capped(void **state)
{
    const struct wr_json_options three = {.nodes_max = 3};
    struct weir_err err;
    (void)state;

    assert_int_equal(parse_with(WR_LIT("[1,2]"), &three, WR_ARENA_BYTES_MAX, &err), WEIR_OK);
    assert_int_equal(parse_with(WR_LIT("{\"a\":1}"), &three, WR_ARENA_BYTES_MAX, &err), WEIR_OK);
    assert_int_equal(parse_with(WR_LIT("[1,2,3]"), &three, WR_ARENA_BYTES_MAX, &err), WEIR_LIMIT);
    assert_int_equal(err.at_byte, 5);

    /* The same at the cap of the library: one array and a zero for each further node. */
    size_t zeros = WR_JSON_NODES_MAX - 1;
    char *text = malloc(2 * zeros + 3);
    assert_non_null(text);
    for (size_t i = 0; i <= zeros; i++) {
        text[2 * i] = i ? ',' : '[';
        text[2 * i + 1] = '0';
    }
    text[2 * zeros] = ']';
    assert_int_equal(parse_with((weir_span){text, 2 * zeros + 1}, NULL, WR_ARENA_BYTES_MAX, &err),
                     WEIR_OK);
    text[2 * zeros] = ',';
    text[2 * zeros + 2] = ']';
    assert_int_equal(parse_with((weir_span){text, 2 * zeros + 3}, NULL, WR_ARENA_BYTES_MAX, &err),
                     WEIR_LIMIT);
    assert_int_equal(err.at_byte, 2 * zeros + 1);
    free(text);
}

static void bytes_are_capped(void **state)
{
    struct weir_err err;
    size_t len = WR_JSON_BODY_BYTES_MAX;
    char *text = malloc(len + 1);
    (void)state;

    assert_non_null(text);
    memset(text, 'a', len + 1);
    text[0] = '"';
    text[len - 1] = '"';
    text[len] = ' ';
    assert_int_equal(parse_with((weir_span){text, len}, NULL, WR_ARENA_BYTES_MAX, &err), WEIR_OK);
    assert_int_equal(parse_with((weir_span){text, len + 1}, NULL, WR_ARENA_BYTES_MAX, &err),
                     WEIR_LIMIT);
    assert_int_equal(err.code, WEIR_LIMIT);
    assert_int_equal(err.at_byte, WR_JSON_BODY_BYTES_MAX);
    free(text);
}

/* However little memory there is, running out of it is a status, and enough of it is enough. */
static void memory_is_capped(void **state)
{
    struct wr_buf buf;
    weir_status status = WEIR_LIMIT;
    size_t max = 0;
    (void)state;

    wr_buf_init(&buf, 1 << 20);
    wr_buf_byte(&buf, '[');
    for (int i = 0; i < 1000; i++)
        wr_buf_text(&buf, "1,");
    wr_buf_text(&buf, "1]");
    for (; status; max += 333) {
        struct weir_err err = {0};
        status = parse_with(wr_buf_view(&buf), NULL, max, &err);
        assert_true(status == WEIR_OK || status == WEIR_LIMIT);
        assert_int_equal(err.code, status);
        assert_true(max < 200000);
    }
    wr_buf_release(&buf);
}

static void a_failed_document_is_empty(void **state)
{
    struct wr_arena arena;
    struct wr_json doc = {WR_LIT("x"), NULL, 7};
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, WR_LIT("[1,"), NULL, NULL), WEIR_SYNTAX);
    assert_int_equal(doc.nodes_count, 0);
    assert_null(doc.nodes);
    assert_int_equal(wr_json_parse(&doc, &arena, (weir_span){NULL, 0}, NULL, NULL), WEIR_SYNTAX);
    wr_arena_release(&arena);
}

static void messages_name_what_was_found_and_expected(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[1;2]", "found ';' where ',' or ']' should come"},
        {"{\"a\" 1}", "found '1' where ':' should come"},
        {"{\"a\":1", "the text ends where ',' or '}' should come"},
        {"{1:2}", "found '1' where a key in quotes should come"},
        {"\x01", "found byte 0x01 where a value should come"},
        {"\xEF\xBB\xBF{}", "found byte 0xEF where a value should come"},
        {"1.x", "found 'x' where a digit should come"},
        {"nil", "found 'i' where null, true or false should come"},
        {"{} x", "found 'x' where the end of the text should come"},
        {"\"a", "the text ends inside a string"},
        {"\"\t\"", "a control byte inside a string must be escaped"},
        {"\"\\q\"", "this escape is not one that JSON has"},
        {"\"\xFF\"", "this is not UTF-8"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct reading got;
        read_text(&got, WR_JSON_PATH_BEST, 0, wr_span_of(cases[i].text));
        assert_string_equal(got.err.text, cases[i].message);
    }
}

int main(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2"))
        puts("this machine has no AVX2: the scalar scanner stands in for it");
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_is_json),
        cmocka_unit_test(refuses_what_is_not),
        cmocka_unit_test(a_cut_text_is_refused),
        cmocka_unit_test(depth_is_capped),
        cmocka_unit_test(siblings_are_not_depth),
        cmocka_unit_test(nodes_are_capped),
        cmocka_unit_test(bytes_are_capped),
        cmocka_unit_test(memory_is_capped),
        cmocka_unit_test(a_failed_document_is_empty),
        cmocka_unit_test(messages_name_what_was_found_and_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
