/* Requests from the bytes of one connection, with llhttp behind checks of our own.
 *
 *   START ──first byte──▶ HEAD ──"\r\n\r\n", feed_head()──▶ BODY ──on_message_complete()──▶ ENDED
 *     ▲                                                                                      │
 *     └──────────────────────────────── wr_request_reader_next() ────────────────────────────┘
 *
 *   From any state refuse_request() leads to FAILED, for good.
 *
 * A head is collected whole before llhttp sees it, because llhttp, even in its strict mode, lets
 * some things pass that another parser might read otherwise: that is how requests are smuggled.
 * look_at_head() refuses these byte by byte as they come, judge_head() refuses what can only be
 * seen when all headers are known. The body goes through llhttp as it comes.
 *
 * Caps must not depend on how a stream was cut into pieces, or the same request would sometimes be
 * refused. So llhttp is never fed more at a time than the cap still leaves room for.
 */
#include "net/request_reader.h"

#include <llhttp.h>
#include <stdlib.h>

#include "base/span.h"

enum state { STATE_START, STATE_HEAD, STATE_BODY, STATE_ENDED, STATE_FAILED };

enum {
    EMPTY_LINES_BYTES_MAX = 16,
    CHUNK_BYTES = 20, /* around the data of one chunk: its length in hex digits, two line ends */
};

struct wr_request_reader {
    llhttp_t parser;
    const struct wr_request_events *events;
    void *user;
    enum state state;
    struct wr_buf bytes; /* of the head */
    struct wr_head head;
    size_t skipped_bytes; /* of empty lines before the first */
    int64_t extra_bytes;  /* of a chunked body: what is neither data nor needed around it */
    bool has_value;       /* the last header that was begun has its value */
    bool has_first_line;  /* of the head */
    int refusal;
    const char *why;
};

static weir_status refuse_request(struct wr_request_reader *r, int status, const char *why)
{
    if (!r->refusal) {
        r->refusal = status;
        r->why = why;
    }
    r->state = STATE_FAILED;
    return status == 431 ? WEIR_LIMIT : WEIR_SYNTAX;
}

/* ---- what llhttp says ---- */

/* A head is fed in one piece, so llhttp names each part of it once. Should it name a part in pieces
 * that touch, they are joined. */
static void extend_span(weir_span *span, const char *at, size_t bytes)
{
    if (!span->ptr || span->ptr + span->len != at)
        *span = (weir_span){at, 0};
    span->len += bytes;
}

static int on_url(llhttp_t *parser, const char *at, size_t bytes)
{
    struct wr_request_reader *r = parser->data;
    extend_span(&r->head.target, at, bytes);
    return 0;
}

static int on_method(llhttp_t *parser, const char *at, size_t bytes)
{
    struct wr_request_reader *r = parser->data;
    extend_span(&r->head.method, at, bytes);
    return 0;
}

/* Behind a chunked body llhttp reads trailers; they are not part of the head and go nowhere. */
static int on_field(llhttp_t *parser, const char *at, size_t bytes)
{
    struct wr_request_reader *r = parser->data;
    struct wr_head *head = &r->head;

    if (r->state != STATE_HEAD)
        return 0;
    if (!head->headers_count || r->has_value) {
        if (head->headers_count == WR_NET_HEADERS_MAX) {
            (void)refuse_request(r, 431, "too many headers");
            return -1;
        }
        head->headers[head->headers_count++] = (struct wr_header){{NULL, 0}, {"", 0}};
        r->has_value = false;
    }
    extend_span(&head->headers[head->headers_count - 1].name, at, bytes);
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t bytes)
{
    struct wr_request_reader *r = parser->data;
    if (r->state != STATE_HEAD)
        return 0;
    struct wr_header *header = &r->head.headers[r->head.headers_count - 1];
    if (!r->has_value)
        header->value = (weir_span){NULL, 0};
    r->has_value = true;
    extend_span(&header->value, at, bytes);
    return 0;
}

/* A header without a value has no on_value of any length. */
static int on_value_complete(llhttp_t *parser)
{
    struct wr_request_reader *r = parser->data;
    r->has_value = true;
    return 0;
}

static weir_status judge_head(struct wr_request_reader *r)
{
    struct wr_head *head = &r->head;
    size_t lengths_count = wr_head_count(head, "content-length");
    size_t codings_count = wr_head_count(head, "transfer-encoding");

    if (lengths_count > 1 || codings_count > 1 || (lengths_count && codings_count))
        return refuse_request(r, 400, "the length of the body is said more than once");
    weir_span coding = wr_head_find(head, "transfer-encoding");
    bool is_chunked = coding.len == strlen("chunked") && wr_header_lists(coding, WR_LIT("chunked"));
    if (codings_count && (head->minor_version == 0 || !is_chunked))
        return refuse_request(r, 400, "the only transfer coding that is understood is chunked");
    if (wr_head_count(head, "host") > 1 ||
        (head->minor_version == 1 && !wr_head_count(head, "host")))
        return refuse_request(r, 400, "a request names one Host");
    if (!head->target.len || head->target.ptr[0] != '/')
        return refuse_request(r, 400, "the target of a request is a path");
    return WEIR_OK;
}

