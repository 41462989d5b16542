/* test_play.h -- for tests: small recorded sessions, with one line that a later answer may quote.
 */
#ifndef WR_LAB_TEST_PLAY_H
#define WR_LAB_TEST_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "lab/session.h"

/* In the midst of the first result, and nowhere else. */
#define TEST_PLAY_NEEDLE "src/sluice/valve_gate.c"

struct test_play {
    uint32_t lines;      /* of the first result, about 25 tokens each */
    bool quotes;         /* the second answer opens the file that the first result names */
    uint32_t more;       /* calls behind the second, each with a short result */
    bool quotes_again;   /* the last answer names it once more */
    bool is_compacted;   /* the host compacts before the last answer */
    const char *started; /* the user's first words; NULL: "look at the river" */
};

struct test_played {
    struct wr_arena arena;
    struct wr_buf text;
    struct wr_session session;
};

static inline void test_play_call(struct wr_buf *out, uint32_t id, const char *command)
{
    wr_buf_printf(out,
                  "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":"
                  "\"{\\\"command\\\":\\\"%s\\\"}\"}}]}\n",
                  id, command);
}

static inline void test_play_result(struct wr_buf *out, uint32_t id, uint32_t lines,
                                    const char *needle)
{
    wr_buf_printf(out, "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"", id);
    for (uint32_t i = 0; i < lines; i++) {
        wr_buf_printf(out, "row %u of %u: the water here is calm and the bank is dry as ever\\n", i,
                      id);
        if (needle && i == lines / 2)
            wr_buf_printf(out, "opened %s today\\n", needle);
    }
    wr_buf_text(out, "\"}\n");
}

static inline void test_play_compact(struct test_played *p, uint32_t at)
{
    static const char kept[] =
        "{\"role\":\"user\",\"content\":\"what came before: the river is level\"}";
    struct wr_session_compaction *c = WR_ARENA_ARRAY(&p->arena, struct wr_session_compaction, 1);
    c->at = at;
    c->kept = WR_ARENA_ARRAY(&p->arena, struct wr_json, 1);
    c->kept_count = 1;
    assert_int_equal(wr_json_parse(c->kept, &p->arena, wr_span_of(kept), NULL, NULL), WEIR_OK);
    p->session.compactions = c;
    p->session.compactions_count = 1;
}

/* Requests: 3 and `more`. */
static inline void test_play_open(struct test_played *p, const struct test_play *play)
{
    struct weir_err err = {0};
    wr_arena_init(&p->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&p->text, WR_OUTPUT_BYTES_MAX);
    wr_buf_printf(&p->text, "{\"role\":\"user\",\"content\":\"%s",
                  play->started ? play->started : "look at the river");
    for (int i = 0; i < 200; i++) /* more than any minimum of what can be cached */
        wr_buf_text(&p->text, " and then look at its banks, its gates and its sills,");
    wr_buf_text(&p->text, "\"}\n");
    test_play_call(&p->text, 1, "./survey");
    test_play_result(&p->text, 1, play->lines, TEST_PLAY_NEEDLE);
    test_play_call(&p->text, 2, play->quotes ? "cat " TEST_PLAY_NEEDLE : "./survey on");
    test_play_result(&p->text, 2, 10, NULL);
    for (uint32_t i = 0; i < play->more; i++) {
        test_play_call(&p->text, 3 + i, "./survey on");
        test_play_result(&p->text, 3 + i, 10, NULL);
    }
    wr_buf_printf(&p->text, "{\"role\":\"assistant\",\"content\":\"all is level%s\"}\n",
                  play->quotes_again ? " in `" TEST_PLAY_NEEDLE "`" : "");
    if (wr_session_read(&p->session, &p->arena, wr_buf_view(&p->text), &err))
        fail_msg("%s at byte %zu", err.text, err.at_byte);
    assert_int_equal(p->session.requests_count, 3 + play->more);
    if (play->is_compacted) /* the newest call and its result are left */
        test_play_compact(p, p->session.messages_count - 3);
}

static inline void test_play_close(struct test_played *p)
{
    wr_buf_release(&p->text);
    wr_arena_release(&p->arena);
}

#endif
