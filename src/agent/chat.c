/* The conversation in a terminal: a line is a command or goes to the agent.
 *
 * Where the terminal can move its cursor, keyboard.c has it from the first line to the last, and
 * the line can be edited while the agent works too. A plain terminal edits its lines itself (its
 * driver does), and keyboard.c has it only while the agent works.
 */
#include "agent/chat.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/complete.h"
#include "agent/context_page.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"

enum { SIGNAL_MS = 200 };

#define PASTE_ON  "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"

/* ---- the status ---- */

static void on_status(void *user, struct wr_buf *line)
{
    struct wr_chat *chat = user;
    struct wr_agent *agent = chat->agent;
    struct weir_session_run run;

    wr_context_word(agent->session, chat->screen->has_colours, line);
    weir_session_run(agent->session, wr_clock_ms(), &run);
    wr_buf_text(line, " · ");
    wr_context_cost(&run, line);
    if (agent->input_tokens)
        wr_buf_printf(line, " · cache %llu%%",
                      (unsigned long long)(agent->cache_read_tokens * 100 / agent->input_tokens));
    wr_buf_printf(line, " · %s · %s", weir_session_model(agent->session), agent->name);
}

/* Without a dock the status is a line above each prompt. */
static void put_status(struct wr_chat *chat)
{
    struct wr_screen *s = chat->screen;

    wr_buf_reset(&s->status);
    on_status(chat, &s->status);
    if (s->kind == WR_SCREEN_SPOKEN)
        wr_buf_text(&s->printed, "status: ");
    wr_buf_append(&s->printed, wr_buf_view(&s->status));
    wr_buf_text(&s->printed, s->kind == WR_SCREEN_SPOKEN ? "\nyour turn: " : "\n> ");
    wr_screen_draw(s);
}

/* ---- working ---- */

static void let_agent_work(struct wr_chat *chat, weir_span text)
{
    struct wr_keyboard *keyboard = chat->screen->keyboard;

    wr_undo_next_turn(chat->undo);
    keyboard->is_interrupted = false;
    wr_keyboard_begin(keyboard);
    wr_screen_begin_work(chat->screen);
    enum wr_worked worked = wr_agent_work(chat->agent, text);
    wr_screen_end_work(chat->screen);
    if (chat->screen->kind != WR_SCREEN_DOCKED)
        wr_keyboard_end(keyboard);
    if (worked == WR_WORKED_INTERRUPTED)
        wr_screen_say(chat->screen, "interrupted; the session is kept, say how to go on");
}

/* ---- lines of a plain terminal ---- */

/* Ctrl+C gives up the line; pressed again at once it leaves. */
static bool is_left(struct wr_chat *chat, uint32_t *interrupts)
{
    chat->agent->client->is_interrupted = false;
    wr_buf_byte(&chat->screen->printed, '\n');
    if (++*interrupts == 1)
        wr_screen_say(chat->screen, "Ctrl+C again, or Ctrl+D, leaves; the session is kept");
    put_status(chat);
    return *interrupts >= 2;
}

static bool read_plain_line(struct wr_chat *chat, struct wr_buf *line)
{
    struct wr_client *client = chat->agent->client;
    struct pollfd file = {.fd = chat->screen->keyboard->terminal, .events = POLLIN};
    uint32_t interrupts = 0;
    char bytes[4096];

    client->is_interrupted = false;
    put_status(chat);
    wr_buf_append(line, wr_buf_view(&chat->screen->keyboard->editor.text));
    wr_editor_clear(&chat->screen->keyboard->editor);
    if (line->len)
        wr_screen_text(chat->screen, wr_buf_view(line));
    while (!wr_client_has_ended(client)) {
        int found = poll(&file, 1, SIGNAL_MS);
        (void)wr_client_has_ended(client); /* the loop sees the signal */
        if (client->is_interrupted) {
            wr_buf_reset(line);
            if (is_left(chat, &interrupts))
                return false;
        }
        if (found <= 0)
            continue;
        ssize_t count = read(file.fd, bytes, sizeof(bytes));
        if (count <= 0)
            return false;
        wr_buf_append(line, (weir_span){bytes, (size_t)count});
        if (bytes[count - 1] != '\n')
            continue;
        return true;
    }
    return false;
}

/* ---- lines of a dock ---- */

static void on_change(void *user, bool is_all)
{
    struct wr_chat *chat = user;
    struct wr_screen *s = chat->screen;

    if (is_all) {
        wr_dock_forget(&s->dock);
        (void)fputs("\x1b[H\x1b[2J", s->out);
    }
    wr_screen_draw(s);
}

static void on_tick(void *user)
{
    struct wr_chat *chat = user;
    if (chat->screen->is_working && !chat->screen->is_asking)
        wr_screen_draw(chat->screen);
}

static void on_open(void *user)
{
    struct wr_chat *chat = user;
    wr_screen_toggle(chat->screen);
}

