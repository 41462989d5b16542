/* Pictures of a session: kept once, in every request, also after a start anew. */
#include "session/images.h"

#include "tests/test_agent.h"

#include <dirent.h>

#include "base/limits.h"

/* A PNG's beginning says that it is 640 by 480; nobody looks further. */
#define PNG        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0"
#define PNG_BASE64 "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAIAAAA="

static const struct {
    const char *sentence;
    weir_span bytes;
    const char *type; /* NULL: none */
} rows[] = {
    {"a PNG", {PNG, sizeof(PNG) - 1}, "png"},
    {"a JPEG", {"\xff\xd8\xff\xe0 and so on", 14}, "jpeg"},
    {"a GIF", {"GIF89a", 6}, "gif"},
    {"an older GIF", {"GIF87a", 6}, "gif"},
    {"a WebP", {"RIFF\1\2\3\4WEBPVP8 ", 16}, "webp"},
    {"a sound in a RIFF", {"RIFF\1\2\3\4WAVEfmt ", 16}, NULL},
    {"a text", {"PNG", 3}, NULL},
    {"half a signature", {"\x89PNG", 4}, NULL},
    {"nothing", {"", 0}, NULL},
};

static void the_first_bytes_say_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        const char *type = wr_images_type(rows[i].bytes);
        if ((type == NULL) != (rows[i].type == NULL) || (type && strcmp(type, rows[i].type) != 0))
            fail_msg("%s: %s", rows[i].sentence, type ? type : "none");
    }
}

/* The files in the session's folder of images; `path` gets one of them. */
static size_t count_files(const struct test_agent *agent, char path[600])
{
    char folder[200];
    struct dirent *entry;
    size_t count = 0;

    (void)snprintf(folder, sizeof(folder), "%s/images", agent->dir);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, 600, "%s/%s", folder, entry->d_name);
            count++;
        }
    (void)closedir(dir);
    return count;
}

static void attach(struct test_agent *agent)
{
    struct weir_image_size size;
    assert_int_equal(
        weir_session_attach(agent->session, (weir_span){PNG, sizeof(PNG) - 1}, &size, &agent->err),
        WEIR_OK);
    assert_int_equal(size.width_px, 640);
    assert_int_equal(size.height_px, 480);
}

static const char config[] = "model: {name: gpt-4o}\n";

static void it_goes_with_its_words_and_comes_back(void **state)
{
    struct weir_session_context with, without;
    struct test_agent a;
    char path[600];
    (void)state;

    test_agent_init(&a);
    test_agent_open(&a, config);
    test_agent_say(&a, "first");
    assert_has_not(test_agent_request(&a, WEIR_DIALECT_MESSAGES), PNG_BASE64);
    test_agent_answer(&a, "yes");
    weir_session_context(a.session, &without);
    attach(&a);
    attach(&a);
    test_agent_say(&a, "look");
    weir_session_context(a.session, &with);
    assert_true(with.user_tokens > without.user_tokens + 400);  /* four tiles, by this model */
    assert_true(with.user_tokens < without.user_tokens + 2000); /* once */
    assert_has(test_agent_request(&a, WEIR_DIALECT_MESSAGES), "\"data\":\"" PNG_BASE64 "\"");
    assert_has(test_agent_request(&a, WEIR_DIALECT_CHAT), "data:image/png;base64," PNG_BASE64);
    assert_int_equal(count_files(&a, path), 1);
    test_agent_close(&a);

    test_agent_open(&a, config);
    assert_has(test_agent_request(&a, WEIR_DIALECT_GEMINI), PNG_BASE64);
    test_agent_answer(&a, "I see");
    test_agent_say(&a, "no picture");
    weir_span body = test_agent_request(&a, WEIR_DIALECT_CHAT);
    size_t first = wr_span_find(body, WR_LIT(PNG_BASE64), 0);
    assert_true(first != SIZE_MAX);
    assert_true(wr_span_find(body, WR_LIT(PNG_BASE64), first + 1) == SIZE_MAX);
    test_agent_close(&a);
    test_agent_release(&a);
}

static void a_file_that_is_another_is_not_sent(void **state)
{
    struct test_agent a;
    char path[600];
    (void)state;

    test_agent_init(&a);
    test_agent_open(&a, config);
    attach(&a);
    test_agent_say(&a, "look");
    assert_int_equal(count_files(&a, path), 1);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    weir_span body = test_agent_request(&a, WEIR_DIALECT_CHAT);
    assert_has_not(body, "base64");
    assert_has(body, "1 of the images are gone");
    assert_int_equal(remove(path), 0);
    assert_has(test_agent_request(&a, WEIR_DIALECT_CHAT), "1 of the images are gone");
    test_agent_close(&a);
    test_agent_release(&a);
}

