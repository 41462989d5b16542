/* The terminal's keys while the agent works.
 *
 *   begin ──▶ keys come one by one and are not echoed ──▶ end: the terminal's modes as before
 *
 * Bytes are turned into keys by take_key(): text, Enter, Ctrl+C, Ctrl+O, Ctrl+D, or the part of a
 * sequence such as an arrow sends. Lines that are finished wait until the agent takes them.
 *
 * A question is read by this file itself and not by the loop, which would take its keys for a
 * line. It may appear in the middle of a word, so for a moment of quiet all keys still belong to
 * the line that was being typed; a "y" of that line must not allow a command. Esc alone and the
 * first byte of an arrow look the same: whether more follows within 50 ms tells them apart.
 */
#include "agent/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/utf8.h"

enum { SIGNAL_MS = 200 };  /* until a signal is seen while a key is waited for */
enum { SEQUENCE_MS = 50 }; /* within which the rest of an arrow follows its ESC */
enum { FOREVER = -1 };
enum { PASTE_BEGINS = 200, PASTE_ENDS = 201 };

void wr_keyboard_init(struct wr_keyboard *k, bool has_terminal, struct wr_client *client)
{
    *k = (struct wr_keyboard){.terminal = -1, .client = client};
    if (has_terminal)
        k->terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC);
    wr_buf_init(&k->typed, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&k->lines, WR_AGENT_FILE_BYTES_MAX);
}

void wr_keyboard_release(struct wr_keyboard *k)
{
    wr_keyboard_end(k);
    if (k->terminal >= 0)
        (void)close(k->terminal);
    wr_buf_release(&k->typed);
    wr_buf_release(&k->lines);
}

/* ---- keys ---- */

static void finish_line(struct wr_keyboard *k)
{
    weir_span line = wr_span_trim(wr_buf_view(&k->typed));

    if (line.len) {
        wr_buf_append(&k->lines, line);
        wr_buf_byte(&k->lines, 0);
        if (k->on_line)
            k->on_line(k->user, line);
    }
    wr_buf_reset(&k->typed);
}

/* Backspace takes back a whole character. */
static void take_back(struct wr_buf *typed)
{
    while (typed->len && wr_utf8_is_tail(typed->bytes[typed->len - 1]))
        typed->len--;
    if (typed->len)
        typed->len--;
}

static void interrupt_client(struct wr_keyboard *k)
{
    k->is_interrupted = true;
    wr_client_interrupt(k->client);
}

/* Arrows and the like send ESC [ ... LETTER, or ESC O LETTER: that is no text. True: taken. */
static bool take_sequence(struct wr_keyboard *k, char key)
{
    if (key == WR_KEY_ESCAPE) {
        k->keys = WR_KEYS_ESCAPE;
        return true;
    }
    if (k->keys == WR_KEYS_ESCAPE && (key == '[' || key == 'O')) {
        k->keys = WR_KEYS_SEQUENCE;
        k->sequence = 0;
        return true;
    }
    bool is_inside = k->keys == WR_KEYS_SEQUENCE && key >= ' ' && key <= '~';
    if (is_inside && key >= '0' && key <= '9' && k->sequence < PASTE_BEGINS * 10)
        k->sequence = k->sequence * 10 + (uint32_t)(key - '0');
    if (is_inside && key == '~' && (k->sequence == PASTE_BEGINS || k->sequence == PASTE_ENDS))
        k->is_pasting = k->sequence == PASTE_BEGINS;
    if (!is_inside || key >= '@')
        k->keys = WR_KEYS_PLAIN;
    return is_inside;
}

enum key_meaning { KEY_TYPED, KEY_ENTER, KEY_INTERRUPT, KEY_OPEN, KEY_END_OF_FILE };

