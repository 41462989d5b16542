/* The agent's work on a terminal, as a wr_view: pieces of text as they come, calls and results as
 * cards.
 *
 * Nothing is ever drawn over, but for the one line of a question: what has scrolled by stays as it
 * was printed. So opening the cards prints the last ones once more, whole. Text of others never
 * steers the terminal (wr_plain_text_put()).
 */
#include "agent/screen.h"

#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { CARD_LINES = 3, CARD_COLUMNS = 100 };

#define DIM    "\x1b[2m"
#define RED    "\x1b[31m"
#define GREEN  "\x1b[32m"
#define CYAN   "\x1b[36m"
#define NORMAL "\x1b[0m"

void wr_screen_init(struct wr_screen *s, FILE *out, bool has_colours, struct wr_keyboard *keyboard)
{
    *s = (struct wr_screen){.out = out, .has_colours = has_colours, .keyboard = keyboard};
    for (size_t i = 0; i < WR_SCREEN_CARDS_MAX; i++) {
        wr_buf_init(&s->cards[i].line, WR_AGENT_FILE_BYTES_MAX);
        wr_buf_init(&s->cards[i].text, WR_AGENT_FILE_BYTES_MAX);
    }
}

void wr_screen_release(struct wr_screen *s)
{
    for (size_t i = 0; i < WR_SCREEN_CARDS_MAX; i++) {
        wr_buf_release(&s->cards[i].line);
        wr_buf_release(&s->cards[i].text);
    }
}

void wr_plain_text_put(FILE *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        unsigned char next = i + 1 < text.len ? (unsigned char)text.ptr[i + 1] : 0;
        bool is_two_bytes = c == 0xC2 && next >= 0x80 && next < 0xA0;
        bool is_control = (c < ' ' && c != '\n' && c != '\t') || c == 127 || is_two_bytes;
        (void)fputc(is_control ? '?' : c, out);
        i += is_two_bytes;
    }
}

static const char *colour_code(const struct wr_screen *s, const char *code)
{
    return s->has_colours ? code : "";
}

static void put_plain(const struct wr_screen *s, weir_span text)
{
    wr_plain_text_put(s->out, text);
}

void wr_screen_text(struct wr_screen *s, weir_span text)
{
    put_plain(s, text);
    (void)fflush(s->out);
}

void wr_screen_end_text(struct wr_screen *s)
{
    if (s->is_in_text || s->is_in_thinking)
        (void)fprintf(s->out, "%s\n", colour_code(s, NORMAL));
    s->is_in_text = s->is_in_thinking = false;
    (void)fflush(s->out);
}

void wr_screen_say(struct wr_screen *s, const char *text)
{
    wr_screen_end_text(s);
    (void)fprintf(s->out, "%s", colour_code(s, DIM));
    put_plain(s, wr_span_of(text));
    (void)fprintf(s->out, "%s\n", colour_code(s, NORMAL));
    (void)fflush(s->out);
}

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct wr_screen *s = user;
    bool is_thinking = kind == WR_PIECE_THINKING;

    if (is_thinking && !s->is_open)
        return;
    if (is_thinking != s->is_in_thinking && (s->is_in_text || s->is_in_thinking))
        wr_screen_end_text(s);
    if (is_thinking && !s->is_in_thinking)
        (void)fprintf(s->out, "%s", colour_code(s, DIM));
    put_plain(s, text);
    s->is_in_text = !is_thinking;
    s->is_in_thinking = is_thinking;
    (void)fflush(s->out);
}

/* ---- cards ---- */

static void put_head(struct wr_screen *s, weir_span line)
{
    (void)fprintf(s->out, "%s●%s ", colour_code(s, CYAN), colour_code(s, NORMAL));
    put_plain(s, line);
    (void)fputc('\n', s->out);
}

static void put_body(struct wr_screen *s, weir_span text, bool is_error, bool is_open)
{
    uint64_t total = wr_span_lines(text), shown = 0;
    weir_span line;

    (void)fprintf(s->out, "%s", colour_code(s, is_error ? RED : DIM));
    while (wr_span_line(&text, &line) && (is_open || shown < CARD_LINES)) {
        weir_span cut = is_open ? line : wr_text_head(line, CARD_COLUMNS);
        (void)fputs("  ", s->out);
        put_plain(s, cut);
        (void)fputs(cut.len < line.len ? "…\n" : "\n", s->out);
        shown++;
    }
    if (shown < total)
        (void)fprintf(s->out, "  … %llu more lines (Ctrl+O shows them)\n",
                      (unsigned long long)(total - shown));
    (void)fprintf(s->out, "%s", colour_code(s, NORMAL));
    (void)fflush(s->out);
}

static struct wr_card *card_at(struct wr_screen *s, size_t number)
{
    return &s->cards[number % WR_SCREEN_CARDS_MAX];
}

static void on_call(void *user, const struct weir_call *call, weir_span line)
{
    struct wr_screen *s = user;
    struct wr_card *card = card_at(s, s->cards_count++);

    (void)call;
    wr_screen_end_text(s);
    wr_buf_reset(&card->line);
    wr_buf_reset(&card->text);
    wr_buf_append(&card->line, line);
    put_head(s, line);
    (void)fflush(s->out);
}

