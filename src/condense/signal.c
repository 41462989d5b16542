/* The scan: each line of a text that may carry a signal is shown to the detectors (signal_*.c), in
 * an order in which a line that two of them could read goes to the one that is surer.
 *
 * Nine lines of ten pass the gate unread: that is what makes a scan fast. The context, what earlier
 * lines say of this one, is kept here too (signal_scanner.h says what there is of it).
 */
#include "condense/signal.h"

#include "condense/location.h"
#include "condense/note.h"
#include "condense/search_line.h"
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
    struct wr_signal_basis basis = {scanner->line, scanner->line_end + scanner->below_count, 0, 0,
                                    WR_LINE_NONE};
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
    weir_span behind = wr_span_from(line, digits);
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
    return wr_span_from(line, stamp < line.len ? stamp + 1 : stamp);
}

/* What a command printed, a log, or the output of tests. */
static void scan_diagnostics(struct wr_signal_scanner *scanner, weir_span whole)
{
    weir_span line = without_stamp(whole), text = wr_span_trim(line);
    if (!text.len) {
        wr_signal_reset_context(scanner);
        return;
    }
    wr_signal_look_below(scanner, wr_signal_without_prefix(text));
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

static void scan_search(struct wr_signal_scanner *scanner, weir_span line)
{
    if (wr_signal_complaint(scanner, line))
        return;
    struct wr_search_line read = wr_search_line_read(line);
    switch (read.kind) {
    case WR_SEARCH_HEADING:
        wr_signal_set_context(scanner, WR_CONTEXT_PATH, read.path);
        break;
    case WR_SEARCH_ROW:
        if (wr_signal_ask_context(scanner) == WR_CONTEXT_PATH)
            read.path = scanner->context_path;
        /* fall through */
    case WR_SEARCH_MATCH:
    case WR_SEARCH_FILE_MATCH:
        wr_signal_add_place(scanner, read.path, read.number, (weir_span){"", 0});
        break;
    case WR_SEARCH_OTHER:
        break;
    }
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
        scan_search(scanner, line);
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
        line = wr_span_from(line, len + 1);
    }
    scan_piece(scanner, line);
    if (scanner->error_found) {
        scanner->frame_wanted = true;
        scanner->header = wr_signal_basis_now(scanner);
    }
}

/* -- the gate ---------------------------------------------------------------------------------- */

/* Most lines of a text carry no signal. A line is looked at closely only where four bytes of some
 * word of trouble stand in it, or where its shape is that of a frame, a place or a heading. The
 * gate may open in vain, never stay shut in vain.
 *
 * These are four bytes of each word or phrase that the detectors look for, in lower case. Where a
 * word's beginning is common, four rarer bytes of it are taken. */
static const char grams[] =
    "erro|err!|err:| err|[err|fail|fata|pani|exit|urnc|warn|wrn |exce|trac|deni|t fo|o su|unde|"
    "anno|n't |ld n|nabl|refu|segm|abor|asse|nfli|reje|rbid|auth|kill|d ou|imeo|f me|oom |oomk|"
    "oom:|oom-|crit|seve|emer|aler|caus|synt|unhe|unha|unca|over|dead|dump|corr|enoe|eacc|econ|"
    "eadd|eper|etim|eres|epip|sigk|sigs|siga|sigt|sani|spac|oken|t ok|* [f|pass|  ex|xamp|prob|"
    "issu|leak|crea|race|hung|loop|evic|pull|* er|*** | not|[bui|lici|unre|gnor|unkn|ot r|olve|"
    "resp|sed:|trip|miss|\" 40|\" 41|\" 42|\" 49|\" 50|\" 51|\" 52|us=4|us=5|us: |us 4|us 5|p 40|"
    "p 41|p 42|p 50|.1 4|.1 5|/2 4|/2 5|s co|--> |diff|leve|exp |inva|viol|dupl|rspe|rn c| lin|"
    "xn c|* fi|pt a|succ|::: |bug:|null|runs|done|halt|down|lost|usag|\"lev|** (|rc=-|rc=0|rc=1|"
    "rc=2|rc=3|rc=4|rc=5|rc=6|rc=7|rc=8|rc=9";

enum {
    GATE_BITS = 1 << 14,
    GATE_KEYS_MAX = 512, /* places of a table that is at most half full */
};

struct gate {
    uint64_t bits[GATE_BITS / 64];
    uint32_t keys[GATE_KEYS_MAX]; /* 0: free */
};

static uint32_t four(const char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return value | 0x20202020u;
}

static uint32_t mix(uint32_t value)
{
    return value * 2654435761u;
}

