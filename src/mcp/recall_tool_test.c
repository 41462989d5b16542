#include "mcp/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

#define TENANT WR_LIT("local")

struct fixture {
    struct wr_mcp_world world;
    struct wr_arena arena;
    struct wr_buf out;
};

static void open_fixture(struct fixture *f)
{
    wr_mcp_world_init(&f->world, NULL);
    assert_int_equal(weir_store_new_memory(0, &f->world.store), WEIR_OK);
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&f->out, WR_MCP_ANSWER_BYTES_MAX);
}

static void close_fixture(struct fixture *f)
{
    wr_mcp_world_release(&f->world);
    wr_arena_release(&f->arena);
    wr_buf_release(&f->out);
}

static weir_handle put(struct fixture *f, weir_span tenant, weir_span text)
{
    struct weir_artifact artifact = {.text = text};
    struct weir_batch batch = {.tenant = tenant,
                               .session = WR_LIT("s"),
                               .used_ms = 1000,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    assert_int_equal(weir_store_commit(f->world.store, &batch, NULL), WEIR_OK);
    return weir_hash_handle(&artifact.hash);
}

/* Calls with `arguments`, quotes written as apostrophes and HANDLE for the handle. */
static bool recall(struct fixture *f, weir_handle handle, const char *arguments)
{
    struct wr_mcp_call call = {
        .arena = &f->arena, .tenant = TENANT, .arguments = 0, .out = &f->out};
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    struct wr_buf text;
    struct wr_json doc;

    weir_handle_format(handle, name);
    wr_buf_init(&text, 4096);
    for (const char *at = arguments; *at; at++) {
        if (wr_span_starts(wr_span_of(at), WR_LIT("HANDLE"))) {
            wr_buf_text(&text, name);
            at += strlen("HANDLE") - 1;
        } else {
            wr_buf_byte(&text, *at == '\'' ? '"' : *at);
        }
    }
    weir_span copy = wr_arena_copy(&f->arena, wr_buf_view(&text));
    wr_buf_release(&text);
    assert_int_equal(wr_json_parse(&doc, &f->arena, copy, NULL, NULL), WEIR_OK);
    call.doc = &doc;
    wr_buf_reset(&f->out);
    wr_mcp_recall(&f->world, &call);
    return !call.is_error;
}

static const struct {
    const char *behaviour, *arguments;
    bool ok;
    const char *text; /* all of it, or of a failure a part */
} cases[] = {
    {"whole", "{'handle':'HANDLE'}", true, "one\ntwo\nthree\nfour\nfive"},
    {"under another name", "{'id':'HANDLE'}", true, "one\ntwo\nthree\nfour\nfive"},
    {"under a third", "{'ref':'HANDLE'}", true, "one\ntwo\nthree\nfour\nfive"},
    {"as the line that names it", "{'handle':'[weir HANDLE: 5 lines left out]'}", true,
     "one\ntwo\nthree\nfour\nfive"},
    {"some lines", "{'handle':'HANDLE','lines':'2-3'}", true, "two\nthree\n"},
    {"several ranges", "{'handle':'HANDLE','lines':'1,4-'}", true, "one\n--\nfour\nfive"},
    {"a line as a number", "{'handle':'HANDLE','lines':2}", true, "two\n"},
    {"lines as a pair", "{'handle':'HANDLE','lines':[2,3]}", true, "two\nthree\n"},
    {"lines with a colon", "{'handle':'HANDLE','lines':'2:3'}", true, "two\nthree\n"},
    {"lines with dots", "{'handle':'HANDLE','lines':'2..3'}", true, "two\nthree\n"},
    {"lines with letters", "{'handle':'HANDLE','lines':'L2-L3'}", true, "two\nthree\n"},
    {"lines in words", "{'handle':'HANDLE','lines':'lines 2 to 3'}", true, "two\nthree\n"},
    {"lines from a byte", "{'handle':'HANDLE','lines':'2.2-3'}", true, "wo\nthree\n"},
    {"the first", "{'handle':'HANDLE','head':2}", true, "one\ntwo\n"},
    {"the last", "{'handle':'HANDLE','tail':'2'}", true, "four\nfive"},
    {"what matches", "{'handle':'HANDLE','grep':'^f'}", true, "4:four\n5:five\n"},
    {"with lines around", "{'handle':'HANDLE','grep':'three','context':1}", true,
     "2-two\n3:three\n4-four\n"},
    {"within lines", "{'handle':'HANDLE','grep':'e','lines':'1-3'}", true, "1:one\n--\n3:three\n"},
    {"what is not meant is left out",
     "{'handle':'HANDLE','lines':'','head':0,'tail':null,'grep':'','context':0}", true,
     "one\ntwo\nthree\nfour\nfive"},
    {"nothing matches", "{'handle':'HANDLE','grep':'x'}", true, "[weir: no line of 5 matches]\n"},
    {"no handle", "{}", false, "'handle' is missing"},
    {"no handle in it", "{'handle':'abc'}", false, "wr_ and 20 hex digits"},
    {"a handle that is a list", "{'handle':['HANDLE']}", false, "must be a text"},
    {"two", "{'handle':'HANDLE wr_00000000000000000000'}", false, "One handle a call"},
    {"never stored", "{'handle':'wr_00000000000000000000'}", false,
     "wr_00000000000000000000 was never stored here."},
    {"an argument that is not known", "{'handle':'HANDLE','offset':3}", false,
     "no argument 'offset'. These there are: handle, lines, head, tail, grep, context"},
    {"lines that are none", "{'handle':'HANDLE','lines':'all'}", false, "counted from 1"},
    {"lines past the end", "{'handle':'HANDLE','lines':'9-12'}", false, "the text has 5"},
    {"a pair that is none", "{'handle':'HANDLE','lines':[1,2,3]}", false, "such as 10-20"},
    {"a count that is none", "{'handle':'HANDLE','head':'many'}", false, "'head'"},
    {"head and tail", "{'handle':'HANDLE','head':1,'tail':1}", false, "exclude each other"},
    {"a pattern that is none", "{'handle':'HANDLE','grep':'('}", false, "That cannot be shown"},
};

static void what_was_asked_for_comes_back(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    weir_handle handle = put(&f, TENANT, WR_LIT("one\ntwo\nthree\nfour\nfive"));
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        bool ok = recall(&f, handle, cases[i].arguments);
        weir_span out = wr_buf_view(&f.out), wanted = wr_span_of(cases[i].text);
        if (ok != cases[i].ok ||
            (ok ? !wr_span_eq(out, wanted) : wr_span_find(out, wanted, 0) == SIZE_MAX))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)out.len, out.ptr);
    }
    close_fixture(&f);
}

