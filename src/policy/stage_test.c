/* Stages that are small enough to share a table: each row is a session, a policy and what becomes
 * of it, at a threshold and one token to either side of it. Four bytes are a token.
 *
 * A session is words: u user, a answer, then the number of tokens. A result has its call before it:
 * r of a tool that runs commands, o of one that nobody knows, b of Bash, k of the tool `keep`, p of
 * a read of /w/N.c, i of a file of instructions, s of Bash with a text that is always the same, t
 * of Bash with blanks at the ends of lines, w of Bash with other words, g of Bash with these words
 * in its command, e with errors, m with a marker. A + joins a result to the output of the one
 * before. A session that begins with ! offers no recall.
 */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 22, ROW_BYTES = 40, LISTING_BYTES_MAX = 4096, MARKER_TOKENS = 40 };

/* ---- sessions ---- */

static void write_tokens(struct wr_buf *out, uint32_t id, uint32_t tokens, char what)
{
    static const char *const rows[] = {
        "row %04u/%04u: the waters here are calm\n", "row %04u/%04u: calm                    \n",
        "row %04u/%04u: those gates stand opened\n", "error: E%04u/%04u pumps failed to start\n"};
    static const char kinds[] = "twe";
    const char *kind = strchr(kinds, what);
    char row[64];
    for (uint32_t i = 0; i < tokens * 4; i++) {
        bool is_plain = !kind || (what == 'e' && i / ROW_BYTES % 30); /* an error now and then */
        if (i % ROW_BYTES == 0)
            (void)snprintf(row, sizeof(row), rows[is_plain ? 0 : kind - kinds + 1],
                           what == 's' ? 0 : id % 10000, i / ROW_BYTES % 10000);
        if (row[i % ROW_BYTES] == '\n')
            wr_buf_text(out, "\\n");
        else
            wr_buf_byte(out, row[i % ROW_BYTES]);
    }
}

static void write_call(struct wr_buf *out, uint32_t id, char what)
{
    const char *argument = what == 'o' ? "weather" : "command";
    const char *tool = what == 'o'   ? "odd"
                       : what == 'r' ? "run"
                       : what == 'k' ? "keep"
                       : what == 'p' ? "Read"
                                     : "Bash";
    wr_buf_printf(out,
                  "{\"id\":\"c%u\",\"type\":\"function\",\"function\":{\"name\":\"%s\","
                  "\"arguments\":\"",
                  id, tool);
    if (what == 'p')
        wr_buf_printf(out, "{\\\"file_path\\\":\\\"/w/%u.c\\\"}\"}}", id);
    else if (what == 'x')
        wr_buf_text(out, "{\\\"command\\\":\\\"echo go > /w/AGENTS.md\\\"}\"}}");
    else if (what == 'i')
        wr_buf_text(out, "{\\\"command\\\":\\\"cat /w/AGENTS.md\\\"}\"}}");
    else if (what == 'g')
        wr_buf_text(out, "{\\\"command\\\":\\\"./open those gates\\\"}\"}}");
    else
        wr_buf_printf(out, "{\\\"%s\\\":\\\"./step %u\\\"}\"}}", argument, id);
}

static bool is_said(char what)
{
    return what == 'u' || what == 'a';
}

/* Behind `talk`: the next word that is not joined to this one. */
static const char *end_of_output(const char *talk)
{
    const char *end = talk + strcspn(talk, " ");
    while (*end && end[1] == '+')
        end += 1 + strcspn(end + 1, " ");
    return end;
}

