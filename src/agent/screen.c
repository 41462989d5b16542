/* The agent's work on a terminal, as a wr_view: pieces of text as they come, calls and results as
 * cards.
 *
 * Everything is first written into a buffer. wr_screen_draw() prints the buffer, above the dock
 * where there is one: what has scrolled by stays as it was printed. Open cards stand in the dock,
 * so they can be closed again; without a dock opening them prints the last ones once more, whole.
 * Text of others never steers the terminal (cells.h).
 */
#include "agent/screen.h"

#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>

#include "agent/cells.h"
#include "agent/panel.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { CARD_LINES = 3, SAID_LINES = 20, CARD_COLUMNS = 100, BYTES_PER_TOKEN = 4, PAGE_LINES = 10 };

#define DIM    "\x1b[2m"
#define BOLD   "\x1b[1m"
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
    wr_buf_init(&s->printed, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&s->tail, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&s->opened, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&s->status, WR_AGENT_READ_BYTES_MAX);
    wr_buf_init(&s->answer, WR_AGENT_READ_BYTES_MAX);
    wr_buf_init(&s->later, WR_AGENT_FILE_BYTES_MAX);
    wr_md_stream_init(&s->markdown);
    wr_dock_init(&s->dock, out);
}

void wr_screen_release(struct wr_screen *s)
{
    for (size_t i = 0; i < WR_SCREEN_CARDS_MAX; i++) {
        wr_buf_release(&s->cards[i].line);
        wr_buf_release(&s->cards[i].text);
    }
    wr_buf_release(&s->printed);
    wr_buf_release(&s->tail);
    wr_buf_release(&s->opened);
    wr_buf_release(&s->status);
    wr_buf_release(&s->answer);
    wr_buf_release(&s->later);
    wr_md_stream_release(&s->markdown);
    wr_dock_release(&s->dock);
}

enum wr_screen_kind wr_screen_kind_of(const char *term, bool is_plain, bool is_spoken)
{
    if (is_spoken)
        return WR_SCREEN_SPOKEN;
    bool is_dumb = !term || !*term || !strcmp(term, "dumb");
    return is_plain || is_dumb ? WR_SCREEN_PLAIN : WR_SCREEN_DOCKED;
}

void wr_plain_text_put(FILE *out, weir_span text)
{
    struct wr_buf plain;

    /* A tab is no danger, and who reads the output may want it. */
    while (text.len) {
        const char *tab = memchr(text.ptr, '\t', text.len);
        size_t bytes = tab ? (size_t)(tab - text.ptr) : text.len;
        wr_buf_init(&plain, WR_AGENT_ANSWER_BYTES_MAX);
        wr_cells_plain(&plain, wr_span_cut(text, 0, bytes));
        if (plain.len)
            (void)fwrite(plain.bytes, 1, plain.len, out);
        wr_buf_release(&plain);
        if (tab)
            (void)fputc('\t', out);
        text = wr_span_from(text, bytes + (tab != NULL));
    }
}

static const char *colour_code(const struct wr_screen *s, const char *code)
{
    return s->has_colours ? code : "";
}

static void put_plain(struct wr_screen *s, weir_span text)
{
    wr_cells_plain(&s->printed, text);
}

static void find_size(const struct wr_screen *s, size_t *columns, size_t *rows);

/* The same, broken between words where a dock knows the width: a page of ours, a notice. What a
 * card or code shows is not: whoever copies a line wants it in one. */
static void put_fitted(struct wr_screen *s, weir_span text)
{
    size_t columns, rows;
    struct wr_buf plain;

    if (s->kind != WR_SCREEN_DOCKED) {
        put_plain(s, text);
        return;
    }
    find_size(s, &columns, &rows);
    wr_buf_init(&plain, WR_AGENT_ANSWER_BYTES_MAX);
    wr_cells_plain(&plain, text);
    wr_text_fit(&s->printed, wr_buf_view(&plain), columns - 1);
    if (!wr_span_ends(text, WR_LIT("\n")) && wr_span_ends(wr_buf_view(&s->printed), WR_LIT("\n")))
        s->printed.len--; /* the caller ends the line */
    wr_buf_release(&plain);
}

/* ---- drawing ---- */

static void find_size(const struct wr_screen *s, size_t *columns, size_t *rows)
{
    struct winsize size = {0};

    if (!s->columns && fileno(s->out) >= 0)
        (void)ioctl(fileno(s->out), TIOCGWINSZ, &size);
    *columns = s->columns ? s->columns : size.ws_col ? size.ws_col : 80;
    *rows = s->rows ? s->rows : size.ws_row ? size.ws_row : 24;
}

