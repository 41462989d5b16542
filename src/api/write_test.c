/* A picture of the user in every API: the bytes of its message. */
#include "api/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

#define URL "data:image/png;base64,iVBO"

static const struct {
    const char *sentence;
    weir_dialect dialect;
    const char *wanted; /* the list of the words "look" with a picture, and "so" behind them */
} rows[] = {
    {"Chat: blocks behind the words, which are one text", WEIR_DIALECT_CHAT,
     "[{'role':'user','content':[{'type':'text','text':'look\\n\\nso'},"
     "{'type':'image_url','image_url':{'url':'" URL "'}}]}]"},
    {"Responses: a data URL that is a text", WEIR_DIALECT_RESPONSES,
     "[{'type':'message','role':'user','content':[{'type':'input_text','text':'look'},"
     "{'type':'input_image','image_url':'" URL "'},{'type':'input_text','text':'so'}]}]"},
    {"Messages: base64 with its type beside it", WEIR_DIALECT_MESSAGES,
     "[{'role':'user','content':[{'type':'text','text':'look'},{'type':'image','source':{"
     "'type':'base64','media_type':'image/png','data':'iVBO'}},{'type':'text','text':'so'}]}]"},
    {"Gemini: inline data", WEIR_DIALECT_GEMINI,
     "[{'role':'user','parts':[{'text':'look'},"
     "{'inlineData':{'mimeType':'image/png','data':'iVBO'}},{'text':'so'}]}]"},
    {"Ollama: a list beside the words", WEIR_DIALECT_OLLAMA,
     "[{'role':'user','content':'look\\n\\nso','images':['iVBO']}]"},
    {"Converse: the format's name and the bytes", WEIR_DIALECT_CONVERSE,
     "[{'role':'user','content':[{'text':'look'},"
     "{'image':{'format':'png','source':{'bytes':'iVBO'}}},{'text':'so'}]}]"},
};

static void write_list(const struct wr_api *api, struct wr_buf *out)
{
    struct wr_line_image image = {.type = "png", .url = WR_LIT(URL), .base64 = WR_LIT("iVBO")};
    struct wr_line lines[] = {
        {.kind = WR_LINE_WORDS, .text = WR_LIT("look"), .images = &image, .images_count = 1},
        {.kind = WR_LINE_WORDS, .text = WR_LIT("so")},
    };
    struct wr_body body;

    wr_body_init(&body, api, out);
    body.joins = true;
    wr_body_list(&body);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        wr_body_line(&body, &lines[i]);
    wr_body_list_end(&body);
    wr_body_release(&body);
}

static void every_api_has_its_own_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 10000);
        write_list(wr_api_of(rows[i].dialect), &out);
        for (size_t k = 0; k < out.len; k++)
            if (out.bytes[k] == '"')
                out.bytes[k] = '\'';
        if (!wr_span_is(wr_buf_view(&out), rows[i].wanted))
            fail_msg("%s: %.*s", rows[i].sentence, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

static void a_line_without_words_to_join_closes_with_its_image(void **state)
{
    struct wr_line_image image = {.type = "gif", .url = WR_LIT("data:u"), .base64 = WR_LIT("u")};
    struct wr_line line = {
        .kind = WR_LINE_WORDS, .text = WR_LIT("look"), .images = &image, .images_count = 1};
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span json = wr_body_message(wr_api_of(rows[i].dialect), &line, &arena);
        struct wr_json doc;
        assert_non_null(json.ptr);
        assert_int_equal(wr_json_parse(&doc, &arena, json, NULL, NULL), WEIR_OK);
        assert_true(wr_span_has(json, WR_LIT("u\"")));
    }
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_api_has_its_own_bytes),
        cmocka_unit_test(a_line_without_words_to_join_closes_with_its_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