static void on_page(void *user, bool is_up)
{
    struct wr_chat *chat = user;
    wr_screen_page(chat->screen, is_up);
}

/* Without a dock nobody sees the queue. */
static void on_line(void *user, weir_span line)
{
    struct wr_chat *chat = user;
    char text[400];

    if (chat->screen->kind == WR_SCREEN_DOCKED)
        return;
    (void)snprintf(text, sizeof(text), "queued: %.*s", (int)(line.len < 300 ? line.len : 300),
                   line.ptr);
    wr_screen_say(chat->screen, text);
}

static void begin_keys(struct wr_chat *chat, struct wr_completer *completer,
                       struct wr_history *history)
{
    struct wr_keyboard *k = chat->screen->keyboard;
    char path[4096 + 32];

    *completer = (struct wr_completer){.root = chat->agent->toolbox.root,
                                       .sessions_dir = chat->sessions_dir,
                                       .command = wr_chat_command_name};
    (void)snprintf(path, sizeof(path), "%s/../agent_history", chat->sessions_dir);
    wr_history_open(history, path);
    k->editor.history = history;
    k->editor.history_at = history->count;
    k->editor.complete = wr_line_complete;
    k->editor.complete_user = completer;
    k->on_line = on_line;
    k->on_open = on_open;
    k->user = chat;
    chat->screen->on_status = on_status;
    chat->screen->status_user = chat;
    if (chat->screen->kind != WR_SCREEN_DOCKED)
        return;
    k->on_change = on_change;
    k->on_tick = on_tick;
    k->on_page = on_page;
    (void)fputs(PASTE_ON, chat->screen->out);
    wr_keyboard_begin(k);
}

static void end_keys(struct wr_chat *chat, struct wr_history *history)
{
    struct wr_keyboard *k = chat->screen->keyboard;

    wr_screen_hide(chat->screen);
    if (chat->screen->kind == WR_SCREEN_DOCKED)
        (void)fputs(PASTE_OFF, chat->screen->out);
    (void)fflush(chat->screen->out);
    wr_keyboard_end(k);
    k->on_line = NULL;
    k->on_open = NULL;
    k->on_change = NULL;
    k->on_tick = NULL;
    k->on_page = NULL;
    k->editor.complete = NULL;
    k->editor.history = NULL;
    wr_history_release(history);
}

/* A command that was typed while the agent worked comes first. */
static bool take_later(struct wr_screen *s, struct wr_buf *line)
{
    weir_span later = wr_buf_view(&s->later);

    if (!later.len)
        return false;
    size_t len = strlen(later.ptr);
    wr_buf_append(line, wr_span_cut(later, 0, len));
    memmove(s->later.bytes, s->later.bytes + len + 1, later.len - len - 1);
    s->later.len -= len + 1;
    return true;
}

/* The next line. False: the user has left, or the program is to end. */
static bool read_line(struct wr_chat *chat, struct wr_buf *line)
{
    struct wr_screen *s = chat->screen;
    struct wr_keyboard *k = s->keyboard;

    wr_buf_reset(line);
    if (take_later(s, line))
        return true;
    if (s->kind != WR_SCREEN_DOCKED)
        return read_plain_line(chat, line);
    wr_buf_reset(&s->status);
    on_status(chat, &s->status);
    wr_screen_draw(s);
    k->is_at_prompt = true;
    return wr_keyboard_wait(k) && wr_keyboard_take(k, line);
}

/* ---- the conversation ---- */

static enum wr_chat_next take_line(struct wr_chat *chat, weir_span line)
{
    if (chat->screen->kind != WR_SCREEN_DOCKED)
        line = wr_span_trim(line);
    if (!wr_span_trim(line).len)
        return WR_CHAT_DONE;
    wr_screen_said(chat->screen, line);
    enum wr_chat_next next = wr_chat_command(chat, line);
    if (next == WR_CHAT_SAY || next == WR_CHAT_WORK)
        let_agent_work(chat, next == WR_CHAT_SAY ? line : (weir_span){"", 0});
    return next;
}

enum wr_chat_next wr_chat_run(struct wr_chat *chat)
{
    const struct weir_call *pending;
    enum wr_chat_next next = WR_CHAT_DONE;
    struct wr_completer completer;
    struct wr_history history;
    struct wr_buf line;

    begin_keys(chat, &completer, &history);
    wr_buf_init(&line, WR_AGENT_FILE_BYTES_MAX);
    if (weir_session_pending(chat->agent->session, &pending))
        wr_screen_say(chat->screen, "calls of the last run wait for their results; /steer goes on");
    while (next != WR_CHAT_QUIT && next != WR_CHAT_RESUME && read_line(chat, &line))
        next = take_line(chat, wr_buf_view(&line));
    wr_buf_release(&line);
    end_keys(chat, &history);
    return next == WR_CHAT_RESUME ? next : WR_CHAT_QUIT;
}