static uint64_t worked_ms(const struct wr_screen *s)
{
    return (s->is_working ? wr_clock_steady_us() - s->began_us : s->worked_us) / 1000;
}

/* Printed text that does not end its line stands in the dock, where it can be gone on with. */
static weir_span whole_lines(const struct wr_screen *s, weir_span *rest)
{
    weir_span all = wr_buf_view(&s->printed);
    size_t end = all.len;

    while (end > 0 && all.ptr[end - 1] != '\n')
        end--;
    *rest = wr_span_from(all, end);
    return wr_span_cut(all, 0, end);
}

static void draw_dock(struct wr_screen *s)
{
    struct wr_buf status, rest_kept;
    weir_span rest, above = whole_lines(s, &rest);
    size_t columns, rows;

    find_size(s, &columns, &rows);
    wr_buf_init(&status, WR_AGENT_READ_BYTES_MAX);
    wr_buf_append(&status, wr_buf_view(&s->status));
    wr_buf_printf(&status, " · %llu s", (unsigned long long)(worked_ms(s) / 1000));
    struct wr_panel panel = {.has_colours = s->has_colours,
                             .tail = rest.len ? rest : wr_buf_view(&s->tail),
                             .cards = wr_buf_view(&s->opened),
                             .cards_behind = s->opened_behind,
                             .doing = s->is_working ? s->doing : NULL,
                             .doing_ms = worked_ms(s),
                             .tokens = s->answer_bytes / BYTES_PER_TOKEN,
                             .queued = wr_keyboard_queued(s->keyboard),
                             .is_asking = s->is_asking,
                             .is_awaited = s->is_awaited,
                             .answer = wr_buf_view(&s->answer),
                             .status = wr_buf_view(&status),
                             .editor = &s->keyboard->editor};
    if (s->keyboard->interrupts)
        panel.hint = WR_LIT("Ctrl+C again, or Ctrl+D, leaves; the session is kept");
    wr_dock_begin(&s->dock, columns, rows);
    wr_panel_draw(&s->dock, &panel);
    wr_dock_show(&s->dock, above);
    wr_buf_init(&rest_kept, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_append(&rest_kept, rest);
    wr_buf_reset(&s->printed);
    wr_buf_append(&s->printed, wr_buf_view(&rest_kept));
    wr_buf_release(&rest_kept);
    wr_buf_release(&status);
}

void wr_screen_draw(struct wr_screen *s)
{
    if (s->kind == WR_SCREEN_DOCKED) {
        draw_dock(s);
        return;
    }
    if (s->printed.len)
        (void)fwrite(s->printed.bytes, 1, s->printed.len, s->out);
    wr_buf_reset(&s->printed);
    (void)fflush(s->out);
}

static void refresh_status(struct wr_screen *s)
{
    wr_buf_reset(&s->status);
    if (s->on_status)
        s->on_status(s->status_user, &s->status);
}

static void set_doing(struct wr_screen *s, const char *what, weir_span about)
{
    (void)snprintf(s->doing, sizeof(s->doing), "%s%.*s", what,
                   (int)(about.len < 80 ? about.len : 80), about.len ? about.ptr : "");
}

void wr_screen_begin_work(struct wr_screen *s)
{
    s->is_working = true;
    s->began_us = wr_clock_steady_us();
    s->answer_bytes = 0;
    set_doing(s, "waiting for the model", (weir_span){"", 0});
    refresh_status(s);
    if (s->kind == WR_SCREEN_DOCKED)
        wr_screen_draw(s);
}

static struct wr_md_look look_of(const struct wr_screen *s)
{
    struct wr_md_look look = {.has_colours = s->has_colours};
    size_t rows;

    find_size(s, &look.columns, &rows);
    return look;
}

/* Ends a line of text that is not ended. */
static void screen_end_text(struct wr_screen *s)
{
    struct wr_md_look look = look_of(s);

    if (s->is_in_text && s->kind == WR_SCREEN_DOCKED) {
        wr_buf_reset(&s->tail);
        wr_md_stream_end(&s->markdown, &look, &s->printed);
    } else if (s->is_in_text || s->is_in_thinking)
        wr_buf_printf(&s->printed, "%s\n", colour_code(s, NORMAL));
    s->is_in_text = s->is_in_thinking = false;
    wr_screen_draw(s);
}

void wr_screen_end_work(struct wr_screen *s)
{
    screen_end_text(s);
    if (s->is_working)
        s->worked_us = wr_clock_steady_us() - s->began_us;
    s->is_working = false;
    refresh_status(s);
}

void wr_screen_hide(struct wr_screen *s)
{
    size_t columns, rows;

    if (s->kind != WR_SCREEN_DOCKED)
        return;
    find_size(s, &columns, &rows);
    screen_end_text(s);
    wr_dock_begin(&s->dock, columns, rows);
    wr_dock_show(&s->dock, wr_buf_view(&s->printed));
    wr_buf_reset(&s->printed);
    wr_dock_hide(&s->dock);
}

void wr_screen_text(struct wr_screen *s, weir_span text)
{
    put_fitted(s, text);
    wr_screen_draw(s);
}

void wr_screen_say(struct wr_screen *s, const char *text)
{
    screen_end_text(s);
    wr_buf_text(&s->printed, colour_code(s, DIM));
    put_fitted(s, wr_span_of(text));
    wr_buf_printf(&s->printed, "%s\n", colour_code(s, NORMAL));
    wr_screen_draw(s);
}

/* Broken between words, but with every space that it has. */
static void put_said(struct wr_screen *s, weir_span line, bool is_first)
{
    size_t columns, rows;
    struct wr_buf plain;

    find_size(s, &columns, &rows);
    wr_buf_init(&plain, WR_AGENT_ANSWER_BYTES_MAX);
    wr_cells_plain(&plain, line);
    weir_span rest = wr_buf_view(&plain);
    do {
        weir_span row = wr_cells_wrap(rest, columns > 12 ? columns - 3 : 10);
        wr_buf_printf(&s->printed, "%s%s", colour_code(s, BOLD), is_first ? "> " : "  ");
        wr_buf_append(&s->printed, row);
        wr_buf_printf(&s->printed, "%s\n", colour_code(s, NORMAL));
        rest = wr_span_from(rest, row.len);
        is_first = false;
    } while (rest.len);
    wr_buf_release(&plain);
}

void wr_screen_said(struct wr_screen *s, weir_span text)
{
    uint64_t lines = wr_span_lines(text);
    weir_span line;

    if (s->kind != WR_SCREEN_DOCKED)
        return; /* it stands there as it was typed */
    screen_end_text(s);
    for (size_t i = 0; i < SAID_LINES && wr_span_line(&text, &line); i++)
        put_said(s, line, i == 0);
    if (lines > SAID_LINES)
        wr_buf_printf(&s->printed, "%s  … %llu more lines%s\n", colour_code(s, DIM),
                      (unsigned long long)(lines - SAID_LINES), colour_code(s, NORMAL));
    wr_screen_draw(s);
}

/* What is finished is printed; the rest stands in the dock and is drawn again. */
static void put_markdown(struct wr_screen *s, weir_span text)
{
    struct wr_md_look look = look_of(s);

    wr_md_stream_feed(&s->markdown, text, &look, &s->printed);
    wr_buf_reset(&s->tail);
    wr_md_stream_tail(&s->markdown, &look, &s->tail);
}

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct wr_screen *s = user;
    bool is_thinking = kind == WR_PIECE_THINKING;

    s->answer_bytes += text.len;
    set_doing(s, is_thinking ? "thinking" : "writing", (weir_span){"", 0});
    if (is_thinking && !s->is_open)
        return;
    if (is_thinking != s->is_in_thinking && (s->is_in_text || s->is_in_thinking))
        screen_end_text(s);
    if (is_thinking && !s->is_in_thinking)
        wr_buf_text(&s->printed, colour_code(s, DIM));
    if (s->kind == WR_SCREEN_DOCKED && !is_thinking)
        put_markdown(s, text);
    else
        put_plain(s, text);
    s->is_in_text = !is_thinking;
    s->is_in_thinking = is_thinking;
    wr_screen_draw(s);
}

