/* markdown.h -- Markdown of a model on a terminal, whole or as it streams.
 *
 * Text is broken at words for the width of the terminal, tables are fitted into it. Everything in
 * the source is text of others: nothing in it can steer the terminal (cells.h), links and images
 * are shown with their addresses and are no links of the terminal's. Without colours the marks of
 * emphasis stay, so that nothing is lost.
 */
#ifndef WR_AGENT_MARKDOWN_H
#define WR_AGENT_MARKDOWN_H

#include "base/buf.h"

struct wr_md_look {
    size_t columns;
    bool has_colours;
};

/* Appends whole lines. */
void wr_markdown(struct wr_buf *out, weir_span source, const struct wr_md_look *look);

/* As it streams: blocks are finished one after the other and never change then. */
struct wr_md_stream {
    struct wr_buf source; /* that is not finished */
    bool has_blocks;      /* something was finished: the next block stands behind an empty line */
    size_t fence_bytes;   /* of the code block that is open; 0: none is */
    char fence;
    char language[16];
};

void wr_md_stream_init(struct wr_md_stream *stream);
void wr_md_stream_release(struct wr_md_stream *stream);

/* Takes the next piece; `out` gets the lines of what it finished. */
void wr_md_stream_feed(struct wr_md_stream *stream, weir_span piece, const struct wr_md_look *look,
                       struct wr_buf *out);

/* The rest, as it looks so far. */
void wr_md_stream_tail(const struct wr_md_stream *stream, const struct wr_md_look *look,
                       struct wr_buf *out);

/* The text is over: the rest is finished, and another text may begin. */
void wr_md_stream_end(struct wr_md_stream *stream, const struct wr_md_look *look,
                      struct wr_buf *out);

/* ---- for markdown_stream.c ---- */

/* A line of code, indented, coloured by what little can be told of one line. */
void wr_md_code_line(struct wr_buf *out, weir_span line, weir_span language,
                     const struct wr_md_look *look);

#endif
