/* chat.h -- the agent in a terminal: lines the user types, and what they do.
 *
 * A line that begins with '/' is a command (/help lists them); any other is said to the model.
 */
#ifndef WR_AGENT_CHAT_H
#define WR_AGENT_CHAT_H

#include "agent/screen.h"
#include "agent/undo.h"

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
