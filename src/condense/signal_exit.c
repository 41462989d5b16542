/* Exit codes, as shells, agents and build tools say them: "exited with code 1", "[exit 1]", "rc=1",
 * "make: *** [all] Error 2".
 *
 * A word such as "exit" is sought, and from there a number, over the few words that may stand
 * between
 * ("ed with code "). A number counts only where something on the way says that it is a code: prose
 * has "exit 3 times" and "exit 1 of 4", too.
 */
#include "condense/signal_scanner.h"

/* "[exit 1]": nothing else is in the brackets. */
static bool is_bracketed(weir_span text, size_t lead, size_t number)
{
    size_t end = number;
    while (end < text.len && wr_is_digit(text.ptr[end]))
        end++;
    return lead && text.ptr[lead - 1] == '[' && end < text.len && text.ptr[end] == ']';
}

/* Reads what may stand between "exit" and its number: "ed with code ", "_code>", " status: ".
 * `sure` tells whether it was said that the number is an exit code; `lead` is where the word
 * stands. Returns the offset of the number. */
static size_t skip_to_number(weir_span text, size_t lead, size_t at, bool *sure)
{
    static const char fillers[] =
        "ed|with|code|status|value|was|is|non-zero|nonzero|of|returned|error";
    bool with = false;
    *sure = false;
    for (int step = 0; step < 8 && at < text.len; step++) {
        char c = text.ptr[at];
        if (c == ' ' || c == '_' || c == '"' || c == '\'' || c == '(' || c == '`' || c == '-') {
            if (c == '-' && at + 1 < text.len && wr_is_digit(text.ptr[at + 1]) && *sure)
                return at;
            at++;
            continue;
        }
        if (c == ':' || c == '=' || c == '>') {
            *sure = true;
            at++;
            continue;
        }
        if (wr_is_digit(c)) {
            *sure |= with || is_bracketed(text, lead, at);
            return at;
        }
        size_t filler = wr_front_of_folded(wr_span_from(text, at), fillers);
        if (!filler)
            return SIZE_MAX;
        weir_span word = wr_span_cut(text, at, at + filler);
        with |= wr_is_any_of_folded(word, "with");
        *sure |= wr_is_any_of_folded(word, "code|status");
        at += filler;
    }
    return SIZE_MAX;
}

static size_t number_end(weir_span text, size_t at)
{
    size_t i = at + (text.ptr[at] == '-');
    if (i + 1 < text.len && text.ptr[i] == '0' && wr_lower(text.ptr[i + 1]) == 'x')
        i += 2;
    while (i < text.len && wr_is_hex(text.ptr[i]))
        i++;
    return i;
}

static void add_code(struct wr_signal_scanner *scanner, weir_span text, size_t at)
{
    size_t end = number_end(text, at);
    if (end - at <= 11 && (end >= text.len || !wr_is_word(text.ptr[end])))
        wr_signal_add_exact(scanner, WR_SIGNAL_EXIT, wr_span_cut(text, at, end));
}

/* "ld returned 1 exit status": the number before. */
static void add_code_before(struct wr_signal_scanner *scanner, weir_span text, size_t word)
{
    size_t end = word;
    while (end && text.ptr[end - 1] == ' ')
        end--;
    size_t start = end;
    while (start && wr_is_digit(text.ptr[start - 1]))
        start--;
    if (start < end && wr_starts_folded(wr_span_from(text, word), WR_LIT("exit status")))
        wr_signal_add_exact(scanner, WR_SIGNAL_EXIT, wr_span_cut(text, start, end));
}

/* "make: *** [all] Error 2". */
static void add_make_code(struct wr_signal_scanner *scanner, weir_span text)
{
    if (!text.len || !wr_is_digit(text.ptr[text.len - 1]))
        return;
    size_t word = wr_span_find(text, WR_LIT("] Error "), 0);
    if (word == SIZE_MAX || wr_span_find(text, WR_LIT("***"), 0) > word)
        return;
    size_t at = word + 8;
    if (at < text.len && wr_is_digit(text.ptr[at]))
        add_code(scanner, text, at);
}

static bool begins_word(weir_span text, size_t at)
{
    return !at || !(wr_is_alpha(text.ptr[at - 1]) || wr_is_digit(text.ptr[at - 1]));
}

/* Offset behind the word at `at` that a code may follow; 0 where there is none. Of the words only
 * the second column is taken: what is behind it makes sure that a code is meant, and is read with
 * what follows. */
static size_t lead_end(weir_span text, size_t at)
{
    static const char *const leads[][2] = {{"exit", "exit"},
                                           {"returncode", "return"},
                                           {"return code", "return"},
                                           {"code=exited, status=", "code=exited, status"}};
    weir_span rest = wr_span_from(text, at);
    for (size_t i = 0; begins_word(text, at) && i < WR_COUNT_OF(leads); i++)
        if (wr_starts_folded(rest, wr_span_of(leads[i][0])))
            return at + strlen(leads[i][1]);
    return 0;
}

/* "rc=1" of scripts and drivers. */
static bool is_rc(weir_span text, size_t at)
{
    return begins_word(text, at) && wr_span_starts(wr_span_from(text, at), WR_LIT("rc=")) &&
           (wr_is_digit(text.ptr[at + 3]) ||
            (text.ptr[at + 3] == '-' && at + 4 < text.len && wr_is_digit(text.ptr[at + 4])));
}

void wr_signal_exit_codes(struct wr_signal_scanner *scanner, weir_span text)
{
    for (size_t i = 0; i + 3 < text.len; i++) {
        char c = wr_lower(text.ptr[i]);
        if (c != 'e' && c != 'r' && c != 'c')
            continue;
        if (c == 'r' && is_rc(text, i))
            add_code(scanner, text, i + 3);
        if (i + 5 >= text.len)
            continue;
        char next = wr_lower(text.ptr[i + 1]);
        size_t end = next == 'x' || next == 'e' || next == 'o' ? lead_end(text, i) : 0;
        if (!end)
            continue;
        bool sure;
        size_t at = skip_to_number(text, i, end, &sure);
        if (at != SIZE_MAX && sure)
            add_code(scanner, text, at);
        else
            add_code_before(scanner, text, i);
        i = end - 1;
    }
    add_make_code(scanner, text);
}