static bool read_content_length(weir_span value, int64_t *bytes)
{
    uint64_t number;
    if (!value.ptr) {
        *bytes = -1;
        return true;
    }
    if (!wr_span_u64(value, &number) || number > INT64_MAX)
        return false;
    *bytes = (int64_t)number;
    return true;
}

static int on_headers_complete(llhttp_t *parser)
{
    struct wr_request_reader *r = parser->data;
    struct wr_head *head = &r->head;

    head->minor_version = llhttp_get_http_minor(parser);
    if (llhttp_get_http_major(parser) != 1 || head->minor_version > 1) {
        (void)refuse_request(r, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
        return -1;
    }
    /* llhttp keeps white space behind a value; it is not part of it (RFC 9110, 5.5). */
    for (size_t i = 0; i < head->headers_count; i++)
        head->headers[i].value = wr_span_trim(head->headers[i].value);
    if (judge_head(r))
        return -1;
    if (!read_content_length(wr_head_find(head, "content-length"), &head->content_bytes)) {
        (void)refuse_request(r, 400, "Content-Length is no number");
        return -1;
    }
    head->is_chunked = wr_head_count(head, "transfer-encoding") > 0;
    head->is_upgrade = wr_head_count(head, "upgrade") > 0 || wr_span_is(head->method, "CONNECT");
    head->keeps_connection = llhttp_should_keep_alive(parser) && !head->is_upgrade;
    head->expects_continue = wr_header_lists(wr_head_find(head, "expect"), WR_LIT("100-continue"));
    r->state = STATE_BODY;
    r->events->head(r->user, head);
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t bytes)
{
    struct wr_request_reader *r = parser->data;
    r->extra_bytes -= (int64_t)bytes;
    r->events->body(r->user, (weir_span){at, bytes});
    return 0;
}

static int on_chunk_complete(llhttp_t *parser)
{
    struct wr_request_reader *r = parser->data;
    r->extra_bytes -= CHUNK_BYTES;
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    struct wr_request_reader *r = parser->data;
    r->state = STATE_ENDED;
    r->events->end(r->user);
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_method = on_method,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_chunk_complete = on_chunk_complete,
    .on_message_complete = on_message_complete,
};

/* ---- the head, before llhttp sees it ---- */

static bool is_wrong_byte(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7F;
}

/* Looks at what came since `from`. Each byte is judged with the one before it and never with the
 * next, so that a wrong byte is refused as soon as it comes. */
static weir_status look_at_head(struct wr_request_reader *r, size_t from)
{
    weir_span bytes = wr_buf_view(&r->bytes);

    for (size_t i = from; i < bytes.len; i++) {
        char c = bytes.ptr[i], before = i ? bytes.ptr[i - 1] : ' ';
        if (c == '\n' && before != '\r')
            return refuse_request(r, 400, "a line ends without CR LF");
        if (c != '\n' && before == '\r')
            return refuse_request(r, 400, "a CR stands inside a line");
        if (is_wrong_byte(c))
            return refuse_request(r, 400, "a control byte stands in the head");
        if ((c == ' ' || c == '\t') && before == '\n')
            return refuse_request(r, 400, "a header is folded");
        if (c == ':' && before == '\n')
            return refuse_request(r, 400, "a header has no name");
        r->has_first_line = r->has_first_line || c == '\n';
        if (!r->has_first_line && (c == '\t' || (c == ' ' && before == ' ')))
            return refuse_request(r, 400,
                                  "the words of the first line have one space between them");
    }
    return WEIR_OK;
}

static weir_status run_llhttp(struct wr_request_reader *r, weir_span bytes, size_t *used_bytes)
{
    llhttp_errno_t result = llhttp_execute(&r->parser, bytes.ptr, bytes.len);

    *used_bytes = bytes.len;
    if (result == HPE_OK)
        return WEIR_OK;
    if ((result == HPE_PAUSED || result == HPE_PAUSED_UPGRADE) && r->state == STATE_ENDED) {
        *used_bytes = (size_t)(llhttp_get_error_pos(&r->parser) - bytes.ptr);
        return WEIR_OK;
    }
    return refuse_request(r, 400, "the request is not well formed");
}

/* llhttp reads chunk extensions, trailers and zeros before a chunk's length for as long as they
 * come, and does not report all of these bytes. So we count what it is fed and subtract the data:
 * the rest is extra. It is fed no more at a time than may still be extra, so the cap can only be
 * reached at the end of a piece, and at the same byte however the stream was cut. */
static weir_status feed_chunks(struct wr_request_reader *r, weir_span bytes, size_t *used_bytes)
{
    size_t room = (size_t)(WR_NET_CHUNK_EXTRA_BYTES_MAX - r->extra_bytes);
    weir_status status =
        run_llhttp(r, wr_span_cut(bytes, 0, bytes.len < room ? bytes.len : room), used_bytes);

    r->extra_bytes += (int64_t)*used_bytes;
    if (!status && r->state == STATE_BODY && r->extra_bytes >= WR_NET_CHUNK_EXTRA_BYTES_MAX)
        status =
            refuse_request(r, 431, "the chunk extensions and trailers of the body are too long");
    return status;
}

/* How much of `bytes` belongs to the head; *ends: it is complete with them. */
static size_t head_part(struct wr_request_reader *r, weir_span bytes, bool *ends)
{
    size_t had = r->bytes.len, from = had > 3 ? had - 3 : 0;

    wr_buf_append(&r->bytes, bytes);
    *ends = false;
    if (wr_buf_status(&r->bytes))
        return 0;
    size_t at = wr_span_find(wr_buf_view(&r->bytes), WR_LIT("\r\n\r\n"), from);
    if (at == SIZE_MAX)
        return bytes.len;
    *ends = true;
    r->bytes.len = at + 4;
    return r->bytes.len - had;
}

static weir_status feed_head(struct wr_request_reader *r, weir_span bytes, size_t *used_bytes)
{
    size_t had = r->bytes.len, room = WR_NET_HEAD_BYTES_MAX - had, used;
    bool ends;

    *used_bytes = head_part(r, wr_span_cut(bytes, 0, bytes.len < room ? bytes.len : room), &ends);
    weir_status status = wr_buf_status(&r->bytes);
    if (!status)
        status = look_at_head(r, had);
    if (!status && ends)
        status = run_llhttp(r, wr_buf_view(&r->bytes), &used);
    else if (!status && r->bytes.len == WR_NET_HEAD_BYTES_MAX)
        status = refuse_request(r, 431, "the head of the request is too long");
    return status;
}

/* Empty lines before a request are allowed (RFC 9112, 2.2); clients of old sent one. */
static weir_status skip_empty_lines(struct wr_request_reader *r, weir_span bytes,
                                    size_t *used_bytes)
{
    size_t i = 0;
    while (i < bytes.len && (bytes.ptr[i] == '\r' || bytes.ptr[i] == '\n')) {
        bool is_cr = r->skipped_bytes % 2 == 0;
        if (bytes.ptr[i] != (is_cr ? '\r' : '\n') || ++r->skipped_bytes > EMPTY_LINES_BYTES_MAX)
            return refuse_request(r, 400, "a line ends without CR LF");
        i++;
    }
    if (i < bytes.len && r->skipped_bytes % 2)
        return refuse_request(r, 400, "a CR stands inside a line");
    if (i < bytes.len)
        r->state = STATE_HEAD;
    *used_bytes = i;
    return WEIR_OK;
}

/* ---- life ---- */

struct wr_request_reader *wr_request_reader_new(const struct wr_request_events *events, void *user)
{
    struct wr_request_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->events = events;
    r->user = user;
    wr_buf_init(&r->bytes, WR_NET_HEAD_BYTES_MAX);
    llhttp_init(&r->parser, HTTP_REQUEST, &settings);
    r->parser.data = r;
    return r;
}

void wr_request_reader_free(struct wr_request_reader *reader)
{
    if (!reader)
        return;
    wr_buf_release(&reader->bytes);
    free(reader);
}

void wr_request_reader_next(struct wr_request_reader *r)
{
    wr_buf_release(&r->bytes);
    wr_buf_init(&r->bytes, WR_NET_HEAD_BYTES_MAX);
    r->head.headers_count = 0;
    r->head.method = r->head.target = (weir_span){NULL, 0};
    r->has_value = r->has_first_line = false;
    r->skipped_bytes = 0;
    r->extra_bytes = 0;
    r->state = STATE_START;
    llhttp_init(&r->parser, HTTP_REQUEST, &settings);
    r->parser.data = r;
}

weir_status wr_request_reader_feed(struct wr_request_reader *r, weir_span bytes, size_t *used_bytes)
{
    weir_status status = WEIR_OK;
    size_t at = 0;

    while (!status && at < bytes.len && r->state != STATE_ENDED) {
        weir_span rest = wr_span_cut(bytes, at, bytes.len);
        size_t used = 0;
        if (r->state == STATE_START)
            status = skip_empty_lines(r, rest, &used);
        else if (r->state == STATE_HEAD)
            status = feed_head(r, rest, &used);
        else if (r->state == STATE_BODY && r->head.is_chunked)
            status = feed_chunks(r, rest, &used);
        else if (r->state == STATE_BODY)
            status = run_llhttp(r, rest, &used);
        else
            status = WEIR_SYNTAX;
        at += used;
    }
    *used_bytes = at;
    return status;
}

int wr_request_reader_refusal(const struct wr_request_reader *reader, const char **why)
{
    *why = reader->why;
    return reader->refusal;
}
