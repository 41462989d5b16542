#include "base/web.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

static void every_import_is_there(void **state)
{
    static const char *const roots[] = {"app.js", "file.js"};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(roots); i++) {
        struct wr_web_file file, named;
        assert_true(wr_web_find(wr_span_of(roots[i]), &file));
        size_t at = 0, count = 0;
        while ((at = wr_span_find(file.text, WR_LIT("from './"), at)) != SIZE_MAX) {
            size_t end = wr_span_find(file.text, WR_LIT("'"), at += 8);
            assert_true(wr_web_find(wr_span_cut(file.text, at, end), &named));
            count++;
        }
        assert_true(count > 1);
    }
}

static void what_is_not_there_is_not_found(void **state)
{
    struct wr_web_file file;
    (void)state;
    assert_false(wr_web_find(WR_LIT(""), &file));
    assert_false(wr_web_find(WR_LIT("../Makefile"), &file));
    assert_false(wr_web_find(WR_LIT("app.j"), &file));
}

static weir_span between(weir_span text, weir_span from, weir_span to)
{
    size_t at = wr_span_find(text, from, 0);
    assert_int_not_equal(at, SIZE_MAX);
    size_t end = wr_span_find(text, to, at + from.len);
    assert_int_not_equal(end, SIZE_MAX);
    return wr_span_cut(text, at + from.len, end);
}

static void assert_hash(weir_span page, weir_span text, weir_span before)
{
    unsigned char digest[WR_SHA256_BYTES];
    struct wr_buf hash;

    wr_buf_init(&hash, 4096);
    assert_int_equal(wr_sha256(text, digest), WEIR_OK);
    wr_base64_encode((weir_span){(const char *)digest, sizeof(digest)}, &hash);
    assert_true(wr_span_eq(between(page, before, WR_LIT("'")), wr_buf_view(&hash)));
    wr_buf_release(&hash);
}

static void a_page_holds_all_of_itself(void **state)
{
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_web_page(&out, "weir report", WR_LIT("{\"a\":\"</script><b>{{data}}\"}"));
    assert_int_equal(wr_buf_status(&out), WEIR_OK);
    weir_span page = wr_buf_view(&out);
    assert_true(wr_span_eq(between(page, WR_LIT("application/json\">"), WR_LIT("</script>")),
                           WR_LIT("{\"a\":\"\\u003c/script>\\u003cb>{{data}}\"}")));
    weir_span script = between(page, WR_LIT("<script type=\"module\">"), WR_LIT("</script>"));
    assert_int_equal(wr_span_find(script, WR_LIT("\nimport "), 0), SIZE_MAX);
    assert_int_equal(wr_span_find(script, WR_LIT("\nexport "), 0), SIZE_MAX);
    assert_int_not_equal(wr_span_find(script, WR_LIT("\nfunction reportNode("), 0), SIZE_MAX);
    assert_hash(page, script, WR_LIT("script-src 'sha256-"));
    assert_hash(page, between(page, WR_LIT("<style>"), WR_LIT("</style>")),
                WR_LIT("style-src 'sha256-"));
    assert_true(
        wr_span_eq(between(page, WR_LIT("<title>"), WR_LIT("</title>")), WR_LIT("weir report")));
    assert_int_equal(wr_span_find(page, WR_LIT(" src=\""), 0), SIZE_MAX);
    assert_int_equal(wr_span_find(page, WR_LIT("url("), 0), SIZE_MAX);
    wr_buf_release(&out);
}

static void a_page_that_does_not_fit_says_so(void **state)
{
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, 1000);
    wr_web_page(&out, "weir report", WR_LIT("{}"));
    assert_int_equal(wr_buf_status(&out), WEIR_LIMIT);
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_import_is_there),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(a_page_holds_all_of_itself),
        cmocka_unit_test(a_page_that_does_not_fit_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