/* What is text goes to `line`. */
static enum key_meaning take_key(struct wr_keyboard *k, char key, struct wr_buf *line)
{
    if (take_sequence(k, key))
        return KEY_TYPED;
    if (key == WR_KEY_CTRL_C)
        return KEY_INTERRUPT;
    if (key == WR_KEY_CTRL_D)
        return KEY_END_OF_FILE;
    if (key == WR_KEY_CTRL_O)
        return KEY_OPEN;
    if (k->is_pasting && (key == '\r' || key == '\n' || key == '\t'))
        wr_buf_byte(line, key == '\t' ? key : '\n');
    else if (key == '\r' || key == '\n')
        return KEY_ENTER;
    else if (key == 127 || key == '\b')
        take_back(line);
    else if ((unsigned char)key >= ' ')
        wr_buf_byte(line, key);
    return KEY_TYPED;
}

static void on_key(struct wr_keyboard *k, char key)
{
    enum key_meaning meaning = take_key(k, key, &k->typed);

    if (meaning == KEY_INTERRUPT)
        interrupt_client(k);
    else if (meaning == KEY_OPEN && k->on_open)
        k->on_open(k->user);
    else if (meaning == KEY_ENTER)
        finish_line(k);
}

static void stop_watching(struct wr_keyboard *k)
{
    if (!k->is_closed)
        (void)uv_poll_stop(&k->poll);
    interrupt_client(k);
}

void wr_keyboard_look(struct wr_keyboard *k)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};
    char keys[256];

    errno = 0;
    while (k->is_on && poll(&file, 1, 0) > 0 && file.revents & POLLIN) {
        ssize_t bytes = read(k->terminal, keys, sizeof(keys));
        if (bytes <= 0 && errno != EAGAIN && errno != EINTR)
            stop_watching(k); /* the terminal is gone: nobody waits for the answer */
        if (bytes <= 0)
            return;
        for (ssize_t i = 0; i < bytes; i++)
            on_key(k, keys[i]);
    }
}

bool wr_keyboard_is_interrupted(void *user)
{
    struct wr_keyboard *k = user;
    wr_keyboard_look(k);
    return k->is_interrupted;
}

static void on_poll(uv_poll_t *poll_handle, int status, int events)
{
    (void)status;
    (void)events;
    wr_keyboard_look(poll_handle->data);
}

/* ---- questions ---- */

enum wait_end { WAIT_KEY, WAIT_TIMEOUT, WAIT_NONE };

static enum wait_end wait_for_key(struct wr_keyboard *k, int wait_ms, char *key)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};

    while (k->is_on && !wr_client_has_ended(k->client)) {
        int found = poll(&file, 1, wait_ms == FOREVER || wait_ms > SIGNAL_MS ? SIGNAL_MS : wait_ms);
        if (found < 0 && errno == EINTR)
            continue;
        if (!found && wait_ms != FOREVER && (wait_ms -= SIGNAL_MS) <= 0)
            return WAIT_TIMEOUT;
        if (!found)
            continue;
        return found > 0 && read(k->terminal, key, 1) == 1 ? WAIT_KEY : WAIT_NONE;
    }
    return WAIT_NONE;
}

/* Until no key was pressed for a while, keys belong to the line that was being typed. An answer
 * that comes too early is dropped, neither taken as an answer nor sent to the model: it must be
 * given again. */
static enum wr_answer_end wait_for_quiet(struct wr_keyboard *k, const struct wr_question *question)
{
    enum wait_end end;
    char key;

    while ((end = wait_for_key(k, (int)question->quiet_ms, &key)) == WAIT_KEY) {
        bool is_early = (key == '\r' || key == '\n') && !k->is_pasting &&
                        question->is_answer(wr_span_trim(wr_buf_view(&k->typed)));
        if (is_early)
            wr_buf_reset(&k->typed);
        else
            on_key(k, key);
        if (k->is_interrupted)
            return WR_ANSWER_INTERRUPT;
    }
    k->keys = WR_KEYS_PLAIN; /* what follows an ESC comes at once, or was Esc alone */
    return end == WAIT_TIMEOUT ? WR_ANSWER_LINE : WR_ANSWER_NONE;
}

/* Esc alone, and not the beginning of what an arrow sends. */
static bool is_escape_alone(struct wr_keyboard *k, char key)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};
    return key == WR_KEY_ESCAPE && !k->is_pasting && poll(&file, 1, SEQUENCE_MS) == 0;
}

static enum wr_answer_end read_answer(struct wr_keyboard *k, const struct wr_question *question,
                                      struct wr_buf *line)
{
    char key;

