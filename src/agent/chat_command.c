/* The commands of the conversation, /help and its like: a table of names and functions.
 *
 * A command writes its answer into a buffer, which is shown when it is done, and says what comes
 * next: nothing, work, another session, the end. A word with '/' in front that is no command is
 * never sent to the model. /undo also tells the model, with its next message, that files are not
 * as it left them.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/chat.h"
#include "agent/history.h"
#include "agent/image_words.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/steer.h"

/* ---- chat steer ----
 *
 * commands about what the model sees: what is out of its prompt and what leaves
 * next (/plan), why (/why), what stays (/pin, /unpin), and taking the last step back (/undo step).
 *
 * They say what `weir plan`, `weir pin` and `weir undo` say (docs/steer.md), of this session, and
 * act on its next request.
 */

/* ---- what is said of the session ---- */

static bool has_store(const struct wr_chat *chat, struct wr_buf *out)
{
    if (!chat->store)
        wr_buf_text(out, "this session has no store: nothing is taken out of it\n");
    return chat->store;
}

static bool say_order(struct wr_chat *chat, const struct wr_order *order, struct wr_buf *out)
{
    struct wr_order_said said = {.tenant = chat->agent->toolbox.tenant,
                                 .session = wr_span_of(chat->agent->name),
                                 .orders = order,
                                 .orders_count = 1,
                                 .now_ms = wr_clock_ms()};
    struct wr_order_head head;
    struct weir_err err = {0};

    weir_status status = wr_order_say(chat->store, &said, &head, &err);
    if (status)
        wr_buf_printf(out, "not done: %s\n", err.text[0] ? err.text : weir_status_text(status));
    return !status;
}

static void list_pins(struct wr_chat *chat, struct wr_buf *out)
{
    weir_span tenant = chat->agent->toolbox.tenant, session = wr_span_of(chat->agent->name);
    struct wr_order_head head;
    struct wr_arena arena;
    struct wr_buf pins;
    weir_span line;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&pins, WR_AGENT_FILE_BYTES_MAX);
    bool is_known = !wr_order_head_read(chat->store, tenant, session, &head) &&
                    !wr_order_pins(chat->store, tenant, session, head.count, &arena, &pins);
    weir_span rest = wr_buf_view(&pins);
    if (!is_known)
        wr_buf_text(out, "what is pinned cannot be read from the store\n");
    else if (!rest.len)
        wr_buf_text(out, "nothing is pinned; /pin PATH keeps a file's text in the prompt\n");
    while (is_known && wr_span_line(&rest, &line)) {
        wr_buf_text(out, "pinned: ");
        wr_buf_append(out, wr_span_starts(line, WR_LIT("pin ")) ? wr_span_from(line, 4) : line);
        wr_buf_byte(out, '\n');
    }
    wr_buf_release(&pins);
    wr_arena_release(&arena);
}

/* `what` is a path, a handle, or "tool NAME"; empty: the pins are listed. */
static void chat_pin(struct wr_chat *chat, weir_span what, bool is_pin, struct wr_buf *out)
{
    struct wr_order order = {
        .kind = is_pin ? WR_ORDER_PIN : WR_ORDER_UNPIN, .pin = WR_PIN_PATH, .name = what};

    if (!has_store(chat, out))
        return;
    if (!what.len) {
        list_pins(chat, out);
        return;
    }
    if (wr_span_starts(what, WR_LIT("tool "))) {
        order.pin = WR_PIN_TOOL;
        order.name = wr_span_trim(wr_span_from(what, 5));
    } else if (wr_span_starts(what, WR_LIT("wr_"))) {
        order.pin = WR_PIN_HANDLE;
    } else if (wr_span_starts(what, WR_LIT("@"))) { /* as Tab completes it */
        order.name = wr_span_from(what, 1);
    }
    if (say_order(chat, &order, out))
        wr_buf_printf(out,
                      is_pin ? "%.*s stays whole; what is out comes back with the next step\n"
                             : "%.*s may be taken out again\n",
                      (int)order.name.len, order.name.ptr);
}

static void chat_undo_step(struct wr_chat *chat, struct wr_buf *out)
{
    struct wr_order order = {.kind = WR_ORDER_UNDO};

    if (has_store(chat, out) && say_order(chat, &order, out))
        wr_buf_text(out, "what the last step took is in the next request again; the provider's "
                         "cache is written anew from there\n");
}

/* ---- what is out ---- */

static void put_next(struct wr_buf *out, const char *what, uint64_t at, uint64_t used)
{
    if (!at)
        return;
    wr_buf_printf(out, "next: at %s tokens %s", WR_GROUPED(at), what);
    if (at > used)
        wr_buf_printf(out, " (%s to go)\n", WR_GROUPED(at - used));
    else
        wr_buf_text(out, " (with the next request)\n");
}

