/* The line editor, without a terminal: keys in, a text and a cursor out.
 *
 * It is our own because it has to work while the agent works: an editor that waits for a line
 * (libedit, readline) cannot wait for a stream of an answer too, draws its line itself, and knows
 * neither questions nor lines that are queued (docs/decisions/016-own-terminal.md). What it does
 * is small: bytes in a buffer, and a cursor that steps by characters as cells.h counts them.
 *
 * A key that is no part of a search or of a completion ends it first. A paste is collected whole
 * and then put in as one change (keys.h makes a word of a long one).
 */
#include "agent/editor.h"

#include <stdint.h>

#include "agent/cells.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

void wr_editor_init(struct wr_editor *e)
{
    *e = (struct wr_editor){.found = SIZE_MAX};
    wr_buf_init(&e->text, WR_AGENT_TYPED_BYTES_MAX);
    wr_buf_init(&e->killed, WR_AGENT_TYPED_BYTES_MAX);
    wr_buf_init(&e->before, WR_AGENT_TYPED_BYTES_MAX);
    wr_buf_init(&e->pasted, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&e->draft, WR_AGENT_TYPED_BYTES_MAX);
    wr_buf_init(&e->wanted, WR_AGENT_READ_BYTES_MAX);
    wr_buf_init(&e->choices.names, WR_AGENT_READ_BYTES_MAX);
    wr_buf_init(&e->choices.labels, WR_AGENT_READ_BYTES_MAX);
    e->choices.chosen = SIZE_MAX;
}

void wr_editor_release(struct wr_editor *e)
{
    wr_buf_release(&e->text);
    wr_buf_release(&e->killed);
    wr_buf_release(&e->before);
    wr_buf_release(&e->pasted);
    wr_buf_release(&e->draft);
    wr_buf_release(&e->wanted);
    wr_buf_release(&e->choices.names);
    wr_buf_release(&e->choices.labels);
    wr_pastes_clear(&e->pastes);
}

/* ---- text ---- */

static void set_text(struct wr_buf *buf, weir_span text)
{
    wr_buf_reset(buf);
    wr_buf_append(buf, text);
}

/* Puts `with` in place of [from, to). Without room for it nothing is changed: the line is laid out
 * anew at each key and ten times a second while the agent works, so it cannot be of any length. */
static void splice(struct wr_editor *e, size_t from, size_t to, weir_span with)
{
    struct wr_buf *t = &e->text;
    size_t gone = to - from;

    e->is_full = with.len > gone && !wr_buf_try_reserve(t, with.len - gone);
    if (e->is_full)
        return;
    if (t->len)
        memmove(t->bytes + from + with.len, t->bytes + to, t->len - to);
    if (with.len)
        memcpy(t->bytes + from, with.ptr, with.len);
    t->len = t->len - (to - from) + with.len;
    e->cursor = from + with.len;
}

/* What Ctrl+_ takes back. */
static void remember(struct wr_editor *e)
{
    set_text(&e->before, wr_buf_view(&e->text));
    e->before_cursor = e->cursor;
}

static void replace_all(struct wr_editor *e, weir_span text)
{
    splice(e, 0, e->text.len, text);
}

static void take_back(struct wr_editor *e)
{
    struct wr_buf now = e->text;
    size_t cursor = e->cursor;

    e->text = e->before;
    e->cursor = e->before_cursor;
    e->before = now;
    e->before_cursor = cursor;
}

static size_t step_left(const struct wr_editor *e, size_t at)
{
    size_t from = at, cells;

    /* Marks join what stands before them, so the step is found from a place before all of it. */
    for (size_t back = 0; from > 0 && back < 32; back++)
        from--;
    while (from > 0 && (wr_utf8_is_tail(e->text.bytes[from])))
        from--;
    for (;;) {
        size_t bytes = wr_cells_step(wr_span_cut(wr_buf_view(&e->text), from, at), &cells);
        if (!bytes || from + bytes >= at)
            return from;
        from += bytes;
    }
}

static size_t step_right(const struct wr_editor *e, size_t at)
{
    size_t cells;
    return at + wr_cells_step(wr_span_from(wr_buf_view(&e->text), at), &cells);
}

