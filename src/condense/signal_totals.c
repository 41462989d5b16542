/* Totals of a run: "3 failed, 10 passed", "Tests run: 5, Failures: 1", "# fail 3".
 *
 * Every number of a line is paired with the word that says what it counts, behind it or before it;
 * what these words are decides whether the line is one of totals at all. Numbers and words make the
 * signal, so that two runners that say the same in another order of words agree.
 */
#include "condense/signal_scanner.h"

/* DECISIVE words make a line one of totals; the others only belong to such a line. */
enum weight { UNKNOWN, COUNTED, TROUBLE, DECISIVE };

static enum weight weight_of(weir_span word)
{
    static struct wr_words words[] = {
        [DECISIVE] =
            WR_WORDS("passed|passing|failed|failing|failures|failure|examples|pass|fail|xfailed"),
        [TROUBLE] = WR_WORDS("error|errors|warning|warnings|problems|problem|issues|issue"),
        [COUNTED] =
            WR_WORDS("skipped|skips|pending|ignored|xpassed|deselected|todo|tests|test|assertions|"
                     "runs|run|total|cancelled|measured|flaky|suites|filtered|succeeded|specs|"
                     "cases|checks|scenarios|steps|doctests"),
    };
    enum weight weight = word.len < 3 ? UNKNOWN : DECISIVE;
    while (weight && !wr_words_has_folded(&words[weight], word))
        weight--;
    return weight;
}

struct totals {
    char text[WR_SIGNAL_TEXT_BYTES_MAX];
    size_t len, pairs, decisive, trouble;
    bool any; /* a count that is not zero */
};

static void add_pair(struct totals *totals, weir_span number, weir_span word, enum weight weight)
{
    totals->pairs++;
    totals->decisive += weight == DECISIVE;
    totals->trouble += weight == TROUBLE;
    for (size_t i = 0; i < number.len; i++)
        totals->any |= number.ptr[i] != '0';
    if (totals->len + number.len + word.len + 3 > sizeof(totals->text))
        return;
    if (totals->len) {
        totals->text[totals->len++] = ',';
        totals->text[totals->len++] = ' ';
    }
    memcpy(totals->text + totals->len, number.ptr, number.len);
    totals->len += number.len;
    totals->text[totals->len++] = ' ';
    for (size_t i = 0; i < word.len; i++)
        totals->text[totals->len++] = wr_lower(word.ptr[i]);
}

static weir_span word_at(weir_span text, size_t at)
{
    size_t end = at;
    while (end < text.len && wr_is_alpha(text.ptr[end]))
        end++;
    return wr_span_cut(text, at, end);
}

/* "3 failed", "2 tests failed", "1 Warning(s)": the word that says what was counted. */
static weir_span word_behind(weir_span text, size_t at)
{
    size_t start = at;
    while (start && wr_is_digit(text.ptr[start - 1]))
        start--;
    bool apart = !start || memchr(" \t([|", text.ptr[start - 1], 5) ||
                 (unsigned char)text.ptr[start - 1] >= 0x80;
    if (at >= text.len || text.ptr[at] != ' ' || !apart)
        return (weir_span){"", 0};
    weir_span word = word_at(text, at + 1);
    size_t next = at + 1 + word.len;
    if (next >= text.len || text.ptr[next] != ' ' || weight_of(word) != COUNTED)
        return word;
    weir_span second = word_at(text, next + 1);
    return weight_of(second) == DECISIVE ? second : word;
}

/* "Failures: 1", "failures=1", "FAIL (3)", "# fail 3": the word before the number. */
static weir_span word_before(weir_span text, size_t at)
{
    size_t end = at;
    if (at > 2 && text.ptr[at - 1] == '(' && text.ptr[at - 2] == ' ') {
        size_t first = at - 2;
        while (first && wr_is_upper(text.ptr[first - 1]))
            first--;
        return wr_span_cut(text, first, at - 2);
    }
    while (end && text.ptr[end - 1] == ' ')
        end--;
    bool hash = end < at && text.ptr[0] == '#';
    if (!hash) {
        if (!end || (text.ptr[end - 1] != ':' && text.ptr[end - 1] != '='))
            return (weir_span){"", 0};
        end--;
        if (end > 2 && wr_span_ends(wr_span_cut(text, 0, end), WR_LIT("(s)")))
            end -= 3;
    }
    size_t start = end;
    while (start && wr_is_alpha(text.ptr[start - 1]))
        start--;
    return wr_span_cut(text, start, end);
}

static void read_pairs(weir_span text, struct totals *totals)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!wr_is_digit(text.ptr[i]) ||
            (i && (wr_is_word(text.ptr[i - 1]) || text.ptr[i - 1] == '.')))
            continue;
        size_t end = i;
        while (end < text.len && wr_is_digit(text.ptr[end]))
            end++;
        /* "Tests: 1 failed": what stands behind the number says it, where there is such a word. */
        weir_span number = wr_span_cut(text, i, end), word = word_behind(text, end);
        enum weight weight = weight_of(word);
        if (weight == UNKNOWN) {
            word = word_before(text, i);
            weight = weight_of(word);
        }
        if (weight != UNKNOWN)
            add_pair(totals, number, word, weight);
        i = end;
    }
}

static unsigned words_of(weir_span text)
{
    unsigned words = 0;
    for (size_t i = 0; i < text.len; i++)
        words += wr_is_alpha(text.ptr[i]) && (!i || !wr_is_word(text.ptr[i - 1]));
    return words;
}

enum { WORDS_MAX = 9 };

static bool says_totals(weir_span text, const struct totals *totals)
{
    unsigned words = words_of(text);
    if (totals->decisive)
        return totals->pairs >= 2 || words <= WORDS_MAX;
    /* "Found 3 errors in 2 files", "1 error generated.", "Errors: 1". */
    bool opens = wr_is_digit(text.ptr[0]) || wr_span_starts(text, WR_LIT("Found ")) ||
                 (unsigned char)text.ptr[0] >= 0x80 || words <= 2;
    return totals->trouble && opens && words <= WORDS_MAX;
}

bool wr_signal_totals(struct wr_signal_scanner *scanner, weir_span text)
{
    struct totals totals; /* its text is written before it is read */
    totals.len = totals.pairs = totals.decisive = totals.trouble = 0;
    totals.any = false;
    if (text.len > WR_SIGNAL_TEXT_BYTES_MAX)
        return false; /* totals are short */
    read_pairs(text, &totals);
    if (!totals.pairs || !says_totals(text, &totals))
        return false;
    if (totals.any)
        wr_signal_add_exact(scanner, WR_SIGNAL_TOTALS, (weir_span){totals.text, totals.len});
    return true;
}
