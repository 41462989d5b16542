/* Finds the paths in a message, reads the files, and hands those that are images to the session.
 *
 * Whether a file is an image, its bytes say (weir_session_attach). Its name only decides whether
 * the user is told that it is none: "@alice" and "@src/main.c" are words like others. */
#include "agent/image_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/toolbox.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"

enum { PATH_BYTES_MAX = 4096 };

/* ---- paths in a text ---- */

/* Whether a path begins at `at`; `*skip` are the bytes before it. */
static bool begins_at(weir_span text, size_t at, bool is_one_line, size_t *skip)
{
    weir_span rest = wr_span_from(text, at);

    if (at && !wr_is_space(text.ptr[at - 1]) && !strchr("(['\"", text.ptr[at - 1]))
        return false;
    *skip = rest.ptr[0] == '@';
    if (*skip)
        return rest.len > 1 && !wr_is_space(rest.ptr[1]);
    return is_one_line &&
           (wr_span_starts(rest, WR_LIT("/")) || wr_span_starts(rest, WR_LIT("'/")) ||
            wr_span_starts(rest, WR_LIT("\"/")));
}

/* Appends the path that begins at `at`; returns where it ends. */
static size_t take_path(weir_span text, size_t at, struct wr_image_word *word)
{
    char quote = text.ptr[at] == '"' || text.ptr[at] == '\'' ? text.ptr[at] : 0;

    word->may_end_sooner = !quote;
    for (at += quote != 0; at < text.len; at++) {
        char c = text.ptr[at];
        if (quote ? c == quote : wr_is_space(c))
            return at + (quote != 0);
        if (!quote && c == '\\' && at + 1 < text.len)
            c = text.ptr[++at];
        wr_buf_byte(&word->path, c);
    }
    return at;
}

bool wr_image_word_next(weir_span text, size_t *at, struct wr_image_word *word)
{
    bool is_one_line = wr_span_lines(wr_span_trim(text)) < 2;
    size_t skip;

    for (; *at < text.len; ++*at)
        if (begins_at(text, *at, is_one_line, &skip)) {
            *at = take_path(text, *at + skip, word);
            return true;
        }
    return false;
}

/* ---- files ---- */

/* The front of a file, one byte more than an image may have. NULL: done; else why not. */
static const char *read_front(const char *path, struct wr_buf *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    char piece[16 * 1024];
    ssize_t got = 0;

    if (fd < 0)
        return strerror(errno);
    const char *why = fstat(fd, &info)         ? strerror(errno)
                      : !S_ISREG(info.st_mode) ? "is no regular file"
                                               : NULL;
    while (!why && bytes->len <= WR_SESSION_IMAGE_BYTES_MAX &&
           ((got = read(fd, piece, sizeof(piece))) > 0 || (got < 0 && errno == EINTR)))
        wr_buf_append(bytes, (weir_span){piece, got > 0 ? (size_t)got : 0});
    if (!why && got < 0)
        why = strerror(errno);
    (void)close(fd);
    return why ? why : wr_buf_status(bytes) ? "there is no memory for it" : NULL;
}

/* Where the path leads: from the working directory, or from the user's own. */
static bool place_of(char place[PATH_BYTES_MAX], const char *root, weir_span path)
{
    const char *home = wr_span_starts(path, WR_LIT("~/")) ? getenv("HOME") : NULL;
    const char *base = home ? home : path.ptr[0] == '/' ? "" : root;

    if (home)
        path = wr_span_from(path, 2);
    int bytes = snprintf(place, PATH_BYTES_MAX, "%s%s%.*s", base, base[0] ? "/" : "", (int)path.len,
                         path.ptr);
    return bytes > 0 && bytes < PATH_BYTES_MAX;
}

static bool is_there(const char *root, weir_span path)
{
    char place[PATH_BYTES_MAX];
    return path.len && place_of(place, root, path) && !access(place, F_OK);
}

