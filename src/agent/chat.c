/* The conversation in a terminal: libedit reads a line, the line is a command or goes to the
 * agent, and while the agent works keyboard.c has the terminal instead.
 *
 * The two take turns, because libedit waits for a whole line. What was typed while the agent
 * worked and not finished is given back to the editor as the beginning of the next line.
 *
 * A paste comes between two marks that the terminal sends (ESC[200~ and ESC[201~). It is kept
 * aside, and the line shows a short word for it (paste.h): a line break in a paste must not send
 * half of it.
 */
#include "agent/chat.h"

#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "agent/context_page.h"
#include "agent/paste.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- the status line ---- */

static void put_status(struct wr_chat *chat)
{
    struct wr_agent *agent = chat->agent;
    struct wr_screen *s = chat->screen;
    struct weir_session_run run;
    struct wr_buf line;

    wr_buf_init(&line, 4096);
    wr_context_word(agent->session, s->has_colours, &line);
    weir_session_run(agent->session, wr_clock_ms(), &run);
    wr_buf_text(&line, " · ");
    wr_context_cost(&run, &line);
    if (agent->input_tokens)
        wr_buf_printf(&line, " · cache %llu%%",
                      (unsigned long long)(agent->cache_read_tokens * 100 / agent->input_tokens));
    wr_buf_printf(&line, " · %s · %s", weir_session_model(agent->session), agent->name);
    (void)fprintf(s->out, "%.*s\n", (int)line.len, line.bytes);
    (void)fflush(s->out);
    wr_buf_release(&line);
}

/* ---- working ---- */

static void let_agent_work(struct wr_chat *chat, weir_span text)
{
    struct wr_keyboard *keyboard = chat->screen->keyboard;

    wr_undo_next_turn(chat->undo);
    wr_keyboard_begin(keyboard);
    enum wr_worked worked = wr_agent_work(chat->agent, text);
    wr_keyboard_end(keyboard);
    wr_screen_end_text(chat->screen);
    if (worked == WR_WORKED_INTERRUPTED)
        wr_screen_say(chat->screen, "interrupted; the session is kept, say how to go on");
}

/* ---- the line editor ---- */

struct editor {
    EditLine *line;
    History *history;
    struct wr_chat *chat;
    struct wr_pastes pastes;
    uint32_t interrupts; /* of an empty line, one after the other */
};

#define PASTE_ON  "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"

static char *prompt_text(EditLine *line)
{
    static char text[] = "> ";
    (void)line;
    return text;
}

/* libedit's functions have no user data but the client's. */
static unsigned char on_ctrl_o(EditLine *line, int key)
{
    struct editor *editor;

    (void)key;
    if (el_get(line, EL_CLIENTDATA, &editor))
        return CC_ERROR;
    (void)fputc('\n', editor->chat->screen->out);
    wr_screen_toggle(editor->chat->screen);
    return CC_REDISPLAY;
}

/* Reads up to the end of what is pasted. */
static void read_paste(EditLine *line, struct wr_buf *text)
{
    char bytes[MB_LEN_MAX];
    size_t end_bytes = 0;
    wchar_t c;

    while (el_wgetc(line, &c) == 1) {
        mbstate_t shift = {0};
        size_t len = wcrtomb(bytes, c, &shift);
        if (len != (size_t)-1 && wr_paste_take(text, &end_bytes, (weir_span){bytes, len}))
            return;
    }
}

static unsigned char on_paste(EditLine *line, int key)
{
    struct editor *editor;
    struct wr_buf text, shown;

    (void)key;
    if (el_get(line, EL_CLIENTDATA, &editor))
        return CC_ERROR;
    wr_buf_init(&text, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&shown, WR_AGENT_READ_BYTES_MAX);
    read_paste(line, &text);
    if (wr_buf_status(&text))
        wr_buf_text(&shown, WR_PASTE_TOO_LONG);
    else
        wr_pastes_add(&editor->pastes, wr_buf_view(&text), &shown);
    wr_buf_byte(&shown, 0);
    int status = wr_buf_status(&shown) ? -1 : el_insertstr(line, shown.bytes);
    wr_buf_release(&text);
    wr_buf_release(&shown);
    return status ? CC_ERROR : CC_REFRESH;
}

