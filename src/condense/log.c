/* Logs: lines with signals and what stands around them; what was sought; rows of a table that stand
 * out in a column; the first and the last lines; then lines by how rare their shape is, the first
 * of each, because what was said once tells more than what was said a thousand times; what is left
 * from the end. */
#include "condense/keep.h"

#include "base/hash.h"
#include "base/span.h"
#include "condense/numbered.h"
#include "condense/shape.h"

/* -- rows that differ from nearly all others in a column of few values ------------------------- */

/* The one job that ended with another status or code. Lines are rows of a table where nearly all
 * have the same number of fields, parted by a comma, a tab, a semicolon or a bar outside of quotes.
 */

enum {
    ROWS_MIN = 32,
    SAMPLE_ROWS = 64,  /* by which the parting byte is found */
    COLUMNS_MAX = 32,  /* further ones are not looked at */
    VALUES_MAX = 8,    /* of a column that says how it went */
    RARE_SHARE = 50,   /* a value that fewer than one in so many rows have */
    SAME_PERCENT = 80, /* of the sample, with the same number of fields */
    LINE_BYTES_MAX = 4096,
};

struct column {
    uint64_t values[VALUES_MAX];
    uint32_t counts[VALUES_MAX];
    uint32_t count; /* VALUES_MAX + 1: too many */
};

struct table {
    const struct wr_keep *keep;
    struct wr_numbered numbered;
    char parting;
    uint32_t fields; /* of a row */
    uint32_t rows;
    struct column columns[COLUMNS_MAX];
};

/* The next field; false behind the last. */
static bool next_field(weir_span line, size_t *at, char parting, weir_span *field)
{
    size_t end = *at;
    bool is_quoted = false;
    if (*at > line.len)
        return false;
    for (; end < line.len && (is_quoted || line.ptr[end] != parting); end++)
        is_quoted ^= line.ptr[end] == '"';
    *field = wr_span_trim(wr_span_cut(line, *at, end));
    *at = end + 1;
    return true;
}

static uint32_t count_fields(weir_span line, char parting)
{
    weir_span field;
    uint32_t count = 0;
    for (size_t at = 0; next_field(line, &at, parting, &field);)
        count++;
    return count;
}

static weir_span row_of(const struct table *table, uint32_t line)
{
    weir_span row = wr_keep_line(table->keep, line);
    row = wr_span_from(row, wr_numbered_skip(&table->numbered, row, NULL));
    return row.len > LINE_BYTES_MAX ? wr_span_cut(row, 0, LINE_BYTES_MAX) : row;
}

/* Whether nearly all rows from the middle on have as many fields as the one in the middle. */
static bool parts_rows(struct table *table, char parting)
{
    uint32_t lines_count = table->keep->lines_count, first = lines_count / 2, same = 0, rows = 0;
    table->parting = parting;
    table->fields = count_fields(row_of(table, first), parting);
    for (uint32_t line = first; line < lines_count && rows < SAMPLE_ROWS; line++, rows++)
        same += count_fields(row_of(table, line), parting) == table->fields;
    return table->fields > 1 && same * 100 >= rows * SAME_PERCENT;
}

static bool find_parting(struct table *table)
{
    static const char partings[] = {'\t', '|', ';', ','};
    for (size_t i = 0; i < sizeof(partings); i++)
        if (parts_rows(table, partings[i]))
            return true;
    return false;
}

static void count_value(struct column *column, uint64_t value)
{
    uint32_t i = 0;
    if (column->count > VALUES_MAX)
        return;
    while (i < column->count && column->values[i] != value)
        i++;
    if (i == VALUES_MAX) {
        column->count = VALUES_MAX + 1;
        return;
    }
    if (i == column->count) {
        column->values[column->count++] = value;
        column->counts[i] = 0;
    }
    column->counts[i]++;
}

static bool is_rare(const struct table *table, const struct column *column, uint64_t value)
{
    if (column->count < 2 || column->count > VALUES_MAX)
        return false;
    for (uint32_t i = 0; i < column->count; i++)
        if (column->values[i] == value)
            return column->counts[i] * (uint64_t)RARE_SHARE < table->rows;
    return false;
}

static void count_row(struct table *table, weir_span row)
{
    weir_span field;
    uint32_t c = 0;
    if (count_fields(row, table->parting) != table->fields)
        return;
    table->rows++;
    for (size_t at = 0; c < COLUMNS_MAX && next_field(row, &at, table->parting, &field); c++)
        count_value(&table->columns[c], wr_hash64(field));
}

static bool is_odd(const struct table *table, weir_span row)
{
    weir_span field;
    uint32_t c = 0;
    if (count_fields(row, table->parting) != table->fields)
        return false;
    for (size_t at = 0; c < COLUMNS_MAX && next_field(row, &at, table->parting, &field); c++)
        if (is_rare(table, &table->columns[c], wr_hash64(field)))
            return true;
    return false;
}