static void chat_plan(struct wr_chat *chat, struct wr_buf *out)
{
    weir_span left = weir_session_left_out(chat->agent->session);
    struct weir_session_context context;

    weir_session_context(chat->agent->session, &context);
    if (left.len)
        wr_buf_text(out, "out of the last request, in tokens:\n");
    else
        wr_buf_text(out, context.is_sent ? "nothing is out of the last request\n"
                                         : "no request has left since the session was opened\n");
    wr_buf_append(out, left);
    if (context.messages_omitted)
        wr_buf_printf(out, "%s older messages are in the summary or left out\n",
                      WR_GROUPED(context.messages_omitted));
    put_next(out, "older results are cleared", context.clear_at_tokens, context.total_tokens);
    put_next(out, "older turns are summarised", context.summarise_at_tokens, context.total_tokens);
    if (chat->store)
        list_pins(chat, out);
}

/* `what` is a path, a handle, or a part of a line of /plan. */
static void chat_why(struct wr_chat *chat, weir_span what, struct wr_buf *out)
{
    weir_span rest = weir_session_left_out(chat->agent->session), line;
    size_t begin = out->len;

    if (!what.len) {
        wr_buf_text(out, "/why PATH or HANDLE, of something that /plan lists\n");
        return;
    }
    while (wr_span_line(&rest, &line))
        if (wr_span_has(line, what)) {
            wr_buf_append(out, line);
            wr_buf_byte(out, '\n');
        }
    if (out->len == begin)
        wr_buf_printf(out, "nothing of that name is out of the last request\n");
    else
        wr_buf_text(out, "the word behind the tokens is what became of it, the one in brackets the "
                         "stage that did it (docs/policies.md)\n/pin keeps it, weir_recall brings "
                         "it back by its handle, /undo step takes the last step back\n");
}

/* ---- chat command ---- */

static const char help[] =
    "/context         what fills the window, and what happens next\n"
    "/compact         summarise older turns now; their text stays in a file\n"
    "/model [NAME]    which model, or go on with another\n"
    "/tools           what the model may call\n"
    "/skills          skills it can read\n"
    "/memory          notes that outlive sessions\n"
    "/sessions        sessions there are, the newest first, with their first words\n"
    "/resume NAME|N   go on with another session, by its name or its number in /sessions\n"
    "/plan            what is out of the prompt, what leaves next, what is pinned\n"
    "/why NAME        why that is out: a path or a handle of /plan\n"
    "/pin [NAME]      a path, a handle or `tool NAME` stays whole; /unpin takes it back\n"
    "/steer [TEXT]    go on working, with a word on the way\n"
    "/undo [force]    put back the files that the last turn changed; force: also those that were\n"
    "                 changed since\n"
    "/undo step       what the last step took out of the prompt is in it again\n"
    "/allowed         what you answered with always; /allowed forget N takes it back\n"
    "/help            this\n"
    "/quit            leave; the session is kept\n"
    "Esc interrupts, Ctrl+O opens and folds cards, Tab completes /commands and @files, Ctrl+R\n"
    "searches earlier lines, Alt+Enter begins a new line. What you send while the agent works\n"
    "goes into its next request.\n";

/* ---- one function a command ---- */

typedef enum wr_chat_next command_fn(struct wr_chat *chat, weir_span rest, struct wr_buf *out);

