#include "base/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *text, *escaped;
} texts[] = {
    {"plain text stays", "auto 3 USD", "auto 3 USD"},
    {"what could be markup is not", "<b a='1' c=\"2\">&amp;",
     "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;"},
    {"other scripts stay", "\xc3\xa9\xe6\xb0\xb4\xf0\x9f\x8c\x8a",
     "\xc3\xa9\xe6\xb0\xb4\xf0\x9f\x8c\x8a"},
    {"control characters show", "a\x1b[31mb\x7f\n", "a\xef\xbf\xbd[31mb\xef\xbf\xbd\xef\xbf\xbd"},
    {"C1 controls show", "a\xc2\x9b", "a\xef\xbf\xbd"},
    {"broken UTF-8 shows, byte by byte", "\xff\xc3(", "\xef\xbf\xbd\xef\xbf\xbd("},
    {"noncharacters, which XML forbids, show", "\xef\xbf\xbf", "\xef\xbf\xbd"},
    {"nothing is nothing", "", ""},
};

static void text_is_escaped(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 4096);
        wr_html_escape(&out, wr_span_of(texts[i].text));
        if (!wr_span_eq(wr_buf_view(&out), wr_span_of(texts[i].escaped)))
            fail_msg("%s: \"%.*s\"", texts[i].behaviour, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

/* ---- places ---- */

static bool fill(struct wr_buf *out, weir_span name, const void *data)
{
    if (wr_span_is(name, "?shown") || wr_span_is(name, "?hidden"))
        return wr_span_is(name, "?shown");
    if (!wr_span_is(name, "data"))
        return false;
    wr_buf_text(out, data);
    return true;
}

static const struct {
    const char *behaviour, *page, *filled;
} pages[] = {
    {"a page without places stays", "<p>a { b }</p>", "<p>a { b }</p>"},
    {"a place is filled, wherever it stands", "{{data}}<p>{{data}}</p>{{data}}",
     "{7}<p>{7}</p>{7}"},
    {"a part that is shown stays, its places filled", "a{{?shown}} b {{data}}{{/shown}}c",
     "a b {7}c"},
    {"a part that is hidden goes, with its places", "a{{?hidden}} b {{data}}{{/hidden}}c", "ac"},
    {"another part may stand in it", "a{{?hidden}}{{?shown}}b{{/shown}}c{{/hidden}}d", "ad"},
    {"nothing is nothing", "", ""},
};

static void places_are_filled(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(pages); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 4096);
        wr_html_fill(&out, wr_span_of(pages[i].page), fill, "{7}");
        if (!wr_span_eq(wr_buf_view(&out), wr_span_of(pages[i].filled)))
            fail_msg("%s: \"%.*s\"", pages[i].behaviour, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

static void the_style_comes_as_it_lies(void **state)
{
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, 65536);
    wr_html_fill(&out, WR_LIT("<style>{{style}}</style>"), fill, "");
    assert_true(wr_span_find(wr_buf_view(&out), WR_LIT("font-weight: 600 }\n</style>"), 0) !=
                SIZE_MAX);
    wr_buf_release(&out);
}

static void tokens_are_short(void **state)
{
    static const struct {
        uint64_t tokens;
        const char *text;
    } rows[] = {{0, "0"}, {999, "999"}, {1000, "1.0 K"}, {1250000, "1.2 M"}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 64);
        wr_html_tokens(&out, rows[i].tokens);
        assert_true(wr_span_is(wr_buf_view(&out), rows[i].text));
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped), cmocka_unit_test(places_are_filled),
        cmocka_unit_test(the_style_comes_as_it_lies), cmocka_unit_test(tokens_are_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
