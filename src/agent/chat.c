/* The conversation in a terminal: a line is a command or goes to the agent.
 *
 * Where the terminal can move its cursor, keyboard.c has it from the first line to the last, and
 * the line can be edited while the agent works too. A plain terminal edits its lines itself (its
 * driver does), and keyboard.c has it only while the agent works.
 */
#include "agent/chat.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/history.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- context page ----
 *
 * What fills the window of a session, as lines for a terminal: a bar, its parts, thresholds, cost.
 */

enum { BAR_CELLS = 50 };

struct part {
    const char *name;
    char letter;
    uint64_t tokens;
};

enum { SYSTEM, TOOLS, SKILLS, MEMORY, HISTORY, RESULTS, FREE, PARTS_COUNT };

static uint64_t section_tokens(const struct weir_prompt *prompt, const char *name)
{
    uint64_t tokens = 0;
    for (size_t i = 0; prompt && i < weir_prompt_sections(prompt); i++) {
        const struct weir_section *section = weir_prompt_section(prompt, i);
        if (!strcmp(section->name, name) && !section->is_volatile)
            tokens += section->tokens;
    }
    return tokens;
}

static void divide_window(const struct weir_session_context *c, const struct weir_prompt *prompt,
                          struct part parts[PARTS_COUNT])
{
    static const struct part names[PARTS_COUNT] = {
        [SYSTEM] = {"system", 'S', 0},   [TOOLS] = {"tools", 'T', 0},
        [SKILLS] = {"skills", 'K', 0},   [MEMORY] = {"memory", 'M', 0},
        [HISTORY] = {"history", 'H', 0}, [RESULTS] = {"results", 'R', 0},
        [FREE] = {"free", '.', 0}};
    uint64_t skills = section_tokens(prompt, "skills"), memory = section_tokens(prompt, "memory");

    memcpy(parts, names, sizeof(names));
    if (skills + memory > c->system_tokens)
        skills = memory = 0;
    parts[SYSTEM].tokens = c->system_tokens - skills - memory;
    parts[TOOLS].tokens = c->tools_tokens;
    parts[SKILLS].tokens = skills;
    parts[MEMORY].tokens = memory;
    parts[HISTORY].tokens =
        c->user_tokens + c->assistant_tokens + c->calls_tokens + c->summary_tokens;
    parts[RESULTS].tokens = c->results_tokens;
    parts[FREE].tokens =
        c->usable_tokens > c->total_tokens ? c->usable_tokens - c->total_tokens : 0;
}

static void put_bar(struct wr_buf *out, const struct part *parts)
{
    uint64_t all = 0, passed = 0, cells = 0;

    for (size_t i = 0; i < PARTS_COUNT; i++)
        all += parts[i].tokens;
    wr_buf_text(out, "  [");
    for (size_t i = 0; i < PARTS_COUNT && all; i++) {
        passed += parts[i].tokens;
        for (uint64_t end = passed * BAR_CELLS / all; cells < end; cells++)
            wr_buf_byte(out, parts[i].letter);
    }
    wr_buf_text(out, "]\n");
}

static void put_parts(struct wr_buf *out, const struct part *parts, uint64_t window)
{
    for (size_t i = 0; i < PARTS_COUNT; i++) {
        uint64_t tenths = window ? parts[i].tokens * 1000 / window : 0;
        wr_buf_printf(out, "  %c %-8s %9llu tokens %3llu.%llu%%\n", parts[i].letter, parts[i].name,
                      (unsigned long long)parts[i].tokens, (unsigned long long)(tenths / 10),
                      (unsigned long long)(tenths % 10));
    }
}

static void put_threshold(struct wr_buf *out, const char *what, uint64_t at, uint64_t total)
{
    if (!at)
        return;
    wr_buf_printf(out, "  at %llu tokens %s", (unsigned long long)at, what);
    if (at > total)
        wr_buf_printf(out, " (%llu to go)\n", (unsigned long long)(at - total));
    else
        wr_buf_text(out, " (reached)\n");
}

/* "$1.23", or "cost unknown" where a model without a price was asked. */
static void context_cost(const struct weir_session_run *run, struct wr_buf *out)
{
    if (!run->is_cost_known)
        wr_buf_text(out, "cost unknown");
    else
        wr_buf_printf(out, "$%llu.%02llu", (unsigned long long)(run->cost_micro_usd / 1000000),
                      (unsigned long long)(run->cost_micro_usd / 10000 % 100));
}

static void put_cost(struct weir_session *session, int64_t now_ms, struct wr_buf *out)
{
    struct weir_session_run run;

    weir_session_run(session, now_ms, &run);
    wr_buf_text(out, "  this run: ");
    context_cost(&run, out);
    wr_buf_printf(out, ", %llu tokens, %llu turns, %llu calls (helpers and summaries included)\n",
                  (unsigned long long)run.tokens, (unsigned long long)run.turns,
                  (unsigned long long)run.tool_calls);
    if (!run.is_cost_known)
        wr_buf_text(out,
                    "  no price is known of a model that was asked; `weir models` lists them\n");
}

/* The same share as the status line's. */
static void put_use(const struct weir_session_context *c, struct wr_buf *out)
{
    wr_buf_printf(out, "%llu of %llu tokens, %u%%%s\n", (unsigned long long)c->used_tokens,
                  (unsigned long long)c->usable_tokens, c->used_percent,
                  c->last_input_tokens ? "" : " (estimated)");
    if (c->usable_tokens < c->window_tokens)
        wr_buf_printf(out, "of a window of %llu the rest is kept for the answer\n",
                      (unsigned long long)c->window_tokens);
    if (c->last_input_tokens)
        wr_buf_printf(out, "%llu tokens as the provider counted the last request\n",
                      (unsigned long long)c->last_input_tokens);
    wr_buf_printf(out, "estimated %s, %llu tokens:\n",
                  c->is_sent ? "as it was sent, with what came since"
                             : "of the journal, before anything is left out of a request",
                  (unsigned long long)c->total_tokens);
}