static weir_status keep_odd_rows(struct wr_keep *keep)
{
    struct table *table = WR_ARENA_ARRAY(keep->arena, struct table, 1);
    uint32_t *odd = WR_ARENA_ARRAY(keep->arena, uint32_t, keep->lines_count), count = 0;

    if (!table || !odd)
        return wr_arena_status(keep->arena);
    table->keep = keep;
    table->numbered = wr_numbered_detect(keep->text);
    if (keep->lines_count < ROWS_MIN || !find_parting(table))
        return WEIR_OK;
    for (uint32_t line = 0; line < keep->lines_count; line++)
        count_row(table, row_of(table, line));
    for (uint32_t line = 0; line < keep->lines_count; line++)
        if (is_odd(table, row_of(table, line)))
            odd[count++] = line;
    wr_choose_spread(keep, odd, count);
    return WEIR_OK;
}

/* -- a log ------------------------------------------------------------------------------------- */

enum {
    FIRST_LINES = 4,
    LAST_LINES = 8,
    CONTEXT_BEFORE = 2,
    CONTEXT_AFTER = 6,
    CONTEXT_PERCENT = 40, /* each of what is left then */
    FOCUS_PERCENT = 40,
    ODD_PERCENT = 40,
    ENDS_PERCENT = 30,
    RARE_PERCENT = 70,
};

static weir_status keep_context(struct wr_keep *keep)
{
    uint8_t *borders = WR_ARENA_ARRAY(keep->arena, uint8_t, keep->lines_count);
    if (!borders)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++)
        borders[line] =
            wr_span_trim(wr_keep_line(keep, line)).len ? WR_BORDER_NONE : WR_BORDER_WALL;
    size_t budget = wr_choose_share(keep, CONTEXT_PERCENT);
    weir_status status = wr_choose_context(keep, borders, CONTEXT_BEFORE, CONTEXT_AFTER);
    keep->bytes_budget = budget;
    return status;
}

static weir_status keep_odd(struct wr_keep *keep)
{
    size_t budget = wr_choose_share(keep, ODD_PERCENT);
    weir_status status = keep_odd_rows(keep);
    keep->bytes_budget = budget;
    return status;
}

static void keep_ends(struct wr_keep *keep)
{
    uint32_t count = keep->lines_count;
    size_t budget = wr_choose_share(keep, ENDS_PERCENT);
    (void)wr_keep_from_back(keep, count > LAST_LINES ? count - LAST_LINES : 0, count);
    (void)wr_keep_from_front(keep, 0, count < FIRST_LINES ? count : FIRST_LINES);
    keep->bytes_budget = budget;
}

/* The first lines of all shapes that stand on more than `least` and at most `most` lines. */
static uint32_t list_firsts(const struct wr_shapes *shapes, uint32_t least, uint32_t most,
                            uint32_t *lines)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < shapes->count; i++)
        if (shapes->shapes[i].lines_count > least && shapes->shapes[i].lines_count <= most)
            lines[count++] = shapes->shapes[i].first_line;
    return count;
}

static weir_status keep_rare(struct wr_keep *keep)
{
    static const uint32_t tiers[] = {0, 1, 3, 10, 100, UINT32_MAX};
    struct wr_shapes shapes;
    weir_status status = wr_shapes_find(&shapes, keep);
    if (status)
        return status;
    uint32_t *lines = WR_ARENA_ARRAY(keep->arena, uint32_t, shapes.count);
    if (!lines)
        return wr_arena_status(keep->arena);
    size_t budget = wr_choose_share(keep, RARE_PERCENT);
    for (size_t i = 0; i + 1 < WR_COUNT_OF(tiers); i++)
        wr_choose_spread(keep, lines, list_firsts(&shapes, tiers[i], tiers[i + 1], lines));
    keep->bytes_budget = budget;
    return WEIR_OK;
}

weir_status wr_condense_log(struct wr_condensed *out, struct wr_arena *arena,
                            const struct wr_condense_input *input)
{
    struct wr_keep keep;
    weir_status status = wr_choose_begin(&keep, arena, input);
    if (!status)
        status = keep_context(&keep);
    if (!status)
        status = wr_choose_focus(&keep, input, FOCUS_PERCENT);
    if (!status)
        status = keep_odd(&keep);
    if (status)
        return status;
    keep_ends(&keep);
    status = keep_rare(&keep);
    if (status)
        return status;
    (void)wr_keep_from_back(&keep, 0, keep.lines_count);
    (void)wr_keep_from_front(&keep, 0, keep.lines_count);
    wr_keep_widen(&keep);
    return wr_keep_write(&keep, out);
}