static bool open_editor(struct editor *editor, struct wr_chat *chat)
{
    HistEvent event;

    *editor = (struct editor){.chat = chat};
    editor->line = el_init("weir", stdin, chat->screen->out, stderr);
    editor->history = history_init();
    if (!editor->line || !editor->history)
        return false;
    (void)history(editor->history, &event, H_SETSIZE, 500);
    (void)el_set(editor->line, EL_CLIENTDATA, editor);
    (void)el_set(editor->line, EL_PROMPT, prompt_text);
    (void)el_set(editor->line, EL_EDITOR, "emacs");
    (void)el_set(editor->line, EL_HIST, history, editor->history);
    (void)el_set(editor->line, EL_ADDFN, "weir-open", "open and close cards", on_ctrl_o);
    (void)el_set(editor->line, EL_BIND, "^O", "weir-open", NULL);
    (void)el_set(editor->line, EL_ADDFN, "weir-paste", "take what is pasted", on_paste);
    (void)el_set(editor->line, EL_BIND, "\\e[200~", "weir-paste", NULL);
    (void)el_set(editor->line, EL_SIGNAL, 1);
    (void)fputs(PASTE_ON, chat->screen->out);
    return true;
}

static void close_editor(struct editor *editor)
{
    if (editor->line) {
        (void)fputs(PASTE_OFF, editor->chat->screen->out);
        (void)fflush(editor->chat->screen->out);
        el_end(editor->line);
    }
    wr_pastes_clear(&editor->pastes);
    if (editor->history)
        history_end(editor->history);
}

/* Ctrl+C gives up the line; on an empty one it leaves when it is pressed again. */
static bool is_given_up(struct editor *editor)
{
    const LineInfo *line = el_line(editor->line);

    wr_pastes_clear(&editor->pastes);
    editor->interrupts = line->lastchar == line->buffer ? editor->interrupts + 1 : 0;
    if (editor->interrupts == 1)
        wr_screen_say(editor->chat->screen, "Ctrl+C again, or Ctrl+D, leaves; the session is kept");
    return editor->interrupts >= 2;
}

/* The next line; NULL: the user has left. */
static const char *read_typed_line(struct editor *editor, int *bytes)
{
    struct wr_client *client = editor->chat->agent->client;

    while (!wr_client_has_ended(client)) {
        *bytes = 0;
        put_status(editor->chat);
        const char *text = el_gets(editor->line, bytes);
        if (text || *bytes >= 0 || errno != EINTR)
            return *bytes > 0 ? text : NULL;
        (void)fputc('\n', editor->chat->screen->out);
        if (is_given_up(editor))
            return NULL;
        el_reset(editor->line);
    }
    return NULL;
}

/* A line that was begun while the agent worked is put at the prompt, to be gone on with. */
static void give_back_rest(struct editor *editor)
{
    struct wr_buf rest, shown;

    wr_buf_init(&rest, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&shown, WR_AGENT_READ_BYTES_MAX);
    wr_keyboard_take_rest(editor->chat->screen->keyboard, &rest);
    if (rest.len)
        wr_pastes_add(&editor->pastes, wr_buf_view(&rest), &shown);
    wr_buf_byte(&shown, 0);
    if (rest.len && !wr_buf_status(&shown))
        el_push(editor->line, shown.bytes);
    wr_buf_release(&rest);
    wr_buf_release(&shown);
}

static enum wr_chat_next take_line(struct editor *editor, weir_span line)
{
    struct wr_chat *chat = editor->chat;
    struct wr_buf whole;

    editor->interrupts = 0;
    if (!line.len)
        return WR_CHAT_DONE;
    wr_buf_init(&whole, WR_AGENT_FILE_BYTES_MAX);
    wr_pastes_expand(&editor->pastes, line, &whole);
    wr_pastes_clear(&editor->pastes);
    enum wr_chat_next next = wr_chat_command(chat, line);
    if (wr_buf_status(&whole)) {
        wr_screen_say(chat->screen, "that is too long to be said");
        next = WR_CHAT_DONE;
    }
    if (next == WR_CHAT_SAY || next == WR_CHAT_WORK) {
        let_agent_work(chat, next == WR_CHAT_SAY ? wr_buf_view(&whole) : (weir_span){"", 0});
        give_back_rest(editor);
    }
    wr_buf_release(&whole);
    return next;
}

enum wr_chat_next wr_chat_run(struct wr_chat *chat)
{
    struct editor editor;
    const struct weir_call *pending;
    enum wr_chat_next next = WR_CHAT_DONE;
    HistEvent event;

    if (!open_editor(&editor, chat)) {
        close_editor(&editor);
        return WR_CHAT_QUIT;
    }
    if (weir_session_pending(chat->agent->session, &pending))
        wr_screen_say(chat->screen, "calls of the last run wait for their results; /steer goes on");
    while (next != WR_CHAT_QUIT && next != WR_CHAT_RESUME) {
        int bytes;
        const char *text = read_typed_line(&editor, &bytes);
        if (!text)
            break;
        weir_span line = wr_span_trim((weir_span){text, (size_t)bytes});
        if (line.len)
            (void)history(editor.history, &event, H_ENTER, text);
        next = take_line(&editor, line);
    }
    close_editor(&editor);
    return next == WR_CHAT_RESUME ? next : WR_CHAT_QUIT;
}