void wr_context_page(struct weir_session *session, const struct weir_prompt *prompt, int64_t now_ms,
                     struct wr_buf *out)
{
    struct weir_session_context c = {0};
    struct part parts[PARTS_COUNT];

    weir_session_context(session, &c);
    divide_window(&c, prompt, parts);
    put_use(&c, out);
    put_bar(out, parts);
    put_parts(out, parts, c.usable_tokens);
    put_threshold(out, "older tool results are cleared", c.clear_at_tokens, c.total_tokens);
    put_threshold(out, "older turns are summarised, their text kept in a file",
                  c.summarise_at_tokens, c.total_tokens);
    wr_buf_printf(out, "  %llu messages, %llu at most", (unsigned long long)c.messages_count,
                  (unsigned long long)c.messages_max);
    if (c.messages_omitted)
        wr_buf_printf(out, "; %llu older ones are left out of the prompt",
                      (unsigned long long)c.messages_omitted);
    wr_buf_byte(out, '\n');
    put_cost(session, now_ms, out);
}

void wr_context_word(struct weir_session *session, bool has_colours, struct wr_buf *out)
{
    struct weir_session_context c = {0};

    weir_session_context(session, &c);
    const char *code = !has_colours || !c.colour     ? ""
                       : !strcmp(c.colour, "red")    ? "\x1b[31m"
                       : !strcmp(c.colour, "yellow") ? "\x1b[33m"
                                                     : "";
    wr_buf_printf(out, "%sctx %u%%%s", code, c.used_percent, *code ? "\x1b[0m" : "");
}

/* ---- chat ---- */

/* ---- complete ---- */

static void complete_command(const struct wr_completer *c, weir_span word,
                             struct wr_choices *choices)
{
    char name[80];

    for (size_t i = 0; c->command(i); i++) {
        (void)snprintf(name, sizeof(name), "/%s", c->command(i));
        if (wr_span_starts(wr_span_of(name), word))
            wr_choices_add(choices, wr_span_of(name));
    }
}

/* Names in `dir` that begin with `begin`, each with `prefix` in front. Hidden ones only where the
 * word has the dot. */
static void complete_in(const char *dir, weir_span begin, weir_span prefix,
                        struct wr_choices *choices)
{
    struct dirent **names;
    struct wr_buf name;
    int count = scandir(dir, &names, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        weir_span found = wr_span_of(names[i]->d_name);
        bool is_hidden = found.ptr[0] == '.' && !wr_span_starts(begin, WR_LIT("."));
        if (!is_hidden && !wr_span_is(found, ".") && !wr_span_is(found, "..") &&
            wr_span_starts(found, begin)) {
            wr_buf_init(&name, 8192);
            wr_buf_append(&name, prefix);
            wr_buf_append(&name, found);
            if (names[i]->d_type == DT_DIR)
                wr_buf_byte(&name, '/');
            if (!wr_buf_status(&name))
                wr_choices_add(choices, wr_buf_view(&name));
            wr_buf_release(&name);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* The word without its '@' is a path below the root; what stands before its last '/' stays. */
static void complete_file(const struct wr_completer *c, weir_span word, struct wr_choices *choices)
{
    char dir[4096];
    size_t slash = word.len;

    while (slash > 1 && word.ptr[slash - 1] != '/')
        slash--;
    weir_span folder = wr_span_cut(word, 1, slash);
    int bytes = snprintf(dir, sizeof(dir), "%s/%.*s", c->root, (int)folder.len, folder.ptr);
    if (bytes < 0 || (size_t)bytes >= sizeof(dir))
        return;
    complete_in(dir, wr_span_from(word, slash), wr_span_cut(word, 0, slash), choices);
}

/* By their first words, the newest first: a name is a time stamp unless somebody gave one. A word
 * that begins no name is looked for in what was said. */
static void complete_session(const struct wr_completer *c, weir_span word,
                             struct wr_choices *choices)
{
    size_t count;
    struct wr_listed_session *list = wr_sessions_list(c->sessions_dir, &count);
    struct wr_buf label;

    for (size_t i = 0; i < count && i < WR_SESSIONS_SHOWN; i++) {
        weir_span name = wr_span_of(list[i].name);
        wr_buf_init(&label, 8192);
        wr_session_first_words(c->sessions_dir, list[i].name, &label);
        bool is_wanted = wr_span_starts(name, word) || wr_span_has(wr_buf_view(&label), word);
        wr_buf_printf(&label, "  (%s)", list[i].name);
        if (is_wanted && !wr_buf_status(&label)) {
            wr_choices_add(choices, name);
            wr_choices_add_label(choices, wr_buf_view(&label));
        }
        wr_buf_release(&label);
    }
    free(list);
}

void wr_line_complete(void *user, weir_span text, size_t cursor, struct wr_choices *choices)
{
    const struct wr_completer *c = user;
    size_t begin = cursor;

    while (begin > 0 && !wr_is_space(text.ptr[begin - 1]))
        begin--;
    weir_span word = wr_span_cut(text, begin, cursor);
    choices->begin = begin;
    if (wr_span_starts(word, WR_LIT("@")))
        complete_file(c, word, choices);
    else if (begin == 0 && wr_span_starts(word, WR_LIT("/")) && c->command)
        complete_command(c, word, choices);
    else if (c->sessions_dir && wr_span_is(wr_span_cut(text, 0, begin), "/resume "))
        complete_session(c, word, choices);
}

/* ---- chat ---- */

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
    context_cost(&run, line);
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
