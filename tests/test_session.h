/* test_session.h -- for tests: a conversation written as a request, and a store that can be watched
 * and made to fail.
 *
 * Turn 0 is the user's; turn n is the result of the n-th call. So a talk with more results extends
 * the same talk with fewer.
 */
#ifndef WR_TESTS_TEST_SESSION_H
#define WR_TESTS_TEST_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "weir/store_host.h"
#include "weir/weir.h"

enum { TEST_BODY_BYTES_MAX = 1 << 22, TEST_LINES_OF_RESULT = 180 };

/* ---- the conversation ---- */

struct test_talk {
    weir_dialect dialect;
    const char *model;
    const char *first;   /* words of the user; NULL: "start" */
    const char *ttl;     /* Messages: of a cache marker on the instructions; NULL: no marker */
    const char *tool;    /* the name of one more tool beside weir_recall; NULL: none */
    const char *last;    /* words of the user behind the last result; NULL: none */
    uint32_t results;    /* calls and their results */
    uint32_t lines;      /* of a result; 0: about 3200 tokens of them */
    uint32_t answer;     /* tokens that the answer may take; 0: not said, in Messages 1000 */
    uint32_t forks_at;   /* results from this one on say something else; 0: none does */
    uint32_t thinks_at;  /* Messages: signed thinking before this call; 0: none */
    bool has_no_recall;  /* weir_recall is not among the tools */
    bool has_more_head;  /* Messages: the instructions have a second block */
    bool is_delta;       /* Responses: the server has the rest */
    bool marks_newest;   /* Messages: a cache marker on the newest result */
    const char *command; /* of every call; NULL: "./step" and its number */
};

static inline void test_talk_result(struct wr_buf *out, const struct test_talk *talk, uint32_t i)
{
    static const char *const words[] = {"river", "stone", "gate", "water", "level", "bank", "sill"};
    uint32_t lines = talk->lines ? talk->lines : TEST_LINES_OF_RESULT;
    const char *way = talk->forks_at && i >= talk->forks_at ? "right" : "left";
    for (uint32_t line = 0; line < lines; line++)
        wr_buf_printf(out, "result %u %s line %u: the %s of the %s holds %s at %s\\n", i, way, line,
                      words[(line + i) % 7], words[(line * 3 + 1) % 7], words[(line / 7) % 7],
                      words[(line * 5 + i) % 7]);
}

static inline void test_talk_command(struct wr_buf *out, const struct test_talk *talk, uint32_t i,
                                     const char *quote)
{
    wr_buf_printf(out, "{%scommand%s:%s", quote, quote, quote);
    if (talk->command)
        wr_buf_text(out, talk->command);
    else
        wr_buf_printf(out, "./step %u", i);
    wr_buf_printf(out, "%s}", quote);
}

static inline void test_talk_chat(struct wr_buf *out, const struct test_talk *talk, uint32_t i)
{
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"",
                  i);
    test_talk_command(out, talk, i, "\\\"");
    wr_buf_printf(out, "\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"", i);
    test_talk_result(out, talk, i);
    wr_buf_text(out, "\"}");
}

static inline void test_talk_responses(struct wr_buf *out, const struct test_talk *talk, uint32_t i)
{
    wr_buf_printf(out,
                  ",{\"type\":\"function_call\",\"call_id\":\"c%u\",\"name\":\"Bash\","
                  "\"arguments\":\"",
                  i);
    test_talk_command(out, talk, i, "\\\"");
    wr_buf_printf(out, "\"},{\"type\":\"function_call_output\",\"call_id\":\"c%u\",\"output\":\"",
                  i);
    test_talk_result(out, talk, i);
    wr_buf_text(out, "\"}");
}

static inline void test_talk_messages(struct wr_buf *out, const struct test_talk *talk, uint32_t i)
{
    wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":[");
    if (talk->thinks_at == i)
        wr_buf_text(out, "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"c2ln\"},");
    wr_buf_printf(out, "{\"type\":\"tool_use\",\"id\":\"c%u\",\"name\":\"Bash\",\"input\":", i);
    test_talk_command(out, talk, i, "\"");
    wr_buf_printf(out,
                  "}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                  "\"tool_use_id\":\"c%u\",\"content\":\"",
                  i);
    test_talk_result(out, talk, i);
    wr_buf_text(out, "\"");
    if (talk->marks_newest && i == talk->results)
        wr_buf_text(out, ",\"cache_control\":{\"type\":\"ephemeral\"}");
    wr_buf_text(out, "}]}");
}

static inline void test_talk_tool(struct wr_buf *out, const struct test_talk *talk,
                                  const char *name)
{
    if (talk->dialect == WEIR_DIALECT_CHAT)
        wr_buf_printf(out, "{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}", name);
    else
        wr_buf_printf(out, "{\"type\":\"function\",\"name\":\"%s\"}", name);
}

static inline void test_talk_head(struct wr_buf *out, const struct test_talk *talk)
{
    wr_buf_printf(out, "{\"model\":\"%s\",\"tools\":[", talk->model);
    test_talk_tool(out, talk, talk->has_no_recall ? "Bash" : "weir_recall");
    if (talk->tool) {
        wr_buf_text(out, ",");
        test_talk_tool(out, talk, talk->tool);
    }
    wr_buf_text(out, "]");
    if (talk->dialect == WEIR_DIALECT_MESSAGES) {
        wr_buf_printf(out, ",\"max_tokens\":%u,\"system\":[{\"type\":\"text\",\"text\":\"be kind\"",
                      talk->answer ? talk->answer : 1000);
        if (talk->ttl)
            wr_buf_printf(out, ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"%s\"}",
                          talk->ttl);
        wr_buf_text(out,
                    talk->has_more_head ? "},{\"type\":\"text\",\"text\":\"be brief\"}]" : "}]");
    }
    if (talk->answer && talk->dialect != WEIR_DIALECT_MESSAGES)
        wr_buf_printf(out, ",\"%s\":%u",
                      talk->dialect == WEIR_DIALECT_CHAT ? "max_completion_tokens"
                                                         : "max_output_tokens",
                      talk->answer);
    if (talk->is_delta)
        wr_buf_text(out, ",\"previous_response_id\":\"resp_1\"");
    wr_buf_text(out, talk->dialect == WEIR_DIALECT_RESPONSES ? ",\"input\":[" : ",\"messages\":[");
}