    question->on_change(question->user, wr_buf_view(line));
    while (wait_for_key(k, FOREVER, &key) == WAIT_KEY) {
        if (is_escape_alone(k, key))
            return WR_ANSWER_ESCAPE;
        size_t bytes_before = line->len;
        enum key_meaning meaning = take_key(k, key, line);
        if (meaning == KEY_ENTER)
            return WR_ANSWER_LINE;
        if (meaning == KEY_END_OF_FILE)
            return WR_ANSWER_ESCAPE;
        if (meaning == KEY_INTERRUPT) {
            k->is_interrupted = true;
            return WR_ANSWER_INTERRUPT;
        }
        if (line->len != bytes_before)
            question->on_change(question->user, wr_buf_view(line));
    }
    return WR_ANSWER_NONE;
}

static enum wr_answer_end ask_until_answered(struct wr_keyboard *k,
                                             const struct wr_question *question,
                                             struct wr_buf *line)
{
    for (;;) {
        enum wr_answer_end end = wait_for_quiet(k, question);
        if (end != WR_ANSWER_LINE)
            return end;
        wr_buf_reset(line);
        end = read_answer(k, question, line);
        weir_span said = wr_span_trim(wr_buf_view(line));
        if (end == WR_ANSWER_LINE && question->is_answer(said))
            return end;
        wr_buf_append(&k->typed, wr_buf_view(line));
        if (end != WR_ANSWER_LINE)
            return end;
        finish_line(k);
    }
}

enum wr_answer_end wr_keyboard_answer(struct wr_keyboard *k, const struct wr_question *question,
                                      struct wr_buf *line)
{
    bool is_watched = k->is_on && !k->is_closed;

    if (is_watched) /* the loop would take the keys for a line */
        (void)uv_poll_stop(&k->poll);
    enum wr_answer_end end = ask_until_answered(k, question, line);
    if (is_watched)
        (void)uv_poll_start(&k->poll, UV_READABLE, on_poll);
    return end;
}

bool wr_keyboard_take(struct wr_keyboard *k, struct wr_buf *line)
{
    wr_keyboard_look(k);
    weir_span all = wr_buf_view(&k->lines);
    weir_span rest = wr_span_cut(all, k->lines_taken_bytes, all.len);
    const char *end = rest.len ? memchr(rest.ptr, 0, rest.len) : NULL;
    if (!end) {
        wr_buf_reset(&k->lines);
        k->lines_taken_bytes = 0;
        return false;
    }
    wr_buf_append(line, wr_span_cut(rest, 0, (size_t)(end - rest.ptr)));
    k->lines_taken_bytes += (size_t)(end - rest.ptr) + 1;
    return true;
}

void wr_keyboard_take_rest(struct wr_keyboard *k, struct wr_buf *line)
{
    wr_buf_append(line, wr_buf_view(&k->typed));
    wr_buf_reset(&k->typed);
    k->is_pasting = false;
}

/* ---- the terminal ---- */

static void on_closed(uv_handle_t *handle)
{
    struct wr_keyboard *k = handle->data;
    k->is_closed = true;
}

void wr_keyboard_begin(struct wr_keyboard *k)
{
    struct termios modes;

    k->is_interrupted = false;
    if (k->is_on || k->terminal < 0 || tcgetattr(k->terminal, &k->before))
        return;
    modes = k->before;
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    modes.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    if (tcsetattr(k->terminal, TCSANOW, &modes))
        return;
    k->is_on = true;
    k->is_closed = uv_poll_init(&k->client->loop, &k->poll, k->terminal) != 0;
    if (k->is_closed)
        return;
    k->poll.data = k;
    (void)uv_poll_start(&k->poll, UV_READABLE, on_poll);
}

void wr_keyboard_end(struct wr_keyboard *k)
{
    if (!k->is_on)
        return;
    (void)tcsetattr(k->terminal, TCSANOW, &k->before);
    k->is_on = false;
    if (k->is_closed)
        return;
    uv_close((uv_handle_t *)&k->poll, on_closed);
    while (!k->is_closed)
        (void)uv_run(&k->client->loop, UV_RUN_ONCE);
}
