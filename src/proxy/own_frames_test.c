/* Answers in frames (an AWS event stream) that may call the proxy's own recall: what the client is
 * told when a frame is spoilt, missing or cut off. api/events_bridge_test.c has the frames
 * themselves, tests/upstream/cloud_cases.py whole sessions. */
#include "api/events.h"
#include "tests/test_service.h"

#define BODY                                                                              \
    "{\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"read_file\",\"inputSchema\":{" \
    "\"json\":{\"type\":\"object\"}}}}]},\"messages\":[{\"role\":\"user\",\"content\":[{" \
    "\"text\":\"Good morning.\"}]}]}"
#define HEAD                                                                              \
    "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nconnection: " \
    "close\r\n\r\n"

static void add_event(struct wr_buf *stream, const char *name, const char *payload)
{
    wr_frame_write(stream, "event", wr_span_of(name), wr_span_of(payload));
}

static void begin_message(struct wr_buf *stream)
{
    wr_buf_reset(stream);
    add_event(stream, "messageStart", "{\"role\":\"assistant\"}");
}

static void end_message(struct wr_buf *stream, const char *why)
{
    char payload[64];

    (void)snprintf(payload, sizeof(payload), "{\"stopReason\":\"%s\"}", why);
    add_event(stream, "messageStop", payload);
    add_event(stream, "metadata", "{\"usage\":{\"inputTokens\":10,\"outputTokens\":3}}");
}

static void write_recall(struct wr_buf *stream)
{
    begin_message(stream);
    add_event(stream, "contentBlockStart",
              "{\"contentBlockIndex\":0,\"start\":{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":"
              "\"weir_recall\"}}}");
    add_event(stream, "contentBlockDelta",
              "{\"contentBlockIndex\":0,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}}");
    add_event(stream, "contentBlockStop", "{\"contentBlockIndex\":0}");
    end_message(stream, "tool_use");
}

/* Three pieces: `Good `, `eve`, `ning.` */
static void write_words(struct wr_buf *stream)
{
    static const char *const pieces[] = {"Good ", "eve", "ning."};
    char payload[128];

    begin_message(stream);
    for (size_t i = 0; i < WR_COUNT_OF(pieces); i++) {
        (void)snprintf(payload, sizeof(payload),
                       "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"%s\"}}", pieces[i]);
        add_event(stream, "contentBlockDelta", payload);
    }
    add_event(stream, "contentBlockStop", "{\"contentBlockIndex\":0}");
    end_message(stream, "end_turn");
}

static size_t find_in(const struct wr_buf *stream, const char *words)
{
    size_t at = wr_span_find(wr_buf_view(stream), wr_span_of(words), 0);

    assert_true(at != SIZE_MAX);
    return at;
}

static void spoil_prelude(struct wr_buf *stream)
{
    stream->bytes[1] ^= 1;
}

static void spoil_payload(struct wr_buf *stream)
{
    stream->bytes[find_in(stream, "eve")] ^= 1;
}

static void cut_words(struct wr_buf *stream)
{
    stream->len = find_in(stream, "ning.");
}

/* Behind the stop reason: nothing but the usage is missing. */
static void cut_usage(struct wr_buf *stream)
{
    stream->len = find_in(stream, "inputTokens");
}

static void put_error(struct wr_buf *stream)
{
    begin_message(stream);
    wr_frame_write(stream, "exception", WR_LIT("throttlingException"),
                   WR_LIT("{\"message\":\"slow down\"}"));
}

/* The upstream answers whoever asked last, and leaves. */
static void answer(struct test_service *s, const struct wr_buf *stream)
{
    test_send(s->asker, HEAD);
    test_send_bytes(s->asker, wr_buf_view(stream));
    test_leave(s->asker);
}

static bool has_bytes(const struct test_client *c, const char *words)
{
    return wr_span_find(wr_buf_view(&c->got), wr_span_of(words), 0) != SIZE_MAX;
}

static void what_is_missing_is_never_called_complete(void **state)
{
    static const struct {
        const char *behaviour;
        bool recalls; /* it is the second leg */
        void (*spoil)(struct wr_buf *stream);
        const char *has, *lacks;
    } cases[] = {
        {"a sound answer passes", false, NULL, "inputTokens", "Exception"},
        {"a sound second leg is shown", true, NULL, "inputTokens", "Exception"},
        {"a stream of which nothing can be read", false, spoil_prelude, "could not be shown",
         "end_turn"},
        {"a payload that is spoilt", false, spoil_payload, "internalServerException", NULL},
        {"words that are cut off", false, cut_words, "internalServerException", NULL},
        {"usage that is cut off", false, cut_usage, "internalServerException", NULL},
        {"a second leg of which nothing can be read", true, spoil_prelude, "could not go on",
         "end_turn"},
        {"a payload of the second leg that is spoilt", true, spoil_payload,
         "internalServerException", "end_turn"},
        {"words of the second leg that are cut off", true, cut_words, "internalServerException",
         "end_turn"},
        {"usage of the second leg that is cut off", true, cut_usage, "internalServerException",
         "end_turn"},
        {"an exception of the provider's is the client's", false, put_error, "throttlingException",
         "internalServerException"},
        {"an exception in the second leg ends the answer", true, put_error,
         "internalServerException", "end_turn"},
    };
    struct wr_buf stream;
    (void)state;

    wr_buf_init(&stream, TEST_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("");
        struct test_client *c = test_client_post(
            s, "/model/anthropic.claude-sonnet-4-5/converse-stream", "", WR_LIT(BODY));
        test_until(s, s->asked_count == 1);
        if (cases[i].recalls) {
            write_recall(&stream);
            answer(s, &stream);
            test_until(s, s->asked_count == 2);
        }
        write_words(&stream);
        if (cases[i].spoil)
            cases[i].spoil(&stream);
        answer(s, &stream);
        test_until(s, has_bytes(c, "\r\n0\r\n\r\n"));
        if (!has_bytes(c, cases[i].has))
            fail_msg("%s: the client is not told %s", cases[i].behaviour, cases[i].has);
        if (cases[i].lacks && has_bytes(c, cases[i].lacks))
            fail_msg("%s: the client is told %s", cases[i].behaviour, cases[i].lacks);
        if (has_bytes(c, "weir_recall"))
            fail_msg("%s: our tool is shown", cases[i].behaviour);
        test_until(s, test_is_told(s, 1 + cases[i].recalls));
        test_service_free(s);
    }
    wr_buf_release(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_missing_is_never_called_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
