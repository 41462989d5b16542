/* Whether a user's message says that what was done is wrong: a table of words, and the search in
 * the front of a message.
 *
 * Three kinds of entries differ in where they count. A verdict ("wrong") counts if the message
 * begins with it and a mark or nothing follows, since "wrong file is open" is no verdict on the
 * work. An opening counts at the beginning, a sentence anywhere in the first FRONT_BYTES. In
 * languages that part words by spaces an entry must end where a word ends.
 */
#include "quality/correction.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"

/* Only the front of a message is read: whoever corrects says so first. */
enum { FRONT_BYTES = 240 };

/* All in lower case, with straight apostrophes, parted by '|'. The lists are short: each entry
 * means that something is wrong, and hardly ever anything else, in the place where it is looked
 * for. */
static const struct language {
    const char *language;
    bool has_spaces;       /* between words: then an entry ends where a word does */
    const char *openings;  /* how a message begins */
    const char *verdicts;  /* the same, where a mark or nothing follows */
    const char *sentences; /* anywhere in the front of a message */
} languages[] = {
    {
        .language = "English",
        .has_spaces = true,
        .openings =
            "no, that's wrong|no, that is wrong|no, that's not|no, that is not|no, you|no, not|"
            "no, it should|no, this is wrong|no, i meant|no, i said|no, i wanted|no, i asked|"
            "nope, that|nope, not|that's wrong|that is wrong|this is wrong|it's wrong|"
            "that's not right|that's not what|that's not it|that's not correct|that's not how|"
            "that is not right|that is not what|that is not how|that isn't right|that isn't what|"
            "this isn't what|this is not what|not like that|you broke|you forgot|you missed|"
            "you didn't|you did not|you removed|you deleted|you ignored|undo that|undo this|"
            "undo it|undo the last|undo your|revert that|revert this|revert it|revert your|"
            "still fails|still failing|still broken|still wrong|still not|still doesn't|"
            "it still fails|it still doesn't|it's still failing|it's still broken|"
            "it's still wrong|it's still not|it doesn't work|it does not work|that didn't work|"
            "that did not work|that doesn't work|doesn't work|does not work|try again|"
            "do it again|i said|i told you|i already told|i asked you|why did you|why have you",
        .verdicts = "wrong|incorrect|nope|no",
        .sentences =
            "not what i asked|not what i wanted|not what i meant|that's wrong|that is wrong|"
            "you broke|still doesn't work|still does not work|still not working|as i said before|"
            "like i said before|undo that|undo your|revert that change|revert your change",
    },
    {
        .language = "German",
        .has_spaces = true,
        .openings =
            "nein, das ist falsch|nein, das stimmt|nein, so nicht|nein, ich meinte|"
            "nein, ich wollte|nein, ich sagte|nein, du|das ist falsch|das war falsch|"
            "das stimmt nicht|das stimmt so nicht|das ist nicht richtig|das ist nicht das, was|"
            "das ist nicht, was|das war nicht gemeint|so war das nicht gemeint|du hast vergessen|"
            "du hast übersehen|mach das rückgängig|mach es rückgängig|mache das rückgängig|"
            "mach deine|es geht immer noch nicht|geht immer noch nicht|"
            "funktioniert immer noch nicht|es funktioniert immer noch nicht|"
            "das funktioniert immer noch nicht|immer noch falsch|immer noch kaputt|"
            "immer noch derselbe fehler|schlägt immer noch fehl|versuch es noch einmal|"
            "versuche es noch einmal|versuch es nochmal|ich habe gesagt|ich hatte gesagt|"
            "ich sagte doch|warum hast du",
        .verdicts = "falsch|es funktioniert nicht|das funktioniert nicht|das geht nicht|so nicht",
        .sentences = "nicht das, was ich wollte|nicht, was ich wollte|nicht das, was ich meinte|"
                     "funktioniert immer noch nicht|mach das rückgängig|wie ich schon sagte",
    },
    {
        .language = "French",
        .has_spaces = true,
        .openings =
            "non, ce n'est pas ça|non, ce n'est pas ce que|non, c'est faux|non, je voulais|"
            "non, j'ai dit|non, tu|c'est faux|c'est incorrect|ce n'est pas ça|"
            "ce n'est pas ce que|ce n'est pas correct|ce n'est pas bon|pas comme ça|tu as oublié|"
            "vous avez oublié|tu t'es trompé|vous vous êtes trompé|tu as cassé|vous avez cassé|"
            "tu as supprimé|annule ça|annule tes|annule ta dernière|"
            "annule la dernière modification|reviens en arrière|ça ne marche toujours pas|"
            "ça ne fonctionne toujours pas|ça échoue toujours|toujours la même erreur|"
            "toujours pas bon|j'ai dit|je t'ai dit|je vous ai dit|je t'ai demandé|pourquoi as-tu|"
            "pourquoi tu as",
        .verdicts = "faux|ça ne marche pas|ça ne fonctionne pas|réessaie|recommence",
        .sentences = "pas ce que je voulais|pas ce que j'ai demandé|ne marche toujours pas|"
                     "ne fonctionne toujours pas|annule tes modifications|comme je l'ai dit",
    },
    {
        .language = "Spanish",
        .has_spaces = true,
        .openings =
            "no, eso no es lo que|no, eso está mal|no, eso es incorrecto|no, quería|no, dije|"
            "no, te pedí|no es lo que pedí|no es lo que te pedí|no es lo que quería|"
            "eso no es lo que|esto no es lo que|eso está mal|esto está mal|eso es incorrecto|"
            "te equivocaste|te has equivocado|olvidaste|te olvidaste|has olvidado|"
            "te has olvidado|rompiste|has roto|deshaz eso|deshaz esto|deshaz lo|deshaz tus|"
            "deshaz el último|revierte eso|revierte tus|sigue fallando|sigue sin funcionar|"
            "sigue igual|todavía no funciona|todavía falla|aún no funciona|inténtalo de nuevo|"
            "inténtalo otra vez|te dije|ya te dije|te pedí|¿por qué has|por qué has",
        .verdicts = "incorrecto|mal|no funciona|así no",
        .sentences =
            "no es lo que pedí|no es lo que te pedí|no es lo que quería|sigue sin funcionar|"
            "todavía no funciona|deshaz tus cambios|como ya dije",
    },
    {
        .language = "Portuguese",
        .has_spaces = true,
        .openings =
            "não, isso está errado|não, não é isso|não, eu queria|não, eu disse|não, você|"
            "isso está errado|isso não está certo|isso não está correto|não é isso que|"
            "não foi isso que|não era isso que|não é o que eu|não foi o que eu|você esqueceu|"
            "esqueceste|você quebrou|você se enganou|você apagou|desfaça isso|desfaz isso|"
            "desfaça a última|desfaça suas|reverta isso|reverta suas|continua falhando|"
            "continua sem funcionar|continua dando erro|ainda não funciona|ainda falha|"
            "ainda está errado|tente de novo|tente novamente|tenta de novo|eu disse|eu já disse|"
            "eu pedi|por que você",
        .verdicts = "errado|não funciona|assim não",
        .sentences =
            "não foi o que eu pedi|não é o que eu pedi|não era o que eu queria|"
            "ainda não funciona|continua sem funcionar|desfaça suas alterações|como eu disse",
    },
    {
        .language = "Chinese",
        .has_spaces = false,
        .openings =
            "不是这样|不是這樣|这不是我要的|這不是我要的|这不是我想要的|這不是我想要的|"
            "我不是这个意思|我不是這個意思|你错了|你錯了|你搞错|你搞錯|你弄错|你弄錯|你理解错|"
            "你忘了|你漏了|你漏掉|还是不行|還是不行|还是报错|還是報錯|还是失败|還是失敗|还是不对|"
            "還是不對|仍然报错|仍然失败|撤销刚才|撤销你的|撤销上一|復原剛才|恢复刚才|我说的是|"
            "我說的是|我说过|我說過|再试一次|再試一次|你为什么删|你为什么改",
        .verdicts = "不对|不對|错了|錯了|不行|重做|重来",
        .sentences =
            "不是我要的|不是我想要的|你理解错了|还是不行|仍然不行|撤销你的修改|和我说的不一样",
    },
    {
        .language = "Japanese",
        .has_spaces = false,
        .openings =
            "違います|ちがいます|いや、違|いいえ、違|そうじゃない|そうじゃなくて|そうではなく|"
            "それは違|間違っています|間違ってます|間違いです|まだ動きません|まだ動かない|"
            "まだ失敗し|まだエラー|まだ直ってい|元に戻してください|元に戻して。|"
            "取り消してください|やり直してください|もう一度やり直|言ったのは|頼んだのは|"
            "お願いしたのは|なぜ消した|なんで消した",
        .verdicts = "違う|ちがう|間違い|だめ|やり直し|元に戻して",
        .sentences = "頼んだものと違|頼んだことと違|言ったことと違|期待していたものではな|"
                     "変更を元に戻してください|前にも言いましたが",
    },
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* The second byte of a letter of Latin-1, such as the one of an E with an accent. */
static char lower_latin(unsigned char second)
{
    bool is_upper = second >= 0x80 && second <= 0x9e && second != 0x97;
    return (char)(is_upper ? second + 0x20 : second);
}

/* In lower case, with curly apostrophes made straight. */
static weir_span front_of(weir_span message, char into[FRONT_BYTES])
{
    weir_span text = wr_span_trim(message);
    size_t bytes = 0;

    for (size_t i = 0; i < text.len && bytes < FRONT_BYTES; i++) {
        if (wr_span_starts(wr_span_cut(text, i, text.len), WR_LIT("\xe2\x80\x99"))) {
            into[bytes++] = '\'';
            i += 2;
        } else if (i && text.ptr[i - 1] == '\xc3') {
            into[bytes++] = lower_latin((unsigned char)text.ptr[i]);
        } else {
            into[bytes++] = wr_lower(text.ptr[i]);
        }
    }
    return (weir_span){into, bytes};
}

static bool ends_word(weir_span front, size_t at)
{
    return at >= front.len || !is_letter(front.ptr[at]) || front.ptr[at - 1] == ' ';
}

static bool has_sentence(weir_span front, weir_span words, bool has_spaces)
{
    if (!has_spaces)
        return wr_span_find(front, words, 0) != SIZE_MAX;
    for (size_t at = 0; (at = wr_span_find(front, words, at)) != SIZE_MAX; at++)
        if ((!at || !is_letter(front.ptr[at - 1])) && ends_word(front, at + words.len))
            return true;
    return false;
}

/* A mark that ends a verdict, as Latin, French, and Chinese and Japanese texts have it. */
static bool is_mark(weir_span rest)
{
    static const char *const marks[] = {"!",         ".",  ",",  ":",  "\n", " !",
                                        "\xc2\xa0!", "！", "。", "，", "、", "："};
    for (size_t i = 0; i < WR_COUNT_OF(marks); i++)
        if (wr_span_starts(rest, wr_span_of(marks[i])))
            return true;
    return !rest.len;
}

/* "No." and "No, ..." also answer questions: of that word nothing but "No!" is a verdict. */
static bool is_verdict(weir_span front, weir_span verdict, bool has_spaces)
{
    (void)has_spaces;
    if (!wr_span_starts(front, verdict))
        return false;
    weir_span rest = wr_span_cut(front, verdict.len, front.len);
    return wr_span_is(verdict, "no") ? wr_span_starts(rest, WR_LIT("!")) : is_mark(rest);
}

static bool is_opening(weir_span front, weir_span words, bool has_spaces)
{
    return wr_span_starts(front, words) && (!has_spaces || ends_word(front, words.len));
}

typedef bool entry_fn(weir_span front, weir_span entry, bool has_spaces);

/* Whether one entry of a list is said. */
static bool says_one(weir_span front, const char *list, bool has_spaces, entry_fn *is_said)
{
    for (const char *at = list; *at;) {
        size_t bytes = strcspn(at, "|");
        if (is_said(front, (weir_span){at, bytes}, has_spaces))
            return true;
        at += bytes + (at[bytes] == '|');
    }
    return false;
}

bool wr_is_correction(weir_span message)
{
    char lower[FRONT_BYTES];
    weir_span front = front_of(message, lower);

    for (size_t i = 0; i < WR_COUNT_OF(languages); i++) {
        const struct language *l = &languages[i];
        if (says_one(front, l->verdicts, l->has_spaces, is_verdict) ||
            says_one(front, l->openings, l->has_spaces, is_opening) ||
            says_one(front, l->sentences, l->has_spaces, has_sentence))
            return true;
    }
    return false;
}