/* ---- cards ---- */

static void put_head(struct wr_screen *s, struct wr_buf *out, weir_span line)
{
    if (s->kind == WR_SCREEN_SPOKEN)
        wr_buf_text(out, "call: ");
    else
        wr_buf_printf(out, "%s●%s ", colour_code(s, CYAN), colour_code(s, NORMAL));
    wr_cells_plain(out, line);
    wr_buf_byte(out, '\n');
}

/* Of a diff, what is new and what is gone. */
static const char *line_colour(const struct wr_screen *s, weir_span line, bool is_error)
{
    bool is_head = wr_span_starts(line, WR_LIT("+++")) || wr_span_starts(line, WR_LIT("---"));

    if (is_error)
        return colour_code(s, RED);
    if (is_head || !line.len)
        return colour_code(s, DIM);
    return colour_code(s, line.ptr[0] == '+' ? GREEN : line.ptr[0] == '-' ? RED : DIM);
}

static bool is_diff(weir_span text)
{
    return wr_span_starts(text, WR_LIT("diff ")) || wr_span_starts(text, WR_LIT("--- ")) ||
           wr_span_has(wr_text_head(text, 4000), WR_LIT("\n@@ -"));
}

static size_t card_columns(const struct wr_screen *s)
{
    size_t columns, rows;

    find_size(s, &columns, &rows);
    return s->kind == WR_SCREEN_DOCKED && columns > 12 && columns - 4 < CARD_COLUMNS ? columns - 4
                                                                                     : CARD_COLUMNS;
}