static void init_gate(struct gate *gate)
{
    _Static_assert(sizeof(grams) / 5 * 2 <= GATE_KEYS_MAX, "the table is at most half full");
    *gate = (struct gate){0};
    for (size_t i = 0; i + 4 < sizeof(grams); i += 5) {
        uint32_t value = four(grams + i), mixed = mix(value), bit = mixed >> 18;
        uint32_t at = mixed % GATE_KEYS_MAX;
        gate->bits[bit / 64] |= (uint64_t)1 << bit % 64;
        while (gate->keys[at] && gate->keys[at] != value)
            at = (at + 1) % GATE_KEYS_MAX;
        gate->keys[at] = value;
    }
}

static bool has_key(const struct gate *gate, uint32_t value)
{
    uint32_t at = mix(value) % GATE_KEYS_MAX;
    while (gate->keys[at] && gate->keys[at] != value)
        at = (at + 1) % GATE_KEYS_MAX;
    return gate->keys[at] == value;
}

static bool has_gram(const struct gate *gate, weir_span line)
{
    _Static_assert(GATE_BITS == 1 << 14, "the shift below takes 14 bits");
    for (size_t i = 0; i + 4 <= line.len; i++) {
        uint32_t value = four(line.ptr + i), bit = mix(value) >> 18;
        if ((gate->bits[bit / 64] >> bit % 64 & 1) && has_key(gate, value))
            return true;
    }
    return false;
}

/* "name.ext:12", "dir/name:12" at the front: the ':' tells. */
static bool has_place(weir_span line)
{
    const char *colon = memchr(line.ptr, ':', line.len < 512 ? line.len : 512);
    if (!colon || colon + 1 >= line.ptr + line.len || !wr_is_digit(colon[1]) || colon == line.ptr)
        return false;
    const char *at = colon;
    while (at > line.ptr && wr_is_word(at[-1]))
        at--;
    return at > line.ptr ? at[-1] == '.' || at[-1] == '/' || at[-1] == '\\'
                         : wr_span_ends((weir_span){at, (size_t)(colon - at)}, WR_LIT("file"));
}

static bool has_shape(weir_span line, size_t indent)
{
    weir_span text = wr_span_from(line, indent);
    char second = text.len > 1 ? text.ptr[1] : 0;
    switch (text.ptr[0]) {
    case 'a':
        return wr_span_starts(text, WR_LIT("at "));
    case 'f':
        return wr_span_starts(text, WR_LIT("from ")) || (second == ':' && text.len > 2);
    case 'e':
    case 'w':
        return second == ':';
    case 'F':
        return wr_span_starts(text, WR_LIT("File ")) || wr_is_digit(second);
    case 'E':
    case 'W':
        return second == ' ' || second == '/' || wr_is_digit(second);
    case '#':
    case '_':
    case '@':
    case '(':
    case '<':
    case '\xe2':
    case '\xc3':
    case '{':
    case '"':
    case '}':
        return true;
    case '-':
        return second == '-';
    case '[': /* playwright's list of what failed */
        return indent && wr_span_ends(text, WR_LIT("\xe2\x94\x80"));
    default:
        return wr_is_digit(text.ptr[0]) && (indent || second == ')' || second == '/');
    }
}

static bool gate_opens(const struct gate *gate, weir_span line)
{
    size_t indent = 0;
    while (indent < line.len && wr_is_blank(line.ptr[indent]))
        indent++;
    if (indent == line.len)
        return true; /* a blank line ends a record */
    if (has_shape(line, indent) || has_place(wr_span_from(line, indent)))
        return true;
    if (!indent && !memchr(line.ptr, ' ', line.len))
        return true; /* may be a path that heads what follows */
    return has_gram(gate, line);
}

/* -- the scan ---------------------------------------------------------------------------------- */

static bool needs_look(const struct wr_signal_scanner *scanner, const struct gate *gate,
                       weir_span line)
{
    if (wr_gap_is(line))
        return false;
    return !gate || scanner->context == WR_CONTEXT_HUNK || gate_opens(gate, without_stamp(line));
}

static void scan_lines(struct wr_signal_scanner *scanner)
{
    struct gate gate;
    bool gated = seeks_diagnostics(scanner->kind);
    weir_span line;
    if (gated)
        init_gate(&gate);
    while (!scanner->status && wr_span_line(&scanner->rest, &line)) {
        scanner->line_end = scanner->line + 1;
        scanner->below_count = 0;
        if (needs_look(scanner, gated ? &gate : NULL, line))
            scan_line(scanner, line);
        scanner->line = scanner->line_end;
    }
    scanner->line_end = scanner->line;
    scanner->below_count = 0;
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