static void nobody_gets_what_another_stored(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    weir_handle handle = put(&f, WR_LIT("token-1"), WR_LIT("secret\n"));
    assert_false(recall(&f, handle, "{'handle':'HANDLE'}"));
    assert_true(wr_span_find(wr_buf_view(&f.out), WR_LIT("never stored"), 0) != SIZE_MAX);
    close_fixture(&f);
}

static void bytes_that_are_no_text_are_said(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    weir_handle handle = put(&f, TENANT,
                             WR_LIT("a\xFF"
                                    "b"));
    assert_true(recall(&f, handle, "{'handle':'HANDLE'}"));
    assert_true(wr_span_is(wr_buf_view(&f.out),
                           "a\xEF\xBF\xBD"
                           "b\n[weir: the text is not all UTF-8: 1 times U+FFFD "
                           "stands for other bytes]\n"));
    handle = put(&f, TENANT, WR_LIT("\n"));
    assert_true(recall(&f, handle, "{'handle':'HANDLE'}"));
    assert_true(wr_span_is(wr_buf_view(&f.out), "\n"));
    close_fixture(&f);
}

/* ---- pages ---- */

static weir_span next_lines(weir_span page)
{
    weir_span mark = WR_LIT("next page: lines ");
    size_t at = wr_span_find(page, mark, 0);
    if (at == SIZE_MAX)
        return (weir_span){"", 0};
    size_t from = at + mark.len, to = wr_span_find(page, WR_LIT("]"), from);
    return wr_span_cut(page, from, to);
}

static size_t content_bytes(weir_span page)
{
    size_t at = wr_span_find(page, WR_LIT("[weir: "), 0);
    return at == SIZE_MAX ? page.len : at;
}

/* Pages put together are the text, and none is larger than a client takes. */
static void check_pages(struct fixture *f, weir_span text, size_t pages_min)
{
    char arguments[256] = "{'handle':'HANDLE'}";
    weir_handle handle = put(f, TENANT, text);
    struct wr_buf whole;
    size_t pages = 0;

    wr_buf_init(&whole, 2 * text.len + 1024);
    for (weir_span next = {"x", 1}; next.len && pages < 100; pages++) {
        assert_true(recall(f, handle, arguments));
        weir_span page = wr_buf_view(&f->out);
        assert_true(page.len <= WR_MCP_PAGE_BYTES_MAX);
        assert_true(wr_mcp_world_count(&f->world, page) <= WR_RECALL_PAGE_TOKENS_MAX);
        next = next_lines(page);
        size_t content = content_bytes(page);
        /* A line end is put in where a page ends inside a line. */
        if (next.len && memchr(next.ptr, '.', next.len))
            content--;
        wr_buf_append(&whole, wr_span_cut(page, 0, content));
        (void)snprintf(arguments, sizeof(arguments), "{'handle':'HANDLE','lines':'%.*s'}",
                       (int)next.len, next.ptr);
    }
    assert_true(wr_span_eq(wr_buf_view(&whole), text));
    assert_true(pages >= pages_min);
    wr_buf_release(&whole);
}

static void pages_put_together_are_the_text(void **state)
{
    struct fixture f;
    struct wr_buf text;

    (void)state;
    open_fixture(&f);
    wr_buf_init(&text, 1024 * 1024);
    for (int i = 0; i < 4000; i++)
        wr_buf_printf(&text, "%d: the quick brown fox jumps over the lazy dog\n", i);
    check_pages(&f, wr_buf_view(&text), 5);

    wr_buf_reset(&text); /* one long line of characters of two bytes */
    for (int i = 0; i < 60000; i++)
        wr_buf_text(&text, i % 7 ? "\xC3\xA9" : "\xC3\xBC ");
    check_pages(&f, wr_buf_view(&text), 3);

    wr_buf_reset(&text); /* few tokens and many bytes */
    for (int i = 0; i < 2000; i++)
        wr_buf_printf(&text, "%*s\n", 100, "");
    check_pages(&f, wr_buf_view(&text), 5);
    wr_buf_release(&text);
    close_fixture(&f);
}

static void without_a_store_the_tool_says_so(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    weir_store_close(f.world.store);
    f.world.store = NULL;
    assert_false(recall(&f, (weir_handle){{0}}, "{'handle':'HANDLE'}"));
    assert_true(wr_span_find(wr_buf_view(&f.out), WR_LIT("Nothing has been stored"), 0) !=
                SIZE_MAX);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_for_comes_back),
        cmocka_unit_test(nobody_gets_what_another_stored),
        cmocka_unit_test(bytes_that_are_no_text_are_said),
        cmocka_unit_test(pages_put_together_are_the_text),
        cmocka_unit_test(without_a_store_the_tool_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
