/* The kind of an output: what the tool does, then the command line, then a look at the text, in
 * this order. A look is bounded, and can only make PROCESS into something narrower where hardly any
 * text of another kind looks so.
 */
#include "condense/output_kind.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/words.h"
#include "condense/volatile.h"

const char *wr_output_kind_text(enum wr_output_kind kind)
{
    static const char *const texts[WR_OUTPUT_KINDS] = {
        [WR_OUTPUT_PROCESS] = "process", [WR_OUTPUT_FILE] = "file",     [WR_OUTPUT_LOG] = "log",
        [WR_OUTPUT_TEST] = "test",       [WR_OUTPUT_SEARCH] = "search", [WR_OUTPUT_DIFF] = "diff",
        [WR_OUTPUT_JSON] = "json",       [WR_OUTPUT_LIST] = "list",     [WR_OUTPUT_BLOB] = "blob",
        [WR_OUTPUT_PROSE] = "prose",
    };
    return kind < WR_OUTPUT_KINDS ? texts[kind] : "unknown";
}

/* -- a look at the text ------------------------------------------------------------------------ */

enum { JSON_LINE_BYTES_MIN = 1000 }; /* of each line, on average */
enum { LINES_MAX = 64, BLOB_LINE_BYTES_MIN = 200, CUT_JSON_BYTES = 512, CUT_JSON_KEYS_MIN = 3 };

/* Behind the header some tools put before the output of a command. */
static weir_span without_header(weir_span text)
{
    static struct wr_words fronts = WR_WORDS("Chunk ID:|Wall time|Exit code|Process exited");
    if (!wr_words_front(&fronts, text))
        return text;
    weir_span head = wr_span_cut(text, 0, text.len < 512 ? text.len : 512);
    size_t output = wr_span_find(head, WR_LIT("Output:\n"), 0);
    return output == SIZE_MAX ? text : wr_span_from(text, output + 8);
}

static bool is_json(weir_span text)
{
    weir_span body = wr_span_trim(text);
    if (body.len < 2)
        return false;
    char first = body.ptr[0], last = body.ptr[body.len - 1];
    weir_span inside = wr_span_trim(wr_span_from(body, 1));
    bool object = first == '{' && last == '}' && memchr("\"}", inside.ptr[0], 2);
    bool array = first == '[' && last == ']' &&
                 (memchr("{[\"]-", inside.ptr[0], 5) || wr_is_digit(inside.ptr[0]));
    return object || array;
}

/* The last line that says something. */
static weir_span last_line(weir_span text)
{
    weir_span body = wr_span_trim(text);
    size_t at = body.len;
    while (at && body.ptr[at - 1] != '\n')
        at--;
    return wr_span_trim(wr_span_from(body, at));
}

/* JSON that was cut off: begins as such, has keys, and still is JSON on its last line. A complaint
 * behind it is none. */
static bool is_cut_json(weir_span text)
{
    weir_span body = wr_span_trim(text);
    weir_span front = wr_span_cut(body, 0, body.len < CUT_JSON_BYTES ? body.len : CUT_JSON_BYTES);
    if (body.len < 2 || !memchr("{[", body.ptr[0], 2))
        return false;
    weir_span inside = wr_span_trim(wr_span_from(body, 1)), last = last_line(body);
    if (!inside.len || !memchr("{[\"", inside.ptr[0], 3) || !memchr("{}[]\"", last.ptr[0], 5))
        return false;
    unsigned keys = 0;
    for (size_t at = 0; (at = wr_span_find(front, WR_LIT("\":"), at)) != SIZE_MAX; at += 2)
        keys++;
    return keys >= CUT_JSON_KEYS_MIN;
}

/* NUL bytes, or a long line of base64 alone. */
static bool is_blob(weir_span text)
{
    weir_span head = wr_span_cut(text, 0, text.len < 4096 ? text.len : 4096);
    if (memchr(head.ptr, 0, head.len))
        return true;
    weir_span body = wr_span_trim(head);
    size_t run = 0;
    while (run < body.len && (wr_is_word(body.ptr[run]) || memchr("+/=\n", body.ptr[run], 4)))
        run++;
    return run == body.len && run >= BLOB_LINE_BYTES_MIN &&
           memchr(body.ptr, ' ', body.len) == NULL &&
           (memchr(body.ptr, '\n', body.len) == NULL || memchr(body.ptr, '\n', 80));
}

static bool starts_diff(weir_span line)
{
    return wr_span_starts(line, WR_LIT("diff --git ")) ||
           wr_span_starts(line, WR_LIT("diff --cc ")) || wr_span_starts(line, WR_LIT("Index: "));
}

