#include "replay/strict_coverage.h"

#include "base/hash.h"
#include "base/span.h"
#include "condense/signal.h"
#include "policy/output.h"
#include "transcript/tool.h"

enum { TURNS_MIN = 30, DIFF_BYTES_MIN = 6000, SEARCHES_MIN = 3, FILES_MIN = 3 };

const char *wr_cover_text(enum wr_cover cover)
{
    static const char *const texts[] = {
#define X(name, text) text,
        WR_COVER_MAP(X)
#undef X
    };
    return (unsigned)cover < WR_COVERS ? texts[cover] : "unknown";
}

uint32_t wr_cover_case(const struct wr_case *c)
{
    uint32_t covered = 0;
    if (c->turns_count >= TURNS_MIN)
        covered |= WR_COVER_BIT(CONTINUATION);
    if (c->window_tokens == 16000 || c->window_tokens == 16384)
        covered |= WR_COVER_BIT(WINDOW_16K);
    if (c->window_tokens == 32000 || c->window_tokens == 32768)
        covered |= WR_COVER_BIT(WINDOW_32K);
    if (c->window_tokens == 128000 || c->window_tokens == 131072)
        covered |= WR_COVER_BIT(WINDOW_128K);
    if (c->window_tokens == 200000)
        covered |= WR_COVER_BIT(WINDOW_200K);
    return covered;
}

/* ---- what stands in the results ---- */

struct look {
    const struct wr_transcript *transcript;
    struct wr_arena *arena;
    uint32_t covered, searches;
    uint64_t *failed; /* hashes of the commands that failed so far */
    uint32_t failed_count;
};

static bool is_printed(enum wr_output_kind kind)
{
    return kind == WR_OUTPUT_PROCESS || kind == WR_OUTPUT_TEST || kind == WR_OUTPUT_LOG;
}

static bool has_kind(const struct wr_signal_set *set, enum wr_signal_kind kind)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->signals[i].kind == kind)
            return true;
    return false;
}

static bool has_failed(const struct wr_segment *s, const struct wr_signal_set *signals)
{
    return s->is_error || (s->handles->has_exit_code && s->handles->exit_code) ||
           has_kind(signals, WR_SIGNAL_ERROR) || has_kind(signals, WR_SIGNAL_FAILED_TEST);
}

static void look_at_command(struct look *look, const struct wr_segment *s,
                            const struct wr_signal_set *signals)
{
    if (!s->handles || !s->handles->command.len)
        return;
    uint64_t hash = wr_hash64(s->handles->command);
    bool is_failure = has_failed(s, signals);
    if (is_failure)
        look->failed[look->failed_count++] = hash;
    for (uint32_t i = 0; i < look->failed_count && !is_failure; i++)
        if (look->failed[i] == hash)
            look->covered |= WR_COVER_BIT(FAILURE_RECOVERY);
}

static weir_status look_at_printed(struct look *look, const struct wr_segment *s, weir_span text,
                                   enum wr_output_kind kind)
{
    struct wr_signal_set signals;
    weir_status status = wr_signal_scan(&signals, look->arena, text, kind);
    if (status)
        return status;
    if (s->class_ == WEIR_CLASS_DROPPABLE_DUPLICATE)
        look->covered |= WR_COVER_BIT(REPEATED_BUILD);
    if (has_kind(&signals, WR_SIGNAL_ERROR) && has_kind(&signals, WR_SIGNAL_LOCATION))
        look->covered |= WR_COVER_BIT(COMPILER_ERROR);
    if (has_kind(&signals, WR_SIGNAL_FRAME))
        look->covered |= WR_COVER_BIT(RUNTIME_ERROR);
    look_at_command(look, s, &signals);
    return WEIR_OK;
}

static weir_status look_at_result(struct look *look, const struct wr_segment *s)
{
    weir_span text = wr_segment_text(look->transcript, s, look->arena);
    if (!text.ptr)
        return wr_arena_status(look->arena);
    enum wr_output_kind kind = wr_output_kind_of(s, text);
    if (kind == WR_OUTPUT_DIFF && text.len >= DIFF_BYTES_MIN)
        look->covered |= WR_COVER_BIT(LARGE_DIFF);
    if (kind == WR_OUTPUT_BLOB)
        look->covered |= WR_COVER_BIT(BINARY_NOISE);
    if ((kind == WR_OUTPUT_SEARCH || kind == WR_OUTPUT_LIST) && ++look->searches == SEARCHES_MIN)
        look->covered |= WR_COVER_BIT(NAVIGATION);
    return is_printed(kind) ? look_at_printed(look, s, text, kind) : WEIR_OK;
}

/* ---- calls ---- */

static void count_files(struct look *look)
{
    const struct wr_transcript *t = look->transcript;
    weir_span paths[FILES_MIN];
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        const struct wr_effect *write;
        if (s->kind != WEIR_KIND_TOOL_CALL || !s->handles)
            continue;
        for (size_t at = 0; (write = wr_tool_next_write(s->handles, &at)) != NULL;) {
            uint32_t k = 0;
            while (k < count && !wr_span_eq(paths[k], write->path))
                k++;
            if (k == count && write->path.len)
                paths[count++] = write->path;
            if (count == FILES_MIN) {
                look->covered |= WR_COVER_BIT(REFACTORING);
                return;
            }
        }
    }
}

static weir_status find_duplicate_calls(struct look *look)
{
    const struct wr_transcript *t = look->transcript;
    uint64_t *calls = WR_ARENA_ARRAY(look->arena, uint64_t, t->segments_count);
    uint32_t count = 0;

    if (!calls)
        return wr_arena_status(look->arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_CALL)
            continue;
        uint64_t hash = wr_hash64_seeded(wr_segment_text(t, s, look->arena), wr_hash64(s->tool));
        for (uint32_t k = 0; k < count; k++)
            if (calls[k] == hash)
                look->covered |= WR_COVER_BIT(DUPLICATE_CALLS);
        calls[count++] = hash;
    }
    return WEIR_OK;
}

weir_status wr_cover_request(const struct wr_strict_body *in, struct wr_arena *arena,
                             uint32_t *covered)
{
    const struct wr_transcript *t = &in->transcript;
    struct look look = {.transcript = t, .arena = arena};

    look.failed = WR_ARENA_ARRAY(arena, uint64_t, t->segments_count);
    weir_status status = look.failed ? WEIR_OK : wr_arena_status(arena);
    for (uint32_t i = 0; i < t->segments_count && !status; i++)
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT)
            status = look_at_result(&look, &t->segments[i]);
    if (!status)
        status = find_duplicate_calls(&look);
    count_files(&look);
    *covered |= look.covered;
    return status;
}

uint64_t wr_cover_instructions(const struct wr_strict_body *in, struct wr_arena *arena)
{
    const struct wr_transcript *t = &in->transcript;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->role == WEIR_ROLE_SYSTEM || s->role == WEIR_ROLE_DEVELOPER)
            hash = wr_hash64_seeded(wr_segment_text(t, s, arena), hash);
    }
    return hash;
}