static void what_cannot_be_taken_is_refused_and_leaves_no_trace(void **state)
{
    static char large[WR_SESSION_IMAGE_BYTES_MAX + 1];
    struct test_agent a;
    (void)state;

    test_agent_init(&a);
    test_agent_open(&a, config);
    assert_int_equal(weir_session_attach(a.session, WR_LIT("text"), NULL, &a.err), WEIR_INVALID);
    memcpy(large, PNG, sizeof(PNG));
    assert_int_equal(
        weir_session_attach(a.session, (weir_span){large, sizeof(large)}, NULL, &a.err),
        WEIR_LIMIT);
    assert_int_equal(
        weir_session_attach(a.session, (weir_span){large, sizeof(large) - 1}, NULL, &a.err),
        WEIR_OK);
    for (int i = 1; i < WR_SESSION_IMAGES_MAX; i++)
        attach(&a);
    assert_int_equal(weir_session_attach(a.session, rows[0].bytes, NULL, &a.err), WEIR_LIMIT);
    test_agent_say(&a, "now");
    test_agent_close(&a);
    test_agent_release(&a);
}

/* Bodies that grew with every image would be refused for good, by us (64 MB) or by the provider. */
static void newer_images_take_the_room_of_older_ones(void **state)
{
    enum { COUNT = WR_SESSION_IMAGES_BYTES_MAX / WR_SESSION_IMAGE_BYTES_MAX };
    static char large[WR_SESSION_IMAGE_BYTES_MAX];
    struct test_agent a;
    weir_span body = {"", 0};
    (void)state;

    test_agent_init(&a);
    test_agent_open(&a, config);
    memcpy(large, PNG, sizeof(PNG));
    for (char n = 0; n <= COUNT; n++) {
        large[100] = n;
        weir_status status =
            weir_session_attach(a.session, (weir_span){large, sizeof(large)}, NULL, &a.err);
        assert_int_equal(status, n < COUNT ? WEIR_OK : WEIR_LIMIT);
    }
    test_agent_say(&a, "look");
    body = test_agent_request(&a, WEIR_DIALECT_MESSAGES);
    assert_true(body.len > WR_SESSION_IMAGES_BYTES_MAX);
    assert_has_not(body, "left out");
    test_agent_answer(&a, "I see");
    attach(&a);
    test_agent_say(&a, "and this one");
    for (int again = 0; again < 2; again++) {
        body = test_agent_request(&a, WEIR_DIALECT_MESSAGES);
        assert_true(body.len < WR_SESSION_IMAGES_BYTES_MAX);
        assert_has(body, "look\\n[the images are left out: newer ones take their room]");
        assert_has(body, "\"data\":\"" PNG_BASE64 "\"");
        test_agent_close(&a);
        test_agent_open(&a, config);
    }
    test_agent_close(&a);
    test_agent_release(&a);
}

static void refused_images_stay_out_until_another_model_is_asked(void **state)
{
    weir_span words = WR_LIT("{\"error\":{\"message\":\"This model takes no Image input\"}}");
    struct test_agent a;
    (void)state;

    test_agent_init(&a);
    test_agent_open(&a, config);
    test_agent_say(&a, "first");
    (void)test_agent_request(&a, WEIR_DIALECT_CHAT);
    assert_false(weir_session_refused_images(a.session, words)); /* it had none */
    test_agent_answer(&a, "yes");
    attach(&a);
    test_agent_say(&a, "look");
    assert_has(test_agent_request(&a, WEIR_DIALECT_CHAT), PNG_BASE64);
    assert_false(weir_session_refused_images(a.session, WR_LIT("{\"error\":\"no money\"}")));
    assert_true(weir_session_refused_images(a.session, words));
    assert_has_not(test_agent_request(&a, WEIR_DIALECT_CHAT), PNG_BASE64);
    assert_false(weir_session_refused_images(a.session, words)); /* no endless loop */
    test_agent_answer(&a, "I see nothing");
    assert_int_equal(weir_session_switch_model(a.session, "gpt-5", 0, a.now_ms, &a.err), WEIR_OK);
    test_agent_say(&a, "and now?");
    assert_has(test_agent_request(&a, WEIR_DIALECT_CHAT), PNG_BASE64);
    test_agent_close(&a);
    test_agent_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_bytes_say_what_it_is),
        cmocka_unit_test(it_goes_with_its_words_and_comes_back),
        cmocka_unit_test(a_file_that_is_another_is_not_sent),
        cmocka_unit_test(what_cannot_be_taken_is_refused_and_leaves_no_trace),
        cmocka_unit_test(newer_images_take_the_room_of_older_ones),
        cmocka_unit_test(refused_images_stay_out_until_another_model_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