static void write_output(struct wr_buf *out, const char *from, const char *end, uint32_t first)
{
    uint32_t id = first;
    wr_buf_text(out, "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[");
    for (const char *c = from; c < end; c += strcspn(c, " ") + 1, id++) {
        wr_buf_text(out, c == from ? "" : ",");
        write_call(out, id, *c == '+' ? c[1] : *c);
    }
    wr_buf_text(out, "]}");
    id = first;
    for (const char *c = from; c < end; c += strcspn(c, " ") + 1, id++) {
        const char *what = *c == '+' ? c + 1 : c;
        wr_buf_printf(out, ",{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"", id);
        write_tokens(out, id, (uint32_t)strtoul(what + 1, NULL, 10), *what);
        if (*what == 'm')
            wr_buf_text(out, "[weir wr_0123456789abcdef0123: ~9 tokens left out]");
        wr_buf_text(out, "\"}");
    }
}

static void write_session(struct wr_buf *out, const char *talk)
{
    bool has_recall = *talk != '!';
    uint32_t id = 0;

    talk += !has_recall;
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_printf(out,
                  "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],"
                  "\"messages\":[",
                  has_recall ? "weir_recall" : "other");
    for (const char *c = talk, *end; *c; c = *end ? end + 1 : end) {
        end = end_of_output(c);
        wr_buf_text(out, c == talk ? "" : ",");
        if (is_said(*c)) {
            wr_buf_printf(out, "{\"role\":\"%s\",\"content\":\"", *c == 'u' ? "user" : "assistant");
            write_tokens(out, id++, (uint32_t)strtoul(c + 1, NULL, 10), *c);
            wr_buf_text(out, "\"}");
            continue;
        }
        write_output(out, c, end, id);
        for (const char *w = c; w < end; w += strcspn(w, " ") + 1)
            id++;
    }
    wr_buf_text(out, "]}");
}

/* ---- what became of them ---- */

/* What a condenser makes is its own affair, as long as it keeps to the size it was given. */
static uint64_t size_of(const struct wr_fold_segment *now)
{
    static const uint64_t given[] = {256, 300, 512, 2048, 8192};
    if (now->form != WR_FORM_CONDENSED)
        return now->tokens;
    for (size_t i = 0; i < WR_COUNT_OF(given); i++)
        if (now->tokens <= given[i] + MARKER_TOKENS)
            return given[i];
    return now->tokens;
}

/* "c2:masked/31 +system@3/40 step:pressure@4": results that are not exact, with their tokens;
 * messages put in, with the segment they stand before; the step, with the first it changes. */
static void list_changes(const struct test_run *r, struct wr_buf *out)
{
    const struct wr_transcript *t = &r->test.transcript;
    const struct wr_fold *fold = &r->run.fold;
    const struct wr_fold_step *step = wr_fold_step_now(fold);

    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_fold_segment *now = &fold->segments[i];
        if (t->segments[i].kind != WEIR_KIND_TOOL_RESULT || now->form == WR_FORM_EXACT)
            continue;
        wr_buf_append(out, t->segments[i].call_id);
        wr_buf_printf(out, ":%s", wr_form_name(now->form));
        wr_buf_printf(out, now->form == WR_FORM_CONDENSED ? "<=%llu " : "/%llu ",
                      (unsigned long long)size_of(now));
    }
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (!fold->inserts[i].is_gone)
            wr_buf_printf(out, "+%u@%u/%llu ", (unsigned)fold->inserts[i].role,
                          fold->inserts[i].before, (unsigned long long)fold->inserts[i].tokens);
    if (fold->chosen.candidates_count)
        wr_buf_printf(out, "of %llu:%llu ", (unsigned long long)fold->chosen.candidates_count,
                      (unsigned long long)fold->chosen.utility);
    if (step)
        wr_buf_printf(out, "step:%s@%u ", wr_step_reason_text(step->reason), step->first);
    if (out->len)
        out->len--;
}

/* The handle of a message that was put in is that of all it stands for. */
static void assert_originals(struct wr_fold *fold)
{
    struct wr_handle handle;
    weir_span original;
    for (uint32_t i = 0; i < fold->inserts_count; i++) {
        if (fold->inserts[i].is_gone)
            continue;
        assert_int_equal(wr_fold_insert_original(fold, i, &original), WEIR_OK);
        assert_int_equal(wr_handle_of(original, &handle), WEIR_OK);
        assert_string_equal(handle.text, fold->inserts[i].handle.text);
    }
}

static void assert_changes(const char *behaviour, const char *yaml, const char *talk,
                           const struct test_run_facts *facts, const char *expected)
{
    struct wr_buf body, listing;
    struct test_run r;

    write_session(&body, talk);
    wr_buf_init(&listing, LISTING_BYTES_MAX);
    test_run_open_with(&r, wr_buf_view(&body), yaml, facts);
    list_changes(&r, &listing);
    assert_originals(&r.run.fold);
    if (!wr_span_is(wr_buf_view(&listing), expected))
        fail_msg("%s: %.*s", behaviour, (int)listing.len, listing.bytes);
    test_run_close(&r);
    wr_buf_release(&listing);
    wr_buf_release(&body);
}

#define FIFTY     "fifty characters of a text that is the same again "
#define P(stages) "policies: {p: {stages: [" stages "]}}"
#define FIVE      "u1 r100 r100 r100 r100 r100"
#define SEVEN     "u1 r8000 r8000 r8000 r8000 r8000 r8000 r8000"
#define CLEAR(keep, turns) \
    "{stage: clear, at_bp: 5000, trigger_tokens: 400, keep: " keep ", older_turns: " turns "}"
#define EVICT(over)  "{stage: evict, over_tokens: " over "}"
#define DROP         "{stage: drop_groups}"
#define LOOPS        "{stage: fold_loops, evidence_tokens: 0, preview_tokens: 20}"
#define SUMMARY      "{stage: summary, at_bp: 5000, head: 1, tail: 2, max_tokens: 200}"
#define SUMMARY_LATE "{stage: summary, at_bp: 10000, head: 1, tail: 4, max_tokens: 200}"
#define MANY_READS   "u1 p40 p40 p40 p40 p40 p40 p40 p40 p40 p40 p40 p40 p40"
#define FIT          "{stage: fit}"
#define REFER        "{stage: reference, min_tokens: 100}"
#define ACTIVE       "{stage: summarise_active, evidence_tokens: 400, preview_tokens: 10}"
#define SELECT       "{stage: select}"
#define MASK(first, last, batch) \
    "{stage: mask, keep_first: " first ", keep_last: " last ", batch: " batch "}"

