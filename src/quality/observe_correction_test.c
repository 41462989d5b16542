#include "quality/observe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(corrections_are_told_from_other_words),
                                       cmocka_unit_test(only_the_front_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
