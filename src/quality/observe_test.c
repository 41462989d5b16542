#include "quality/observe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/span.h"
#include "tests/test_transcript.h"

/* A message of Messages, written with ' for ". */
#define SAY(words)    "{'role':'user','content':'" words "'}"
#define ANSWER(words) "{'role':'assistant','content':'" words "'}"
#define CALL(id, name, input)                                                       \
    "{'role':'assistant','content':[{'type':'tool_use','id':'" id "','name':'" name \
    "','input':" input "}]}"
#define RESULT(id, text)                                                                           \
    "{'role':'user','content':[{'type':'tool_result','tool_use_id':'" id "','content':'" text "'}" \
    "]}"
#define FAILED(id, text)                                                                      \
    "{'role':'user','content':[{'type':'tool_result','tool_use_id':'" id "','is_error':true," \
    "'content':'" text "'}]}"
#define READ(id, path)    CALL(id, "Read", "{'file_path':'" path "'}")
#define BASH(id, command) CALL(id, "Bash", "{'command':'" command "'}")
#define EDIT(id, path) \
    CALL(id, "Edit", "{'file_path':'" path "','old_string':'a','new_string':'b'}")
#define WRITE(id, text) CALL(id, "Write", "{'file_path':'/p/w','content':'" text "'}")
#define TWICE(command, first, second)                                               \
    SAY("go")                                                                       \
    "," BASH("1", command) "," RESULT("1", first) "," EDIT("2", "/p/a") "," RESULT( \
        "2", "done") "," BASH("3", command) "," RESULT("3", second)
#define RECALL(id) CALL(id, "weir_recall", "{'handle':'wr_00'}")
#define MARKER     "[weir wr_0123456789abcdef0123: 9 lines left out]"

