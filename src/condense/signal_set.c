/* The set of signals of a text: adding, with the lines that each rests on, and comparing. Signals
 * are looked up by hash, as a text may have many thousands; each keeps where it first stood.
 */
#include "condense/signal.h"

#include "base/buf.h"
#include "base/hash.h"
#include "condense/signal_scanner.h"
#include "condense/volatile.h"

enum { SIGNALS_MIN = 16, LINES_MIN = 64 };

const char *wr_signal_kind_text(enum wr_signal_kind kind)
{
    static const char *const texts[WR_SIGNAL_KINDS] = {
        [WR_SIGNAL_CRITICAL] = "critical",       [WR_SIGNAL_ERROR] = "error",
        [WR_SIGNAL_WARNING] = "warning",         [WR_SIGNAL_EXIT] = "exit code",
        [WR_SIGNAL_FAILED_TEST] = "failed test", [WR_SIGNAL_TOTALS] = "totals",
        [WR_SIGNAL_LOCATION] = "location",       [WR_SIGNAL_FRAME] = "frame",
        [WR_SIGNAL_DIFF_FILE] = "diff file",     [WR_SIGNAL_DIFF_HUNK] = "diff hunk",
    };
    return kind < WR_SIGNAL_KINDS ? texts[kind] : "unknown";
}

static uint64_t hash_of(enum wr_signal_kind kind, weir_span text)
{
    return wr_hash64_seeded(text, (uint64_t)kind + 1);
}

/* The place of the signal, or the free one where it belongs. */
static uint32_t place_of(const struct wr_signal_set *set, enum wr_signal_kind kind, weir_span text,
                         uint64_t hash)
{
    uint32_t at = wr_index_first(&set->index, hash), item;
    while ((item = wr_index_item(&set->index, at)) != WR_INDEX_NONE) {
        const struct wr_signal *signal = &set->signals[item];
        if (signal->hash == hash && signal->kind == kind && wr_span_eq(signal->text, text))
            break;
        at = wr_index_next(&set->index, at, hash);
    }
    return at;
}

const struct wr_signal *wr_signal_set_find(const struct wr_signal_set *set,
                                           enum wr_signal_kind kind, weir_span text)
{
    if (!set->count)
        return NULL;
    uint32_t item = wr_index_item(&set->index, place_of(set, kind, text, hash_of(kind, text)));
    return item == WR_INDEX_NONE ? NULL : &set->signals[item];
}

static const struct wr_signal *first_lacking(const struct wr_signal_set *set,
                                             const struct wr_signal_set *other)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!wr_signal_set_find(other, set->signals[i].kind, set->signals[i].text))
            return &set->signals[i];
    return NULL;
}

bool wr_signal_set_equal(const struct wr_signal_set *original,
                         const struct wr_signal_set *condensed,
                         struct wr_signal_difference *difference)
{
    struct wr_signal_difference found = {first_lacking(original, condensed),
                                         first_lacking(condensed, original)};
    if (difference)
        *difference = found;
    return !found.missing && !found.added;
}

bool wr_signal_set_has_line(const struct wr_signal_set *set, uint32_t line)
{
    uint32_t low = 0, high = set->lines_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->lines[middle] < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->lines_count && set->lines[low] == line;
}

/* -- building ---------------------------------------------------------------------------------- */

weir_status wr_signal_set_init(struct wr_signal_set *set, struct wr_arena *arena)
{
    *set = (struct wr_signal_set){.signals_max = SIGNALS_MIN, .lines_max = LINES_MIN};
    set->signals = WR_ARENA_ARRAY(arena, struct wr_signal, set->signals_max);
    set->lines = WR_ARENA_ARRAY(arena, uint32_t, set->lines_max);
    if (!set->signals || !set->lines)
        return wr_arena_status(arena);
    return wr_index_init(&set->index, arena, set->signals_max);
}

static weir_status grow_signals(struct wr_signal_set *set, struct wr_arena *arena)
{
    if (set->count >= WR_SIGNALS_MAX)
        return WEIR_LIMIT;
    if (!WR_ARENA_ROOM(arena, set->signals, set->count, set->signals_max, SIGNALS_MIN))
        return wr_arena_status(arena);
    weir_status status = wr_index_init(&set->index, arena, set->signals_max);
    for (uint32_t i = 0; i < set->count && !status; i++) {
        const struct wr_signal *signal = &set->signals[i];
        uint32_t at = wr_index_first(&set->index, signal->hash);
        while (wr_index_item(&set->index, at) != WR_INDEX_NONE)
            at = wr_index_next(&set->index, at, signal->hash);
        wr_index_put(&set->index, at, signal->hash, i);
    }
    return status;
}

static void keep_line(struct wr_signal_scanner *scanner, uint32_t line)
{
    struct wr_signal_set *set = scanner->set;
    if (line == WR_LINE_NONE || (set->lines_count && set->lines[set->lines_count - 1] == line))
        return;
    if (!WR_ARENA_ROOM(scanner->arena, set->lines, set->lines_count, set->lines_max, LINES_MIN)) {
        scanner->status = wr_arena_status(scanner->arena);
        return;
    }
    set->lines[set->lines_count++] = line;
}

