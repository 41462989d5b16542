/* What results say about themselves, in headers, in footers and at marks of cuts.
 *
 * Agents' tools add lines of their own around a file or an output: "(Showing lines 1-200 of 812.
 * Use offset=201 to continue", "Exit code 1", a process id, the path of a file with the whole
 * output. Each such shape is a row of `rules`: whose tools write it, where it must stand, a pattern
 * with places for what is wanted, and what it means.
 *
 * Only the first and the last few lines are looked at: further in, a result is somebody's text,
 * which may hold any of these words. Footers come before headers, and what an earlier source has
 * filled a later one does not change; lines are only ever narrowed, from those asked for to those
 * shown.
 *
 * A call whose agent is not known tries the rules of all; a rule that only one agent's results fit
 * then tells whose call it was.
 */
#include "transcript/tool.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

/* Whose results a rule is for. A call whose dialect is not known tries them all. */
enum {
    CLAUDE = 1 << WR_TOOL_CLAUDE_CODE,
    CODEX = 1 << WR_TOOL_CODEX,
    OPENCODE = 1 << WR_TOOL_OPENCODE,
    GEMINI = 1 << WR_TOOL_GEMINI_CLI,
    CLINE = 1 << WR_TOOL_CLINE,
    SWE = 1 << WR_TOOL_SWE_AGENT,
    HANDS = 1 << WR_TOOL_OPENHANDS,
    PI = 1 << WR_TOOL_PI,
    ANTHROPIC = 1 << WR_TOOL_ANTHROPIC,
    MINI = 1 << WR_TOOL_MINI_SWE_AGENT,
    COPILOT = 1 << WR_TOOL_COPILOT,
    EDITORS = SWE | HANDS | ANTHROPIC,
};

/* Where a line must stand. Rules look at few lines: further in, a result is somebody's text. */
enum zone { HEADER, FOOTER, EITHER };
enum { HEADER_LINES = 12, FOOTER_LINES = 8 };

enum {
    RUNNING = 1, /* the process goes on */
    FAILED = 2,
    UNCHANGED = 4,
    FIRST_LINE = 8,  /* of the result, and nothing else */
    READS_ONLY = 16, /* a rule about the lines of a file */
};

/* A pattern begins with a byte of its own, is matched from the beginning of a line, and may leave
 * the rest of it:
 *   %a %b first and last line shown   %t lines in all   %n next offset   %A %B lines above, below
 *   %x exit code   %p process id   %s spill path   %f the file
 *   %l limit, %o offset: together they give the next offset   %i a number
 *   %* anything, up to what follows in the pattern   %. the end of the line */
struct rule {
    int dialects;
    enum zone zone;
    const char *pattern;
    enum wr_tool_cut cut;
    unsigned flags;
};

