/* Remembers, for each model, how the provider's count of a prompt compared with ours.
 *
 * A sample is a ratio in basis points: 10000 means that both counts agree. An entry keeps the last
 * nine, and the factor is their median, so one odd answer moves nothing. Where two samples are in
 * the middle the higher one is taken: counting too low is the costly side.
 *
 * The table has a fixed number of models. Its entries are in the order of their latest sample, so
 * the model that has been silent for longest is the first, and makes room for a new one.
 *
 * The state can be written as JSON and read back. A text that is wrong in any way leaves the state
 * empty.
 */
#include "models/calibrate.h"

#include "base/err.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

void wr_calibration_init(struct wr_calibration *calibration)
{
    calibration->entries_count = 0;
}

static weir_span entry_id(const struct wr_calibration_entry *entry)
{
    return (weir_span){entry->id, entry->id_len};
}

static uint32_t find_entry(const struct wr_calibration *calibration, weir_span id)
{
    uint32_t at = 0;
    while (at < calibration->entries_count && !wr_span_eq(entry_id(&calibration->entries[at]), id))
        at++;
    return at;
}

/* Moves the model's entry to the end, where the newest is, and adds it where there is none. In a
 * full table it takes the place of the oldest. */
static struct wr_calibration_entry *move_to_newest(struct wr_calibration *calibration, weir_span id)
{
    struct wr_calibration_entry *entries = calibration->entries;
    uint32_t at = find_entry(calibration, id);
    struct wr_calibration_entry entry = {.id_len = (uint32_t)id.len};

    memcpy(entry.id, id.ptr, id.len);
    if (at < calibration->entries_count)
        entry = entries[at];
    else if (calibration->entries_count == WR_CALIBRATION_MODELS_MAX)
        at = 0;
    if (at < calibration->entries_count) {
        uint32_t behind = --calibration->entries_count - at;
        memmove(&entries[at], &entries[at + 1], behind * sizeof(*entries));
    }
    entries[calibration->entries_count] = entry;
    return &entries[calibration->entries_count++];
}

static void push_ratio(struct wr_calibration_entry *entry, uint32_t ratio_bp)
{
    if (entry->ratios_count == WR_CALIBRATION_SAMPLES_MAX) {
        memmove(entry->ratios_bp, entry->ratios_bp + 1,
                (WR_CALIBRATION_SAMPLES_MAX - 1) * sizeof(entry->ratios_bp[0]));
        entry->ratios_count--;
    }
    entry->ratios_bp[entry->ratios_count++] = ratio_bp;
}

static bool is_valid_id(weir_span id)
{
    return id.len && id.len <= WR_MODEL_NAME_BYTES_MAX;
}

static bool is_believable_ratio(uint64_t ratio_bp)
{
    return ratio_bp >= WR_CALIBRATION_RATIO_BP_MIN && ratio_bp <= WR_CALIBRATION_RATIO_BP_MAX;
}

bool wr_calibration_add(struct wr_calibration *calibration, weir_span id, uint64_t counted_tokens,
                        uint64_t usage_tokens)
{
    if (!is_valid_id(id) || counted_tokens < WR_CALIBRATION_TOKENS_MIN ||
        counted_tokens > WR_MODEL_TOKENS_MAX || usage_tokens > WR_MODEL_TOKENS_MAX)
        return false;
    uint64_t ratio_bp = (usage_tokens * 10000 + counted_tokens / 2) / counted_tokens;
    if (!is_believable_ratio(ratio_bp))
        return false;
    push_ratio(move_to_newest(calibration, id), (uint32_t)ratio_bp);
    return true;
}