static const struct {
    const char *behaviour, *yaml, *talk;
    uint64_t window_tokens;
    const char *expected;
} cases[] = {
    {"mask: fewer than a batch lie between", P(MASK("1", "1", "2")), "u1 r100 r100 r100", 0, ""},
    {"mask: a batch is masked", P(MASK("1", "1", "2")), "u1 r100 r100 r100 r100", 0,
     "c2:masked/36 c3:masked/36 step:pressure@5"},
    {"mask: none lies between", P(MASK("2", "2", "1")), "u1 r100 r100 r100 r100", 0, ""},
    {"mask: one lies between", P(MASK("2", "2", "1")), "u1 r100 r100 r100 r100 r100", 0,
     "c3:masked/36 step:pressure@7"},
    {"mask: none at the start stay", P(MASK("0", "1", "1")), "u1 r100 r100", 0,
     "c1:masked/36 step:pressure@3"},
    {"mask: none at the end stay", P(MASK("1", "0", "1")), "u1 r100 r100 u1", 0, "c2:masked/36"},
    {"mask: both numbers zero, and nothing is masked", P(MASK("0", "0", "1")), "u1 r100 r100 u1", 0,
     ""},
    {"mask: 80 tokens are too few", P(MASK("0", "1", "1")), "u1 r80 r100", 0, ""},
    {"mask: 81 are not", P(MASK("0", "1", "1")), "u1 r81 r100", 0, "c1:masked/35 step:pressure@3"},
    {"mask: what was capped is masked", P("{stage: cap, max_tokens: 100}, " MASK("0", "1", "1")),
     "u1 r200 r50", 0, "c1:masked/36 step:pressure@3"},
    {"mask: but not of a tool that it spares",
     P("{stage: cap, max_tokens: 100}, {stage: mask, keep_first: 0, keep_last: 1, batch: 1, tools: "
       "{keep: exact}}"),
     "u1 k200 r200 r50", 0, "c1:capped/139 c2:masked/36 step:pressure@5"},

    {"clear: at half of the window all stay", P(CLEAR("3", "0")), FIVE, 1090, ""},
    {"clear: a token above it they go", P(CLEAR("3", "0")), FIVE, 1089,
     "c1:cleared/28 c2:cleared/28 step:pressure@3"},
    {"clear: where a twentieth of the window is freed", P(CLEAR("4", "0")), FIVE, 1040,
     "c1:cleared/28 step:pressure@3"},
    {"clear: not where it is less", P(CLEAR("4", "0")), FIVE, 1060, ""},
    {"clear: without a window a number of tokens", P(CLEAR("3", "0")), "u1 r100 r100 r100 r81", 0,
     "c1:cleared/28 step:pressure@3"},
    {"clear: at that number they stay", P(CLEAR("3", "0")), "u1 r100 r100 r100 r61", 0, ""},
    {"clear: three stay in a small window", P(CLEAR("0", "0")), SEVEN, 99999,
     "c1:cleared/29 c2:cleared/29 c3:cleared/29 c4:cleared/29 step:pressure@3"},
    {"clear: and six in a large one", P(CLEAR("0", "0")), SEVEN, 100000,
     "c1:cleared/29 step:pressure@3"},
    {"clear: only what is older than so many turns", P(CLEAR("1", "2")), FIVE, 1000,
     "c1:cleared/28 c2:cleared/28 step:pressure@3"},
    {"clear: a tool may have to be older than others",
     P("{stage: clear, at_bp: 5000, keep: 1, tools: {keep: {older_turns: 3}}}"),
     "u1 k100 k100 r100 r100 r100", 1000,
     "c1:cleared/28 c3:cleared/28 c4:cleared/28 step:pressure@3"},
    {"clear: what was evicted is cleared", P(EVICT("199") ", " CLEAR("1", "0")),
     "u1 r300 r150 r100", 800, "c1:cleared/28 c2:cleared/28 step:pressure@3"},
    {"clear: what was capped is cleared", P("{stage: cap, max_tokens: 100}, " CLEAR("1", "0")),
     "u1 r200 r150 r100", 500, "c1:cleared/28 c2:cleared/28 step:pressure@5"},
    {"clear: but not of a tool that it spares",
     P(EVICT("199") ", {stage: clear, at_bp: 5000, keep: 1, tools: {keep: exact}}"),
     "u1 k300 r150 r100", 800, "c1:evicted/177 c2:cleared/28 step:pressure@5"},
    {"clear: a recall tool is the way back", P(CLEAR("3", "0")), "!" FIVE, 1000, ""},

    {"evict: at its size a result stays", P(EVICT("300")), "u1 r300", 0, ""},
    {"evict: a token more and it leaves", P(EVICT("300")), "u1 r301", 0, "c1:evicted/168"},
    {"evict: a tool may have a size of its own",
     P("{stage: evict, over_tokens: 400, tools: {keep: {over_tokens: 300}}}"), "u1 k301 r301", 0,
     "c1:evicted/168"},
    {"evict: or be spared", P("{stage: evict, over_tokens: 300, tools: {keep: exact}}"),
     "u1 k301 r301", 0, "c2:evicted/168"},
    {"evict: not without a way back", P(EVICT("300")), "!u1 r301", 0, ""},

    {"cap: at its size a result stays", P("{stage: cap, max_tokens: 300}"), "u1 r300", 0, ""},
    {"cap: of so many tokens more that a cut pays it is cut", P("{stage: cap, max_tokens: 300}"),
     "u1 r400", 0, "c1:capped/339"},
    {"cap: not without a way back", P("{stage: cap, max_tokens: 300}"), "!u1 r3000", 0, ""},
    {"cap: a tool may have a size of its own",
     P("{stage: cap, max_tokens: 300, tools: {keep: {max_tokens: 100}}}"), "u1 k300 r300", 0,
     "c1:capped/139"},

    {"drop: at nine tenths all stay", P(DROP), FIVE, 606, ""},
    {"drop: a token more and the oldest leave", P(DROP), FIVE, 605,
     "c1:dropped/0 c2:dropped/0 +1@2/36 step:window@2"},
    {"drop: down to four fifths of that", P(DROP), "u1 r100 r100 r100 r101 r100", 606,
     "c1:dropped/0 c2:dropped/0 +1@2/36 step:window@2"},
    {"drop: little is not worth a step", P(DROP), "u1750 r60 r60", 2000, ""},
    {"drop: unless the prompt would be refused", P(DROP), "u1860 r60 r60", 2000,
     "c1:dropped/0 +1@2/36 step:window@2"},
    {"drop: a twentieth of the window is worth it", P(DROP), "u1700 r94 r60", 2000,
     "c1:dropped/0 +1@2/36 step:window@2"},
    {"drop: a token less is not", P(DROP), "u1701 r93 r60", 2000, ""},
    {"drop: joined results leave together", P(DROP), "u1 r100 +r100 r100 r100 r100", 605,
     "c1:dropped/0 c2:dropped/0 +1@2/36 step:window@2"},
    {"drop: a group of instructions stays", P(DROP), "u1 i100 r100 r100 r100 r100", 605,
     "c2:dropped/0 c3:dropped/0 +1@4/36 step:window@4"},
    {"drop: summaries of loops leave first", P(LOOPS ", " DROP), "u1 r200 a1 u1 r300 r300 r100",
     800, "c1:dropped/0 c4:dropped/0 +1@2/36"},
    {"drop: the second step joins the first", P(DROP), "u1 r100 r100 r100 r100 r100 r100 r100 r100",
     605, "c1:dropped/0 c2:dropped/0 c3:dropped/0 c4:dropped/0 +1@2/36"},

    {"drop: instructions that no longer hold leave later", P(DROP),
     "u1 i100 r100 r100 r100 r100 x10 r100 r100 r100", 605,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 c4:dropped/0 +1@2/36"},
    {"drop: where all else is not enough the summary of the conversation leaves",
     P(SUMMARY ", " DROP), "u1 r300 r300 r300 a1 u500 a1 u300 r90", 1100,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 +1@2/36 step:window@2"},
    {"drop: the summary of the conversation goes last", P(SUMMARY ", " DROP),
     "u1 r300 r300 r300 a1 u500 a1 u250 r90", 1100,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 +3@2/88"},

    {"summary: at half of the window the middle stays", P(SUMMARY), FIVE, 1090, ""},
    {"summary: a token above it, it leaves", P(SUMMARY), FIVE, 1089,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 c4:dropped/0 +3@2/94 step:pressure@2"},
    {"summary: a later one takes the place of the first", P(SUMMARY),
     "u1 r100 r100 r100 r100 r100 r200 r200", 1089,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 c4:dropped/0 c5:dropped/0 c6:dropped/0 +3@2/106 "
     "step:pressure@2"},
    {"summary: a twentieth of the window must leave", P(SUMMARY), "u5300 r294 r294 r294", 12000,
     "c1:dropped/0 c2:dropped/0 +3@2/142 step:pressure@2"},
    {"summary: a token less is not worth it", P(SUMMARY), "u5300 r293 r293 r294", 12000, ""},
    {"summary: what the user says stays", P(SUMMARY), "u1 r100 r100 u50 r100 r100 r100", 1000,
     "c1:dropped/0 c2:dropped/0 c4:dropped/0 c5:dropped/0 +3@2/155 step:pressure@2"},
    {"summary: it has a third of a small window",
     P("{stage: summary, at_bp: 5000, head: 1, tail: 2, max_tokens: 1000}"), MANY_READS, 600,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 c4:dropped/0 c5:dropped/0 c6:dropped/0 c7:dropped/0 "
     "c8:dropped/0 c9:dropped/0 c10:dropped/0 +3@2/93"},
    {"summary: or the size that it was given",
     P("{stage: summary, at_bp: 5000, head: 1, tail: 2, max_tokens: 100}"), MANY_READS, 600,
     "c1:dropped/0 c2:dropped/0 c3:dropped/0 c4:dropped/0 c5:dropped/0 c6:dropped/0 c7:dropped/0 "
     "c8:dropped/0 c9:dropped/0 c10:dropped/0 +3@2/93"},
    {"summary: nothing is left to it where the oldest left already",
     P("{stage: fit}, " SUMMARY_LATE), "u1 a150 u1 a150 u1 r80 r80 r80 r80", 660,
     "c5:dropped/0 c6:dropped/0 c7:dropped/0 +3@6/100 step:window@6"},

    {"fit: what fills the window stays", P(FIT), "u1 b400 b400", 827, ""},
    {"fit: a token more, and the oldest leaves", P(FIT), "u1 b400 b400", 826,
     "c1:dropped/0 +3@2/76 step:window@2"},
    {"fit: of what came together nothing is older, and it gives way", P(FIT), "u1 b400 +b400", 826,
     "c1:condensed<=300"},
    {"fit: in a smaller window too", P(FIT), "u1 b400 b400", 500,
     "c1:dropped/0 +3@2/76 step:window@2"},
    {"fit: 300 tokens are never shortened as they come", P(FIT), "u500 b300", 820, ""},
    {"fit: they are once they are older", P(FIT), "u500 b300 b10", 820,
     "c1:dropped/0 +3@2/128 step:window@2"},
    {"fit: the larger of two gives way alone where that is enough", P(FIT), "u1 b350 +b900", 1000,
     "c2:condensed<=300"},
    {"fit: both are cut where they must", P(FIT), "u1 b900 +b900", 700,
     "c1:capped/317 c2:condensed<=512"},
    {"fit: nothing goes where not even all of it would do", P(FIT), "u900 b400 b400", 900, ""},
    {"fit: of a tool that it spares nothing", P("{stage: fit, tools: {keep: exact}}"),
     "u1 k400 k400", 800, ""},
    {"fit: instructions that were read go before what is new", P(FIT), "u1 i400 r10 r400", 700,
     "c1:cleared/37 step:window@3"},
    {"fit: without a way back and without a store nothing goes", P(FIT), "!u1 b400 b400", 826, ""},

    {"fold: a completed loop becomes a summary", P(LOOPS), "u1 r300 a5 u1", 0,
     "c1:dropped/0 +4@2/139 step:loop completed@2"},
    {"fold: one that goes on does not", P(LOOPS), "u1 r300 a5", 0, ""},
    {"fold: one without tools stays", P(LOOPS), "u1 a300 u1", 0, ""},
    {"fold: one that would not be shorter stays", P(LOOPS), "u1 r10 a5 u1", 0, ""},
    {"fold: one that came with a marker was left standing, and stays", P(LOOPS),
     "u1 r300 m20 a5 u1", 0, ""},
    {"fold: instructions stay, the rest folds", P(LOOPS), "u1 r300 i300 a5 u1", 0,
     "c1:dropped/0 +4@2/139 step:loop completed@2"},
    {"fold: nothing moves inside the next loop", P(LOOPS), "u1 r300 a5 u1 r50", 0,
     "c1:dropped/0 +4@2/139"},
    {"fold: each loop has its own summary", P(LOOPS), "u1 r300 a5 u1 r300 r200 a5 u1", 0,
     "c1:dropped/0 c4:dropped/0 c5:dropped/0 +4@2/139 +4@6/178 step:loop completed@6"},
    {"fold: not without a way back", P(LOOPS), "!u1 r300 a5 u1", 0, ""},

    {"reference: a shorter result stays", P(REFER), "u1 s99 s99", 0, ""},
    {"reference: of 100 tokens it points", P(REFER), "u1 s100 s100 s100", 0,
     "c2:reference/43 c3:reference/43"},
    {"reference: at what is still exact", P(REFER ", " MASK("0", "1", "1")),
     "u1 s100 r100 s100 s100", 0,
     "c1:masked/36 c2:masked/36 c3:masked/36 c4:reference/43 step:pressure@7"},

    {"lossless: at its size a result stays", P("{stage: lossless, over: 400}"), "u1 t400", 0, ""},
    {"lossless: a token more and its blanks go", P("{stage: lossless, over: 400}"), "u1 t401", 0,
     "c1:tidied/236"},
    {"lossless: what has none stays", P("{stage: lossless, over: 400}"), "u1 b500", 0, ""},
    {"lossless: not without a way back", P("{stage: lossless, over: 400}"), "!u1 t401", 0, ""},

    {"active: below four fifths all stay", P(ACTIVE), "u1 r300 r300 r166", 1000, ""},
    {"active: from there on older results are summaries", P(ACTIVE), "u1 r300 r300 r167", 1000,
     "c1:summarised/59 c2:summarised/59 step:pressure@3"},
    {"active: what an earlier loop has stays", P(ACTIVE), "u1 r300 a1 u1 r300 r167", 1000,
     "c4:summarised/59 step:pressure@7"},
    {"active: small results are not worth it", P(ACTIVE), "u2980 r247 r10", 4000, ""},
    {"active: what frees a twentieth of the window is", P(ACTIVE), "u2980 r248 r10", 4000,
     "c1:summarised/60 step:pressure@3"},
    {"active: the newest reads keep their lines", P(ACTIVE), "u1 p600 p300 r10", 1100,
     "c1:summarised/83"},

    {"select: plenty of room, and all stay", P(SELECT), "u1 b9000", 25021, ""},
    {"select: a token less, and one payload has 8192", P(SELECT), "u1 b9000", 25020,
     "c1:condensed<=2048 of 1:1"},
    {"select: one of that size stays", P(SELECT), "u1 b8192", 20000, ""},
    {"select: one token more does not", P(SELECT), "u1 b8193", 20000, "c1:condensed<=2048 of 1:1"},
    {"select: in less room it has 2048", P(SELECT), "u1 b3000", 11020, "c1:condensed<=2048 of 1:3"},
    {"select: or a quarter where new ones take half of it", P(SELECT), "u1 b3000", 9019,
     "c1:condensed<=512 of 1:3"},
    {"select: half of it is not more than half", P(SELECT), "u1 b3000", 9021,
     "c1:condensed<=2048 of 1:3"},
    {"select: a saving of 128 is not made", P(SELECT), "u1 b2176", 9000, "of 1:0"},
    {"select: one of 129 is", P(SELECT), "u1 b2177", 9000, "c1:condensed<=2048 of 1:4"},
    {"select: nor one below its share", P("{stage: select, gain_bp: 9728}"), "u1 b10240", 17000,
     "of 1:0"},
    {"select: a token more is made", P("{stage: select, gain_bp: 9727}"), "u1 b10240", 17000,
     "c1:condensed<=512 of 1:0"},
    {"select: 300 tokens are never condensed", P("{stage: select, gain_tokens: 1}"), "u1 b300",
     1000, ""},
    {"select: 301 are", P("{stage: select, gain_tokens: 1}"), "u1 b301", 1000, "of 1:0"},
    {"select: the larger of two is worth less a token", P(SELECT), "u1 b3000 +b3600", 14000,
     "c1:condensed<=2048 c2:condensed<=512 of 2:5"},
    {"select: a call that nobody knows is worth less", P(SELECT), "u1 b3000 +o3000", 13500,
     "c1:condensed<=2048 c2:condensed<=512 of 2:5"},
    {"select: and the other way round", P(SELECT), "u1 o3000 +b3000", 13500,
     "c1:condensed<=512 c2:condensed<=2048 of 2:5"},
    {"select: so is what the user does not speak of", P(SELECT), "u10 b3000 +w3000", 13500,
     "c1:condensed<=2048 c2:condensed<=512 of 2:336"},
    {"select: and the other way round", P(SELECT), "u10 w3000 +b3000", 13500,
     "c1:condensed<=512 c2:condensed<=2048 of 2:336"},
    {"select: what the user said last counts however long ago", P(SELECT), "u10 r1 r1 b3000 +w3000",
     13500, "c3:condensed<=2048 c4:condensed<=512 of 2:336"},
    {"select: what was said before that does not", P(SELECT), "u10 a1 u1 r1 r1 b3000 +w3000", 13500,
     "c5:condensed<=512 c6:condensed<=2048 of 2:6"},
    {"select: the words of the newest commands count", P(SELECT), "u1 g1 +b3000 +w3000", 13500,
     "c2:condensed<=512 c3:condensed<=2048 of 2:336"},
    {"select: and the other way round", P(SELECT), "u1 g1 +w3000 +b3000", 13500,
     "c2:condensed<=2048 c3:condensed<=512 of 2:336"},
    {"select: those of the turn before do not", P(SELECT), "u1 g1 b3000 +w3000", 13500,
     "c2:condensed<=512 c3:condensed<=2048 of 2:6"},
    {"select: what fails is worth more", P(SELECT), "u1 e3000 +b3000", 13500,
     "c1:condensed<=2048 c2:condensed<=512 of 2:9"},
    {"select: the other way round too", P(SELECT), "u1 b3000 +e3000", 13500,
     "c1:condensed<=512 c2:condensed<=2048 of 2:9"},
    {"select: of two alike the older goes first", P(SELECT), "u1 b3000 +b3000", 13500,
     "c1:condensed<=512 c2:condensed<=2048 of 2:6"},
    {"select: older results stay below", P(SELECT), "u1 b2000 b2000 b2000 a1 u1500", 8372, ""},
    {"select: older results follow at nine tenths", P(SELECT), "u1 b2000 b2000 b2000 a1 u1500",
     8371, "c1:condensed<=300 c2:condensed<=300 of 3:1000 step:pressure@3"},
    {"select: blanks that were left out do not bar it", P("{stage: lossless, over: 400}, " SELECT),
     "u1 t6000", 9500, "c1:condensed<=2048 of 1:1"},
    {"select: not without a way back", P(SELECT), "!u1 b3000", 11020, ""},
};

static void stages_act_at_their_thresholds(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_run_facts facts = {.window_tokens = cases[i].window_tokens};
        assert_changes(cases[i].behaviour, cases[i].yaml, cases[i].talk, &facts, cases[i].expected);
    }
}

/* ---- what they write ---- */

#define TOO_LARGE                                                        \
    "Tool result too large, the result of this tool call c1 was saved. " \
    "Its first and last lines:\n\n"
#define ROWS_29                                                          \
    "     1\tr\n     2\tr\n     3\tr\n     4\tr\n     5\tr\n     6\tr\n" \
    "     7\tr\n     8\tr\n     9\tr\n    10\tr\n    11\tr\n    12\tr\n" \
    "    13\tr\n    14\tr\n    15\tr\n    16\tr\n    17\tr\n    18\tr\n" \
    "    19\tr\n    20\tr\n    21\tr\n    22\tr\n    23\tr\n    24\tr\n" \
    "    25\tr\n    26\tr\n    27\tr\n    28\tr\n    29\tr\n"

static const struct {
    const char *behaviour, *yaml, *talk;
    const char *call, *expected; /* the result's text before its marker */
} texts[] = {
    {"a mask counts the whole message", P(MASK("0", "1", "1")), "u1 r100 r100", "c1",
     "[result masked — ~104 tokens removed]"},
    {"a cleared result says no more", P(CLEAR("1", "0")), "u1 r300 r100 r100", "c1", "[cleared]"},
    {"a reference names the call that says it", P(REFER), "u1 s100 r100 s100", "c3",
     "[same output as the earlier call c1]"},
    {"the newest one that is still exact", P(REFER ", " MASK("0", "1", "1")),
     "u1 s100 r100 s100 s100", "c4", "[same output as the earlier call c3]"},
    {"an evicted result shows lines of both ends",
     P("{stage: evict, over_tokens: 1, head_lines: 2, tail_lines: 1, line_chars: 16}"), "u1 r300",
     "c1",
     TOO_LARGE "     1\trow 0001/0000: t\n     2\trow 0001/0001: t\n"
               "... [27 lines truncated] ...\n    30\trow 0001/0029: t\n"},
    {"one line is missing",
     P("{stage: evict, over_tokens: 1, head_lines: 29, tail_lines: 0, line_chars: 1}"), "u1 r300",
     "c1", TOO_LARGE ROWS_29 "... [1 lines truncated] ...\n"},
    {"none is", P("{stage: evict, over_tokens: 1, head_lines: 0, tail_lines: 30, line_chars: 1}"),
     "u1 r300", "c1", TOO_LARGE ROWS_29 "    30\tr\n"},
    {"blanks at the ends of lines leave", P("{stage: lossless, over: 300}"), "u1 t301", "c1", NULL},
};

/* Thirty lines, and of the last that was cut nothing but four letters. */
static void write_tidy(struct wr_buf *out)
{
    for (unsigned i = 0; i < 30; i++)
        wr_buf_printf(out, "row 0001/%04u: calm\n", i);
    wr_buf_text(out, "row");
}

static void stages_write_what_they_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++) {
        struct test_run_facts facts = {.window_tokens = 600};
        struct wr_buf body, expected;
        struct test_run r;

        write_session(&body, texts[i].talk);
        test_run_open_with(&r, wr_buf_view(&body), texts[i].yaml, &facts);
        weir_span text = {"", 0};
        for (uint32_t n = 0; n < r.test.transcript.segments_count; n++)
            if (r.test.transcript.segments[n].kind == WEIR_KIND_TOOL_RESULT &&
                wr_span_is(r.test.transcript.segments[n].call_id, texts[i].call))
                text = r.run.fold.segments[n].text;
        size_t end = wr_span_find(text, WR_LIT("\n[weir wr_"), 0);
        wr_buf_init(&expected, LISTING_BYTES_MAX);
        if (texts[i].expected)
            wr_buf_text(&expected, texts[i].expected);
        else
            write_tidy(&expected);
        wr_buf_byte(&expected, '\0');
        test_text_is(texts[i].behaviour, wr_span_cut(text, 0, end < text.len ? end : text.len),
                     (const char *)expected.bytes);
        test_run_close(&r);
        wr_buf_release(&expected);
        wr_buf_release(&body);
    }
}

/* A character of two bytes is one character. */
static void a_line_is_cut_at_a_character(void **state)
{
    static const char body[] =
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
        "\"messages\":[{\"role\":\"user\",\"content\":\"go\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"ééé\\n" FIFTY FIFTY FIFTY FIFTY
            FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "\"}]}";
    struct test_run r;
    (void)state;
    test_run_open(&r, wr_span_of(body),
                  P("{stage: evict, over_tokens: 1, head_lines: 1, tail_lines: 1, line_chars: 2}"),
                  0);
    uint32_t result = test_transcript_find(&r.test, WEIR_KIND_TOOL_RESULT, 0);
    assert_true(wr_span_starts(r.run.fold.segments[result].text,
                               WR_LIT(TOO_LARGE "     1\téé\n     2\tfi\n")));
    test_run_close(&r);
}

/* ---- requests whose history the provider holds ---- */

#define DELTA(more)                                                                        \
    "{\"previous_response_id\":\"r\",\"tools\":[{\"type\":\"function\",\"name\":"          \
    "\"weir_recall\"}],\"input\":[" more "{\"type\":\"function_call_output\",\"call_id\":" \
    "\"c\",\"output\":\"" FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "\"}]}"
#define CALLED \
    "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{}\"},"

static void a_result_whose_call_nobody_saw_stays(void **state)
{
    static const struct {
        const char *body;
        enum wr_form form;
    } deltas[] = {{DELTA(""), WR_FORM_EXACT}, {DELTA(CALLED), WR_FORM_EVICTED}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(deltas); i++) {
        struct test_run r;
        test_run_open(&r, wr_span_of(deltas[i].body),
                      P("{stage: evict, over_tokens: 1, head_lines: 0, tail_lines: 0}"), 0);
        assert_true(r.test.transcript.is_delta);
        uint32_t result = test_transcript_find(&r.test, WEIR_KIND_TOOL_RESULT, 0);
        assert_int_equal(r.run.fold.segments[result].form, deltas[i].form);
        test_run_close(&r);
    }
}

#define CALL_OF(id) \
    "{\"type\":\"function_call\",\"call_id\":\"" id "\",\"name\":\"run\",\"arguments\":\"{}\"},"
#define RESULT_OF(id)                                      \
    "{\"type\":\"function_call_output\",\"call_id\":\"" id \
    "\",\"output\":\"" FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY "\"}"
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"},"
#define CROSSED                                                                                 \
    "{\"tools\":[{\"type\":\"function\",\"name\":\"weir_recall\"}],\"input\":[" USER("go")      \
        CALL_OF("a") USER("on") CALL_OF("b") RESULT_OF("a") "," RESULT_OF("b") "," CALL_OF("c") \
            RESULT_OF("c") "]}"

/* The second call is made before the first has its result: whatever order they are taken in, what
 * they leave behind is the conversation's. */
static void groups_that_cross_leave_in_order(void **state)
{
    struct test_run r;
    uint32_t dropped = 0;
    (void)state;

    test_run_open(&r, wr_span_of(CROSSED), P(DROP), 300);
    struct wr_fold *fold = &r.run.fold;
    for (uint32_t i = 0; i < r.test.transcript.segments_count; i++)
        dropped += fold->segments[i].form == WR_FORM_DROPPED;
    assert_int_equal(dropped, 4);
    assert_int_equal(fold->inserts_count, 1);
    assert_int_equal(fold->inserts[0].before, 2);
    assert_originals(fold);
    test_run_close(&r);
}

/* ---- what they share ---- */

/* Its summary would be longer than the loop. */
static void a_loop_that_does_not_fold_is_not_taken(void **state)
{
    struct wr_stage_loop options = {
        .evidence_tokens = 0, .preview_tokens = 20, .reason = WR_STEP_PRESSURE};
    struct test_run r;
    struct wr_buf body;
    (void)state;

    for (int is_long = 0; is_long < 2; is_long++) {
        bool taken = !is_long;
        write_session(&body, is_long ? "u1 r300 a5 u1" : "u1 r10 a5 u1");
        test_run_open(&r, wr_buf_view(&body), P(MASK("1", "1", "1")), 0);
        struct wr_fold *fold = &r.run.fold;
        assert_int_equal(wr_stage_fold_loop(fold, &options, 0, fold->scratch.lists[0], &taken),
                         WEIR_OK);
        assert_int_equal(taken, is_long);
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

static void texts_that_would_hold_a_condenser_are_too_long(void **state)
{
    static char text[WR_CONDENSE_BYTES_MAX + 1];
    (void)state;
    memset(text, 'x', sizeof(text));
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_BYTES_MAX}));
    assert_true(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_BYTES_MAX + 1}));
    memset(text, '\n', WR_CONDENSE_LINES_MAX);
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_LINES_MAX}));
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_BYTES_MAX}));
    text[WR_CONDENSE_LINES_MAX] = '\n';
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_LINES_MAX}));
    assert_true(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_LINES_MAX + 1}));
}

