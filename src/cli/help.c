/* `--help`, `weir --help` and the manual page, from the tables of the commands.
 *
 * Texts in the tables know nothing of columns: here they are wrapped, for a terminal of 80 columns,
 * or marked up for roff.
 */
#include <string.h>

#include "base/span.h"
#include "cli/options.h"

enum { COLUMNS = 80, LABEL_COLUMNS_MAX = 22 };

static const char overview[] = "Weir takes out of an agent's requests what the model no longer "
                               "needs, so that long sessions fit "
                               "and cost less, and can put back every byte of it.";

/* ---- text ---- */

/* Wraps `text`, which begins in column `column`; later lines begin in column `indent`. */
static void put_wrapped(struct wr_buf *out, const char *text, size_t column, size_t indent)
{
    bool is_line_begin = true;

    while (*text) {
        weir_span word = {text, strcspn(text, " \n")};
        size_t columns = word.len;
        if (!is_line_begin && column + 1 + columns > COLUMNS) {
            wr_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_line_begin) {
            wr_buf_byte(out, ' ');
            column++;
        }
        wr_buf_append(out, word);
        column += columns;
        is_line_begin = false;
        text += word.len;
        if (*text == '\n') {
            wr_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
            is_line_begin = true;
        }
        text += *text != '\0';
    }
    wr_buf_byte(out, '\n');
}

static void put_label(struct wr_buf *out, const struct wr_option *option)
{
    if (option->letter)
        wr_buf_printf(out, "-%c, ", option->letter);
    wr_buf_printf(out, "%s%s%s%s", option->kind == WR_OPTION_NOTE ? "" : "--", option->name,
                  option->value ? " " : "", option->value ? option->value : "");
}

static size_t label_columns(const struct wr_command *command)
{
    size_t widest = 0;
    for (size_t i = 0; i < command->options_count; i++) {
        const struct wr_option *o = &command->options[i];
        size_t columns = (o->kind == WR_OPTION_NOTE ? 0 : 2) + strlen(o->name) +
                         (o->letter ? 4 : 0) + (o->value ? 1 + strlen(o->value) : 0);
        if (columns > widest && columns <= LABEL_COLUMNS_MAX)
            widest = columns;
    }
    return widest;
}

/* Writes each line of `lines` after a head and a name; from the second line on the head is blank.
 */
static void put_lines(struct wr_buf *out, const char *head, const char *name, const char *lines)
{
    weir_span rest = wr_span_of(lines), line;
    bool is_first = true;

    if (!rest.len)
        wr_buf_printf(out, "%s%s\n", head, name);
    while (wr_span_line(&rest, &line)) {
        wr_buf_printf(out, "%*s%s%s%.*s\n", (int)strlen(head), is_first ? head : "", name,
                      *name ? " " : "", (int)line.len, line.ptr);
        is_first = false;
    }
}

void wr_help_print(const struct wr_command *command, struct wr_buf *out)
{
    size_t width = label_columns(command) + 4;
    char name[64];

    (void)snprintf(name, sizeof(name), "weir %s", command->name);
    put_lines(out, "usage: ", name, command->usage);
    wr_buf_byte(out, '\n');
    put_wrapped(out, command->about, 0, 0);
    if (command->options_count)
        wr_buf_byte(out, '\n');
    for (size_t i = 0; i < command->options_count; i++) {
        size_t before = out->len;
        wr_buf_text(out, "  ");
        put_label(out, &command->options[i]);
        size_t column = out->len - before;
        if (column + 2 > width)
            wr_buf_printf(out, "\n%*s", (int)width, "");
        else
            wr_buf_printf(out, "%*s", (int)(width - column), "");
        put_wrapped(out, command->options[i].help, width, width);
    }
    if (command->exits) {
        wr_buf_byte(out, '\n');
        put_wrapped(out, command->exits, 0, 0);
    }
    wr_buf_byte(out, '\n');
    put_lines(out, "example: ", "", command->example);
}

void wr_help_overview(const struct wr_command *const *commands, const struct wr_help_group *groups,
                      struct wr_buf *out)
{
    put_wrapped(out, overview, 0, 0);
    wr_buf_text(out, "\nusage: weir COMMAND [ARGUMENTS]\n");
    for (; *commands; commands++) {
        if (*commands == groups->first)
            wr_buf_printf(out, "\n%s:\n", groups++->title);
        wr_buf_printf(out, "  %-10s %s\n", (*commands)->name, (*commands)->purpose);
    }
    wr_buf_text(out, "\n`weir help COMMAND` shows a command's options and an example;\n"
                     "`weir --version` says which weir this is.\nexample: weir simulate\n");
}

