#include "proxy/note_bytes.h"

enum { LENGTH_BYTES = 4, BITS = 8 };

void wr_note_put(struct wr_buf *out, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        wr_buf_byte(out, (char)(unsigned char)(number >> (BITS * i)));
}

void wr_note_put_text(struct wr_buf *out, weir_span text)
{
    wr_note_put(out, text.len, LENGTH_BYTES);
    wr_buf_append(out, text);
}

static weir_span take(struct wr_note_reader *reader, size_t bytes)
{
    weir_span taken = {reader->rest.ptr, bytes};

    if (bytes > reader->rest.len || reader->is_short) {
        *reader = (struct wr_note_reader){.rest = {"", 0}, .is_short = true};
        return (weir_span){"", 0};
    }
    reader->rest.ptr += bytes;
    reader->rest.len -= bytes;
    return taken;
}

uint64_t wr_note_take(struct wr_note_reader *reader, size_t bytes)
{
    weir_span taken = take(reader, bytes);
    uint64_t number = 0;

    for (size_t i = taken.len; i-- > 0;)
        number = number << BITS | (unsigned char)taken.ptr[i];
    return number;
}

weir_span wr_note_take_text(struct wr_note_reader *reader)
{
    return take(reader, (size_t)wr_note_take(reader, LENGTH_BYTES));
}