static void put_body(struct wr_screen *s, struct wr_buf *out, const struct wr_card *card,
                     bool is_open)
{
    weir_span text = wr_buf_view(&card->text), line;
    uint64_t total = wr_span_lines(text), shown = 0;
    bool has_diff = is_diff(text);
    size_t columns = card_columns(s);

    if (s->kind == WR_SCREEN_SPOKEN)
        wr_buf_printf(out, "%s, %llu lines:\n", card->is_error ? "error" : "result",
                      (unsigned long long)total);
    while (wr_span_line(&text, &line) && (is_open || shown < CARD_LINES)) {
        weir_span cut = is_open ? line : wr_cells_head(line, columns);
        const char *code = has_diff ? line_colour(s, line, card->is_error)
                                    : colour_code(s, card->is_error ? RED : DIM);
        wr_buf_printf(out, "%s  ", code);
        wr_cells_plain(out, cut);
        wr_buf_printf(out, "%s%s\n", cut.len < line.len ? "…" : "", colour_code(s, NORMAL));
        shown++;
    }
    if (shown < total)
        wr_buf_printf(out, "%s  … %llu more lines (Ctrl+O shows them)%s\n", colour_code(s, DIM),
                      (unsigned long long)(total - shown), colour_code(s, NORMAL));
}

static struct wr_card *card_at(struct wr_screen *s, size_t number)
{
    return &s->cards[number % WR_SCREEN_CARDS_MAX];
}

static void put_cards(struct wr_screen *s, struct wr_buf *out)
{
    size_t first = s->cards_count > WR_SCREEN_CARDS_MAX ? s->cards_count - WR_SCREEN_CARDS_MAX : 0;

    for (size_t i = first; i < s->cards_count; i++) {
        put_head(s, out, wr_buf_view(&card_at(s, i)->line));
        put_body(s, out, card_at(s, i), true);
    }
}

/* In the dock the open cards are those of all calls so far, the newest at the end. */
static void open_cards(struct wr_screen *s)
{
    wr_buf_reset(&s->opened);
    s->opened_behind = 0;
    if (!s->is_open || s->kind != WR_SCREEN_DOCKED)
        return;
    wr_buf_printf(&s->opened, "%s── open cards: Ctrl+O closes them, Page Up and Down turn ──%s\n",
                  colour_code(s, DIM), colour_code(s, NORMAL));
    put_cards(s, &s->opened);
}

static void on_call(void *user, const struct weir_call *call, weir_span line)
{
    struct wr_screen *s = user;
    struct wr_card *card = card_at(s, s->cards_count++);

    (void)call;
    screen_end_text(s);
    wr_buf_reset(&card->line);
    wr_buf_reset(&card->text);
    wr_buf_append(&card->line, line);
    card->is_error = false;
    s->answer_bytes = 0;
    set_doing(s, "", line);
    put_head(s, &s->printed, line);
    wr_screen_draw(s);
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
        put_body(s, &s->printed, card, s->is_open && s->kind != WR_SCREEN_DOCKED);
        open_cards(s);
    }
    set_doing(s, "waiting for the model", (weir_span){"", 0});
    refresh_status(s);
    wr_screen_draw(s);
    wr_keyboard_look(s->keyboard);
}

void wr_screen_toggle(struct wr_screen *s)
{
    s->is_open = !s->is_open;
    if (s->kind == WR_SCREEN_DOCKED) {
        open_cards(s);
        wr_screen_draw(s);
        return;
    }
    wr_screen_say(s, s->is_open ? "cards are open; Ctrl+O closes them" : "cards are closed");
    if (s->is_open)
        put_cards(s, &s->printed);
    wr_screen_draw(s);
}