static const struct {
    const char *stage;
    int64_t params[2];
    struct wr_stage_room room;
    uint64_t at_tokens;
    uint32_t share_bp;
    const char *words;
} times[] = {
    {"clear", {6000, 500}, {1000, 900}, 600, 6000, NULL},
    {"clear", {6000, 500}, {0, 0}, 500, 0, NULL},
    {"drop_groups", {1000}, {1000, 900}, 810, 9000, NULL},
    {"fit", {0}, {1000, 900}, 900, 10000, NULL},
    {"fit", {0}, {0, 0}, 0, 10000, "when the window is full"},
    {"summarise_active", {0}, {1000, 900}, 800, 0, NULL},
    {"evict", {0}, {1000, 900}, 0, 0, "on arrival"},
    {"mask", {0}, {1000, 900}, 0, 0, "when enough results lie between"},
};

static void stages_say_when_they_act(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(times); i++) {
        struct wr_stage stage = {.def = wr_stage_def_find(wr_span_of(times[i].stage))};
        assert_non_null(stage.def);
        memcpy(stage.params, times[i].params, sizeof(times[i].params));
        struct wr_stage_when when = wr_stage_when(&stage, &times[i].room);
        if (when.at_tokens != times[i].at_tokens || when.share_bp != times[i].share_bp)
            fail_msg("%s: at %llu, %u", times[i].stage, (unsigned long long)when.at_tokens,
                     when.share_bp);
        if (times[i].words)
            assert_string_equal(when.words, times[i].words);
        else
            assert_null(when.words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_act_at_their_thresholds),
        cmocka_unit_test(stages_write_what_they_left_out),
        cmocka_unit_test(a_line_is_cut_at_a_character),
        cmocka_unit_test(a_result_whose_call_nobody_saw_stays),
        cmocka_unit_test(groups_that_cross_leave_in_order),
        cmocka_unit_test(texts_that_would_hold_a_condenser_are_too_long),
        cmocka_unit_test(a_loop_that_does_not_fold_is_not_taken),
        cmocka_unit_test(stages_say_when_they_act),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
