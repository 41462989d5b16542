/* The terminal's keys, while the agent works and at the prompt.
 *
 *   begin ──▶ keys come one by one and are not echoed ──▶ end: the terminal's modes as before
 *
 * keys.c makes keys of bytes, editor.c a line of keys; this file reads the bytes, knows what a key
 * means that is no part of the line, and keeps finished lines until somebody takes them.
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
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { SIGNAL_MS = 200 };  /* until a signal is seen while a key is waited for */
enum { SEQUENCE_MS = 50 }; /* within which the rest of an arrow follows its ESC */
enum { TICK_MS = 100 };
enum { FOREVER = -1 };

void wr_keyboard_init(struct wr_keyboard *k, bool has_terminal, struct wr_client *client)
{
    *k = (struct wr_keyboard){.terminal = -1, .client = client};
    if (has_terminal)
        k->terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC);
    wr_editor_init(&k->editor);
    wr_buf_init(&k->lines, WR_AGENT_FILE_BYTES_MAX);
}

void wr_keyboard_release(struct wr_keyboard *k)
{
    wr_keyboard_end(k);
    if (k->terminal >= 0)
        (void)close(k->terminal);
    wr_editor_release(&k->editor);
    wr_buf_release(&k->lines);
}

/* ---- keys ---- */

static void tell_change(const struct wr_keyboard *k, bool is_all)
{
    if (k->on_change)
        k->on_change(k->user, is_all);
}

static void finish_line(struct wr_keyboard *k)
{
    struct wr_buf line;

    wr_buf_init(&line, WR_AGENT_FILE_BYTES_MAX);
    bool is_taken = wr_editor_take(&k->editor, &line);
    weir_span said = wr_buf_view(&line); /* trimmed, but for the ends of what was pasted */
    k->interrupts = 0;
    if (is_taken && wr_span_trim(said).len && wr_buf_try_reserve(&k->lines, said.len + 1)) {
        wr_buf_append(&k->lines, said);
        wr_buf_byte(&k->lines, 0);
        if (k->on_line)
            k->on_line(k->user, said);
    }
    wr_buf_release(&line);
}

static void interrupt_client(struct wr_keyboard *k)
{
    k->is_interrupted = true;
    wr_client_interrupt(k->client);
}

/* At the prompt Ctrl+C gives up the line; on an empty one it leaves when it is pressed again. */
static void give_up_line(struct wr_keyboard *k)
{
    k->interrupts = k->editor.text.len ? 0 : k->interrupts + 1;
    k->has_left = k->interrupts >= 2;
    wr_editor_clear(&k->editor);
}

/* Ctrl+Z: the shell gets the terminal as it was, and we have it again when we go on. */
static void suspend_program(struct wr_keyboard *k)
{
    if (!k->is_on)
        return;
    (void)tcsetattr(k->terminal, TCSANOW, &k->before);
    (void)raise(SIGTSTP);
    (void)tcsetattr(k->terminal, TCSANOW, &k->during);
}

static void on_edit(struct wr_keyboard *k, enum wr_edit edit)
{
    switch (edit) {
    case WR_EDIT_DONE:
        finish_line(k);
        break;
    case WR_EDIT_INTERRUPT:
        if (k->is_at_prompt)
            give_up_line(k);
        else
            interrupt_client(k);
        break;
    case WR_EDIT_ESCAPE:
        if (!k->is_at_prompt)
            interrupt_client(k);
        break;
    case WR_EDIT_LEAVE:
        k->has_left = k->is_at_prompt;
        break;
    case WR_EDIT_OPEN:
        if (k->on_open)
            k->on_open(k->user);
        break;
    case WR_EDIT_PAGE_UP:
    case WR_EDIT_PAGE_DOWN:
        if (k->on_page)
            k->on_page(k->user, edit == WR_EDIT_PAGE_UP);
        break;
    case WR_EDIT_SUSPEND:
        suspend_program(k);
        tell_change(k, true);
        break;
    case WR_EDIT_CLEAR:
        tell_change(k, true);
        break;
    case WR_EDIT_NONE:
    case WR_EDIT_CHANGED:
        break;
    }
}

static enum wr_edit on_key(struct wr_keyboard *k, struct wr_key key)
{
    enum wr_edit edit = wr_editor_key(&k->editor, key);
    on_edit(k, edit);
    return edit;
}

/* Whether the ESC that came last was Esc alone. Waits for a moment. */
static bool is_escape_alone(struct wr_keyboard *k)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};
    return wr_keys_is_waiting(&k->keys) && poll(&file, 1, SEQUENCE_MS) == 0;
}

