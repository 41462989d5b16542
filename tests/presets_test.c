/* The presets' laws, and those of policies with stages that no preset has, on recorded sessions:
 * the newest requests of eight sessions, in all four dialects. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "policy/marker.h"
#include "policy/policy.h"
#include "tests/fold_laws.h"
#include "tests/traces.h"

enum { SESSIONS_TRIED = 6, REQUESTS_TRIED = 14, REQUESTS_TRIED_OWN = 6 };

static const char own_policies[] =
    "policies:\n"
    "  condensing:\n"
    "    stages:\n"
    "      - {stage: reference}\n"
    "      - {stage: condense, run_over: 500, run_to: 250, read_over: 1500, read_to: 700}\n"
    "      - {stage: clear, at_bp: 8000, keep: 6}\n"
    "  pruned:\n"
    "    stages:\n"
    "      - {stage: prune_arguments, at_bp: 2000, older_turns: 3, min_tokens: 64}\n"
    "      - {stage: clear, at_bp: 5000, tools: {Bash: {older_turns: 2}, Read: exact}}\n"
    "      - {stage: rehydrate, max_tokens: 2000}\n"
    "  recalling:\n"
    "    like: guarded-mid\n"
    "    stages:\n"
    "      - {stage: reference}\n"
    "      - {stage: cap, max_tokens: 1000, keep: both, tools: {Bash: {max_tokens: 500}}}\n"
    "      - {stage: rehydrate, max_tokens: 1500}\n"
    "      - {stage: prune_arguments, at_bp: 3000, older_turns: 2}\n"
    "      - {stage: fold_loops}\n"
    "      - {stage: summarise_active}\n";

/* Under sanitizers some windows and dialects are enough: the others take the same ways. */
static bool is_sample(void)
{
    return traces_setting("WEIR_SESSIONS", SESSIONS_TRIED) < SESSIONS_TRIED;
}

/* What all requests of a run have in common. */
struct kind {
    const char *name;
    bool without_recall, thinks;
    uint64_t window_tokens; /* 0: another for each session and dialect */
};

static bool session_holds(const struct traces *traces, size_t index, const struct wr_policy *policy,
                          uint32_t requests_max, const struct kind *kind,
                          struct fold_laws_counts *counts)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    static const uint64_t windows[] = {32000, 64000, 200000};
    struct wr_arena arena;
    struct wr_buf text;
    struct wr_session session;
    bool ok = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    traces_read(traces, index, &text, &arena, &session);
    for (size_t d = 0; d < WR_COUNT_OF(dialects); d++) {
        /* The newest take turns, unless all sessions are wanted: a fifth of the time is much. */
        size_t newest = index % 4 == 3 ? 4 : index % 4 == 1 ? 5 : 3;
        if (traces_setting("WEIR_SESSIONS", 0) <= SESSIONS_TRIED && d >= 3 && d != newest)
            continue;
        struct fold_laws_case c = {&session,
                                   policy,
                                   dialects[d],
                                   windows[(index + d) % 3],
                                   requests_max,
                                   .without_recall = kind->without_recall,
                                   .thinks = kind->thinks};
        if (kind->thinks && dialects[d] != WEIR_DIALECT_CHAT &&
            dialects[d] != WEIR_DIALECT_MESSAGES)
            c.thinks = false; /* there nothing is signed over what stands before */
        if (kind->window_tokens)
            c.window_tokens = kind->window_tokens;
        if (fold_laws_hold(&c, counts))
            continue;
        printf("  in %s\n", traces->paths[index]);
        ok = false;
    }
    wr_buf_release(&text);
    wr_arena_release(&arena);
    return ok;
}

static void print_counts(const struct wr_policy *policy, const struct fold_laws_counts *c)
{
    printf(
        "note: %-12s %5llu requests, %6llu edits, %4llu inserts, %4llu steps, tokens to %5.1f %%, "
        "%llu pruned, %llu rehydrated, %llu over the window\n",
        policy->name, (unsigned long long)c->requests, (unsigned long long)c->edits,
        (unsigned long long)c->inserts, (unsigned long long)c->steps,
        c->tokens_before ? 100.0 * (double)c->tokens_after / (double)c->tokens_before : 100.0,
        (unsigned long long)c->pruned, (unsigned long long)c->rehydrated,
        (unsigned long long)c->over_window);
}

