/* The files of the page, and how they become one file (web.h).
 *
 * In one file there are no modules to import from, so the scripts are put one behind the other in
 * the order of `script_names`, without their lines that begin with `import` and without the word
 * `export`. A name that two of them have at their outermost level would be an error of syntax
 * there: tests/page/file_cases.py shows such a page in a browser. A bundler was rejected: it would
 * be a build chain for two rules.
 */
#include "base/web.h"

#include "base/base64.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

WR_EMBED(wr_web_index_html, "web/page/index.html");
WR_EMBED(wr_web_file_html, "web/page/file.html");
WR_EMBED(wr_web_app_js, "web/page/app.js");
WR_EMBED(wr_web_draw_js, "web/page/draw.js");
WR_EMBED(wr_web_words_js, "web/page/words.js");
WR_EMBED(wr_web_parts_js, "web/page/parts.js");
WR_EMBED(wr_web_charts_js, "web/page/charts.js");
WR_EMBED(wr_web_report_js, "web/page/report.js");
WR_EMBED(wr_web_simulate_js, "web/page/simulate.js");
WR_EMBED(wr_web_file_js, "web/page/file.js");
WR_EMBED(wr_web_orders_js, "web/page/orders.js");
WR_EMBED(wr_web_text_js, "web/page/text.js");
WR_EMBED(wr_web_sessions_js, "web/page/sessions.js");
WR_EMBED(wr_web_session_js, "web/page/session.js");
WR_EMBED(wr_web_request_js, "web/page/request.js");
WR_EMBED(wr_web_more_js, "web/page/more.js");
WR_EMBED(wr_web_plan_js, "web/page/plan.js");
WR_EMBED(wr_web_cache_js, "web/page/cache.js");
WR_EMBED(wr_web_charts_css, "web/page/charts.css");
WR_EMBED(wr_web_style_css, "web/page/style.css");
WR_EMBED(wr_web_icon_svg, "web/page/icon.svg");

#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE  "text/css; charset=utf-8"

bool wr_web_find(weir_span name, struct wr_web_file *file)
{
    const struct wr_web_file files[] = {
        {"index.html", "text/html; charset=utf-8", WR_EMBEDDED(wr_web_index_html)},
        {"app.js", SCRIPT, WR_EMBEDDED(wr_web_app_js)},
        {"draw.js", SCRIPT, WR_EMBEDDED(wr_web_draw_js)},
        {"words.js", SCRIPT, WR_EMBEDDED(wr_web_words_js)},
        {"parts.js", SCRIPT, WR_EMBEDDED(wr_web_parts_js)},
        {"charts.js", SCRIPT, WR_EMBEDDED(wr_web_charts_js)},
        {"report.js", SCRIPT, WR_EMBEDDED(wr_web_report_js)},
        {"simulate.js", SCRIPT, WR_EMBEDDED(wr_web_simulate_js)},
        {"file.js", SCRIPT, WR_EMBEDDED(wr_web_file_js)},
        {"orders.js", SCRIPT, WR_EMBEDDED(wr_web_orders_js)},
        {"text.js", SCRIPT, WR_EMBEDDED(wr_web_text_js)},
        {"sessions.js", SCRIPT, WR_EMBEDDED(wr_web_sessions_js)},
        {"session.js", SCRIPT, WR_EMBEDDED(wr_web_session_js)},
        {"request.js", SCRIPT, WR_EMBEDDED(wr_web_request_js)},
        {"more.js", SCRIPT, WR_EMBEDDED(wr_web_more_js)},
        {"plan.js", SCRIPT, WR_EMBEDDED(wr_web_plan_js)},
        {"cache.js", SCRIPT, WR_EMBEDDED(wr_web_cache_js)},
        {"charts.css", STYLE, WR_EMBEDDED(wr_web_charts_css)},
        {"style.css", STYLE, WR_EMBEDDED(wr_web_style_css)},
        {"icon.svg", "image/svg+xml", WR_EMBEDDED(wr_web_icon_svg)},
    };
    for (size_t i = 0; i < WR_COUNT_OF(files); i++)
        if (wr_span_is(name, files[i].name)) {
            *file = files[i];
            return true;
        }
    return false;
}

/* ---- one file ---- */

/* What others use comes before them. */
static const char *const script_names[] = {"draw.js",   "words.js",    "parts.js", "charts.js",
                                           "report.js", "simulate.js", "file.js"};
static const char *const style_names[] = {"style.css", "charts.css"};

static weir_span text_of(const char *name)
{
    struct wr_web_file file;
    bool is_there = wr_web_find(wr_span_of(name), &file);
    WR_ASSERT(is_there);
    return file.text;
}

static void put_script(struct wr_buf *out, weir_span text)
{
    while (text.len) {
        size_t end = wr_span_find(text, WR_LIT("\n"), 0);
        size_t next = end == SIZE_MAX ? text.len : end + 1;
        weir_span line = wr_span_cut(text, 0, next);
        text = wr_span_from(text, next);
        if (wr_span_starts(line, WR_LIT("import ")))
            continue;
        if (wr_span_starts(line, WR_LIT("export ")))
            line = wr_span_from(line, sizeof("export ") - 1);
        wr_buf_append(out, line);
    }
}

/* `<` is written as JSON writes it in other words, so no text can end the element it stands in. */
static void put_data(struct wr_buf *out, weir_span data)
{
    for (size_t i = 0; i < data.len; i++)
        if (data.ptr[i] == '<')
            wr_buf_text(out, "\\u003c");
        else
            wr_buf_byte(out, data.ptr[i]);
}

static void put_hash(struct wr_buf *out, weir_span text)
{
    struct wr_sha256_stream stream;
    unsigned char digest[WR_SHA256_BYTES];

    wr_sha256_begin(&stream);
    wr_sha256_add(&stream, text);
    wr_sha256_digest(&stream, digest);
    wr_base64_encode((weir_span){(const char *)digest, sizeof(digest)}, out);
}

void wr_web_page(struct wr_buf *out, const char *title, weir_span data)
{
    weir_span page = WR_EMBEDDED(wr_web_file_html);
    struct wr_buf script, style;
    size_t at = 0, open;

    wr_buf_init(&script, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&style, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(script_names); i++)
        put_script(&script, text_of(script_names[i]));
    for (size_t i = 0; i < WR_COUNT_OF(style_names); i++)
        wr_buf_append(&style, text_of(style_names[i]));
    while ((open = wr_span_find(page, WR_LIT("{{"), at)) != SIZE_MAX) {
        size_t close = wr_span_find(page, WR_LIT("}}"), open);
        WR_ASSERT(close != SIZE_MAX);
        weir_span name = wr_span_cut(page, open + 2, close);
        wr_buf_append(out, wr_span_cut(page, at, open));
        at = close + 2;
        if (wr_span_is(name, "title"))
            wr_buf_text(out, title);
        else if (wr_span_is(name, "style"))
            wr_buf_append(out, wr_buf_view(&style));
        else if (wr_span_is(name, "style_hash"))
            put_hash(out, wr_buf_view(&style));
        else if (wr_span_is(name, "script"))
            wr_buf_append(out, wr_buf_view(&script));
        else if (wr_span_is(name, "script_hash"))
            put_hash(out, wr_buf_view(&script));
        else
            put_data(out, data);
    }
    wr_buf_append(out, wr_span_from(page, at));
    if (wr_buf_status(&script) || wr_buf_status(&style))
        out->status = WEIR_NOMEM;
    wr_buf_release(&script);
    wr_buf_release(&style);
}
