#include "condense/odd_rows.h"

#include "base/hash.h"
#include "base/span.h"
#include "condense/choose.h"
#include "condense/numbered.h"

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
    row = wr_span_cut(row, wr_numbered_skip(&table->numbered, row, NULL), row.len);
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

weir_status wr_odd_rows_keep(struct wr_keep *keep)
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