static void on_result(void *user, const struct weir_call *call, weir_span text, bool is_error)
{
    struct wr_screen *s = user;

    (void)call;
    if (s->cards_count) {
        struct wr_card *card = card_at(s, s->cards_count - 1);
        wr_buf_reset(&card->text);
        wr_buf_append(&card->text, text);
        card->is_error = is_error;
    }
    put_body(s, text, is_error, s->is_open);
    wr_keyboard_look(s->keyboard);
}

void wr_screen_toggle(struct wr_screen *s)
{
    size_t first = s->cards_count > WR_SCREEN_CARDS_MAX ? s->cards_count - WR_SCREEN_CARDS_MAX : 0;

    s->is_open = !s->is_open;
    if (!s->is_open) {
        wr_screen_say(s, "cards are closed");
        return;
    }
    wr_screen_say(s, "cards are open; Ctrl+O closes them");
    for (size_t i = first; i < s->cards_count; i++) {
        const struct wr_card *card = card_at(s, i);
        put_head(s, wr_buf_view(&card->line));
        put_body(s, wr_buf_view(&card->text), card->is_error, true);
    }
}

/* ---- questions ---- */

/* The question is a line that is drawn again with every key of the answer. */
static void put_question(struct wr_screen *s, const char *ways, weir_span answer)
{
    (void)fprintf(s->out, "\r\x1b[K  allow this? %s", ways);
    put_plain(s, answer);
    (void)fflush(s->out);
    s->is_in_text = true;
}

static void on_answer_typed(void *user, weir_span line)
{
    put_question(user, "[y]es, [n]o or [a]lways, then Enter: ", line);
}

static const struct {
    const char *word;
    enum wr_consent consent;
} consents[] = {
    {"y", WR_CONSENT_YES}, {"yes", WR_CONSENT_YES}, {"a", WR_CONSENT_ALWAYS},
    {"n", WR_CONSENT_NO},  {"no", WR_CONSENT_NO},   {"always", WR_CONSENT_ALWAYS},
};

static bool find_consent(weir_span line, enum wr_consent *consent)
{
    for (size_t i = 0; i < WR_COUNT_OF(consents); i++) {
        if (line.len == strlen(consents[i].word) &&
            !strncasecmp(line.ptr, consents[i].word, line.len)) {
            *consent = consents[i].consent;
            return true;
        }
    }
    return false;
}

static bool is_consent(weir_span line)
{
    enum wr_consent consent;
    return find_consent(line, &consent);
}

static void put_note(struct wr_screen *s, const char *colour, weir_span line)
{
    (void)fprintf(s->out, "  %s", colour_code(s, colour));
    put_plain(s, line);
    (void)fprintf(s->out, "%s\n", colour_code(s, NORMAL));
}

/* The diff, and what "always" would mean: whoever answers sees what is answered. */
static void put_asked(struct wr_screen *s, const struct wr_consent_asked *asked)
{
    weir_span rest = asked->diff, line;

    while (wr_span_line(&rest, &line)) {
        char sign = line.len ? line.ptr[0] : ' ';
        put_note(s, sign == '+' ? GREEN : sign == '-' ? RED : DIM, line);
    }
    for (size_t i = 0; asked->always && i < asked->always->count; i++) {
        char text[WR_GRANT_BYTES_MAX + 32];
        (void)snprintf(text, sizeof(text), "%s%s",
                       i ? "        and " : "always: ", asked->always->texts[i]);
        put_note(s, DIM, wr_span_of(text));
    }
}

static enum wr_consent on_consent(void *user, const struct weir_call *call,
                                  const struct wr_consent_asked *asked)
{
    struct wr_screen *s = user;
    enum wr_consent consent = WR_CONSENT_NO;
    struct wr_question question = {WR_AGENT_QUIET_MS, is_consent, on_answer_typed, s};
    struct wr_buf answer;

    (void)call;
    put_asked(s, asked);
    wr_buf_init(&answer, WR_AGENT_READ_BYTES_MAX);
    wr_keyboard_look(s->keyboard);
    put_question(s, "", WR_LIT(""));
    enum wr_answer_end end = wr_keyboard_answer(s->keyboard, &question, &answer);
    if (end != WR_ANSWER_LINE || wr_buf_status(&answer) ||
        !find_consent(wr_span_trim(wr_buf_view(&answer)), &consent))
        put_question(s, "no", WR_LIT(""));
    wr_screen_end_text(s);
    wr_buf_release(&answer);
    return consent;
}

static void on_notice(void *user, const char *text)
{
    wr_screen_say(user, text);
}

static void on_turn(void *user, const struct weir_session_turn *turn)
{
    struct wr_screen *s = user;
    if (turn->is_compacted)
        wr_screen_say(s, "older turns were summarised; they are in the session's folder");
}

static bool on_steering(void *user, struct wr_buf *line)
{
    struct wr_screen *s = user;
    return wr_keyboard_take(s->keyboard, line);
}

struct wr_view wr_screen_view(struct wr_screen *screen)
{
    return (struct wr_view){.user = screen,
                            .piece = on_piece,
                            .call = on_call,
                            .result = on_result,
                            .consent = on_consent,
                            .notice = on_notice,
                            .turn = on_turn,
                            .steering = on_steering};
}