static void laws_hold_for_every_policy(void **state)
{
    struct wr_policies *policies;
    struct traces traces;
    bool ok = true;
    (void)state;

    assert_int_equal(wr_policies_new(&policies, wr_span_of(own_policies), NULL), WEIR_OK);
    traces_open(&traces);
    size_t step = traces_step(&traces, traces_setting("WEIR_SESSIONS", SESSIONS_TRIED));
    for (uint32_t p = 0; p < wr_policies_count(policies); p++) {
        /* The policies made here show that stages combine; the presets are what people use, and
         * lean and careful are auto with other numbers. */
        const char *name = wr_policies_at(policies, p)->name;
        bool is_variant = !strcmp(name, "lean") || !strcmp(name, "careful");
        bool is_preset = p < wr_policy_count() && !is_variant;
        uint32_t wanted_here = is_preset ? REQUESTS_TRIED : REQUESTS_TRIED_OWN;
        uint32_t requests_max = traces_setting("WEIR_REQUESTS", wanted_here);
        struct fold_laws_counts counts = {0};
        for (size_t i = 0; i < traces.count; i += step)
            ok &= session_holds(&traces, i, wr_policies_at(policies, p), requests_max,
                                &(struct kind){.name = "plain"}, &counts);
        print_counts(wr_policies_at(policies, p), &counts);
    }
    traces_close(&traces);
    wr_policies_free(policies);
    assert_true(ok);
}

/* ---- the window promise ---- */

static bool has_fit(const struct wr_policy *policy)
{
    return policy->stages_count &&
           !strcmp(policy->stages[policy->stages_count - 1].def->name, "fit");
}

/* Requests over the window that offer no recall tool, that stand inside of calls with bound
 * thinking, or both: all of them fit, and all laws hold for them. */
static void no_request_is_refused_for_its_length(void **state)
{
    static const struct kind kinds[] = {{"no recall", true, false, 16000},
                                        {"thinking", false, true, 16000},
                                        {"both", true, true, 24000}};
    struct traces traces;
    bool ok = true;
    (void)state;

    traces_open(&traces);
    size_t step = traces_step(&traces, traces_setting("WEIR_SESSIONS", SESSIONS_TRIED));
    size_t kinds_step = 2 * WR_COUNT_OF(kinds) * step;
    for (size_t k = 0; k < WR_COUNT_OF(kinds); k++) {
        struct fold_laws_counts all = {0};
        for (uint32_t p = 0; p < wr_policy_count(); p++) {
            struct fold_laws_counts counts = {0};
            if (!has_fit(wr_policy_at(p)))
                continue;
            /* Each kind has sessions of its own: all three would take three times as long. */
            for (size_t i = (p + k * step) % kinds_step; i < traces.count; i += kinds_step)
                ok &= session_holds(&traces, i, wr_policy_at(p),
                                    traces_setting("WEIR_REQUESTS", REQUESTS_TRIED_OWN), &kinds[k],
                                    &counts);
            if (counts.over_promise) {
                printf("BROKEN: %s, %s: %llu over the window\n", kinds[k].name,
                       wr_policy_at(p)->name, (unsigned long long)counts.over_promise);
                ok = false;
            }
            all.requests += counts.requests;
            all.operators += counts.operators;
            all.folded_open += counts.folded_open;
        }
        printf("note: %s: %llu requests, %llu with the operator as way back, %llu with their "
               "running calls in one message\n",
               kinds[k].name, (unsigned long long)all.requests, (unsigned long long)all.operators,
               (unsigned long long)all.folded_open);
        assert_true((all.operators > 0) == kinds[k].without_recall);
        assert_true(all.folded_open > 0 || !kinds[k].thinks);
    }
    traces_close(&traces);
    assert_true(ok);
}

/* ---- a session whose user names handles ---- */

enum { RESULT_LINES = 300, LOOPS = 4 };

static void write_result(struct wr_buf *out, int loop)
{
    for (int i = 0; i < RESULT_LINES; i++)
        wr_buf_printf(out, "loop %d, line %d of what the command printed\n", loop, i);
}

static void write_line(struct wr_buf *out, const char *format, weir_span text)
{
    const char *hole = strstr(format, "@");
    for (const char *c = format; *c; c++) {
        if (c != hole)
            wr_buf_byte(out, *c == '\'' ? '"' : *c);
        else
            wr_json_escape(out, text);
    }
    wr_buf_byte(out, '\n');
}