static void stop_watching(struct wr_keyboard *k)
{
    if (!k->is_closed)
        (void)uv_poll_stop(&k->poll);
    k->has_left = true;
    interrupt_client(k);
}

static void tick(struct wr_keyboard *k)
{
    uint64_t now_us = wr_clock_steady_us();

    if (!k->on_tick || now_us - k->ticked_us < TICK_MS * 1000)
        return;
    k->ticked_us = now_us;
    k->on_tick(k->user);
}

static bool take_bytes(struct wr_keyboard *k, const char *bytes, size_t count)
{
    bool is_changed = false;

    for (size_t i = 0; i < count; i++)
        is_changed |= on_key(k, wr_keys_take(&k->keys, bytes[i])) != WR_EDIT_NONE;
    if (is_escape_alone(k))
        is_changed |= on_key(k, wr_keys_pause(&k->keys)) != WR_EDIT_NONE;
    return is_changed;
}

void wr_keyboard_look(struct wr_keyboard *k)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};
    bool is_changed = false;
    char bytes[256];

    errno = 0;
    while (k->is_on && poll(&file, 1, 0) > 0 && file.revents & (POLLIN | POLLHUP)) {
        ssize_t count = read(k->terminal, bytes, sizeof(bytes));
        if (count <= 0 && errno != EAGAIN && errno != EINTR)
            stop_watching(k); /* the terminal is gone: nobody waits for the answer */
        if (count <= 0)
            break;
        is_changed |= take_bytes(k, bytes, (size_t)count);
    }
    if (is_changed)
        tell_change(k, false);
    tick(k);
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

static void on_timer(uv_timer_t *timer)
{
    tick(timer->data);
}

/* ---- waiting ---- */

enum wait_end { WAIT_BYTE, WAIT_TIMEOUT, WAIT_NONE };

static bool has_ended(struct wr_keyboard *k)
{
    return !k->is_on || wr_client_has_ended(k->client);
}

static enum wait_end wait_for_byte(struct wr_keyboard *k, int wait_ms, char *byte)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};

    while (!has_ended(k)) {
        int found = poll(&file, 1, wait_ms == FOREVER || wait_ms > SIGNAL_MS ? SIGNAL_MS : wait_ms);
        if (found < 0 && errno == EINTR)
            tell_change(k, false); /* the terminal may have another size now */
        if (found < 0 && errno == EINTR)
            continue;
        if (!found && wait_ms != FOREVER && (wait_ms -= SIGNAL_MS) <= 0)
            return WAIT_TIMEOUT;
        if (!found)
            continue;
        return found > 0 && read(k->terminal, byte, 1) == 1 ? WAIT_BYTE : WAIT_NONE;
    }
    return WAIT_NONE;
}

static bool has_more(const struct wr_keyboard *k)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};
    return poll(&file, 1, 0) > 0;
}

bool wr_keyboard_wait(struct wr_keyboard *k)
{
    struct pollfd file = {.fd = k->terminal, .events = POLLIN};

    k->is_at_prompt = true;
    k->has_left = false;
    k->interrupts = 0;
    while (!wr_keyboard_queued(k).len && !k->has_left && !has_ended(k)) {
        uint32_t interrupts = k->interrupts;
        int found = poll(&file, 1, SIGNAL_MS);
        if (found > 0)
            wr_keyboard_look(k);
        if (found < 0 || k->interrupts != interrupts)
            tell_change(k, false);
    }
    k->is_at_prompt = false;
    return wr_keyboard_queued(k).len && !k->has_left;
}

/* ---- questions ---- */

/* Until no key was pressed for a while, keys belong to the line that was being typed. An answer
 * that comes too early is dropped, neither taken as an answer nor sent to the model: it must be
 * given again. */
static enum wr_answer_end wait_for_quiet(struct wr_keyboard *k, const struct wr_question *question)
{
    enum wait_end end;
    char byte;

    while ((end = wait_for_byte(k, (int)question->quiet_ms, &byte)) == WAIT_BYTE) {
        struct wr_key key = wr_keys_take(&k->keys, byte);
        bool is_early = key.kind == WR_KEY_ENTER &&
                        question->is_answer(wr_span_trim(wr_buf_view(&k->editor.text)));
        if (is_early)
            wr_editor_clear(&k->editor);
        else
            (void)on_key(k, key);
        if (is_escape_alone(k))
            (void)on_key(k, wr_keys_pause(&k->keys));
        tell_change(k, false);
        if (k->is_interrupted)
            return WR_ANSWER_INTERRUPT;
    }
    return end == WAIT_TIMEOUT ? WR_ANSWER_LINE : WR_ANSWER_NONE;
}

