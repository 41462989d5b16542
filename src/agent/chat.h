/* chat.h -- the agent in a terminal: lines the user types, and what they do.
 *
 * A line that begins with '/' is a command (/help lists them); any other is said to the model.
 */
#ifndef WR_AGENT_CHAT_H
#define WR_AGENT_CHAT_H

#include "agent/editor.h"
#include "agent/screen.h"
#include "agent/undo.h"
#include "base/buf.h"
#include "weir/session.h"

/* ---- what fills a session's window, as a page for a terminal ---- */

/* `prompt` (may be NULL) tells skills and memory from the rest of the system prompt. */
void wr_context_page(struct weir_session *session, const struct weir_prompt *prompt, int64_t now_ms,
                     struct wr_buf *out);

/* "ctx 34%", in its colour. */
void wr_context_word(struct weir_session *session, bool has_colours, struct wr_buf *out);

/* ---- completion ----
 *
 * What Tab puts in: the name of a command behind '/', of a file behind '@', of a
 * session behind "/resume ".
 */

struct wr_completer {
    const char *root;                      /* where files are looked for */
    const char *sessions_dir;              /* NULL: sessions are not named */
    const char *(*command)(size_t number); /* their names; NULL behind the last */
};

/* A wr_complete_fn; the user is the completer. */
void wr_line_complete(void *user, weir_span text, size_t cursor, struct wr_choices *choices);

/* ---- chat ---- */

struct wr_chat {
    struct wr_agent *agent;
    struct wr_screen *screen;
    struct wr_undo *undo;
    const struct weir_prompt *prompt;
    const char *sessions_dir;                              /* holds a folder a session */
    struct weir_store *store;                              /* of the session; NULL: none */
    const char *agent_dir;                                 /* skills and notes; NULL: none */
    uint32_t (*ask_window)(void *user, const char *model); /* a server's; 0: it does not tell */
    void *ask_user;                                        /* ask_window may be NULL */
    /* Whether a session can be opened now, with ask_user; else `err` says why. May be NULL. */
    bool (*probe)(void *user, const char *name, struct weir_err *err);
    char resume[256]; /* the session to go on with, for WR_CHAT_RESUME */
};

enum wr_chat_next {
    WR_CHAT_SAY,  /* no command: it is for the model */
    WR_CHAT_DONE, /* the command was carried out */
    WR_CHAT_WORK, /* go on with what the journal has */
    WR_CHAT_RESUME,
    WR_CHAT_QUIT,
};

/* Carries out a command; what it shows goes to the screen. */
enum wr_chat_next wr_chat_command(struct wr_chat *chat, weir_span line);

/* The commands' names, without '/'; NULL behind the last. */
const char *wr_chat_command_name(size_t number);

/* Reads lines and works until the user leaves (QUIT) or wants another session (RESUME). */
enum wr_chat_next wr_chat_run(struct wr_chat *chat);

#endif