/* ---- the manual page ---- */

/* Text for roff: nothing in it is markup. */
static void put_roff(struct wr_buf *out, const char *text)
{
    bool is_line_begin = true;

    for (; *text; text++) {
        if (is_line_begin && (*text == '.' || *text == '\''))
            wr_buf_text(out, "\\&");
        if (*text == '\\')
            wr_buf_text(out, "\\e");
        else if (*text == '-')
            wr_buf_text(out, "\\-");
        else if (*text == '\n')
            wr_buf_text(out, "\n.br\n");
        else
            wr_buf_byte(out, *text);
        is_line_begin = *text == '\n';
    }
}

static void put_manual_option(struct wr_buf *out, const struct wr_option *option)
{
    wr_buf_text(out, ".TP\n\\fB");
    if (option->letter)
        wr_buf_printf(out, "\\-%c\\fR, \\fB", option->letter);
    wr_buf_text(out, option->kind == WR_OPTION_NOTE ? "" : "\\-\\-");
    put_roff(out, option->name);
    if (option->value) {
        wr_buf_text(out, "\\fR \\fI");
        put_roff(out, option->value);
    }
    wr_buf_text(out, "\\fR\n");
    put_roff(out, option->help);
    wr_buf_byte(out, '\n');
}

/* How it is called, what it does, its options, an example. */
static void put_manual_command(struct wr_buf *out, const struct wr_command *command)
{
    struct wr_buf lines;
    char name[64];

    wr_buf_init(&lines, 64 * 1024);
    (void)snprintf(name, sizeof(name), "weir %s", command->name);
    put_lines(&lines, "", name, command->usage);
    wr_buf_byte(&lines, '\0');
    if (!wr_buf_status(&lines))
        put_roff(out, lines.bytes);
    wr_buf_release(&lines);
    wr_buf_text(out, ".PP\n");
    put_roff(out, command->about);
    wr_buf_byte(out, '\n');
    for (size_t i = 0; i < command->options_count; i++)
        put_manual_option(out, &command->options[i]);
    if (command->exits) {
        wr_buf_text(out, ".PP\n");
        put_roff(out, command->exits);
        wr_buf_byte(out, '\n');
    }
    wr_buf_text(out, ".PP\nExample:\n.PP\n.RS\n.nf\n");
    put_roff(out, command->example);
    wr_buf_text(out, "\n.fi\n.RE\n");
}

void wr_help_manual(const struct wr_command *const *commands, const char *version,
                    struct wr_buf *out)
{
    wr_buf_printf(out, ".TH WEIR 1 \"\" \"weir %s\" \"Weir\"\n.ad l\n", version);
    wr_buf_text(out, ".SH NAME\nweir \\- the context engine for agents\n"
                     ".SH SYNOPSIS\n.B weir\n.I COMMAND\n[\n.I ARGUMENTS\n]\n.SH DESCRIPTION\n");
    put_roff(out, overview);
    wr_buf_text(out, "\n.PP\nThe commands:\n");
    for (size_t i = 0; commands[i]; i++) {
        wr_buf_printf(out, ".TP\n.B %s\n", commands[i]->name);
        put_roff(out, commands[i]->purpose);
        wr_buf_byte(out, '\n');
    }
    wr_buf_text(out, ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        wr_buf_printf(out, ".SS weir %s\n", commands[i]->name);
        put_manual_command(out, commands[i]);
    }
    wr_buf_text(out,
                ".SH EXIT STATUS\n0: done. 1: a check failed. 2: the call or its input is wrong, "
                "which one line on stderr\nsays. \\fBweir run\\fR ends as the agent does.\n"
                ".SH FILES\n.TP\n.I $XDG_DATA_HOME/weir\nor\n.I ~/.local/share/weir\n"
                "holds the store, the log and, while a server runs, the file by which it is "
                "found.\n");
}

void wr_help_manual_of(const struct wr_command *command, const char *version, struct wr_buf *out)
{
    wr_buf_printf(out, ".TH WEIR-%s 1 \"\" \"weir %s\" \"Weir\"\n.ad l\n.SH NAME\nweir\\-%s \\- ",
                  command->name, version, command->name);
    put_roff(out, command->purpose);
    wr_buf_text(out, "\n.SH DESCRIPTION\n");
    put_manual_command(out, command);
    wr_buf_text(out, ".SH SEE ALSO\n\\fBweir\\fR(1) has all commands, exit states and files.\n");
}