static const struct rule rules[] = {
    /* footers */
    {OPENCODE, FOOTER, "(Showing lines %a-%b of %t. Use offset=%n to continue", WR_TOOL_CUT_TAIL,
     READS_ONLY},
    {OPENCODE, FOOTER, "(Output capped at %*Showing lines %a-%b. Use offset=%n to continue",
     WR_TOOL_CUT_TAIL, READS_ONLY},
    {OPENCODE, FOOTER, "(End of file - total %t lines)", WR_TOOL_CUT_NONE, READS_ONLY},
    {OPENCODE | CLAUDE, FOOTER, "(Results are truncated", WR_TOOL_CUT_TAIL, 0},
    {OPENCODE, FOOTER, "(Results truncated", WR_TOOL_CUT_TAIL, 0},
    {CLAUDE, FOOTER, "[Showing results with pagination = limit: %l, offset: %o]", WR_TOOL_CUT_TAIL,
     0},
    {CLAUDE, FOOTER, "[Showing results with pagination = limit: %l]", WR_TOOL_CUT_TAIL, 0},
    {PI, FOOTER, "[Showing lines %a-%b of %t. Use offset=%n to continue", WR_TOOL_CUT_TAIL,
     READS_ONLY},
    {PI, FOOTER, "[Showing lines %a-%b of %t (%*Use offset=%n to continue", WR_TOOL_CUT_TAIL,
     READS_ONLY},
    {PI, FOOTER, "[%i more lines in file. Use offset=%n to continue", WR_TOOL_CUT_TAIL, READS_ONLY},
    {PI, FOOTER, "[Showing lines %i-%i of %t. Full output: %s]", WR_TOOL_CUT_HEAD, 0},
    {PI, FOOTER, "[Showing lines %i-%i of %t (%*Full output: %s]", WR_TOOL_CUT_HEAD, 0},
    {PI, FOOTER, "[Showing last %*Full output: %s]", WR_TOOL_CUT_HEAD, 0},
    {PI, FOOTER, "[%i matches limit reached", WR_TOOL_CUT_TAIL, 0},
    {PI, FOOTER, "[%i results limit reached", WR_TOOL_CUT_TAIL, 0},
    {PI, FOOTER, "Command exited with code %x", WR_TOOL_CUT_NONE, 0},
    {CLINE, FOOTER, "[Showing lines %a-%b of %t.", WR_TOOL_CUT_TAIL, READS_ONLY},
    {GEMINI, FOOTER, "Exit Code: %x", WR_TOOL_CUT_NONE, 0},
    {GEMINI, FOOTER, "Background PIDs: %p", WR_TOOL_CUT_NONE, RUNNING},
    {HANDS, FOOTER, "[Command finished with exit code %x]", WR_TOOL_CUT_NONE, 0},
    {HANDS, FOOTER, "[The command completed with exit code %x", WR_TOOL_CUT_NONE, 0},
    {HANDS, FOOTER, "[The command has no new output after %i", WR_TOOL_CUT_NONE, RUNNING},
    {SWE, FOOTER, "(%B more lines below)", WR_TOOL_CUT_TAIL, 0},
    {SWE, FOOTER, "(Open file: %f)", WR_TOOL_CUT_NONE, 0},
    {EDITORS, FOOTER, "<response clipped>", WR_TOOL_CUT_TAIL, 0},
    {COPILOT, FOOTER, "<shellId: %p completed with exit code %x>", WR_TOOL_CUT_NONE, 0},
    {COPILOT, FOOTER, "<exited with exit code %x>", WR_TOOL_CUT_NONE, 0},
    {COPILOT, FOOTER, "<command with shellId: %p is still running", WR_TOOL_CUT_NONE, RUNNING},
    {COPILOT, FOOTER, "<command with id: %p is still running", WR_TOOL_CUT_NONE, RUNNING},
    {MINI, FOOTER, "</output_tail>", WR_TOOL_CUT_MIDDLE, 0},
    {OPENCODE, FOOTER,
     "The tool call succeeded but the output was truncated. Full output saved to: %s%.",
     WR_TOOL_CUT_TAIL, 0},
    {OPENCODE, FOOTER, "...%i lines truncated...", WR_TOOL_CUT_TAIL, 0},
    {OPENCODE, FOOTER, "...%i bytes truncated...", WR_TOOL_CUT_TAIL, 0},

    /* headers */
    {CLAUDE, HEADER, "Exit code %x%.", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {CLAUDE, HEADER, "<tool_use_error>", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {CLAUDE, HEADER, "The user doesn't want to ", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {CLAUDE, HEADER, "Permission to use %*has been denied", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {CODEX, HEADER, "apply_patch verification failed", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {SWE, HEADER, "Your proposed edit has introduced", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {EDITORS, HEADER, "No replacement was performed", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {CLAUDE, HEADER, "File content (%i tokens) exceeds maximum allowed tokens", WR_TOOL_CUT_NONE,
     FIRST_LINE | FAILED},
    {CLAUDE, HEADER, "File content (%i", WR_TOOL_CUT_NONE, FIRST_LINE | FAILED},
    {CLAUDE, HEADER, "File unchanged", WR_TOOL_CUT_NONE, FIRST_LINE | UNCHANGED},
    {CLAUDE, HEADER, "Output too large (%*Full output saved to: %s%.", WR_TOOL_CUT_TAIL, 0},
    {CLAUDE, HEADER, "<persisted-output>", WR_TOOL_CUT_TAIL, FIRST_LINE},
    {CLAUDE, HEADER, "Command running in background with ID: %p. Output is being written to: %s%.",
     WR_TOOL_CUT_NONE, RUNNING},
    {CLAUDE, HEADER, "Command running in background with ID: %p", WR_TOOL_CUT_NONE, RUNNING},
    {CLAUDE, HEADER, "<task_id>%p</task_id>", WR_TOOL_CUT_NONE, 0},
    {CLAUDE, HEADER, "<status>running</status>", WR_TOOL_CUT_NONE, RUNNING},
    {CLAUDE, HEADER, "<exit_code>%x</exit_code>", WR_TOOL_CUT_NONE, 0},
    {CLAUDE, HEADER, "[Truncated. Full output: %s]", WR_TOOL_CUT_HEAD, 0},
    {CODEX, HEADER, "Process exited with code %x", WR_TOOL_CUT_NONE, 0},
    {CODEX, HEADER, "Process running with session ID %p", WR_TOOL_CUT_NONE, RUNNING},
    {CODEX, HEADER, "Script running with cell ID %p", WR_TOOL_CUT_NONE, RUNNING},
    {CODEX, HEADER, "Exit code: %x", WR_TOOL_CUT_NONE, 0},
    {CODEX, HEADER, "Total output lines: %t", WR_TOOL_CUT_NONE, 0},
    {CODEX, HEADER, "Warning: truncated output (original token count: %i)", WR_TOOL_CUT_MIDDLE, 0},
    {OPENCODE, HEADER, "<path>%f</path>", WR_TOOL_CUT_NONE, FIRST_LINE},
    {OPENCODE, HEADER, "...output truncated...", WR_TOOL_CUT_HEAD, 0},
    {OPENCODE, HEADER, "...%i lines truncated...", WR_TOOL_CUT_HEAD, 0},
    {OPENCODE, HEADER, "...%i bytes truncated...", WR_TOOL_CUT_HEAD, 0},
    {OPENCODE, HEADER, "Full output saved to: %s%.", WR_TOOL_CUT_HEAD, 0},
    {OPENCODE, HEADER, "Found %i matches (more matches available)", WR_TOOL_CUT_TAIL, FIRST_LINE},
    {GEMINI, HEADER, "IMPORTANT: The file content has been truncated", WR_TOOL_CUT_TAIL,
     FIRST_LINE},
    {GEMINI, HEADER, "Status: Showing lines %a-%b of %t total lines", WR_TOOL_CUT_TAIL, READS_ONLY},
    {GEMINI, HEADER, "Action: %*use start_line: %n", WR_TOOL_CUT_TAIL, READS_ONLY},
    {GEMINI, HEADER, "Output too large. Showing first %*For full output see: %s%.",
     WR_TOOL_CUT_MIDDLE, 0},
    {GEMINI, HEADER, "<tool_output_masked>", WR_TOOL_CUT_MIDDLE, FIRST_LINE},
    {GEMINI, HEADER, "Exit Code: %x", WR_TOOL_CUT_NONE, 0},
    {SWE, HEADER, "[File: %f (%t lines total)]", WR_TOOL_CUT_NONE, 0},
    {SWE, HEADER, "(%A more lines above)", WR_TOOL_CUT_NONE, 0},
    {EDITORS, HEADER, "Here's the result of running `cat -n` on %f:%.", WR_TOOL_CUT_NONE,
     FIRST_LINE},
    {MINI, HEADER, "<returncode>%x</returncode>", WR_TOOL_CUT_NONE, FIRST_LINE},
    {MINI, HEADER, "The output of your last command was too long.", WR_TOOL_CUT_MIDDLE, 0},
};

/* Marks that stand where something was taken out of the middle. */
static const struct {
    int dialects;
    const char *mark;
    enum wr_tool_cut cut;
} marks[] = {
    {CODEX, " tokens truncated\xe2\x80\xa6", WR_TOOL_CUT_MIDDLE},
    {CODEX, " chars truncated\xe2\x80\xa6", WR_TOOL_CUT_MIDDLE},
    {GEMINI, " characters omitted] ...", WR_TOOL_CUT_MIDDLE},
    {CLINE, "[... output truncated: ", WR_TOOL_CUT_MIDDLE},
    {EDITORS, "<response clipped><NOTE>", WR_TOOL_CUT_TAIL},
    {HANDS, "[... Observation truncated due to length ...]", WR_TOOL_CUT_MIDDLE},
    {MINI, " characters elided", WR_TOOL_CUT_MIDDLE},
    {CLAUDE, "PARTIAL view", WR_TOOL_CUT_TAIL},
    {OPENCODE, "... (line truncated to ", WR_TOOL_CUT_SOMEWHERE},
};

/* --- matching --- */

struct found {
    int64_t first, last, total, next, above, below, limit, offset; /* -1: not there */
    weir_span process, spill, file;
    int exit_code;
    bool has_exit_code;
};

struct scan {
    weir_span line;
    size_t at;
};

static bool take_count(struct scan *scan, int64_t *number)
{
    size_t from = scan->at;
    uint64_t value;
    while (scan->at < scan->line.len && wr_is_digit(scan->line.ptr[scan->at]))
        scan->at++;
    if (!wr_span_u64(wr_span_cut(scan->line, from, scan->at), &value) || value > INT32_MAX)
        return false;
    *number = (int64_t)value;
    return true;
}

static bool take_exit_code(struct scan *scan, struct found *found)
{
    int64_t code;
    bool negative = scan->at < scan->line.len && scan->line.ptr[scan->at] == '-';
    scan->at += negative;
    if (!take_count(scan, &code))
        return false;
    found->exit_code = (int)(negative ? -code : code);
    found->has_exit_code = true;
    return true;
}

static bool take_id(struct scan *scan, weir_span *id)
{
    size_t from = scan->at;
    while (scan->at < scan->line.len) {
        char c = scan->line.ptr[scan->at];
        if (!wr_is_word(c) && c != '-')
            break;
        scan->at++;
    }
    *id = wr_span_cut(scan->line, from, scan->at);
    return id->len > 0;
}

/* Text up to the literal part of the pattern that follows, or to the end of the line. */
static bool take_up_to(struct scan *scan, const char *pattern_rest, weir_span *text)
{
    size_t literal = strcspn(pattern_rest, "%"), end = scan->line.len;
    if (literal)
        end = wr_span_find(scan->line, (weir_span){pattern_rest, literal}, scan->at);
    if (end == SIZE_MAX)
        return false;
    *text = wr_span_trim(wr_span_cut(scan->line, scan->at, end));
    scan->at = end;
    return true;
}

static bool take_capture(struct scan *scan, const char *pattern, struct found *found)
{
    int64_t unused;
    weir_span skipped;
    switch (*pattern) {
    case 'a':
        return take_count(scan, &found->first);
    case 'b':
        return take_count(scan, &found->last);
    case 't':
        return take_count(scan, &found->total);
    case 'n':
        return take_count(scan, &found->next);
    case 'A':
        return take_count(scan, &found->above);
    case 'B':
        return take_count(scan, &found->below);
    case 'l':
        return take_count(scan, &found->limit);
    case 'o':
        return take_count(scan, &found->offset);
    case 'i':
        return take_count(scan, &unused);
    case 'x':
        return take_exit_code(scan, found);
    case 'p':
        return take_id(scan, &found->process);
    case 's':
        return take_up_to(scan, pattern + 1, &found->spill) && found->spill.len;
    case 'f':
        return take_up_to(scan, pattern + 1, &found->file) && found->file.len;
    case '*':
        return take_up_to(scan, pattern + 1, &skipped);
    default:
        return scan->at == scan->line.len; /* %. */
    }
}

static bool match_line(const char *pattern, weir_span line, struct found *found)
{
    struct scan scan = {line, 0};
    *found = (struct found){-1, -1, -1, -1, -1, -1, -1, -1, {"", 0}, {"", 0}, {"", 0}, 0, false};
    for (; *pattern; pattern++) {
        if (*pattern == '%') {
            if (!take_capture(&scan, ++pattern, found))
                return false;
        } else if (scan.at >= line.len || line.ptr[scan.at++] != *pattern) {
            return false;
        }
    }
    return true;
}

/* --- from what was found to handles --- */

static void set_number_once(int64_t *field, int64_t number)
{
    if (*field < 0 && number >= 0)
        *field = number;
}

/* The lines that were shown are never more than those that were asked for. */
static void narrow_lines(struct wr_tool_handles *handles, int64_t first, int64_t last)
{
    if (first > 0 && handles->start_line <= 0)
        handles->start_line = first;
    if (last > 0 && (handles->end_line <= 0 || last < handles->end_line))
        handles->end_line = last;
}

static void use_found(struct wr_tool_handles *handles, const struct rule *rule,
                      const struct found *found)
{
    if (!handles->has_exit_code && found->has_exit_code) {
        handles->exit_code = found->exit_code;
        handles->has_exit_code = true;
    }
    if (handles->cut == WR_TOOL_CUT_NONE)
        handles->cut = rule->cut;
    handles->is_running |= (rule->flags & RUNNING) != 0;
    handles->is_error |= (rule->flags & FAILED) != 0;
    handles->is_unchanged |= (rule->flags & UNCHANGED) != 0;
    set_number_once(&handles->total_lines, found->total);
    set_number_once(&handles->next_offset, found->next);
    if (found->limit >= 0)
        set_number_once(&handles->next_offset,
                        found->limit + (found->offset > 0 ? found->offset : 0));
    wr_set_once(&handles->process_id, found->process);
    wr_set_once(&handles->spill_path, found->spill);
    narrow_lines(handles, found->first, found->last);
    if (found->above >= 0)
        narrow_lines(handles, found->above + 1, -1);
    if (found->below >= 0) {
        handles->end_line = -1 - found->below; /* from the end, until the total is known */
    }
}

static void use_file(struct wr_tool_handles *handles, weir_span file)
{
    bool about_file = handles->kind == WR_EFFECT_READ || handles->kind == WR_EFFECT_EDIT ||
                      handles->kind == WR_EFFECT_WRITE;
    if (!file.len || !about_file || handles->path.len || handles->is_shell)
        return;
    handles->path = file;
    if (handles->effects_count == 1 && !handles->effects[0].path.len) {
        handles->effects[0].path = file;
        handles->effects[0].literal = true;
    }
}

static bool is_for_dialect(int dialects, const struct wr_tool_handles *handles)
{
    return handles->dialect == WR_TOOL_UNKNOWN || (dialects & (1 << handles->dialect));
}

/* A rule that only one agent's results fit tells whose the call was. */
static void learn_dialect(struct wr_tool_handles *handles, int dialects)
{
    if (handles->dialect != WR_TOOL_UNKNOWN)
        return;
    for (int i = 1; i < WR_TOOL_DIALECTS; i++)
        if (dialects == 1 << i)
            handles->dialect = (enum wr_tool_dialect)i;
}

/* `line` is not empty. */
static void read_result_line(struct wr_tool_handles *handles, weir_span line, enum zone zone,
                             bool is_first)
{
    struct found found;
    for (size_t i = 0; i < WR_COUNT_OF(rules); i++) {
        const struct rule *rule = &rules[i];
        if (rule->pattern[0] != line.ptr[0])
            continue; /* nearly all */
        bool here = (rule->zone == zone || rule->zone == EITHER) &&
                    (is_first || !(rule->flags & FIRST_LINE));
        bool fits = !(rule->flags & READS_ONLY) || handles->kind == WR_EFFECT_READ;
        if (!here || !fits || !is_for_dialect(rule->dialects, handles) ||
            !match_line(rule->pattern, line, &found))
            continue;
        learn_dialect(handles, rule->dialects);
        use_found(handles, rule, &found);
        use_file(handles, found.file);
        return;
    }
}

static void read_footers(struct wr_tool_handles *handles, weir_span result)
{
    size_t from =
        result.len > WR_TOOL_RESULT_TAIL_BYTES ? result.len - WR_TOOL_RESULT_TAIL_BYTES : 0;
    size_t end = result.len;
    for (int lines = 0; end > from && lines < FOOTER_LINES;) {
        size_t start = end;
        while (start > from && result.ptr[start - 1] != '\n')
            start--;
        weir_span line = wr_span_trim(wr_span_cut(result, start, end));
        if (line.len) {
            read_result_line(handles, line, FOOTER, false);
            lines++;
        }
        end = start > from ? start - 1 : from;
    }
}

static void read_headers(struct wr_tool_handles *handles, weir_span result)
{
    weir_span rest = result, line;
    if (rest.len > WR_TOOL_RESULT_HEAD_BYTES)
        rest.len = WR_TOOL_RESULT_HEAD_BYTES;
    for (int lines = 0; lines < HEADER_LINES && wr_span_line(&rest, &line);) {
        line = wr_span_trim(line);
        if (!line.len)
            continue;
        read_result_line(handles, line, HEADER, !lines);
        lines++;
    }
}

/* Codex once gave {"output":"..","metadata":{"exit_code":0,..}}. */
static void read_json_result(struct wr_tool_handles *handles, weir_span result)
{
    weir_span key = WR_LIT("\"exit_code\":");
    size_t window = result.len > 256 ? result.len - 256 : 0;
    if (!wr_span_starts(result, WR_LIT("{\"output\":")) || handles->has_exit_code)
        return;
    size_t at = wr_span_find(result, key, window);
    struct found found = {0};
    if (at == SIZE_MAX)
        return;
    struct scan scan = {result, at + key.len};
    if (!take_exit_code(&scan, &found))
        return;
    handles->exit_code = found.exit_code;
    handles->has_exit_code = true;
}

static void find_marks(struct wr_tool_handles *handles, weir_span result)
{
    if (result.len > WR_TOOL_RESULT_CUT_BYTES_MAX)
        result.len = WR_TOOL_RESULT_CUT_BYTES_MAX;
    for (size_t i = 0; i < WR_COUNT_OF(marks) && handles->cut == WR_TOOL_CUT_NONE; i++) {
        /* Text that was read may hold such a mark itself, so only marks of the agent's own tools
         * count. */
        bool own =
            handles->dialect != WR_TOOL_UNKNOWN && is_for_dialect(marks[i].dialects, handles);
        if (own && wr_span_has(result, wr_span_of(marks[i].mark)))
            handles->cut = marks[i].cut;
    }
}

/* --- numbered lines --- */

/* `12<TAB>text`, `    12->text` (an arrow), `12: text`, `12 | text`, `12:text`, `12. text`. */
static bool line_number(weir_span line, int64_t *number)
{
    struct scan scan = {line, 0};
    while (scan.at < line.len && line.ptr[scan.at] == ' ')
        scan.at++;
    if (!take_count(&scan, number) || *number < 1)
        return false;
    weir_span rest = wr_span_from(line, scan.at);
    return wr_span_starts(rest, WR_LIT("\t")) || wr_span_starts(rest, WR_LIT("\xe2\x86\x92")) ||
           wr_span_starts(rest, WR_LIT(":")) || wr_span_starts(rest, WR_LIT(" | ")) ||
           wr_span_starts(rest, WR_LIT(". ")) || wr_span_is(rest, ".") || wr_span_is(rest, " |");
}

static int64_t first_number(weir_span result)
{
    weir_span rest = result, line;
    int64_t number;
    if (rest.len > WR_TOOL_RESULT_HEAD_BYTES)
        rest.len = WR_TOOL_RESULT_HEAD_BYTES;
    for (int i = 0; i < HEADER_LINES && wr_span_line(&rest, &line); i++)
        if (line_number(line, &number))
            return number;
    return -1;
}

static int64_t last_number(weir_span result)
{
    size_t from =
        result.len > WR_TOOL_RESULT_TAIL_BYTES ? result.len - WR_TOOL_RESULT_TAIL_BYTES : 0;
    int64_t number;
    for (size_t end = result.len; end > from;) {
        size_t start = end;
        while (start > from && result.ptr[start - 1] != '\n')
            start--;
        if (start > from && line_number(wr_span_cut(result, start, end), &number))
            return number;
        end = start > from ? start - 1 : from;
    }
    return -1;
}

/* A read whose lines are numbered says itself what it shows. */
static void read_numbers(struct wr_tool_handles *handles, weir_span result)
{
    if (handles->kind != WR_EFFECT_READ || handles->is_shell || handles->effects_count > 1 ||
        handles->is_error)
        return;
    int64_t first = first_number(result), last = last_number(result);
    if (first < 1 || (last < first && last != -1))
        return;
    if (last < first)
        last = first;
    bool to_the_end = handles->end_line == -1;
    if (handles->start_line <= 0)
        handles->start_line = first;
    /* Reads that name no limit stop at the client's own, 2000 lines in most. */
    enum { CLIENT_LINES_MAX = 2000 };
    bool whole =
        to_the_end && handles->cut == WR_TOOL_CUT_NONE && last - first + 1 < CLIENT_LINES_MAX;
    if (whole)
        set_number_once(&handles->total_lines, last);
    else
        narrow_lines(handles, first, last);
}

/* --- all of it --- */

static void settle_lines(struct wr_tool_handles *handles)
{
    /* `(12 more lines below)` of 100 is line 88. */
    bool counted_down = handles->end_line < -1 && handles->total_lines > 0 && !handles->is_shell;
    if (counted_down)
        handles->end_line = handles->total_lines + 1 + handles->end_line;
    if (handles->kind == WR_EFFECT_READ && !handles->start_line && handles->end_line > 0)
        handles->start_line = 1;
    bool goes_on = handles->kind == WR_EFFECT_READ && handles->end_line > 0 &&
                   handles->total_lines > handles->end_line;
    bool by_line = handles->dialect != WR_TOOL_UNKNOWN && !handles->is_shell;
    if (goes_on && by_line)
        set_number_once(&handles->next_offset, handles->end_line + 1);
    if (handles->effects_count == 1 && handles->effects[0].kind == WR_EFFECT_READ &&
        !handles->is_shell) {
        handles->effects[0].start_line = handles->start_line;
        handles->effects[0].end_line = handles->end_line;
    }
}

void wr_tool_result(struct wr_tool_handles *handles, weir_span result, bool is_error)
{
    int64_t end_asked = handles->end_line;
    handles->is_error |= is_error;
    read_footers(handles, result);
    read_headers(handles, result);
    read_json_result(handles, result);
    find_marks(handles, result);
    if (wr_span_starts(result, WR_LIT("{\"output\":")) && handles->dialect == WR_TOOL_UNKNOWN)
        handles->dialect = WR_TOOL_CODEX;
    if (handles->end_line == end_asked) /* else the result has said which lines it shows */
        read_numbers(handles, result);
    settle_lines(handles);
}