static bool is_word(char c)
{
    return (unsigned char)c >= 0x80 || wr_is_alnum(c) || c == '_';
}

static size_t word_left(const struct wr_editor *e)
{
    size_t at = e->cursor;
    while (at > 0 && !is_word(e->text.bytes[at - 1]))
        at--;
    while (at > 0 && is_word(e->text.bytes[at - 1]))
        at--;
    return at;
}

static size_t word_right(const struct wr_editor *e)
{
    size_t at = e->cursor;
    while (at < e->text.len && !is_word(e->text.bytes[at]))
        at++;
    while (at < e->text.len && is_word(e->text.bytes[at]))
        at++;
    return at;
}

static size_t line_begin(const struct wr_editor *e, size_t at)
{
    while (at > 0 && e->text.bytes[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct wr_editor *e, size_t at)
{
    while (at < e->text.len && e->text.bytes[at] != '\n')
        at++;
    return at;
}

/* Takes out [from, to); Ctrl+Y puts it back. */
static void kill_part(struct wr_editor *e, size_t from, size_t to)
{
    remember(e);
    set_text(&e->killed, wr_span_cut(wr_buf_view(&e->text), from, to));
    splice(e, from, to, (weir_span){"", 0});
}

static void insert(struct wr_editor *e, weir_span text)
{
    splice(e, e->cursor, e->cursor, text);
}

/* ---- lines and history ---- */

static void show_history(struct wr_editor *e, size_t index)
{
    if (e->history_at == e->history->count)
        set_text(&e->draft, wr_buf_view(&e->text));
    e->history_at = index;
    replace_all(e, index == e->history->count ? wr_buf_view(&e->draft)
                                              : wr_history_at(e->history, index));
}

/* To the same column of the line that begins at `to`. */
static void go_to_line(struct wr_editor *e, size_t to)
{
    weir_span text = wr_buf_view(&e->text);
    size_t column = wr_cells_of(wr_span_cut(text, line_begin(e, e->cursor), e->cursor));
    weir_span line = wr_span_cut(text, to, line_end(e, to));
    e->cursor = to + wr_cells_head(line, column).len;
}

static enum wr_edit go_up(struct wr_editor *e)
{
    size_t begin = line_begin(e, e->cursor);

    if (begin > 0)
        go_to_line(e, line_begin(e, begin - 1));
    else if (e->history && e->history_at > 0)
        show_history(e, e->history_at - 1);
    else
        return WR_EDIT_NONE;
    return WR_EDIT_CHANGED;
}

static enum wr_edit go_down(struct wr_editor *e)
{
    size_t end = line_end(e, e->cursor);

    if (end < e->text.len)
        go_to_line(e, end + 1);
    else if (e->history && e->history_at < e->history->count)
        show_history(e, e->history_at + 1);
    else
        return WR_EDIT_NONE;
    return WR_EDIT_CHANGED;
}

/* ---- the search ---- */

static void search_before(struct wr_editor *e, size_t before)
{
    size_t found = wr_history_find(e->history, wr_buf_view(&e->wanted), before);
    e->found = found == SIZE_MAX && e->wanted.len ? SIZE_MAX : found;
}

static enum wr_edit begin_search(struct wr_editor *e)
{
    if (!e->history || !e->history->count)
        return WR_EDIT_NONE;
    e->is_searching = true;
    e->found = SIZE_MAX;
    wr_buf_reset(&e->wanted);
    return WR_EDIT_CHANGED;
}

/* What was found becomes the line; it is not sent. */
static void end_search(struct wr_editor *e, bool is_taken)
{
    e->is_searching = false;
    if (!is_taken || e->found == SIZE_MAX)
        return;
    remember(e);
    show_history(e, e->found);
}

static void shorten_wanted(struct wr_buf *wanted)
{
    while (wanted->len && wr_utf8_is_tail(wanted->bytes[wanted->len - 1]))
        wanted->len--;
    if (wanted->len)
        wanted->len--;
}

/* False: the key is no part of the search, which is ended. */
static bool take_search_key(struct wr_editor *e, struct wr_key key)
{
    if (key.kind == WR_KEY_BYTE && key.byte != '\n' && key.byte != '\t') {
        wr_buf_byte(&e->wanted, key.byte);
        search_before(e, e->found == SIZE_MAX ? e->history->count : e->found + 1);
    } else if (key.kind == WR_KEY_BACKSPACE) {
        shorten_wanted(&e->wanted);
        search_before(e, e->history->count);
    } else if (key.kind == WR_KEY_CTRL && key.byte == 'r') {
        size_t found = wr_history_find(e->history, wr_buf_view(&e->wanted),
                                       e->found == SIZE_MAX ? e->history->count : e->found);
        e->found = found == SIZE_MAX ? e->found : found;
    } else if (key.kind == WR_KEY_ENTER || key.kind == WR_KEY_TAB) {
        end_search(e, true);
    } else if (key.kind == WR_KEY_ESCAPE ||
               (key.kind == WR_KEY_CTRL && (key.byte == 'g' || key.byte == 'c'))) {
        end_search(e, false);
    } else {
        end_search(e, true);
        return false;
    }
    return true;
}

/* ---- completion ---- */

static weir_span text_at(const struct wr_buf *texts, size_t index)
{
    const char *text = texts->bytes;
    for (size_t i = 0; i < index; i++)
        text += strlen(text) + 1;
    return wr_span_of(text);
}

weir_span wr_choices_at(const struct wr_choices *c, size_t index)
{
    return text_at(&c->names, index);
}

weir_span wr_choices_label(const struct wr_choices *c, size_t index)
{
    return text_at(c->labels.len ? &c->labels : &c->names, index);
}

void wr_choices_add_label(struct wr_choices *c, weir_span label)
{
    wr_buf_append(&c->labels, label);
    wr_buf_byte(&c->labels, 0);
}

void wr_choices_add(struct wr_choices *c, weir_span name)
{
    if (c->count == WR_AGENT_CHOICES_MAX || !wr_buf_try_reserve(&c->names, name.len + 1))
        return;
    wr_buf_append(&c->names, name);
    wr_buf_byte(&c->names, 0);
    c->count++;
}

static void forget_choices(struct wr_editor *e)
{
    wr_buf_reset(&e->choices.names);
    wr_buf_reset(&e->choices.labels);
    e->choices.count = 0;
    e->choices.chosen = SIZE_MAX;
}

static size_t shared_bytes(const struct wr_choices *c)
{
    weir_span first = wr_choices_at(c, 0);
    size_t shared = first.len;

    for (size_t i = 1; i < c->count; i++) {
        weir_span name = wr_choices_at(c, i);
        size_t same = 0;
        while (same < shared && same < name.len && name.ptr[same] == first.ptr[same])
            same++;
        shared = same;
    }
    while (shared > 0 && shared < first.len && wr_utf8_is_tail(first.ptr[shared]))
        shared--;
    return shared;
}

static void put_choice(struct wr_editor *e, weir_span name)
{
    splice(e, e->choices.begin, e->cursor, name);
}

static enum wr_edit next_choice(struct wr_editor *e, bool goes_back)
{
    struct wr_choices *c = &e->choices;
    size_t last = c->count - 1;

    if (c->chosen == SIZE_MAX)
        c->chosen = goes_back ? last : 0;
    else if (goes_back)
        c->chosen = c->chosen ? c->chosen - 1 : last;
    else
        c->chosen = c->chosen < last ? c->chosen + 1 : 0;
    put_choice(e, wr_choices_at(c, c->chosen));
    return WR_EDIT_CHANGED;
}

static enum wr_edit press_tab(struct wr_editor *e, bool goes_back)
{
    if (e->choices.count)
        return next_choice(e, goes_back);
    if (!e->complete || goes_back)
        return WR_EDIT_NONE;
    e->complete(e->complete_user, wr_buf_view(&e->text), e->cursor, &e->choices);
    if (!e->choices.count)
        return WR_EDIT_NONE;
    remember(e);
    weir_span first = wr_choices_at(&e->choices, 0);
    if (!e->choices.labels.len || e->choices.count == 1) /* labels: what is typed may be in those */
        put_choice(e, wr_span_cut(first, 0, shared_bytes(&e->choices)));
    if (e->choices.count == 1) {
        if (!wr_span_ends(first, WR_LIT("/")) && e->cursor == e->text.len)
            insert(e, WR_LIT(" "));
        forget_choices(e);
    }
    return WR_EDIT_CHANGED;
}

/* ---- keys ---- */

static enum wr_edit take_paste_key(struct wr_editor *e, struct wr_key key)
{
    struct wr_buf shown;

    if (key.kind == WR_KEY_BYTE)
        wr_buf_byte(&e->pasted, key.byte);
    if (key.kind != WR_KEY_PASTE_ENDS)
        return WR_EDIT_NONE;
    e->is_pasting = false;
    remember(e);
    wr_buf_init(&shown, WR_AGENT_READ_BYTES_MAX);
    if (wr_buf_status(&e->pasted))
        wr_buf_text(&shown, WR_PASTE_TOO_LONG);
    else
        wr_pastes_add(&e->pastes, wr_buf_view(&e->pasted), &shown);
    insert(e, wr_buf_view(&shown));
    wr_buf_release(&shown);
    wr_buf_release(&e->pasted);
    wr_buf_init(&e->pasted, WR_AGENT_FILE_BYTES_MAX);
    return WR_EDIT_CHANGED;
}

static enum wr_edit press_enter(struct wr_editor *e)
{
    bool goes_on = e->cursor > 0 && e->text.bytes[e->cursor - 1] == '\\';

    if (!goes_on)
        return WR_EDIT_DONE;
    splice(e, e->cursor - 1, e->cursor, WR_LIT("\n"));
    return WR_EDIT_CHANGED;
}

static enum wr_edit press_ctrl(struct wr_editor *e, char letter)
{
    switch (letter) {
    case 'a':
        e->cursor = line_begin(e, e->cursor);
        return WR_EDIT_CHANGED;
    case 'e':
        e->cursor = line_end(e, e->cursor);
        return WR_EDIT_CHANGED;
    case 'b':
        return wr_editor_key(e, (struct wr_key){WR_KEY_LEFT, 0});
    case 'f':
        return wr_editor_key(e, (struct wr_key){WR_KEY_RIGHT, 0});
    case 'p':
        return go_up(e);
    case 'n':
        return go_down(e);
    case 'u':
        kill_part(e, line_begin(e, e->cursor), e->cursor);
        return WR_EDIT_CHANGED;
    case 'k':
        kill_part(e, e->cursor, line_end(e, e->cursor));
        return WR_EDIT_CHANGED;
    case 'w':
        kill_part(e, word_left(e), e->cursor);
        return WR_EDIT_CHANGED;
    case 'y':
        remember(e);
        insert(e, wr_buf_view(&e->killed));
        return WR_EDIT_CHANGED;
    case 'r':
        return begin_search(e);
    case 'x': /* as Ctrl+_, which many keyboards cannot send */
        take_back(e);
        return WR_EDIT_CHANGED;
    case 'c':
        return WR_EDIT_INTERRUPT;
    case 'l':
        return WR_EDIT_CLEAR;
    case 'o':
        return WR_EDIT_OPEN;
    case 'z':
        return WR_EDIT_SUSPEND;
    case 'd':
        return e->text.len ? wr_editor_key(e, (struct wr_key){WR_KEY_DELETE, 0}) : WR_EDIT_LEAVE;
    default:
        return WR_EDIT_NONE;
    }
}

static enum wr_edit move_cursor(struct wr_editor *e, size_t to)
{
    enum wr_edit edit = to == e->cursor ? WR_EDIT_NONE : WR_EDIT_CHANGED;
    e->cursor = to;
    return edit;
}

static enum wr_edit delete_part(struct wr_editor *e, size_t from, size_t to)
{
    if (from == to)
        return WR_EDIT_NONE;
    splice(e, from, to, (weir_span){"", 0});
    return WR_EDIT_CHANGED;
}

static enum wr_edit press_plain(struct wr_editor *e, struct wr_key key)
{
    switch (key.kind) {
    case WR_KEY_BYTE:
        insert(e, (weir_span){&key.byte, 1});
        return WR_EDIT_CHANGED;
    case WR_KEY_NEWLINE:
        insert(e, WR_LIT("\n"));
        return WR_EDIT_CHANGED;
    case WR_KEY_ENTER:
        return press_enter(e);
    case WR_KEY_BACKSPACE:
        return delete_part(e, e->cursor ? step_left(e, e->cursor) : 0, e->cursor);
    case WR_KEY_DELETE:
        return delete_part(e, e->cursor, step_right(e, e->cursor));
    case WR_KEY_LEFT:
        return move_cursor(e, e->cursor ? step_left(e, e->cursor) : 0);
    case WR_KEY_RIGHT:
        return move_cursor(e, step_right(e, e->cursor));
    case WR_KEY_WORD_LEFT:
        return move_cursor(e, word_left(e));
    case WR_KEY_WORD_RIGHT:
        return move_cursor(e, word_right(e));
    case WR_KEY_WORD_BACK:
        kill_part(e, word_left(e), e->cursor);
        return WR_EDIT_CHANGED;
    case WR_KEY_WORD_FORWARD:
        kill_part(e, e->cursor, word_right(e));
        return WR_EDIT_CHANGED;
    case WR_KEY_HOME:
        return move_cursor(e, line_begin(e, e->cursor));
    case WR_KEY_END:
        return move_cursor(e, line_end(e, e->cursor));
    case WR_KEY_UP:
        return go_up(e);
    case WR_KEY_DOWN:
        return go_down(e);
    case WR_KEY_PAGE_UP:
        return WR_EDIT_PAGE_UP;
    case WR_KEY_PAGE_DOWN:
        return WR_EDIT_PAGE_DOWN;
    case WR_KEY_ESCAPE:
        return WR_EDIT_ESCAPE;
    case WR_KEY_CTRL:
        return press_ctrl(e, key.byte);
    case WR_KEY_PASTE_BEGINS:
        e->is_pasting = true;
        return WR_EDIT_NONE;
    case WR_KEY_NONE:
    case WR_KEY_TAB:
    case WR_KEY_BACKTAB:
    case WR_KEY_PASTE_ENDS:
        break;
    }
    return WR_EDIT_NONE;
}

enum wr_edit wr_editor_key(struct wr_editor *e, struct wr_key key)
{
    if (key.kind == WR_KEY_NONE)
        return WR_EDIT_NONE;
    if (e->is_pasting)
        return take_paste_key(e, key);
    if (e->is_searching && take_search_key(e, key))
        return WR_EDIT_CHANGED;
    if (key.kind == WR_KEY_TAB || key.kind == WR_KEY_BACKTAB)
        return press_tab(e, key.kind == WR_KEY_BACKTAB);
    bool had_choices = e->choices.count;
    forget_choices(e);
    if (had_choices && key.kind == WR_KEY_ESCAPE)
        return WR_EDIT_CHANGED;
    enum wr_edit edit = press_plain(e, key);
    return had_choices && edit == WR_EDIT_NONE ? WR_EDIT_CHANGED : edit;
}

/* ---- the line ---- */

void wr_editor_append(struct wr_editor *e, weir_span text)
{
    e->cursor = e->text.len;
    insert(e, text);
}

void wr_editor_clear(struct wr_editor *e)
{
    remember(e);
    wr_buf_reset(&e->text);
    e->cursor = 0;
    e->is_searching = false;
    e->history_at = e->history ? e->history->count : 0;
    forget_choices(e);
    wr_pastes_clear(&e->pastes);
}

bool wr_editor_take(struct wr_editor *e, struct wr_buf *line)
{
    size_t begin = line->len;

    wr_pastes_expand(&e->pastes, wr_span_trim(wr_buf_view(&e->text)), line);
    if (wr_buf_status(line))
        return false;
    if (e->history)
        wr_history_add(e->history, wr_span_from(wr_buf_view(line), begin));
    wr_editor_clear(e);
    return true;
}