/* Each loop has a write and a long result; its successor asks for that result by its handle. */
static void write_naming_session(struct wr_buf *out)
{
    struct wr_buf result, ask, call;
    struct wr_handle handle = {{0}};

    wr_buf_init(&result, 1 << 20);
    wr_buf_init(&ask, 1 << 20);
    wr_buf_init(&call, 1 << 20);
    for (int i = 0; i < LOOPS; i++) {
        wr_buf_reset(&ask);
        wr_buf_printf(&ask, "%s %s", i ? "what did it print?" : "begin", i ? handle.text : "");
        write_line(out, "{'role':'user','content':'@'}", wr_buf_view(&ask));
        wr_buf_reset(&result);
        write_result(&result, i);
        wr_buf_reset(&call);
        write_line(&call, "{'file_path':'a.txt','content':'@'}", wr_buf_view(&result));
        call.len--; /* the line's end */
        write_line(out,
                   "{'role':'assistant','content':null,'tool_calls':[{'id':'w','type':'function',"
                   "'function':{'name':'Write','arguments':'@'}}]}",
                   wr_buf_view(&call));
        write_line(out, "{'role':'tool','tool_call_id':'w','content':'@'}",
                   WR_LIT("written: 300 lines"));
        write_line(out,
                   "{'role':'assistant','content':null,'tool_calls':[{'id':'r','type':'function',"
                   "'function':{'name':'Bash','arguments':'@'}}]}",
                   WR_LIT("{\"command\":\"./run\"}"));
        wr_buf_text(&result, "done\n");
        write_line(out, "{'role':'tool','tool_call_id':'r','content':'@'}", wr_buf_view(&result));
        write_line(out, "{'role':'assistant','content':'@'}", WR_LIT("That is all."));
        assert_int_equal(wr_handle_of(wr_buf_view(&result), &handle), WEIR_OK);
    }
    wr_buf_release(&call);
    wr_buf_release(&ask);
    wr_buf_release(&result);
}

static void named_handles_come_back_under_the_same_laws(void **state)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    struct fold_laws_counts counts = {0};
    struct wr_policies *policies;
    struct wr_session session;
    struct wr_arena arena;
    struct wr_buf text;
    bool ok = true;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    write_naming_session(&text);
    assert_int_equal(wr_policies_new(&policies, wr_span_of(own_policies), NULL), WEIR_OK);
    assert_int_equal(wr_session_read(&session, &arena, wr_buf_view(&text), NULL), WEIR_OK);
    for (uint32_t p = wr_policy_count(); p < wr_policies_count(policies); p++)
        for (size_t d = 0; d < WR_COUNT_OF(dialects); d++)
            for (uint64_t window_tokens = 10000; window_tokens <= 40000; window_tokens += 15000) {
                if (is_sample() && window_tokens != 25000)
                    continue;
                struct fold_laws_case c = {&session,       wr_policies_at(policies, p),
                                           dialects[d],    window_tokens,
                                           REQUESTS_TRIED, false,
                                           false};
                ok &= fold_laws_hold(&c, &counts);
            }
    printf("note: %llu requests, %llu pruned, %llu rehydrated\n",
           (unsigned long long)counts.requests, (unsigned long long)counts.pruned,
           (unsigned long long)counts.rehydrated);
    assert_true(ok && counts.pruned > 0 && counts.rehydrated > 0);
    wr_policies_free(policies);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

/* ---- a session that reads instructions ---- */

static void write_call(struct wr_buf *out, const char *id, const char *tool, const char *arguments,
                       weir_span result)
{
    struct wr_buf line;
    wr_buf_init(&line, 1 << 20);
    wr_buf_printf(&line,
                  "{'role':'assistant','content':null,'tool_calls':[{'id':'%s','type':'function',"
                  "'function':{'name':'%s','arguments':'@'}}]}",
                  id, tool);
    wr_buf_byte(&line, 0);
    write_line(out, line.bytes, wr_span_of(arguments));
    wr_buf_reset(&line);
    wr_buf_printf(&line, "{'role':'tool','tool_call_id':'%s','content':'@'}", id);
    wr_buf_byte(&line, 0);
    write_line(out, line.bytes, result);
    wr_buf_release(&line);
}

