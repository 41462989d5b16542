#include "condense/signal.h"

#include "condense/gap.h"
#include "condense/location.h"
#include "condense/signal_gate.h"
#include "condense/signal_level.h"
#include "condense/signal_scanner.h"
#include "condense/volatile.h"

enum { ESCAPE = 0x1b };

void wr_signal_set_context(struct wr_signal_scanner *scanner, enum wr_signal_context context,
                           weir_span path)
{
    scanner->context = context;
    scanner->context_path = path;
    scanner->context_set_line = scanner->line;
    scanner->context_set_end = scanner->line_end;
    scanner->context_reset_line = WR_LINE_NONE;
}

void wr_signal_reset_context(struct wr_signal_scanner *scanner)
{
    if (scanner->context == WR_CONTEXT_NONE)
        return;
    scanner->context = WR_CONTEXT_NONE;
    scanner->context_path = (weir_span){NULL, 0};
    scanner->context_reset_line = scanner->line;
}

enum wr_signal_context wr_signal_ask_context(struct wr_signal_scanner *scanner)
{
    scanner->context_asked = true;
    return scanner->context;
}

struct wr_signal_basis wr_signal_basis_now(const struct wr_signal_scanner *scanner)
{
    struct wr_signal_basis basis = {scanner->line, scanner->line_end, 0, 0, WR_LINE_NONE};
    if (scanner->context_asked) {
        basis.set_line = scanner->context_set_line;
        basis.set_end = scanner->context_set_end;
        basis.reset_line = scanner->context_reset_line;
    }
    return basis;
}

weir_span wr_signal_peek(struct wr_signal_scanner *scanner)
{
    weir_span rest = scanner->rest, line = {"", 0};
    (void)wr_span_line(&rest, &line);
    return wr_span_trim(line);
}

void wr_signal_take_next(struct wr_signal_scanner *scanner)
{
    weir_span line;
    if (wr_span_line(&scanner->rest, &line))
        scanner->line_end++;
}

/* "    12\ttext" and "    12→text" are lines of a file that was shown with numbers. */
static bool is_numbered_source(weir_span line)
{
    size_t i = 0;
    while (i < line.len && line.ptr[i] == ' ')
        i++;
    size_t digits = i;
    while (digits < line.len && wr_is_digit(line.ptr[digits]))
        digits++;
    if (digits == i)
        return false;
    weir_span behind = wr_span_cut(line, digits, line.len);
    return (digits >= 5 && i && wr_span_starts(behind, WR_LIT("\t"))) ||
           wr_span_starts(behind, WR_LIT("\xe2\x86\x92"));
}

static bool may_be_body(weir_span line)
{
    return memchr(" +-\\", line.ptr[0], 4) != NULL;
}

/* A line that cannot be part of a diff ends it. */
static void leave_hunk(struct wr_signal_scanner *scanner, weir_span line)
{
    if (scanner->context == WR_CONTEXT_HUNK && !may_be_body(line) &&
        !wr_signal_is_diff_detail(line))
        wr_signal_reset_context(scanner);
}

static bool in_hunk(struct wr_signal_scanner *scanner, weir_span line)
{
    return may_be_body(line) && wr_signal_ask_context(scanner) == WR_CONTEXT_HUNK;
}

/* Logs of builds put a time before every line, blank ones included; what is behind it is the line.
 */
static weir_span without_stamp(weir_span line)
{
    if (line.len < 20 || !wr_is_digit(line.ptr[0]) || line.ptr[4] != '-')
        return line;
    size_t stamp = wr_volatile_time(line);
    if (stamp < 19 || (stamp < line.len && line.ptr[stamp] != ' '))
        return line;
    return wr_span_cut(line, stamp < line.len ? stamp + 1 : stamp, line.len);
}

/* What a command printed, a log, or the output of tests. */
static void scan_diagnostics(struct wr_signal_scanner *scanner, weir_span whole)
{
    weir_span line = without_stamp(whole), text = wr_span_trim(line);
    if (!text.len) {
        wr_signal_reset_context(scanner);
        return;
    }
    if (wr_signal_diff(scanner, line))
        return;
    leave_hunk(scanner, line);
    /* What gives a context may not itself depend on one, so JSON comes before the question. */
    if (wr_signal_json(scanner, line) || in_hunk(scanner, line) || wr_signal_frame(scanner, line) ||
        is_numbered_source(line))
        return;
    if (!may_be_body(line) && wr_location_is_path(text)) {
        wr_signal_set_context(scanner, WR_CONTEXT_PATH, text);
        return;
    }
    if (wr_signal_refusal(scanner, line))
        return;
    wr_signal_exit_codes(scanner, text);
    text = wr_signal_without_prefix(text);
    if (!text.len || (!wr_signal_test_result(scanner, text) && !wr_signal_totals(scanner, text)))
        wr_signal_diagnostic(scanner, whole);
}

