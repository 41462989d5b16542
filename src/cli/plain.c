/* Signs of ours (arrows, bars, dots) as ASCII, where the locale is C or POSIX.
 *
 * Commands for people print in many places, with printf and from buffers. So that none of them has
 * to know, what such a command prints is held in a file without a name until it ends, and leaves
 * with the signs replaced. What others print (a body, an original, JSON) is never touched, and of a
 * text that is quoted only these signs are. A locale that nobody named is not taken for C:
 * containers name none, and the terminals in front of them show UTF-8.
 */
#include "cli/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/cmd.h"

static const char *const for_people[] = {
    "diff", "why", "inspect", "context", "sessions", "report", "policies", "models", "simulate",
    "plan", "pin", "unpin",   "undo",    "doctor",   "learn",  "rules",    "replay",
};

static const struct {
    const char *sign, *plain;
} signs[] = {
    {"→", "->"}, {"█", "#"},  {"▇", "#"},  {"▆", "#"}, {"▅", "#"}, {"▄", "#"},   {"▃", "#"},
    {"▂", "#"},  {"▁", "#"},  {"░", "."},  {"·", "-"}, {"●", "*"}, {"…", "..."}, {"–", "-"},
    {"×", "x"},  {"≥", ">="}, {"≤", "<="}, {"─", "-"}, {"│", "|"},
};

static bool is_plain_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return !strcmp(value, "C") || !strcmp(value, "POSIX");
    }
    return false;
}

static bool is_for_people(const char *command, char **argv)
{
    for (; *argv; argv++)
        if (!strcmp(*argv, "--json"))
            return false;
    for (size_t i = 0; i < WR_COUNT_OF(for_people); i++)
        if (!strcmp(for_people[i], command))
            return true;
    return false;
}

void wr_plain_begin(struct wr_plain *plain, const char *command, char **argv)
{
    *plain = (struct wr_plain){.screen = -1};
    if (!is_plain_locale() || !is_for_people(command, argv))
        return;
    plain->held = tmpfile();
    plain->screen = plain->held ? dup(STDOUT_FILENO) : -1;
    if (plain->screen < 0 || dup2(fileno(plain->held), STDOUT_FILENO) < 0)
        return;
    wr_cli_screen = plain->screen;
}

void wr_plain_text(weir_span text, struct wr_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        weir_span rest = wr_span_from(text, at);
        size_t i = 0;
        while (i < WR_COUNT_OF(signs) && !wr_span_starts(rest, wr_span_of(signs[i].sign)))
            i++;
        if (i < WR_COUNT_OF(signs)) {
            wr_buf_text(out, signs[i].plain);
            at += strlen(signs[i].sign);
        } else {
            wr_buf_byte(out, text.ptr[at++]);
        }
    }
}

int wr_plain_end(struct wr_plain *plain, int code)
{
    struct wr_buf text, out;
    char part[4096];
    size_t bytes;

    if (plain->held && plain->screen >= 0) {
        (void)fflush(stdout);
        (void)dup2(plain->screen, STDOUT_FILENO);
        (void)close(plain->screen);
        wr_cli_screen = STDOUT_FILENO;
        wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        rewind(plain->held);
        while ((bytes = fread(part, 1, sizeof(part), plain->held)) > 0)
            wr_buf_append(&text, (weir_span){part, bytes});
        wr_plain_text(wr_buf_view(&text), &out);
        code = wr_buf_status(&text) ? wr_cli_end(&text, code) : wr_cli_end(&out, code);
        wr_buf_release(&text);
        wr_buf_release(&out);
    }
    if (plain->held)
        (void)fclose(plain->held);
    return code;
}
