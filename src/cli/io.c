/* What every command says, reads and writes: one line on stderr for what goes wrong, whole files
 * in, whole output out, and how numbers and texts of others look in a terminal.
 *
 * Output is made in a buffer and written at the end of a command, so that a command that fails has
 * written nothing.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"

enum { READ_BYTES = 256 * 1024, COLUMNS_UNKNOWN = 80, COLUMNS_MIN = 40, COLUMNS_MAX = 400 };

/* One command runs in a process, and everything that goes wrong begins with its name. */
static const char *command_name = "";

void wr_cli_use_name(const char *command)
{
    command_name = command;
}

int wr_cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "weir%s%s: ", *command_name ? " " : "", command_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return WR_EXIT_USAGE;
}

int wr_cli_fail_status(weir_status status, const struct weir_err *err)
{
    return wr_cli_fail("%s", err && err->text[0] ? err->text : weir_status_text(status));
}

int wr_cli_fail_in(const char *path, const char *text)
{
    bool is_placed = path && !strncmp(text, "line ", strlen("line "));
    return wr_cli_fail("%s%s%s", is_placed ? path : "", is_placed ? ": " : "", text);
}

int wr_cli_fail_at(const char *path, weir_span text, const struct weir_err *err, const char *advice)
{
    size_t line, column;
    wr_json_line_column(text, err->at_byte, &line, &column);
    return wr_cli_fail("%s: %s, at byte %zu (line %zu, column %zu)%s%s",
                       strcmp(path, "-") ? path : "stdin", err->text, err->at_byte, line, column,
                       advice ? "; " : "", advice ? advice : "");
}

static bool read_stream(const char *name, FILE *file, struct wr_buf *into)
{
    while (!feof(file)) {
        wr_buf_reserve(into, READ_BYTES);
        if (into->status) {
            /* The reserve asks for a whole block: what is left of the room may still do. */
            wr_cli_fail("%s: %s: at most %d bytes are read", name, weir_status_text(into->status),
                        (int)WR_JSON_BODY_BYTES_MAX);
            return false;
        }
        into->len += fread(into->bytes + into->len, 1, READ_BYTES, file);
        if (ferror(file)) {
            wr_cli_fail("%s: %s", name, strerror(errno));
            return false;
        }
    }
    return true;
}

bool wr_cli_read(const char *path, struct wr_buf *into)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "rb");

    wr_buf_init(into, WR_JSON_BODY_BYTES_MAX + READ_BYTES);
    if (!file) {
        wr_cli_fail("%s: %s; name a file that can be read, or - for stdin", path, strerror(errno));
        return false;
    }
    bool ok = read_stream(is_stdin ? "stdin" : path, file, into);
    if (!is_stdin)
        fclose(file);
    return ok;
}

bool wr_cli_write(weir_span bytes)
{
    size_t written = bytes.len ? fwrite(bytes.ptr, 1, bytes.len, stdout) : 0;
    if (written == bytes.len && !fflush(stdout))
        return true;
    wr_cli_fail("cannot write the output: %s", strerror(errno));
    return false;
}

/* ---- writing ---- */

bool wr_cli_write_file(const char *path, weir_span bytes)
{
    FILE *file = fopen(path, "wbe");
    bool ok = file && fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;
    int reason = errno;

    if (file && fclose(file)) {
        reason = errno;
        ok = false;
    }
    if (!ok)
        wr_cli_fail("%s: cannot be written: %s", path, strerror(reason));
    return ok;
}

bool wr_cli_can_write(const char *path)
{
    struct stat before;
    bool is_new = path && stat(path, &before);
    FILE *file = path ? fopen(path, "abe") : NULL;

    if (path && !file)
        wr_cli_fail("%s: cannot be written: %s", path, strerror(errno));
    if (file)
        fclose(file);
    if (file && is_new)
        (void)unlink(path);
    return !path || file;
}

int wr_cli_end(struct wr_buf *out, int code)
{
    weir_status status = wr_buf_status(out);

    if (status)
        code = wr_cli_fail("%s", weir_status_text(status));
    else if (!wr_cli_write(wr_buf_view(out)))
        code = WR_EXIT_USAGE;
    wr_buf_release(out);
    return code;
}

/* ---- a request ---- */

struct weir_request *wr_cli_request(const char *path, const char *dialect, struct wr_buf *body)
{
    struct weir_request_options options = {.dialect = dialect};
    struct weir_request *request;
    struct weir_err err = {0};

    if (!wr_cli_read(path, body))
        return NULL;
    weir_status status = weir_request_new(wr_buf_view(body), &options, &request, &err);
    if (!status)
        return request;
    const char *advice =
        status == WEIR_SYNTAX ? "give the body of a request, as it went over the wire" : NULL;
    wr_cli_fail_at(path, wr_buf_view(body), &err, advice);
    return NULL;
}

/* ---- looks ---- */

int wr_cli_screen = STDOUT_FILENO;

bool wr_cli_colours(void)
{
    const char *term = getenv("TERM");
    return isatty(wr_cli_screen) && !getenv("NO_COLOR") && term && strcmp(term, "dumb");
}

/* COLUMNS, else the terminal's; 0: nobody says. */
static long columns_told(void)
{
    const char *set = getenv("COLUMNS");
    struct winsize size = {.ws_col = 0};
    long columns = set ? strtol(set, NULL, 10) : 0;

    if (columns <= 0 && !ioctl(wr_cli_screen, TIOCGWINSZ, &size))
        columns = size.ws_col;
    return columns > 0 ? columns : 0;
}

uint32_t wr_cli_columns(void)
{
    long columns = columns_told();

    if (!columns)
        return COLUMNS_UNKNOWN;
    return columns < COLUMNS_MIN   ? COLUMNS_MIN
           : columns > COLUMNS_MAX ? COLUMNS_MAX
                                   : (uint32_t)columns;
}

uint32_t wr_cli_columns_told(void)
{
    return columns_told() ? wr_cli_columns() : UINT32_MAX;
}

int wr_cli_end_fitted(struct wr_buf *out, int code)
{
    struct wr_buf fitted;

    if (!columns_told() || wr_buf_status(out))
        return wr_cli_end(out, code);
    wr_buf_init(&fitted, WR_OUTPUT_BYTES_MAX);
    wr_text_fit(&fitted, wr_buf_view(out), wr_cli_columns());
    wr_buf_release(out);
    return wr_cli_end(&fitted, code);
}

weir_span wr_cli_end_of_path(weir_span path, size_t bytes_max)
{
    size_t at = path.len > bytes_max ? path.len - bytes_max : 0;
    while (at && at < path.len && path.ptr[at] != '/')
        at++;
    return at < path.len ? wr_span_from(path, at) : path;
}
