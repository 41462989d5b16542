/* request_reader.h -- requests from the bytes of one connection: a strict HTTP/1 parser.
 *
 * 1. Every way of cutting one stream into chunks yields the same heads, bodies and refusals.
 * 2. What two parsers could read in two ways is refused: a line that ends without CR LF, a folded
 *    header, Content-Length beside Transfer-Encoding or given twice, any transfer coding but
 *    `chunked`, control bytes, no or more than one Host, a target that is no path.
 * 3. One message at a time: feeding stops behind the end of each.
 * 4. A head has a cap, and so has what a chunked body says beside its data.
 *
 * The head is collected whole and looked at before llhttp, in its strict mode, reads it; the body
 * goes through llhttp as it comes.
 */
#ifndef WR_NET_REQUEST_READER_H
#define WR_NET_REQUEST_READER_H

#include "base/buf.h"
#include "net/http.h"

/* All are called from within wr_request_reader_feed(); none may release the reader. Spans die with
 * the call, but for those of the head, which live until the message has ended. */
struct wr_request_events {
    void (*head)(void *user, const struct wr_head *head);
    void (*body)(void *user, weir_span bytes);
    void (*end)(void *user);
};

struct wr_request_reader;

/* NULL: out of memory. */
struct wr_request_reader *wr_request_reader_new(const struct wr_request_events *events, void *user);
void wr_request_reader_free(struct wr_request_reader *reader); /* NULL is fine */

/* Reads from `bytes` and says how much was used: all, unless a message ended before. On failure the
 * connection can only be closed; wr_request_reader_refusal() says what to answer. */
WEIR_MUST_USE weir_status wr_request_reader_feed(struct wr_request_reader *reader, weir_span bytes,
                                                 size_t *used_bytes);

/* Ready for the next message: forgets the head of the one that ended. */
void wr_request_reader_next(struct wr_request_reader *reader);

/* The status to answer a refused message with, and why. 0 while nothing was refused. */
int wr_request_reader_refusal(const struct wr_request_reader *reader, const char **why);

#endif