static enum wr_chat_next do_help(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)chat;
    (void)rest;
    wr_buf_text(out, help);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_context(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)rest;
    wr_context_page(chat->agent->session, chat->prompt, wr_clock_ms(), out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_compact(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    struct weir_compacted done = {0};
    struct weir_err err = {0};

    (void)rest;
    if (weir_session_compact(chat->agent->session, "asked", wr_clock_ms(), &done, &err))
        wr_buf_printf(out, "not compacted: %s\n", err.text);
    else if (!done.is_taken)
        wr_buf_text(out, "nothing would be gained\n");
    else
        wr_buf_printf(
            out, "%llu messages became a summary: %llu -> %llu tokens; their text is in %.*s\n",
            (unsigned long long)done.messages_count, (unsigned long long)done.tokens_before,
            (unsigned long long)done.tokens_after, (int)done.path.len, done.path.ptr);
    if (done.fell_back)
        wr_buf_printf(out, "the model's summary was not used: %s\n", done.fell_back);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_model(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    struct weir_err err = {0};
    char name[256];

    if (rest.len >= sizeof(name)) {
        wr_buf_text(out, "not switched: no model has such a long name\n");
    } else if (rest.len) {
        (void)snprintf(name, sizeof(name), "%.*s", (int)rest.len, rest.ptr);
        /* A local server may have loaded it with less than is known of it. */
        uint32_t window = chat->ask_window ? chat->ask_window(chat->ask_user, name) : 0;
        if (weir_session_switch_model(chat->agent->session, name, window, wr_clock_ms(), &err))
            wr_buf_printf(out, "not switched: %s\n", err.text);
    }
    struct weir_session_context context;
    weir_session_context(chat->agent->session, &context);
    wr_buf_printf(out, "model: %s, window %llu tokens\n", weir_session_model(chat->agent->session),
                  (unsigned long long)context.window_tokens);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_tools(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    struct weir_tool tools[WR_TOOLBOX_TOOLS_MAX];
    size_t count = wr_toolbox_tools(&chat->agent->toolbox, tools);

    (void)rest;
    for (size_t i = 0; i < count; i++)
        wr_buf_printf(out, "%-14.*s %.*s\n", (int)tools[i].name.len, tools[i].name.ptr,
                      (int)(tools[i].description.len < 400 ? tools[i].description.len : 400),
                      tools[i].description.ptr);
    if (chat->agent->toolbox.servers)
        wr_buf_text(out, "MCP servers:\n");
    wr_mcp_servers_list(chat->agent->toolbox.servers, out);
    return WR_CHAT_DONE;
}

static void put_section(struct wr_chat *chat, const char *name, const char *none,
                        struct wr_buf *out)
{
    for (size_t i = 0; chat->prompt && i < weir_prompt_sections(chat->prompt); i++) {
        const struct weir_section *section = weir_prompt_section(chat->prompt, i);
        if (strcmp(section->name, name))
            continue;
        wr_buf_append(out, section->text);
        wr_buf_byte(out, '\n');
        return;
    }
    wr_buf_text(out, none);
}

static enum wr_chat_next do_skills(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)rest;
    put_section(chat, "skills", "there are no skills\n", out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_memory(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)rest;
    put_section(chat, "memory", "there are no notes\n", out);
    return WR_CHAT_DONE;
}

/* ---- sessions ---- */

static enum wr_chat_next do_sessions(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    size_t count;
    struct wr_listed_session *list = wr_sessions_list(chat->sessions_dir, &count);

    (void)rest;
    for (size_t i = 0; i < count && i < WR_SESSIONS_SHOWN; i++) {
        bool is_this = !strcmp(list[i].name, chat->agent->name);
        wr_buf_printf(out, "%3zu  %s%s  ", i + 1, list[i].name, is_this ? "  (this one)" : "");
        wr_session_first_words(chat->sessions_dir, list[i].name, out);
        wr_buf_byte(out, '\n');
    }
    if (count > WR_SESSIONS_SHOWN)
        wr_buf_printf(out, "and %zu older ones in %s\n", count - WR_SESSIONS_SHOWN,
                      chat->sessions_dir);
    free(list);
    return WR_CHAT_DONE;
}

/* A number of /sessions stands for the name, unless a session is called so. */
static void name_by_number(struct wr_chat *chat)
{
    uint64_t number;
    size_t count;

    if (wr_session_is_there(chat->sessions_dir, chat->resume) ||
        !wr_span_u64(wr_span_of(chat->resume), &number))
        return;
    struct wr_listed_session *list = wr_sessions_list(chat->sessions_dir, &count);
    if (number >= 1 && number <= count)
        (void)snprintf(chat->resume, sizeof(chat->resume), "%s", list[number - 1].name);
    free(list);
}

static enum wr_chat_next do_resume(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)snprintf(chat->resume, sizeof(chat->resume), "%.*s", (int)rest.len, rest.ptr);
    struct weir_err err = {0};

    name_by_number(chat);
    if (!rest.len || !wr_session_is_there(chat->sessions_dir, chat->resume))
        wr_buf_text(out, "which session? Tab behind /resume lists them, as /sessions does\n");
    else if (!strcmp(chat->resume, chat->agent->name))
        wr_buf_text(out, "that is this one\n");
    else if (chat->probe && !chat->probe(chat->ask_user, chat->resume, &err))
        wr_buf_printf(out, "this session goes on: %s cannot be opened: %s\n", chat->resume,
                      err.text);
    else
        return WR_CHAT_RESUME;
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_steer(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    struct weir_err err = {0};

    if (!rest.len)
        return WR_CHAT_WORK;
    wr_image_words_attach(chat->agent, rest);
    if (!weir_session_steer(chat->agent->session, rest, wr_clock_ms(), &err))
        return WR_CHAT_WORK;
    wr_buf_printf(out, "not taken: %s\n", err.text);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_undo(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    struct weir_err err = {0};
    struct wr_buf told;

    if (wr_span_is(rest, "step")) {
        chat_undo_step(chat, out);
        return WR_CHAT_DONE;
    }
    if (rest.len && !wr_span_is(rest, "force")) {
        wr_buf_text(out, "/undo, or /undo force, or /undo step\n");
        return WR_CHAT_DONE;
    }
    wr_buf_init(&told, WR_AGENT_READ_BYTES_MAX);
    wr_buf_text(&told, "The user took back your last changes of files:\n");
    size_t begin = told.len;
    enum wr_undone undone = wr_undo_last(chat->undo, rest.len, &told);
    weir_span all = wr_buf_view(&told);
    wr_buf_append(out, wr_span_cut(all, begin, all.len));
    if (undone == WR_UNDO_NONE)
        wr_buf_text(out, "nothing was changed in this run\n");
    else if (undone == WR_UNDO_REFUSED)
        wr_buf_text(out, "nothing was put back; /undo force does it all the same, and what was "
                         "changed since is lost\n");
    else if (weir_session_steer(chat->agent->session, all, wr_clock_ms(), &err))
        wr_buf_printf(out, "the model could not be told: %s\n", err.text);
    wr_buf_release(&told);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_allowed(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    struct wr_grants *grants = &chat->agent->grants;
    uint64_t number = 0;

    if (wr_span_is(rest, "forget all"))
        grants->count = 0;
    else if (wr_span_starts(rest, WR_LIT("forget ")) &&
             (!wr_span_u64(wr_span_trim(wr_span_cut(rest, 7, rest.len)), &number) ||
              !wr_grants_revoke(grants, number)))
        wr_buf_text(out, "which one? /allowed lists them, /allowed forget N takes one back\n");
    else if (rest.len && !number)
        wr_buf_text(out, "/allowed, /allowed forget N or /allowed forget all\n");
    if (chat->agent->needs_no_consent)
        wr_buf_text(out, "--yes was given: everything is allowed\n");
    else if (!grants->count)
        wr_buf_text(out, "nothing is allowed for good: every such call is a question\n");
    wr_grants_list(grants, out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_plan(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)rest;
    chat_plan(chat, out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_why(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    chat_why(chat, rest, out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_pin(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    chat_pin(chat, rest, true, out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_unpin(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    chat_pin(chat, rest, false, out);
    return WR_CHAT_DONE;
}

static enum wr_chat_next do_quit(struct wr_chat *chat, weir_span rest, struct wr_buf *out)
{
    (void)chat;
    (void)rest;
    (void)out;
    return WR_CHAT_QUIT;
}

static const struct {
    const char *name;
    command_fn *run;
} commands[] = {
    {"help", do_help},     {"context", do_context},   {"compact", do_compact},
    {"model", do_model},   {"tools", do_tools},       {"skills", do_skills},
    {"memory", do_memory}, {"sessions", do_sessions}, {"resume", do_resume},
    {"steer", do_steer},   {"undo", do_undo},         {"quit", do_quit},
    {"exit", do_quit},     {"allowed", do_allowed},   {"plan", do_plan},
    {"why", do_why},       {"pin", do_pin},           {"unpin", do_unpin},
};

const char *wr_chat_command_name(size_t number)
{
    return number < WR_COUNT_OF(commands) ? commands[number].name : NULL;
}

enum wr_chat_next wr_chat_command(struct wr_chat *chat, weir_span line)
{
    size_t space = 0;
    struct wr_buf out;

    if (!wr_span_starts(line, WR_LIT("/")))
        return WR_CHAT_SAY;
    while (space < line.len && !wr_is_space(line.ptr[space]))
        space++;
    weir_span name = wr_span_cut(line, 1, space);
    weir_span rest = wr_span_trim(wr_span_cut(line, space, line.len));
    for (size_t i = 0; i < WR_COUNT_OF(commands); i++)
        if (wr_span_is(name, commands[i].name)) {
            wr_buf_init(&out, WR_AGENT_FILE_BYTES_MAX);
            enum wr_chat_next next = commands[i].run(chat, rest, &out);
            wr_screen_text(chat->screen, wr_buf_view(&out));
            wr_buf_release(&out);
            return next;
        }
    if (memchr(name.ptr, '/', name.len))
        return WR_CHAT_SAY; /* a path: a file was dropped on the terminal */
    wr_screen_say(chat->screen, "there is no such command; /help lists them");
    return WR_CHAT_DONE;
}