static uint32_t median_ratio(const struct wr_calibration_entry *entry)
{
    uint32_t sorted[WR_CALIBRATION_SAMPLES_MAX];
    for (uint32_t i = 0; i < entry->ratios_count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > entry->ratios_bp[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = entry->ratios_bp[i];
    }
    return sorted[entry->ratios_count / 2];
}

uint32_t wr_calibration_factor_bp(const struct wr_calibration *calibration, weir_span id,
                                  uint32_t *samples)
{
    uint32_t at = find_entry(calibration, id);
    bool known = at < calibration->entries_count;
    uint32_t count = known ? calibration->entries[at].ratios_count : 0;

    if (samples)
        *samples = count;
    if (count < WR_CALIBRATION_SAMPLES_MIN)
        return 10000;
    return median_ratio(&calibration->entries[at]);
}

void wr_calibration_put(struct wr_calibration *calibration,
                        const struct wr_calibration_entry *entry)
{
    *move_to_newest(calibration, entry_id(entry)) = *entry;
}

const struct wr_calibration_entry *wr_calibration_find(const struct wr_calibration *calibration,
                                                       weir_span id)
{
    uint32_t at = find_entry(calibration, id);
    return at < calibration->entries_count ? &calibration->entries[at] : NULL;
}

void wr_calibration_append(struct wr_calibration_entry *entry,
                           const struct wr_calibration_entry *newer, uint32_t count)
{
    uint32_t first = count < newer->ratios_count ? newer->ratios_count - count : 0;
    for (uint32_t i = first; i < newer->ratios_count; i++)
        push_ratio(entry, newer->ratios_bp[i]);
}

void wr_calibration_write(const struct wr_calibration *calibration, struct wr_buf *out)
{
    struct wr_json_writer writer;

    wr_json_write_init(&writer, out);
    wr_json_write_object(&writer);
    wr_json_member_i64(&writer, "schema", 1);
    wr_json_write_key(&writer, "models");
    wr_json_write_array(&writer);
    for (uint32_t i = 0; i < calibration->entries_count; i++) {
        const struct wr_calibration_entry *entry = &calibration->entries[i];
        wr_json_write_object(&writer);
        wr_json_member_text(&writer, "id", entry_id(entry));
        wr_json_write_key(&writer, "ratios_bp");
        wr_json_write_array(&writer);
        for (uint32_t k = 0; k < entry->ratios_count; k++)
            wr_json_write_i64(&writer, entry->ratios_bp[k]);
        wr_json_write_array_end(&writer);
        wr_json_write_object_end(&writer);
    }
    wr_json_write_array_end(&writer);
    wr_json_write_object_end(&writer);
}

static weir_status read_entry(struct wr_calibration *calibration, const struct wr_json *doc,
                              struct wr_arena *arena, wr_json_id object, struct weir_err *err)
{
    wr_json_id id = wr_json_find(doc, object, "id");
    wr_json_id ratios = wr_json_find(doc, object, "ratios_bp");
    size_t at_byte = doc->nodes[object].start;

    if (!wr_json_is(doc, id, WR_JSON_STRING) || !wr_json_is(doc, ratios, WR_JSON_ARRAY))
        return wr_fail(err, WEIR_INVALID, at_byte, "calibration: an entry has an id and ratios_bp");
    weir_span text = wr_json_text(doc, arena, id);
    if (!text.ptr)
        return wr_arena_status(arena);
    if (!is_valid_id(text) || calibration->entries_count == WR_CALIBRATION_MODELS_MAX ||
        find_entry(calibration, text) < calibration->entries_count)
        return wr_fail(err, WEIR_INVALID, at_byte, "calibration: a wrong, repeated or surplus id");
    struct wr_calibration_entry *entry = move_to_newest(calibration, text);
    for (wr_json_id k = wr_json_first(doc, ratios); k != WR_JSON_NONE;
         k = wr_json_next(doc, ratios, k)) {
        int64_t ratio;
        if (!wr_json_i64(doc, k, &ratio) || ratio < 0 || !is_believable_ratio((uint64_t)ratio) ||
            entry->ratios_count == WR_CALIBRATION_SAMPLES_MAX)
            return wr_fail(err, WEIR_INVALID, doc->nodes[k].start, "calibration: a wrong ratio");
        push_ratio(entry, (uint32_t)ratio);
    }
    return WEIR_OK;
}

static weir_status read_entries(struct wr_calibration *calibration, const struct wr_json *doc,
                                struct wr_arena *arena, struct weir_err *err)
{
    wr_json_id models = wr_json_find(doc, 0, "models");
    wr_json_id schema_id = wr_json_find(doc, 0, "schema");
    int64_t schema;
    if (schema_id == WR_JSON_NONE || !wr_json_i64(doc, schema_id, &schema) || schema != 1 ||
        !wr_json_is(doc, models, WR_JSON_ARRAY))
        return wr_fail(err, WEIR_INVALID, 0, "calibration: schema 1 with a list of models");
    weir_status status = WEIR_OK;
    for (wr_json_id id = wr_json_first(doc, models); id != WR_JSON_NONE && !status;
         id = wr_json_next(doc, models, id))
        status = read_entry(calibration, doc, arena, id, err);
    return status;
}

weir_status wr_calibration_read(struct wr_calibration *calibration, weir_span text,
                                struct weir_err *err)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_calibration_init(calibration);
    if (text.len > WR_CALIBRATION_TEXT_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "calibration: over %d bytes",
                       WR_CALIBRATION_TEXT_BYTES_MAX);
    wr_arena_init(&arena, 64 * (size_t)WR_CALIBRATION_TEXT_BYTES_MAX);
    weir_status status = wr_json_parse(&doc, &arena, text, NULL, err);
    if (!status)
        status = read_entries(calibration, &doc, &arena, err);
    wr_arena_release(&arena);
    if (status)
        wr_calibration_init(calibration);
    return status;
}

enum wr_confidence wr_confidence_of(enum wr_count_source source, bool window_usable)
{
    if (!window_usable || source == WR_COUNT_UNKNOWN)
        return WR_CONFIDENCE_LOW;
    return source == WR_COUNT_ESTIMATE ? WR_CONFIDENCE_MEDIUM : WR_CONFIDENCE_HIGH;
}

const char *wr_confidence_text(enum wr_confidence confidence)
{
    switch (confidence) {
    case WR_CONFIDENCE_LOW:
        return "low";
    case WR_CONFIDENCE_MEDIUM:
        return "medium";
    case WR_CONFIDENCE_HIGH:
        return "high";
    }
    return "unknown";
}
