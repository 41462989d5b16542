/* editor.h -- the line that is typed: text, cursor, history, search, completion. No terminal.
 *
 * wr_editor_key() changes the line and tells what the key asks of others. Whoever draws it reads
 * the members. The keys are those of readline and of the other agents' terminals:
 *
 *   Enter sends; Alt+Enter, Ctrl+J, or '\' and Enter begin a new line
 *   Left Right Home End, Ctrl+A E B F, Alt+B F by words; Up Down, Ctrl+P N: lines, then history
 *   Backspace Delete Ctrl+D, Ctrl+W and Alt+D words, Ctrl+U K ends of the line, Ctrl+Y puts back
 *   Ctrl+R searches the history; Tab completes; Ctrl+_ takes back the last change
 */
#ifndef WR_AGENT_EDITOR_H
#define WR_AGENT_EDITOR_H

#include "agent/history.h"
#include "agent/keys.h"

/* What could stand at the cursor. */
struct wr_choices {
    size_t begin;         /* of the word that each would take the place of */
    struct wr_buf names;  /* each with a NUL */
    struct wr_buf labels; /* the same for what is shown in their place; empty: the names are */
    size_t count;
    size_t chosen; /* of them, by Tab; SIZE_MAX: none yet */
};

/* Fills in `choices`, which is empty, for the word that ends at `cursor`. */
typedef void wr_complete_fn(void *user, weir_span text, size_t cursor, struct wr_choices *choices);

enum wr_edit {
    WR_EDIT_NONE,    /* nothing is changed */
    WR_EDIT_CHANGED, /* draw it again */
    WR_EDIT_DONE,    /* Enter: take it with wr_editor_take() */
    WR_EDIT_INTERRUPT,
    WR_EDIT_ESCAPE,  /* and there was nothing of the editor's own to leave */
    WR_EDIT_LEAVE,   /* Ctrl+D, the line is empty */
    WR_EDIT_OPEN,    /* Ctrl+O */
    WR_EDIT_CLEAR,   /* Ctrl+L */
    WR_EDIT_SUSPEND, /* Ctrl+Z */
    WR_EDIT_PAGE_UP,
    WR_EDIT_PAGE_DOWN,
};

struct wr_editor {
    struct wr_buf text;
    size_t cursor; /* in bytes, between characters */
    bool is_full;  /* the last key had no room: WR_AGENT_TYPED_BYTES_MAX */
    struct wr_buf killed, before;
    size_t before_cursor; /* with `before`: for Ctrl+_ */
    struct wr_pastes pastes;
    struct wr_buf pasted; /* what is being pasted */
    bool is_pasting;
    struct wr_history *history; /* not owned; may be NULL */
    size_t history_at;          /* the entry that is shown; history->count: none */
    struct wr_buf draft;        /* the line that was left for the history */
    bool is_searching;
    struct wr_buf wanted;
    size_t found; /* SIZE_MAX: no entry has it */
    struct wr_choices choices;
    wr_complete_fn *complete; /* may be NULL */
    void *complete_user;
};

void wr_editor_init(struct wr_editor *editor);
void wr_editor_release(struct wr_editor *editor);

enum wr_edit wr_editor_key(struct wr_editor *editor, struct wr_key key);

/* Puts text at the end of the line, with the cursor behind it. */
void wr_editor_append(struct wr_editor *editor, weir_span text);

/* Empties the line. */
void wr_editor_clear(struct wr_editor *editor);

/* Appends the line, trimmed, with what was pasted in its place; it is in the history and the line
 * is empty then. False: it is too long to be said, and stays. */
bool wr_editor_take(struct wr_editor *editor, struct wr_buf *line);

/* The choice with this number. */
weir_span wr_choices_at(const struct wr_choices *choices, size_t index);
void wr_choices_add(struct wr_choices *choices, weir_span name);

/* What says which choice that is. All choices have a label or none has. */
weir_span wr_choices_label(const struct wr_choices *choices, size_t index);
void wr_choices_add_label(struct wr_choices *choices, weir_span label);

#endif