static inline void test_talk_write(struct wr_buf *out, const struct test_talk *talk)
{
    test_talk_head(out, talk);
    wr_buf_printf(out, "{\"role\":\"user\",\"content\":\"%s\"}",
                  talk->first ? talk->first : "start");
    for (uint32_t i = 1; i <= talk->results; i++) {
        if (talk->dialect == WEIR_DIALECT_CHAT)
            test_talk_chat(out, talk, i);
        else if (talk->dialect == WEIR_DIALECT_RESPONSES)
            test_talk_responses(out, talk, i);
        else
            test_talk_messages(out, talk, i);
    }
    if (talk->last)
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":\"done\"},{\"role\":\"user\","
                      "\"content\":\"%s\"}",
                      talk->last);
    wr_buf_text(out, "]}");
}

/* ---- a host's store, over another ---- */

struct test_store {
    struct weir_store store; /* first: it is one */
    struct weir_store *inner;
    bool fails_commit, fails_has, fails_marks;
    bool hides_pins; /* as if another process wrote them only after they were looked for */
    uint32_t commits;
    /* Told before every call of what is below, which may be lost by then. */
    void (*before_call)(void *user);
    void *user;
    uint32_t marks[WEIR_MARK_KINDS_COUNT], pins; /* of the last commit that was tried */
};

static inline struct weir_store *test_store_inner(struct test_store *s)
{
    if (s->before_call)
        s->before_call(s->user);
    return s->inner;
}

static inline weir_status test_store_told(struct test_store *s, weir_status status)
{
    s->store.replaced_count = s->inner->replaced_count;
    return status;
}

static inline weir_status test_store_commit(struct weir_store *store, struct weir_batch *batch,
                                            struct weir_err *err)
{
    struct test_store *s = (struct test_store *)store;
    for (int i = 0; i < WEIR_MARK_KINDS_COUNT; i++)
        s->marks[i] = 0;
    for (size_t i = 0; i < batch->marks_count; i++)
        s->marks[batch->marks[i].kind]++;
    s->pins = (uint32_t)batch->pins_count;
    s->commits++;
    store->trouble = WEIR_TROUBLE_FULL;
    if (s->fails_commit)
        return WEIR_LIMIT;
    weir_status status = weir_store_commit(test_store_inner(s), batch, err);
    store->trouble = s->inner->trouble;
    return test_store_told(s, status);
}

static inline weir_status test_store_get(struct weir_store *store, const struct weir_lookup *lookup,
                                         struct weir_artifact *artifact, weir_miss *miss,
                                         struct weir_err *err)
{
    return weir_store_get(((struct test_store *)store)->inner, lookup, artifact, miss, err);
}

static inline weir_status test_store_marks(struct weir_store *store, weir_span tenant,
                                           const weir_hash *keys, size_t keys_count,
                                           weir_mark_fn *found, void *user, struct weir_err *err)
{
    struct test_store *s = (struct test_store *)store;
    store->trouble = WEIR_TROUBLE_SYSTEM;
    if (s->fails_marks)
        return WEIR_IO;
    return test_store_told(
        s, weir_store_marks(test_store_inner(s), tenant, keys, keys_count, found, user, err));
}

static inline weir_status test_store_pin(struct weir_store *store, weir_span tenant,
                                         weir_span session, struct weir_pin *pin,
                                         struct weir_err *err)
{
    struct test_store *s = (struct test_store *)store;
    if (s->hides_pins)
        return WEIR_NOTFOUND;
    return test_store_told(s, weir_store_pin(test_store_inner(s), tenant, session, pin, err));
}

static inline weir_status test_store_has(struct weir_store *store, weir_span tenant,
                                         const weir_hash *hashes, size_t hashes_count,
                                         bool *is_there, struct weir_err *err)
{
    struct test_store *s = (struct test_store *)store;
    store->trouble = WEIR_TROUBLE_SYSTEM;
    if (s->fails_has)
        return WEIR_IO;
    return test_store_told(
        s, weir_store_has(test_store_inner(s), tenant, hashes, hashes_count, is_there, err));
}

static inline void test_store_close(struct weir_store *store)
{
    weir_store_close(((struct test_store *)store)->inner);
}

/* Over a memory store, or over one in `dir`. */
static inline void test_store_open(struct test_store *store, const char *dir)
{
    static const struct weir_store_ops ops = {.struct_bytes = sizeof(ops),
                                              .commit = test_store_commit,
                                              .get = test_store_get,
                                              .marks = test_store_marks,
                                              .pin = test_store_pin,
                                              .has = test_store_has,
                                              .close = test_store_close};
    struct weir_store_options options = {.busy_ms_max = 20};
    *store = (struct test_store){.store.ops = &ops};
    if (dir)
        assert_int_equal(weir_store_open(dir, &options, &store->inner, NULL, NULL), WEIR_OK);
    else
        assert_int_equal(weir_store_new_memory(0, &store->inner), WEIR_OK);
}

#endif
