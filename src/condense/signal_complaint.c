#include "condense/signal_scanner.h"

/* In a file, a list or a diff only what the tool itself says counts, not the text it shows. */

static bool is_tool(weir_span name)
{
    static const weir_span tools[] = {
        WR_WORD("cat"),   WR_WORD("sed"),     WR_WORD("head"),      WR_WORD("tail"),
        WR_WORD("nl"),    WR_WORD("ls"),      WR_WORD("find"),      WR_WORD("rg"),
        WR_WORD("grep"),  WR_WORD("awk"),     WR_WORD("git"),       WR_WORD("bash"),
        WR_WORD("sh"),    WR_WORD("zsh"),     WR_WORD("fd"),        WR_WORD("tree"),
        WR_WORD("diff"),  WR_WORD("less"),    WR_WORD("bat"),       WR_WORD("wc"),
        WR_WORD("stat"),  WR_WORD("cut"),     WR_WORD("sort"),      WR_WORD("xargs"),
        WR_WORD("jq"),    WR_WORD("/bin/sh"), WR_WORD("/bin/bash"), WR_WORD("egrep"),
        WR_WORD("fgrep"), WR_WORD("du"),      WR_WORD("file"),      WR_WORD("gawk"),
        WR_WORD("cd")};
    return wr_same_as_any(name, tools, WR_COUNT_OF(tools));
}

/* "cat: a: No such file or directory", "bash: line 1: x: command not found". */
static bool is_tool_complaint(weir_span line)
{
    static const weir_span words[] = {
        WR_WORD("No such file"),  WR_WORD("ermission denied"), WR_WORD("Is a directory"),
        WR_WORD("s a directory"), WR_WORD("not found"),        WR_WORD("cannot "),
        WR_WORD("can't "),        WR_WORD("nvalid "),          WR_WORD("nrecognized"),
        WR_WORD("error"),         WR_WORD("Not a directory"),  WR_WORD("not permitted"),
        WR_WORD("unknown "),      WR_WORD("illegal "),         WR_WORD("unexpected ")};
    const char *colon = line.len ? memchr(line.ptr, ':', line.len < 32 ? line.len : 32) : NULL;
    if (!colon || !is_tool((weir_span){line.ptr, (size_t)(colon - line.ptr)}))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        if (wr_span_find(line, words[i], 0) != SIZE_MAX)
            return true;
    return false;
}

/* What an agent says in place of a result: the call was refused, or nothing was edited. */
bool wr_signal_refusal(struct wr_signal_scanner *scanner, weir_span line)
{
    static const weir_span fronts[] = {
        WR_WORD("apply_patch verification failed"),
        WR_WORD("Your proposed edit has introduced"),
        WR_WORD("No replacement was performed"),
        WR_WORD("The user doesn't want to "),
    };
    bool is_denied = wr_span_starts(line, WR_LIT("Permission to use ")) &&
                     wr_span_find(line, WR_LIT("has been denied"), 0) != SIZE_MAX;
    if (!is_denied && !wr_front_of(line, fronts, WR_COUNT_OF(fronts)))
        return false;
    wr_signal_add(scanner, WR_SIGNAL_ERROR, line);
    return true;
}

static bool is_footer(weir_span line)
{
    return wr_span_starts(line, WR_LIT("[Command finished with exit code ")) ||
           wr_span_starts(line, WR_LIT("Command exited with code "));
}

bool wr_signal_complaint(struct wr_signal_scanner *scanner, weir_span line)
{
    if (is_footer(line)) {
        wr_signal_exit_codes(scanner, line);
        return true;
    }
    if (wr_span_starts(line, WR_LIT("<tool_use_error>"))) {
        wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_span_cut(line, 16, line.len));
        return true;
    }
    if (wr_signal_refusal(scanner, line))
        return true;
    bool speaks = scanner->kind != WR_OUTPUT_PROSE && scanner->kind != WR_OUTPUT_BLOB;
    if (speaks && wr_span_starts(line, WR_LIT("fatal: "))) {
        wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_span_cut(line, 7, line.len));
        return true;
    }
    if (!speaks || !is_tool_complaint(line))
        return false;
    wr_signal_add(scanner, WR_SIGNAL_ERROR, line);
    return true;
}
