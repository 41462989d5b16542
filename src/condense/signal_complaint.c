/* What a tool or an agent says of itself. In a file, a list or a diff only that counts, not the
 * text which is shown. */
#include "condense/signal_scanner.h"

static struct wr_words headers = WR_WORDS(
    "Chunk ID:|Wall time|Process exited with code|Exit code|Original token count|"
    "Total output lines|Command exited with|<returncode>|Process running with session|Exit Code:|"
    "Error: |Signal:");

/* The tool's own lines stand in front; lines that look like them further down are part of what was
 * shown, and say nothing. */
bool wr_signal_line_header(struct wr_signal_scanner *scanner, weir_span line)
{
    if (!wr_words_front(&headers, line)) {
        scanner->in_header = false;
        return false;
    }
    if (!scanner->in_header)
        return true;
    wr_signal_exit_codes(scanner, line);
    if (wr_span_starts(line, WR_LIT("Error: ")))
        wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_span_from(line, 7));
    return true;
}

enum { TOOL_BYTES_MAX = sizeof("/bin/bash:") - 1 }; /* and the colon behind it */

/* "cat: a: No such file or directory", "bash: line 1: x: command not found". */
static bool is_tool_complaint(weir_span line)
{
    static struct wr_words tools = WR_WORDS(
        "cat|sed|head|tail|nl|ls|find|rg|grep|awk|git|bash|sh|zsh|fd|tree|diff|less|bat|wc|stat|"
        "cut|sort|xargs|jq|/bin/sh|/bin/bash|egrep|fgrep|du|file|gawk|cd");
    static const char words[] =
        "No such file|ermission denied|Is a directory|s a directory|not found|cannot |can't |"
        "nvalid |nrecognized|error|Not a directory|not permitted|unknown |illegal |unexpected ";
    const char *colon =
        line.len ? memchr(line.ptr, ':', line.len < TOOL_BYTES_MAX ? line.len : TOOL_BYTES_MAX)
                 : NULL;
    return colon && wr_words_has(&tools, (weir_span){line.ptr, (size_t)(colon - line.ptr)}) &&
           wr_has_any_of(line, words);
}

/* What an agent says in place of a result: the call was refused, or nothing was edited. */
bool wr_signal_refusal(struct wr_signal_scanner *scanner, weir_span line)
{
    static struct wr_words fronts =
        WR_WORDS("apply_patch verification failed|Your proposed edit has introduced|"
                 "No replacement was performed|The user doesn't want to ");
    bool is_denied = wr_span_starts(line, WR_LIT("Permission to use ")) &&
                     wr_span_has(line, WR_LIT("has been denied"));
    if (!is_denied && !wr_words_front(&fronts, line))
        return false;
    wr_signal_add(scanner, WR_SIGNAL_ERROR, line);
    return true;
}

bool wr_signal_complaint(struct wr_signal_scanner *scanner, weir_span line)
{
    static struct wr_words footers =
        WR_WORDS("[Command finished with exit code |Command exited with code ");
    static struct wr_words errors = WR_WORDS("<tool_use_error>|fatal: ");
    if (wr_words_front(&footers, line)) {
        wr_signal_exit_codes(scanner, line);
        return true;
    }
    bool speaks = scanner->kind != WR_OUTPUT_PROSE && scanner->kind != WR_OUTPUT_BLOB;
    size_t front = speaks || line.ptr[0] == '<' ? wr_words_front(&errors, line) : 0;
    if (!front && wr_signal_refusal(scanner, line))
        return true;
    if (!front && (!speaks || !is_tool_complaint(line)))
        return false;
    wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_span_from(line, front));
    return true;
}