void wr_screen_page(struct wr_screen *s, bool is_up)
{
    size_t lines = (size_t)wr_span_lines(wr_buf_view(&s->opened));

    if (is_up && s->opened_behind + PAGE_LINES < lines)
        s->opened_behind += PAGE_LINES;
    else if (!is_up)
        s->opened_behind -= s->opened_behind < PAGE_LINES ? s->opened_behind : PAGE_LINES;
    wr_screen_draw(s);
}

/* ---- questions ---- */

#define QUESTION "  allow this? "
#define WAYS     "[y]es, [n]o or [a]lways, then Enter: "

/* Without a dock the question is printed, and the answer as it is typed. */
static void echo_answer(struct wr_screen *s, weir_span line)
{
    weir_span before = wr_buf_view(&s->answer);
    bool goes_on = s->is_awaited && wr_span_starts(line, before);

    if (!goes_on)
        wr_buf_printf(&s->printed, "%s" QUESTION WAYS, s->is_awaited ? "\n" : "");
    put_plain(s, goes_on ? wr_span_from(line, before.len) : line);
    s->is_in_text = true;
}

static void on_answer_typed(void *user, weir_span line)
{
    struct wr_screen *s = user;

    if (s->kind != WR_SCREEN_DOCKED)
        echo_answer(s, line);
    s->is_awaited = true;
    wr_buf_reset(&s->answer);
    wr_buf_append(&s->answer, line);
    wr_screen_draw(s);
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
    wr_buf_printf(&s->printed, "  %s", colour);
    put_plain(s, line);
    wr_buf_printf(&s->printed, "%s\n", colour_code(s, NORMAL));
}

/* The diff, and what "always" would mean: whoever answers sees what is answered. */
static void put_asked(struct wr_screen *s, const struct wr_consent_asked *asked)
{
    weir_span rest = asked->diff, line;

    while (wr_span_line(&rest, &line))
        put_note(s, line_colour(s, line, false), line);
    for (size_t i = 0; asked->always && i < asked->always->count; i++) {
        char text[WR_GRANT_BYTES_MAX + 32];
        (void)snprintf(text, sizeof(text), "%s%s",
                       i ? "        and " : "always: ", asked->always->texts[i]);
        put_note(s, colour_code(s, DIM), wr_span_of(text));
    }
}

static void end_question(struct wr_screen *s, enum wr_consent consent, bool is_answered)
{
    static const char *const words[] = {
        [WR_CONSENT_NO] = "no", [WR_CONSENT_YES] = "yes", [WR_CONSENT_ALWAYS] = "always"};

    s->is_asking = s->is_awaited = false;
    wr_buf_reset(&s->answer);
    if (s->kind == WR_SCREEN_DOCKED)
        wr_buf_printf(&s->printed, QUESTION "%s\n", words[consent]);
    else if (!is_answered)
        wr_buf_printf(&s->printed, "%s" QUESTION "no", s->is_in_text ? "\n" : "");
    s->is_in_text = s->kind != WR_SCREEN_DOCKED;
    screen_end_text(s);
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
    s->is_asking = true;
    s->is_awaited = false;
    if (s->kind == WR_SCREEN_SPOKEN)
        wr_buf_text(&s->printed, "question: ");
    wr_screen_draw(s);
    enum wr_answer_end end = wr_keyboard_answer(s->keyboard, &question, &answer);
    bool is_answered = end == WR_ANSWER_LINE && !wr_buf_status(&answer) &&
                       find_consent(wr_span_trim(wr_buf_view(&answer)), &consent);
    end_question(s, consent, is_answered);
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

    s->answer_bytes = 0;
    set_doing(s, "waiting for the model", (weir_span){"", 0});
    refresh_status(s);
    if (turn->is_compacted)
        wr_screen_say(s, "older turns were summarised; they are in the session's folder");
}

/* A command that is typed while the agent works is for the user's program, not for the model. */
static bool on_steering(void *user, struct wr_buf *line)
{
    struct wr_screen *s = user;

    while (wr_keyboard_take(s->keyboard, line)) {
        if (!wr_span_starts(wr_buf_view(line), WR_LIT("/"))) {
            wr_screen_said(s, wr_buf_view(line));
            return true;
        }
        wr_buf_append(&s->later, wr_buf_view(line));
        wr_buf_byte(&s->later, 0);
        wr_buf_reset(line);
    }
    return false;
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