static const struct row {
    const char *behaviour, *messages;
    const char *expected; /* "name=value" of what is not 0, in the order of the map */
    uint32_t changed;     /* which segments the model saw in another form: bits */
} rows[] = {
    {"a first question shows nothing", SAY("Wrong. Do it."), "", 0},
    {"a call that was made before, word for word",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," READ("2", "/p/a") "," RESULT("2",
                                                                                           "x"),
     "repeated_tool_call_count=1", 0},
    {"another file is another call",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," READ("2", "/p/b") "," RESULT("2",
                                                                                           "x"),
     "", 0},
    {"with an edit between it is no repetition",
     SAY("go") "," BASH("1", "make test") "," RESULT("1", "ok") "," EDIT("2", "/p/a") "," RESULT(
         "2", "done") "," BASH("3", "make test") "," RESULT("3", "ok"),
     "", 0},
    {"nor with a program between",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," BASH("2", "./gen") "," RESULT(
         "2", "") "," READ("3", "/p/a") "," RESULT("3", "y"),
     "", 0},
    {"a poll asks again by its nature",
     SAY("go") "," CALL("1", "TaskOutput", "{'task_id':'7'}") "," RESULT("1", "x") "," CALL(
         "2", "TaskOutput", "{'task_id':'7'}") "," RESULT("2", "x"),
     "", 0},
    {"what was repeated earlier is not counted again",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," READ("2", "/p/a") "," RESULT(
         "2", "x") "," READ("3", "/p/b") "," RESULT("3", "x"),
     "", 0},
    {"a file that was condensed is read again",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," CALL(
         "2", "Read", "{'file_path':'/p/a','offset':40}") "," RESULT("2", "y"),
     "model_reread_requests=1", 1u << 2},
    {"a file that was whole is read further",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," CALL(
         "2", "Read", "{'file_path':'/p/a','offset':40}") "," RESULT("2", "y"),
     "", 0},
    {"a file that was whole is read further beside one that was not",
     SAY("go") "," READ("1", "/p/b") "," RESULT("1", "x") "," READ("2", "/p/a") "," RESULT(
         "2", "x") "," CALL("3", "Read", "{'file_path':'/p/a','offset':40}") "," RESULT("3", "y"),
     "", 1u << 2},
    {"a file that was edited since is read for that",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," EDIT("2", "/p/a") "," RESULT(
         "2", "done") "," READ("3", "/p/a") "," RESULT("3", "y"),
     "", 1u << 2},
    {"an edit that does not fit, of a file that was whole",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," EDIT("2", "/p/a") "," FAILED(
         "2", "String to replace not found in file."),
     "failed_edits=1", 0},
    {"an edit that does not fit, of a file that the model saw shortened",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," EDIT("2", "/p/a") "," FAILED(
         "2", "String to replace not found in file."),
     "failed_edits=1 blind_edits=1", 1u << 2},
    {"an edit that does not fit, of a file that was read again whole",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," BASH("9", "ls") "," RESULT(
         "9",
         "x") "," READ("3",
                       "/p/a") "," RESULT("3",
                                          "x") "," EDIT("2",
                                                        "/p/a") "," FAILED("2",
                                                                           "String to replace not "
                                                                           "found in file."),
     "failed_edits=1", 1u << 2},
    {"an edit that fits",
     SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," EDIT("2", "/p/a") "," RESULT(
         "2", "The file has been updated."),
     "", 1u << 2},
    {"words like those in what a command prints",
     SAY("go") "," BASH("1", "npm run lint") "," RESULT("1", "old_string not found"), "", 0},
    {"a recall that brings something", SAY("go") "," RECALL("1") "," RESULT("1", "the text"),
     "recalls=1 is_recall_only", 0},
    {"a recall that says that it was never stored",
     SAY("go") "," RECALL("1") "," RESULT("1", "wr_00: never stored"),
     "missing_artifact_requests=1 is_recall_only", 0},
    {"a recall that fails", SAY("go") "," RECALL("1") "," FAILED("1", "what"),
     "missing_artifact_requests=1 is_recall_only", 0},
    {"a recall beside the user's words",
     SAY("go") "," RECALL("1") "," RESULT("1", "the text") "," SAY("and hurry"), "recalls=1", 0},
    {"the user corrects", SAY("go") "," ANSWER("Done.") "," SAY("You forgot the header."),
     "corrective_user_messages=1", 0},
    {"a host's own words are nobody's correction",
     SAY("go") "," ANSWER("Done.") "," SAY("<note>That is not what I asked for."), "", 0},
    {"our placeholder in a file",
     SAY("go") "," WRITE("1", "a\\n" MARKER "\\nb") "," RESULT("1", "done"),
     "placeholders_written=1", 0},
    {"our placeholder in a heredoc",
     SAY("go") "," BASH("1", "cat > f <<E\\n" MARKER "\\nE") "," RESULT("1", ""),
     "placeholders_written=1", 0},
    {"our placeholder in a question is no harm",
     SAY("go") "," CALL("1", "Grep", "{'pattern':'" MARKER "'}") "," RESULT("1", ""), "", 0},
    {"a test that passed and fails, with a changed prompt",
     SAY("go") "," BASH("1", "npm test") "," RESULT("1", "3 passed") "," EDIT(
         "2", "/p/a") "," RESULT("2", "done") "," BASH("3", "npm test") "," FAILED("3",
                                                                                   "Exit code 1"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"the same with the prompt as it came",
     SAY("go") "," BASH("1", "npm test") "," RESULT("1", "3 passed") "," EDIT(
         "2", "/p/a") "," RESULT("2", "done") "," BASH("3", "npm test") "," FAILED("3",
                                                                                   "Exit code 1"),
     "test_or_build_failed=1", 0},
    {"a test that failed before too",
     SAY("go") "," BASH("1", "npm test") "," FAILED("1", "Exit code 1") "," EDIT(
         "2", "/p/a") "," RESULT("2", "done") "," BASH("3", "npm test") "," FAILED("3",
                                                                                   "Exit code 1"),
     "", 1u << 2},
    {"a command that is neither test nor build",
     SAY("go") "," BASH("1", "ls x") "," RESULT("1", "x") "," EDIT("2", "/p/a") "," RESULT(
         "2", "done") "," BASH("3", "ls x") "," FAILED("3", "Exit code 2"),
     "", 1u << 2},
    {"a build that passed and fails",
     SAY("go") "," BASH("1", "cd p && make -j2") "," RESULT("1", "") "," EDIT(
         "2", "/p/a") "," RESULT("2",
                                 "done") "," BASH("3",
                                                  "cd p && make -j2") "," FAILED("3",
                                                                                 "Exit code 2"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"a test whose host gives no exit code",
     TWICE("make test", "12 passed", "FAILED tests/test_a.py::test_b\\n1 failed, 11 passed"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"behind a pipe the last line tells",
     TWICE("pytest -q 2>&1 | tail -1", "12 passed in 0.1s", "1 failed, 11 passed in 0.2s"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"so does make itself", TWICE("make test", "ok", "make: *** [Makefile:3: test] Error 1"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"and a compiler",
     TWICE("make -j2 | tail -3", "cc a.c", "a.c:3:1: error: expected declaration"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"the same command with another pipe is the same command",
     SAY("go") "," BASH("1", "make test") "," RESULT("1", "ok") "," EDIT("2", "/p/a") "," RESULT(
         "2", "done") "," BASH("3", "make test 2>&1 | tail -5") "," FAILED("3", "Exit code 2"),
     "test_or_build_failed_after_rewrite=1 test_or_build_failed=1", 1u << 2},
    {"a test that passes may speak of errors",
     TWICE("make test", "12 passed", "error: wrong input\\n12 passed, 0 failed"), "", 1u << 2},
    {"what has failed before, by its text alone",
     TWICE("make test", "2 failed, 10 passed", "1 failed, 11 passed"), "", 1u << 2},
};

static void write_quality(struct wr_buf *out, const struct wr_quality *q)
{
#define X(name, text) \
    if (q->name)      \
        wr_buf_printf(out, "%s" #name "=%llu", out->len ? " " : "", (unsigned long long)q->name);
    WR_QUALITY_MAP(X)
#undef X
    if (q->is_recall_only)
        wr_buf_printf(out, "%sis_recall_only", out->len ? " " : "");
}

static weir_span body_of(struct wr_buf *out, const char *messages)
{
    wr_buf_init(out, 1 << 20);
    wr_buf_text(out, "{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"messages\":[");
    wr_buf_text(out, messages);
    wr_buf_text(out, "]}");
    for (size_t i = 0; i < out->len; i++)
        if (out->bytes[i] == '\'')
            out->bytes[i] = '"';
    return wr_buf_view(out);
}

static void signs_are_seen_in_what_is_new(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_transcript test;
        struct wr_observed observed;
        struct wr_buf body, text;
        bool changed[32];

        for (uint32_t bit = 0; bit < 32; bit++)
            changed[bit] = rows[i].changed >> bit & 1;
        test_transcript_open(&test, body_of(&body, rows[i].messages));
        struct wr_observe_input input = {.transcript = &test.transcript,
                                         .changed = rows[i].changed ? changed : NULL,
                                         .changed_count = 32};
        wr_quality_observe(&input, &observed);
        wr_buf_init(&text, 4096);
        write_quality(&text, &observed.quality);
        test_text_is(rows[i].behaviour, wr_buf_view(&text), rows[i].expected);
        wr_buf_release(&text);
        wr_buf_release(&body);
        test_transcript_close(&test);
    }
}

static void outputs_are_counted_behind_the_first_edit(void **state)
{
    struct test_transcript test;
    struct wr_observed observed;
    struct wr_buf body;
    (void)state;
    test_transcript_open(
        &test,
        body_of(
            &body,
            SAY("go") "," READ("1", "/p/a") "," RESULT("1", "x") "," EDIT("2", "/p/a") "," RESULT(
                "2", "ok") "," BASH("3",
                                    "make") "," RESULT("3",
                                                       "ok") "," EDIT("4",
                                                                      "/p/b") "," RESULT("4",
                                                                                         "ok")));
    struct wr_observe_input input = {.transcript = &test.transcript};
    wr_quality_observe(&input, &observed);
    assert_int_equal(observed.outputs_after_edit, 2);
    wr_buf_release(&body);
    test_transcript_close(&test);
}

/* ---- the answer ---- */

static const struct {
    const char *behaviour, *finish;
    uint32_t calls;
    enum wr_answer_error error;
    bool is_completed;
} ends[] = {
    {"Chat: it stops", "stop", 0, WR_ANSWER_ERROR_NONE, true},
    {"Messages: its turn ends", "end_turn", 0, WR_ANSWER_ERROR_NONE, true},
    {"Responses: it is completed", "completed", 0, WR_ANSWER_ERROR_NONE, true},
    {"a call goes on", "completed", 1, WR_ANSWER_ERROR_NONE, false},
    {"a limit is no end", "max_tokens", 0, WR_ANSWER_ERROR_NONE, false},
    {"nor is a refusal", "refusal", 0, WR_ANSWER_ERROR_NONE, false},
    {"nor an error", "stop", 0, WR_ANSWER_ERROR_CONTEXT, false},
    {"nor silence", "", 0, WR_ANSWER_ERROR_NONE, false},
};

static void a_loop_ends_with_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ends); i++) {
        struct wr_quality q = {0};
        struct wr_answer_seen seen = {.error = ends[i].error,
                                      .finish = wr_span_of(ends[i].finish),
                                      .calls_count = ends[i].calls,
                                      .input_tokens = 700,
                                      .outputs_after_edit = 3};
        wr_quality_answer(&seen, &q);
        if (q.task_completed != ends[i].is_completed ||
            q.additional_turns_before_completion != (ends[i].is_completed ? 3 : 0) ||
            q.final_total_input_tokens != (ends[i].is_completed ? 700 : 0))
            fail_msg("%s", ends[i].behaviour);
    }
}

static void a_prompt_too_long_is_counted_however_it_shows(void **state)
{
    struct wr_quality q = {0};
    (void)state;
    wr_quality_answer(
        &(struct wr_answer_seen){.finish = WR_LIT("stop"), .is_overflow_retried = true}, &q);
    assert_int_equal(q.upstream_context_errors, 1);
    assert_int_equal(q.task_completed, 1);
    wr_quality_answer(&(struct wr_answer_seen){.finish = WR_LIT("model_context_window_exceeded")},
                      &q);
    assert_int_equal(q.upstream_context_errors, 2);
    /* The second try was too long as well: it is still one request that did not fit. */
    wr_quality_answer(
        &(struct wr_answer_seen){.error = WR_ANSWER_ERROR_CONTEXT, .is_overflow_retried = true},
        &q);
    assert_int_equal(q.upstream_context_errors, 3);
}

/* ==== corrections ==== */

static const struct {
    const char *message;
    bool is_correction;
} messages[] = {
    {"No, that's not what I asked for.", true},
    {"Wrong. The port is 8080.", true},
    {"wrong", true},
    {"No! Leave main alone", true},
    {"That\xe2\x80\x99s not right, the file has two of them", true},
    {"You forgot the header.", true},
    {"It still fails with the same error", true},
    {"Good start, but this is not what I wanted.", true},
    {"please undo that", true},
    {"Revert your last change", true},
    {"I said the other folder", true},
    {"  try again\n", true},
    /* what only looks like it */
    {"No problem, go on.", false},
    {"No.", false},
    {"No, that is fine, thanks", false},
    {"Wrong file is opened when I press Enter: find out why", false},
    {"Why is this test wrong?", false},
    {"Add undo and redo to the editor", false},
    {"Undo/redo should be kept across sessions", false},
    {"That's not a problem, go on", false},
    {"Nothing to add.", false},
    {"the build still needs a cache", false},
    {"You did notice the second file?", false},
    {"Good, now write the docs", false},
    {"", false},
    /* German */
    {"Nein, das ist falsch.", true},
    {"Falsch! Der Port ist 8080", true},
    {"Das stimmt so nicht, es sind zwei", true},
    {"Du hast vergessen, den Kopf zu schreiben", true},
    {"Es funktioniert immer noch nicht", true},
    {"Guter Anfang, aber das ist nicht das, was ich wollte.", true},
    {"Mach das rückgängig", true},
    {"Nein, das ist in Ordnung", false},
    {"Nein danke", false},
    {"Falsche Datei wird geöffnet: warum?", false},
    {"Rückgängig machen soll es auch geben", false},
    {"Das ist nicht schlimm, mach weiter", false},
    {"Warum ist dieser Test falsch?", false},
    /* French */
    {"Non, ce n’est pas ça", true},
    {"Ça ne marche toujours pas", true},
    {"ÇA NE FONCTIONNE PAS !", true},
    {"Ça ne fonctionne pas.", true},
    {"Tu as oublié le fichier d'en-tête", true},
    {"Bien, mais ce n'est pas ce que je voulais", true},
    {"Faux, il y en a deux", true},
    {"Non, ce n'est pas grave", false},
    {"Non merci", false},
    {"Fausse alerte, continue", false},
    {"Ajoute annuler et rétablir", false},
    /* Spanish */
    {"No, eso está mal", true},
    {"Te olvidaste del encabezado", true},
    {"Sigue fallando con el mismo error", true},
    {"No funciona.", true},
    {"Está bien, pero no es lo que pedí", true},
    {"No, gracias", false},
    {"No funciona el botón de guardar cuando no hay red", false},
    {"Malas rutas deben dar un error claro", false},
    {"No es lo que parece", false},
    {"Añade deshacer y rehacer", false},
    /* Portuguese */
    {"Não, isso está errado", true},
    {"Você esqueceu o cabeçalho", true},
    {"Ainda não funciona", true},
    {"Errado. A porta é 8080", true},
    {"Quase, mas não foi o que eu pedi", true},
    {"Não, obrigado", false},
    {"Não, está tudo bem", false},
    {"Erradicar esse erro é o próximo passo", false},
    {"Adicione desfazer e refazer", false},
    /* Chinese */
    {"不对，应该是8080端口", true},
    {"错了", true},
    {"你忘了头文件", true},
    {"还是不行", true},
    {"这不是我想要的", true},
    {"挺好，但这不是我要的结果", true},
    {"不對。", true},
    {"不对称加密怎么实现？", false},
    {"错了多少个测试？", false},
    {"不行的话就用另一个办法", false},
    {"不用了，谢谢", false},
    {"添加撤销和重做功能", false},
    {"为什么这个测试是错的？", false},
    /* Japanese */
    {"違います。ポートは8080です", true},
    {"違う、そのファイルじゃない", true},
    {"まだ動きません", true},
    {"いいえ、違います", true},
    {"元に戻してください", true},
    {"惜しいですが、頼んだことと違います", true},
    {"違うファイルを開いてください", false},
    {"いいえ、大丈夫です", false},
    {"元に戻す機能を追加して", false},
    {"間違い探しのゲームを作って", false},
    {"やり直し機能も必要です", false},
    {"エラーの原因を調べてください", false},
};

static void corrections_are_told_from_other_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(messages); i++)
        if (wr_is_correction(wr_span_of(messages[i].message)) != messages[i].is_correction)
            fail_msg("'%s' is %sa correction", messages[i].message,
                     messages[i].is_correction ? "" : "not ");
}

static void only_the_front_is_read(void **state)
{
    char text[1000];
    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + 500, " that's wrong ", 14);
    assert_false(wr_is_correction((weir_span){text, sizeof(text)}));
    memcpy(text + 100, " that's wrong ", 14);
    assert_true(wr_is_correction((weir_span){text, sizeof(text)}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_are_seen_in_what_is_new),
        cmocka_unit_test(outputs_are_counted_behind_the_first_edit),
        cmocka_unit_test(a_loop_ends_with_words),
        cmocka_unit_test(a_prompt_too_long_is_counted_however_it_shows),
        cmocka_unit_test(corrections_are_told_from_other_words),
        cmocka_unit_test(only_the_front_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