static bool seeks_diagnostics(enum wr_output_kind kind)
{
    return kind == WR_OUTPUT_PROCESS || kind == WR_OUTPUT_LOG || kind == WR_OUTPUT_TEST;
}

static void scan_piece(struct wr_signal_scanner *scanner, weir_span line)
{
    line.len -= line.len && line.ptr[line.len - 1] == '\r';
    if (!seeks_diagnostics(scanner->kind) && wr_signal_line_header(scanner, line))
        return;
    if (!wr_span_trim(line).len) {
        /* In a diff it is a line of the file, its space lost on the way. */
        if (scanner->kind != WR_OUTPUT_DIFF)
            wr_signal_reset_context(scanner);
        return;
    }
    switch (scanner->kind) {
    case WR_OUTPUT_SEARCH:
        wr_signal_search(scanner, line);
        break;
    case WR_OUTPUT_DIFF:
        if (wr_signal_diff(scanner, line))
            break;
        leave_hunk(scanner, line);
        (void)wr_signal_complaint(scanner, line);
        break;
    case WR_OUTPUT_JSON:
        if (!wr_signal_json(scanner, line))
            (void)wr_signal_complaint(scanner, line);
        break;
    case WR_OUTPUT_PROCESS:
    case WR_OUTPUT_LOG:
    case WR_OUTPUT_TEST:
        scan_diagnostics(scanner, line);
        break;
    case WR_OUTPUT_FILE:
    case WR_OUTPUT_LIST:
    case WR_OUTPUT_BLOB:
    case WR_OUTPUT_PROSE:
    case WR_OUTPUT_KINDS:
        (void)wr_signal_complaint(scanner, line);
        break;
    }
}

/* A bar of progress is many pieces in one line, each written over the one before. */
static void scan_line(struct wr_signal_scanner *scanner, weir_span line)
{
    scanner->context_asked = scanner->error_found = false;
    for (;;) {
        const char *cut = line.len ? memchr(line.ptr, '\r', line.len - 1) : NULL;
        if (!cut)
            break;
        size_t len = (size_t)(cut - line.ptr);
        scan_piece(scanner, wr_span_cut(line, 0, len));
        line = wr_span_cut(line, len + 1, line.len);
    }
    scan_piece(scanner, line);
    if (scanner->error_found) {
        scanner->frame_wanted = true;
        scanner->header = wr_signal_basis_now(scanner);
    }
}

static bool needs_look(const struct wr_signal_scanner *scanner, const struct wr_signal_gate *gate,
                       weir_span line)
{
    if (wr_gap_is(line))
        return false;
    return !gate || scanner->context == WR_CONTEXT_HUNK ||
           wr_signal_gate_opens(gate, without_stamp(line));
}

static void scan_lines(struct wr_signal_scanner *scanner)
{
    struct wr_signal_gate gate;
    bool gated = seeks_diagnostics(scanner->kind);
    weir_span line;
    if (gated)
        wr_signal_gate_init(&gate);
    while (!scanner->status && wr_span_line(&scanner->rest, &line)) {
        scanner->line_end = scanner->line + 1;
        if (needs_look(scanner, gated ? &gate : NULL, line))
            scan_line(scanner, line);
        scanner->line = scanner->line_end;
    }
    scanner->line_end = scanner->line;
    scanner->context_asked = false;
    wr_signal_frame_flush(scanner);
}

weir_status wr_signal_scan(struct wr_signal_set *set, struct wr_arena *arena, weir_span text,
                           enum wr_output_kind kind)
{
    weir_status status = wr_signal_set_init(set, arena);
    if (status)
        return status;
    if (text.len && memchr(text.ptr, ESCAPE, text.len)) {
        char *plain = wr_arena_alloc(arena, text.len);
        if (!plain)
            return wr_arena_status(arena);
        text = (weir_span){plain, wr_volatile_strip_escapes(plain, text)};
    }
    struct wr_signal_scanner scanner = {
        .set = set,
        .arena = arena,
        .kind = kind,
        .rest = text,
        .in_header = true,
        .context_set_line = WR_LINE_NONE,
        .context_reset_line = WR_LINE_NONE,
        .frame_wanted = true,
        .header = {0, 0, 0, 0, WR_LINE_NONE},
    };
    scan_lines(&scanner);
    wr_signal_set_finish(set);
    return scanner.status;
}