/* "@a.png, and": the comma is the sentence's, unless a file has it in its name. */
static weir_span path_of(const struct wr_image_word *word, const char *root)
{
    weir_span whole = wr_buf_view(&word->path), path = whole;

    if (!word->may_end_sooner || is_there(root, whole))
        return whole;
    while (path.len && strchr(".,;:!?)]'\"", path.ptr[path.len - 1]))
        path.len--;
    return path;
}

static bool is_named_like_one(weir_span path)
{
    static const char *const ends[] = {".png", ".jpg", ".jpeg", ".gif", ".webp"};
    for (size_t i = 0; i < WR_COUNT_OF(ends); i++)
        if (path.len > strlen(ends[i]) &&
            wr_starts_folded(wr_span_from(path, path.len - strlen(ends[i])), wr_span_of(ends[i])))
            return true;
    return false;
}

/* ---- the session ---- */

static void tell_user(const struct wr_agent *agent, const char *text)
{
    agent->view->notice(agent->view->user, text);
}

static void tell_image(const struct wr_agent *agent, weir_span path,
                       const struct weir_image_size *size, size_t bytes)
{
    const char *slash = wr_os_last_byte(path.ptr, '/', path.len);
    weir_span name = slash ? wr_span_from(path, (size_t)(slash - path.ptr) + 1) : path;
    char text[400], px[40] = "";

    if (size->width_px)
        (void)snprintf(px, sizeof(px), " %ux%u,", size->width_px, size->height_px);
    (void)snprintf(text, sizeof(text), "[image: %.*s,%s %zu KB]",
                   (int)(name.len < 300 ? name.len : 300), name.ptr, px, (bytes + 1023) / 1024);
    tell_user(agent, text);
}

/* A text of several lines may be somebody else's, pasted: what it names leaves the machine only
 * from where the agent works. */
static bool is_elsewhere(const struct wr_agent *agent, const char *place)
{
    struct wr_arena arena;

    wr_arena_init(&arena, PATH_BYTES_MAX * 64);
    bool is_below =
        wr_tool_is_below(&agent->toolbox, &arena, wr_span_of(place), agent->toolbox.root);
    wr_arena_release(&arena);
    return !is_below;
}

static void attach_path(struct wr_agent *agent, weir_span path, bool is_one_line)
{
    char place[PATH_BYTES_MAX], text[WEIR_ERR_TEXT_BYTES + 400];
    struct weir_image_size size = {0};
    struct weir_err err = {0};
    struct wr_buf bytes;

    if (!path.len || !place_of(place, agent->toolbox.root, path))
        return;
    wr_buf_init(&bytes, WR_SESSION_IMAGE_BYTES_MAX + 32 * 1024);
    const char *why = read_front(place, &bytes);
    if (!why && !is_one_line && is_elsewhere(agent, place))
        why = "it is outside of the working directory, and the message has several lines";
    weir_status status =
        why ? WEIR_NOTFOUND : weir_session_attach(agent->session, wr_buf_view(&bytes), &size, &err);
    bool is_no_image = status == WEIR_NOTFOUND || status == WEIR_INVALID;
    if (!status) {
        tell_image(agent, path, &size, bytes.len);
    } else if (!is_no_image || is_named_like_one(path)) {
        (void)snprintf(text, sizeof(text), "%.*s is sent as text: %s",
                       (int)(path.len < 300 ? path.len : 300), path.ptr, why ? why : err.text);
        tell_user(agent, text);
    }
    wr_buf_release(&bytes);
}

void wr_image_words_attach(struct wr_agent *agent, weir_span text)
{
    bool is_one_line = wr_span_lines(wr_span_trim(text)) < 2, has_one = true;
    struct wr_image_word word;
    size_t at = 0;

    while (has_one) {
        wr_buf_init(&word.path, PATH_BYTES_MAX);
        has_one = wr_image_word_next(text, &at, &word);
        if (has_one && !wr_buf_status(&word.path) &&
            !memchr(word.path.bytes ? word.path.bytes : "", 0, word.path.len))
            attach_path(agent, path_of(&word, agent->toolbox.root), is_one_line);
        wr_buf_release(&word.path);
    }
}
