#include "agent/chat.h"

#include <errno.h>
#include <histedit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/context_page.h"
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
    weir_session_run(agent->session, wr_agent_now_ms(), &run);
    uint64_t cost_micro_usd = run.cost_micro_usd + agent->helpers.cost_micro_usd;
    wr_buf_printf(&line, " · $%llu.%02llu", (unsigned long long)(cost_micro_usd / 1000000),
                  (unsigned long long)(cost_micro_usd / 10000 % 100));
    if (agent->input_tokens)
        wr_buf_printf(&line, " · cache %llu%%",
                      (unsigned long long)(agent->cache_read_tokens * 100 / agent->input_tokens));
    wr_buf_printf(&line, " · %s · %s", weir_session_model(agent->session), agent->name);
    (void)fprintf(s->out, "%.*s\n", (int)line.len, line.bytes);
    (void)fflush(s->out);
    wr_buf_release(&line);
}

/* ---- working ---- */

static void work(struct wr_chat *chat, weir_span text)
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
};

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
    (void)el_set(editor->line, EL_SIGNAL, 1);
    return true;
}

static void close_editor(struct editor *editor)
{
    if (editor->line)
        el_end(editor->line);
    if (editor->history)
        history_end(editor->history);
}

/* The next line; NULL: the user has left. Ctrl+C gives up the line and begins another. */
static const char *read_line(struct editor *editor, int *bytes)
{
    struct wr_client *client = editor->chat->agent->client;

    while (!wr_client_has_ended(client)) {
        *bytes = 0;
        put_status(editor->chat);
        const char *text = el_gets(editor->line, bytes);
        if (text || *bytes >= 0 || errno != EINTR)
            return *bytes > 0 ? text : NULL;
        (void)fputc('\n', editor->chat->screen->out);
        el_reset(editor->line);
    }
    return NULL;
}

static enum wr_chat_next take_line(struct editor *editor, weir_span line)
{
    struct wr_chat *chat = editor->chat;

    if (!line.len)
        return WR_CHAT_DONE;
    enum wr_chat_next next = wr_chat_command(chat, line);
    if (next == WR_CHAT_SAY || next == WR_CHAT_WORK)
        work(chat, next == WR_CHAT_SAY ? line : (weir_span){"", 0});
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
        const char *text = read_line(&editor, &bytes);
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