static void keep_range(struct wr_signal_scanner *scanner, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        keep_line(scanner, i);
}

static void keep_basis(struct wr_signal_scanner *scanner, const struct wr_signal_basis *basis)
{
    keep_range(scanner, basis->set_line, basis->set_end);
    keep_line(scanner, basis->reset_line);
    keep_range(scanner, basis->line, basis->line_end);
}

/* `basis` where it stood; what makes it sure is the line at hand and, for a stack's top, the error.
 */
static void add_on(struct wr_signal_scanner *scanner, enum wr_signal_kind kind, weir_span text,
                   const struct wr_signal_basis *basis)
{
    struct wr_signal_set *set = scanner->set;
    if (!text.len || scanner->status)
        return;
    uint64_t hash = hash_of(kind, text);
    uint32_t at = place_of(set, kind, text, hash);
    if (wr_index_item(&set->index, at) != WR_INDEX_NONE)
        return;
    if (set->count == set->signals_max) {
        scanner->status = grow_signals(set, scanner->arena);
        if (scanner->status)
            return;
        at = place_of(set, kind, text, hash);
    }
    weir_span copy = wr_arena_copy(scanner->arena, text);
    if (!copy.ptr) {
        scanner->status = wr_arena_status(scanner->arena);
        return;
    }
    set->signals[set->count] = (struct wr_signal){kind, copy, basis->line, basis->line_end, hash};
    wr_index_put(&set->index, at, hash, set->count++);
    struct wr_signal_basis now = wr_signal_basis_now(scanner);
    keep_basis(scanner, basis);
    keep_basis(scanner, &now);
    if (kind == WR_SIGNAL_FRAME)
        keep_basis(scanner, &scanner->header);
}

static void add_signal(struct wr_signal_scanner *scanner, enum wr_signal_kind kind, weir_span text)
{
    struct wr_signal_basis now = wr_signal_basis_now(scanner);
    add_on(scanner, kind, text, &now);
}

void wr_signal_add(struct wr_signal_scanner *scanner, enum wr_signal_kind kind, weir_span text)
{
    size_t len = wr_volatile_write(scanner->scratch, sizeof(scanner->scratch), text);
    if (len && (kind == WR_SIGNAL_ERROR || kind == WR_SIGNAL_CRITICAL))
        scanner->error_found = true;
    add_signal(scanner, kind, (weir_span){scanner->scratch, len});
}

void wr_signal_add_exact(struct wr_signal_scanner *scanner, enum wr_signal_kind kind,
                         weir_span text)
{
    text = wr_span_trim(text);
    if (text.len > WR_SIGNAL_TEXT_BYTES_MAX)
        text.len = WR_SIGNAL_TEXT_BYTES_MAX;
    add_signal(scanner, kind, text);
}

void wr_signal_add_earlier(struct wr_signal_scanner *scanner, enum wr_signal_kind kind,
                           weir_span text, const struct wr_signal_basis *basis)
{
    size_t len = wr_volatile_write(scanner->scratch, sizeof(scanner->scratch), text);
    add_on(scanner, kind, (weir_span){scanner->scratch, len}, basis);
}

static size_t append(char *out, size_t len, weir_span bytes)
{
    size_t room = WR_SIGNAL_TEXT_BYTES_MAX - len;
    size_t taken = bytes.len < room ? bytes.len : room;
    if (taken)
        memcpy(out + len, bytes.ptr, taken);
    return len + taken;
}

void wr_signal_add_place(struct wr_signal_scanner *scanner, weir_span path, weir_span line,
                         weir_span column)
{
    /* "./a.c" and "a.c" are one place, and so are "file:///a.c" and "/a.c". */
    if (wr_span_starts(path, WR_LIT("./")))
        path = wr_span_from(path, 2);
    if (wr_span_starts(path, WR_LIT("file://")))
        path = wr_span_from(path, 7);
    size_t len = append(scanner->scratch, 0, path);
    if (line.len)
        len = append(scanner->scratch, append(scanner->scratch, len, WR_LIT(":")), line);
    if (column.len)
        len = append(scanner->scratch, append(scanner->scratch, len, WR_LIT(":")), column);
    add_signal(scanner, WR_SIGNAL_LOCATION, (weir_span){scanner->scratch, len});
}

void wr_signal_add_hunk(struct wr_signal_scanner *scanner, weir_span path, weir_span numbers)
{
    size_t len = append(scanner->scratch, 0, path);
    if (path.len)
        len = append(scanner->scratch, len, WR_LIT(" "));
    len = append(scanner->scratch, len, numbers);
    add_signal(scanner, WR_SIGNAL_DIFF_HUNK, (weir_span){scanner->scratch, len});
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Lines come almost in order: only those a signal rests on stand further up. */
void wr_signal_set_finish(struct wr_signal_set *set)
{
    for (uint32_t i = 1; i < set->lines_count; i++)
        if (set->lines[i - 1] > set->lines[i]) {
            qsort(set->lines, set->lines_count, sizeof(uint32_t), by_number);
            break;
        }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->lines_count; i++)
        if (!kept || set->lines[kept - 1] != set->lines[i])
            set->lines[kept++] = set->lines[i];
    set->lines_count = kept;
}