static bool starts_log(weir_span line)
{
    if (line.len && line.ptr[0] == '[')
        line = wr_span_from(line, 1);
    return wr_volatile_time(line) > 0;
}

static bool tells_tests(weir_span line)
{
    static struct wr_words fronts =
        WR_WORDS("test result: |=== RUN |--- PASS|--- FAIL|Test Suites: |TAP version|ok  \t|PASS |"
                 "Tests run: |[ RUN |[==========]|======================= test session");
    return wr_words_front(&fronts, line);
}

enum wr_output_kind wr_output_kind_sniff(weir_span text)
{
    text = without_header(text);
    if (!text.len)
        return WR_OUTPUT_PROCESS;
    if (is_json(text) || is_cut_json(text))
        return WR_OUTPUT_JSON;
    if (is_blob(text))
        return WR_OUTPUT_BLOB;
    weir_span rest = wr_span_cut(
        text, 0, text.len < WR_OUTPUT_SNIFF_BYTES_MAX ? text.len : WR_OUTPUT_SNIFF_BYTES_MAX);
    weir_span line;
    unsigned lines = 0, logged = 0;
    while (lines < LINES_MAX && wr_span_line(&rest, &line)) {
        if (!wr_span_trim(line).len)
            continue;
        if (!lines && starts_diff(line))
            return WR_OUTPUT_DIFF;
        if (tells_tests(line))
            return WR_OUTPUT_TEST;
        lines++;
        logged += starts_log(line);
    }
    return lines > 2 && logged * 5 >= lines * 3 ? WR_OUTPUT_LOG : WR_OUTPUT_PROCESS;
}

/* -- all together ------------------------------------------------------------------------------ */

static enum wr_output_kind kind_of_read(weir_span path, weir_span text)
{
    if (wr_output_is_data_path(path))
        return WR_OUTPUT_LOG;
    return text.len && is_blob(text) ? WR_OUTPUT_BLOB : wr_output_kind_of_file(path, text);
}

/* A command whose kind is not known may still print nothing but JSON, or a log. What would hide its
 * diagnostics is not believed on sight alone. */
static enum wr_output_kind kind_of_run(weir_span command, weir_span text)
{
    enum wr_output_kind kind = wr_output_kind_of_command(command);
    if (kind == WR_OUTPUT_FILE)
        return wr_output_kind_of_file((weir_span){"", 0}, without_header(text));
    if (kind != WR_OUTPUT_PROCESS)
        return kind;
    kind = wr_output_kind_sniff(text);
    return kind == WR_OUTPUT_JSON || kind == WR_OUTPUT_LOG || kind == WR_OUTPUT_TEST
               ? kind
               : WR_OUTPUT_PROCESS;
}

/* `git show REV:path` gives a file, `git diff --stat` a list. */
static enum wr_output_kind kind_of_diff(weir_span command)
{
    enum wr_output_kind kind = wr_output_kind_of_command(command);
    return kind == WR_OUTPUT_FILE || kind == WR_OUTPUT_LIST ? kind : WR_OUTPUT_DIFF;
}

/* Records on lines so long that there are none to choose from: whatever gave them, and whatever
 * the file is called, they are chosen as JSON. */
static bool is_json_on_long_lines(weir_span text)
{
    weir_span body = without_header(text);
    return body.len >= JSON_LINE_BYTES_MIN && (is_json(body) || is_cut_json(body)) &&
           body.len / JSON_LINE_BYTES_MIN >= wr_span_lines(body);
}

enum wr_output_kind wr_output_kind(const struct wr_output_hint *hint, weir_span text)
{
    if (hint->origin != WR_ORIGIN_CHANGE && is_json_on_long_lines(text))
        return WR_OUTPUT_JSON;
    switch (hint->origin) {
    case WR_ORIGIN_READ:
        return kind_of_read(hint->path, text);
    case WR_ORIGIN_SEARCH:
        return WR_OUTPUT_SEARCH;
    case WR_ORIGIN_LIST:
        return WR_OUTPUT_LIST;
    case WR_ORIGIN_DIFF:
        return kind_of_diff(hint->command);
    case WR_ORIGIN_CHANGE:
        return WR_OUTPUT_FILE;
    case WR_ORIGIN_RUN:
        return kind_of_run(hint->command, text);
    case WR_ORIGIN_FETCH:
        return is_json(without_header(text)) ? WR_OUTPUT_JSON : WR_OUTPUT_PROSE;
    case WR_ORIGIN_TELL:
        return WR_OUTPUT_PROSE;
    case WR_ORIGIN_UNKNOWN:
        break;
    }
    return wr_output_kind_sniff(text);
}