static void write_lines(struct wr_buf *out, const char *format, int number)
{
    wr_buf_reset(out);
    for (int i = 0; i < RESULT_LINES; i++)
        wr_buf_printf(out, format, number, i);
}

static const struct {
    const char *tool, *arguments;
} instructing_calls[] = {
    {"Read", "{\"file_path\":\"CLAUDE.md\"}"},
    {"Bash", "{\"command\":\"ls && cat AGENTS.md\"}"},
    {"Skill", "{\"skill\":\"pdf\"}"},
    {"read_file", "{\"path\":\".claude/skills/x/SKILL.md\"}"},
    {"activate_skill", "{\"name\":\"docx\"}"},
    {"shell", "{\"command\":[\"bash\",\"-lc\",\"sed -n 1,400p .cursor/rules/a.mdc\"]}"},
};

enum { INSTRUCTING_CALLS = WR_COUNT_OF(instructing_calls) };

/* A loop shows instructions first, between other results, or last; one changes a file of them. */
static void write_instructing_session(struct wr_buf *out)
{
    struct wr_buf result;
    char id[16], arguments[64];

    wr_buf_init(&result, 1 << 20);
    for (int loop = 0; loop < INSTRUCTING_CALLS; loop++) {
        write_line(out, "{'role':'user','content':'@'}", WR_LIT("go on"));
        for (int i = 0; i < 4; i++) {
            if (i == loop % 4) {
                write_lines(&result, "- Rule %d.%d: tabs, never spaces.\n", loop);
                (void)snprintf(id, sizeof(id), "s%d", loop);
                write_call(out, id, instructing_calls[loop].tool, instructing_calls[loop].arguments,
                           wr_buf_view(&result));
            }
            write_lines(&result, "int value_%d_%d;\n", loop * 4 + i);
            (void)snprintf(id, sizeof(id), "r%d_%d", loop, i);
            (void)snprintf(arguments, sizeof(arguments), "{\"file_path\":\"src/f%d_%d.c\"}", loop,
                           i);
            write_call(out, id, "Read", arguments, wr_buf_view(&result));
        }
        if (loop == 3)
            write_call(out, "w", "Write", "{\"file_path\":\"CLAUDE.md\",\"content\":\"Spaces.\"}",
                       WR_LIT("written"));
        write_line(out, "{'role':'assistant','content':'@'}", WR_LIT("That is all."));
    }
    write_line(out, "{'role':'user','content':'@'}", WR_LIT("thanks"));
    write_line(out, "{'role':'assistant','content':'@'}", WR_LIT("Welcome."));
    wr_buf_release(&result);
}

static void instructions_stay_whole_under_every_policy(void **state)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    struct wr_policies *policies;
    struct wr_session session;
    struct wr_arena arena;
    struct wr_buf text;
    bool ok = true;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    write_instructing_session(&text);
    assert_int_equal(wr_policies_new(&policies, wr_span_of(own_policies), NULL), WEIR_OK);
    assert_int_equal(wr_session_read(&session, &arena, wr_buf_view(&text), NULL), WEIR_OK);
    for (uint32_t p = 0; p < wr_policies_count(policies); p++) {
        const struct wr_policy *policy = wr_policies_at(policies, p);
        struct fold_laws_counts counts = {0};
        for (size_t d = 0; d < WR_COUNT_OF(dialects); d++)
            for (uint64_t window_tokens = 20000; window_tokens <= 60000; window_tokens += 40000) {
                if (is_sample() && (p + d) % 3)
                    continue;
                struct fold_laws_case c = {&session, policy, dialects[d], window_tokens,
                                           64,       false,  false};
                ok &= fold_laws_hold(&c, &counts);
            }
        print_counts(policy, &counts);
        assert_true(counts.instructions >= INSTRUCTING_CALLS);
        bool changes_results = p < wr_policy_count() && strcmp(policy->name, "exact") != 0;
        assert_true(counts.edits + counts.inserts > 0 || !changes_results);
    }
    assert_true(ok);
    wr_policies_free(policies);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_request_is_refused_for_its_length),
        cmocka_unit_test(instructions_stay_whole_under_every_policy),
        cmocka_unit_test(named_handles_come_back_under_the_same_laws),
        cmocka_unit_test(laws_hold_for_every_policy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
