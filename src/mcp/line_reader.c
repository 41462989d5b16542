#include "mcp/line_reader.h"

#include "base/span.h"
#include "base/text.h"

void wr_mcp_line_reader_init(struct wr_mcp_line_reader *reader, size_t line_bytes_max,
                             wr_mcp_line_fn *on_line, void *user)
{
    *reader = (struct wr_mcp_line_reader){
        .line_bytes_max = line_bytes_max, .on_line = on_line, .user = user};
    wr_buf_init(&reader->part, line_bytes_max);
}

/* Memory is given back: a long message is rare, and the reader lives as long as its client. */
static void forget_part(struct wr_mcp_line_reader *reader)
{
    wr_buf_release(&reader->part);
    wr_buf_init(&reader->part, reader->line_bytes_max);
}

/* A line that finds no memory is told as too long: it is not read either. */
static void keep_part(struct wr_mcp_line_reader *reader, weir_span bytes)
{
    if (reader->skips)
        return;
    wr_buf_append(&reader->part, bytes);
    if (!wr_buf_status(&reader->part))
        return;
    reader->skips = true;
    forget_part(reader);
}

static void tell_line(struct wr_mcp_line_reader *reader, weir_span line)
{
    if (!wr_text_is_blank(line))
        reader->on_line(reader->user, line, false);
}

static void end_line(struct wr_mcp_line_reader *reader)
{
    if (reader->skips)
        reader->on_line(reader->user, (weir_span){"", 0}, true);
    else
        tell_line(reader, wr_buf_view(&reader->part));
    reader->skips = false;
    forget_part(reader);
}

void wr_mcp_line_reader_feed(struct wr_mcp_line_reader *reader, weir_span bytes)
{
    while (bytes.len) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t line_bytes = end ? (size_t)(end - bytes.ptr) : bytes.len;
        weir_span line = wr_span_cut(bytes, 0, line_bytes);
        bool is_whole = end && !reader->part.len && !reader->skips;

        if (is_whole && line_bytes <= reader->line_bytes_max) {
            tell_line(reader, line);
        } else {
            keep_part(reader, line);
            if (end)
                end_line(reader);
        }
        bytes = wr_span_cut(bytes, line_bytes + (end ? 1 : 0), bytes.len);
    }
}

void wr_mcp_line_reader_end(struct wr_mcp_line_reader *reader)
{
    if (reader->part.len || reader->skips)
        end_line(reader);
}

void wr_mcp_line_reader_release(struct wr_mcp_line_reader *reader)
{
    wr_buf_release(&reader->part);
}