/* Backspace takes back a whole character. */
static void shorten(struct wr_buf *line)
{
    while (line->len && wr_utf8_is_tail(line->bytes[line->len - 1]))
        line->len--;
    if (line->len)
        line->len--;
}

/* True: the answer is over. */
static bool take_answer_key(struct wr_keyboard *k, struct wr_key key, struct wr_buf *line,
                            enum wr_answer_end *end)
{
    switch (key.kind) {
    case WR_KEY_ENTER:
        *end = WR_ANSWER_LINE;
        return true;
    case WR_KEY_ESCAPE:
        *end = WR_ANSWER_ESCAPE;
        return true;
    case WR_KEY_BYTE:
        wr_buf_byte(line, key.byte);
        return false;
    case WR_KEY_BACKSPACE:
        shorten(line);
        return false;
    case WR_KEY_CTRL:
        if (key.byte == 'u')
            wr_buf_reset(line);
        k->is_interrupted |= key.byte == 'c';
        *end = key.byte == 'c' ? WR_ANSWER_INTERRUPT : WR_ANSWER_ESCAPE;
        return key.byte == 'c' || key.byte == 'd';
    default:
        return false;
    }
}

static enum wr_answer_end read_answer(struct wr_keyboard *k, const struct wr_question *question,
                                      struct wr_buf *line)
{
    enum wr_answer_end end;
    char byte;

    question->on_change(question->user, wr_buf_view(line));
    while (wait_for_byte(k, FOREVER, &byte) == WAIT_BYTE) {
        size_t bytes_before = line->len;
        struct wr_key key = wr_keys_take(&k->keys, byte);
        if (k->editor.is_pasting) { /* it began before the question, and ends in the line */
            (void)on_key(k, key);
            tell_change(k, false);
            continue;
        }
        if (take_answer_key(k, key, line, &end))
            return end;
        if (is_escape_alone(k) && take_answer_key(k, wr_keys_pause(&k->keys), line, &end))
            return end;
        /* Of a long paste not every byte is drawn: each costs as much as all before it. */
        if (line->len != bytes_before && !has_more(k))
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
        wr_editor_append(&k->editor, wr_buf_view(line));
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

/* ---- lines ---- */

weir_span wr_keyboard_queued(const struct wr_keyboard *k)
{
    return wr_span_from(wr_buf_view(&k->lines), k->lines_taken_bytes);
}

bool wr_keyboard_take(struct wr_keyboard *k, struct wr_buf *line)
{
    if (!k->is_at_prompt)
        wr_keyboard_look(k);
    weir_span rest = wr_keyboard_queued(k);
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

/* ---- the terminal ---- */

static void on_closed(uv_handle_t *handle)
{
    struct wr_keyboard *k = handle->data;
    k->is_closed = true;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct wr_keyboard *k = handle->data;
    k->is_timer_closed = true;
}

/* A wait for a key ends at a signal only where the signal is not ignored. */
static void on_size(int number)
{
    (void)number;
}

static void watch_size(void)
{
    struct sigaction action = {.sa_handler = on_size};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGWINCH, &action, NULL);
}

void wr_keyboard_begin(struct wr_keyboard *k)
{
    k->is_interrupted = false;
    if (k->is_on || k->terminal < 0 || tcgetattr(k->terminal, &k->before))
        return;
    k->during = k->before;
    k->during.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    k->during.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
    k->during.c_cc[VMIN] = 1;
    k->during.c_cc[VTIME] = 0;
    if (tcsetattr(k->terminal, TCSANOW, &k->during))
        return;
    watch_size();
    k->is_on = true;
    k->is_timer_closed = uv_timer_init(&k->client->loop, &k->timer) != 0;
    k->timer.data = k;
    if (!k->is_timer_closed && k->on_tick)
        (void)uv_timer_start(&k->timer, on_timer, TICK_MS, TICK_MS);
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
    if (!k->is_timer_closed)
        uv_close((uv_handle_t *)&k->timer, on_timer_closed);
    if (!k->is_closed)
        uv_close((uv_handle_t *)&k->poll, on_closed);
    while (!k->is_closed || !k->is_timer_closed)
        (void)uv_run(&k->client->loop, UV_RUN_ONCE);
}
