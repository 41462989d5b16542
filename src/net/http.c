/* What parts of HTTP messages say: heads, hosts, content codings.
 *
 * Requests are read by net/request_reader.c, with llhttp. An upstream's answer is read by libcurl,
 * which hands its head over line by line; here it becomes a struct wr_head, so that the rest of the
 * program sees one kind of head.
 */
#include "net/http.h"

#include <arpa/inet.h>
#include <brotli/decode.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "base/ascii.h"
#include "base/span.h"

/* ==== heads ==== */

bool wr_header_is(const struct wr_header *header, const char *name)
{
    return wr_same_any_case(header->name, wr_span_of(name));
}

bool wr_header_starts(const struct wr_header *header, const char *prefix)
{
    size_t bytes = strlen(prefix);
    return header->name.len >= bytes && !strncasecmp(header->name.ptr, prefix, bytes);
}

weir_span wr_target_path(weir_span target)
{
    const char *query = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    return query ? (weir_span){target.ptr, (size_t)(query - target.ptr)} : target;
}

weir_span wr_head_find(const struct wr_head *head, const char *name)
{
    for (size_t i = 0; i < head->headers_count; i++)
        if (wr_header_is(&head->headers[i], name))
            return head->headers[i].value;
    return (weir_span){NULL, 0};
}

size_t wr_head_count(const struct wr_head *head, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < head->headers_count; i++)
        count += wr_header_is(&head->headers[i], name);
    return count;
}

bool wr_header_lists(weir_span value, weir_span word)
{
    size_t from = 0;
    while (from < value.len) {
        const char *comma = memchr(value.ptr + from, ',', value.len - from);
        size_t to = comma ? (size_t)(comma - value.ptr) : value.len;
        if (wr_same_any_case(wr_span_trim(wr_span_cut(value, from, to)), word))
            return true;
        from = to + 1;
    }
    return false;
}

static bool is_named_by_connection(const struct wr_head *head, const struct wr_header *header)
{
    for (size_t i = 0; i < head->headers_count; i++)
        if (wr_header_is(&head->headers[i], "connection") &&
            wr_header_lists(head->headers[i].value, header->name))
            return true;
    return false;
}

bool wr_head_is_hop(const struct wr_head *head, const struct wr_header *header)
{
    static const char *const names[] = {
        "connection", "keep-alive", "proxy-connection", "proxy-authorization",
        "te",         "trailer",    "upgrade",          "transfer-encoding"};

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_header_is(header, names[i]))
            return true;
    return is_named_by_connection(head, header);
}

/* ---- answers ---- */

static bool read_status_line(weir_span line, struct wr_head *head)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    if (!space || !wr_span_starts(line, WR_LIT("HTTP/")))
        return false;
    weir_span rest = wr_span_cut(line, (size_t)(space - line.ptr) + 1, line.len);
    uint64_t status;
    if (rest.len < 3 || !wr_span_u64(wr_span_cut(rest, 0, 3), &status))
        return false;
    head->status = (int)status;
    head->minor_version = 1;
    head->target = wr_span_trim(wr_span_cut(rest, 3, rest.len));
    return true;
}

static bool read_header(weir_span line, struct wr_head *head)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (!colon || head->headers_count == WR_NET_HEADERS_MAX)
        return false;
    size_t at = (size_t)(colon - line.ptr);
    head->headers[head->headers_count++] = (struct wr_header){
        wr_span_trim(wr_span_cut(line, 0, at)), wr_span_trim(wr_span_cut(line, at + 1, line.len))};
    return true;
}

/* How the body ends must be read as libcurl reads it, since libcurl reads the body: chunks come
 * before any length (RFC 9112, 6.3). Of two lengths it takes the last, so two that differ are
 * refused. */
static bool read_framing(struct wr_head *head)
{
    uint64_t bytes, last_bytes = 0;
    size_t lengths_count = 0;

    head->content_bytes = -1;
    for (size_t i = 0; i < head->headers_count; i++) {
        if (!wr_header_is(&head->headers[i], "content-length"))
            continue;
        if (!wr_span_u64(head->headers[i].value, &bytes) || bytes > INT64_MAX ||
            (lengths_count++ && bytes != last_bytes))
            return false;
        last_bytes = bytes;
    }
    head->is_chunked = wr_head_count(head, "transfer-encoding") > 0;
    if (lengths_count && !head->is_chunked)
        head->content_bytes = (int64_t)last_bytes;
    return true;
}

bool wr_answer_head_read(weir_span lines, struct wr_head *head)
{
    weir_span rest = lines, line;

    head->headers_count = 0;
    head->is_upgrade = head->expects_continue = false;
    head->keeps_connection = true;
    head->method = (weir_span){NULL, 0};
    if (!wr_span_line(&rest, &line) || !read_status_line(wr_span_trim(line), head))
        return false;
    while (wr_span_line(&rest, &line)) {
        line = wr_span_trim(line);
        if (line.len && !read_header(line, head))
            return false;
    }
    return read_framing(head);
}

static const struct {
    int status;
    const char *text;
} reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {529, "Overloaded"},
};

const char *wr_reason(int status)
{
    for (size_t i = 0; i < WR_COUNT_OF(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Unknown";
}

/* ==== hosts ==== */

/* Reads HOST[:PORT] strictly, and tells whether a name is loopback or private.
 *
 * The door (proxy/door.h) trusts a client by these answers, so the reading is all or nothing: a
 * text that is not wholly an address is none. Nothing is looked up, since whoever owns a name can
 * make it point anywhere.
 *
 * The two questions differ on purpose. Loopback is asked to trust something, so only the plain
 * spellings count: localhost and names below it, 127/8 in full, ::1, and IPv4 inside IPv6. Private
 * is asked to find out whether a server is near by, so every spelling counts that libcurl would
 * take for an address, such as "127.1" or "0x7f000001".
 */

enum { NAME_BYTES_MAX = 255 };

static bool is_name_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return wr_is_word(c) || c == '.' || c == '-' || byte >= 0x80; /* a name of another script */
}

static bool to_text(weir_span name, char text[NAME_BYTES_MAX + 1])
{
    if (!name.len || name.len > NAME_BYTES_MAX || memchr(name.ptr, '\0', name.len))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    return true;
}

/* With or without a zone ("fe80::1%eth0"). */
static bool to_ipv6(weir_span name, struct in6_addr *address)
{
    char text[NAME_BYTES_MAX + 1];

    if (!to_text(name, text))
        return false;
    size_t bytes = strcspn(text, "%");
    for (size_t i = bytes + 1; i < name.len; i++)
        if (!is_name_byte(text[i]))
            return false;
    if (bytes + 1 == name.len)
        return false;
    text[bytes] = '\0';
    return inet_pton(AF_INET6, text, address) == 1;
}

static bool parse_port(weir_span text, int *port)
{
    uint64_t number;

    if (!wr_span_u64(text, &number) || number > WR_PORT_MAX)
        return false;
    *port = (int)number;
    return true;
}

static bool is_host_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_name_byte(name.ptr[i]))
            return false;
    return name.len && name.len <= NAME_BYTES_MAX;
}

bool wr_host_parse(weir_span text, struct wr_host *host)
{
    struct in6_addr address;
    size_t end = 0, name_at = 0;

    *host = (struct wr_host){.port = WR_PORT_NONE};
    if (text.len && text.ptr[0] == '[') {
        const char *close = memchr(text.ptr, ']', text.len);
        if (!close)
            return false;
        name_at = 1;
        end = (size_t)(close - text.ptr);
        host->name = wr_span_cut(text, name_at, end++);
        if (!to_ipv6(host->name, &address))
            return false;
    } else {
        const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
        end = colon ? (size_t)(colon - text.ptr) : text.len;
        host->name = wr_span_cut(text, name_at, end);
        if (!is_host_name(host->name))
            return false;
    }
    if (end == text.len)
        return true;
    return text.ptr[end] == ':' && parse_port(wr_span_cut(text, end + 1, text.len), &host->port);
}

bool wr_host_of_url(weir_span url, struct wr_host *host)
{
    size_t from = wr_span_find(url, WR_LIT("://"), 0);

    if (from == SIZE_MAX)
        return false;
    weir_span rest = wr_span_cut(url, from + 3, url.len);
    for (size_t i = 0; i < rest.len; i++)
        if (strchr("/?#", rest.ptr[i])) {
            rest.len = i;
            break;
        }
    return wr_host_parse(rest, host);
}

static bool is_same_name(weir_span name, const char *other)
{
    return name.len == strlen(other) && !strncasecmp(name.ptr, other, name.len);
}

static bool ends_in(weir_span name, const char *end)
{
    size_t bytes = strlen(end);
    return name.len > bytes && is_same_name(wr_span_cut(name, name.len - bytes, name.len), end);
}

static bool is_loopback_ipv4(uint32_t address)
{
    return address >> 24 == 127;
}

static bool is_private_ipv4(uint32_t address)
{
    static const struct {
        uint32_t network, bits;
    } networks[] = {{0x00000000, 8},  {0x7f000000, 8},  {0x0a000000, 8},
                    {0xac100000, 12}, {0xc0a80000, 16}, {0xa9fe0000, 16}};

    for (size_t i = 0; i < WR_COUNT_OF(networks); i++)
        if ((address ^ networks[i].network) >> (32 - networks[i].bits) == 0)
            return true;
    return false;
}

static uint32_t mapped_ipv4(const struct in6_addr *address)
{
    const unsigned char *b = address->s6_addr;
    return (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 | (uint32_t)b[14] << 8 | b[15];
}

/* "localhost." is the same name, written to its root. */
static weir_span without_root(weir_span name)
{
    return name.len && name.ptr[name.len - 1] == '.' ? wr_span_cut(name, 0, name.len - 1) : name;
}

bool wr_host_is_same(weir_span a, weir_span b)
{
    a = without_root(a);
    b = without_root(b);
    return a.len == b.len && a.len && !strncasecmp(a.ptr, b.ptr, a.len);
}

bool wr_host_is_below(weir_span name, const char *parent)
{
    size_t bytes = strlen(parent);

    name = without_root(name);
    return is_same_name(name, parent) ||
           (ends_in(name, parent) && name.len > bytes + 1 && name.ptr[name.len - bytes - 1] == '.');
}

bool wr_host_is_loopback(weir_span name)
{
    char text[NAME_BYTES_MAX + 1];
    struct in6_addr six;
    struct in_addr four;

    if (wr_host_is_below(name, "localhost"))
        return true;
    if (to_text(without_root(name), text) && inet_pton(AF_INET, text, &four) == 1)
        return is_loopback_ipv4(ntohl(four.s_addr));
    if (!to_ipv6(name, &six))
        return false;
    return IN6_IS_ADDR_V4MAPPED(&six) ? is_loopback_ipv4(mapped_ipv4(&six))
                                      : IN6_IS_ADDR_LOOPBACK(&six);
}

bool wr_host_is_private(weir_span name)
{
    char text[NAME_BYTES_MAX + 1];
    struct in6_addr six;
    struct in_addr four;

    if (wr_host_is_loopback(name))
        return true;
    /* inet_aton() also reads what libcurl takes for an address: "127.1", "0x7f000001". */
    if (to_text(without_root(name), text) && inet_aton(text, &four))
        return is_private_ipv4(ntohl(four.s_addr));
    if (!to_ipv6(name, &six))
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&six))
        return is_private_ipv4(mapped_ipv4(&six));
    return IN6_IS_ADDR_UNSPECIFIED(&six) || IN6_IS_ADDR_LINKLOCAL(&six) ||
           (six.s6_addr[0] & 0xfe) == 0xfc;
}

/* ==== content codings ==== */

/* Undoes a content coding as its bytes come: gzip and deflate with zlib, br with brotli, zstd.
 *
 * All three libraries are driven alike. A chunk goes in, and what comes out goes to the sink in
 * pieces of PIECE_BYTES, until the library wants more input. is_complete says whether the coding's
 * own end has been seen, so that a caller can tell a whole body from one that was cut off.
 *
 * Two things that a body may be without being wrong: several gzip streams one behind the other, and
 * several zstd frames. After an end, more bytes begin the next one. Brotli has no such thing: bytes
 * behind its end are an error.
 *
 * What may come out is bounded, not what goes in: a few kilobytes can unpack to gigabytes.
 */

enum {
    PIECE_BYTES = 16 * 1024,
    ZLIB_WINDOW_BITS = 15,
    ZLIB_ANY_WRAPPER = 32, /* added to the window: zlib and gzip are told apart by their heads */
    ZSTD_WINDOW_LOG_MAX = 23,
};

struct wr_decoder {
    enum wr_coding coding;
    size_t bytes_max, bytes_count; /* of what came out */
    wr_decode_fn *sink;
    void *user;
    z_stream zlib;
    BrotliDecoderState *brotli;
    ZSTD_DStream *zstd;
    bool is_open, is_complete;
    char piece[PIECE_BYTES];
};

enum wr_coding wr_coding_of(weir_span value)
{
    static const struct {
        const char *name;
        enum wr_coding coding;
    } codings[] = {
        {"identity", WR_CODING_IDENTITY}, {"gzip", WR_CODING_GZIP}, {"x-gzip", WR_CODING_GZIP},
        {"deflate", WR_CODING_DEFLATE},   {"br", WR_CODING_BR},     {"zstd", WR_CODING_ZSTD}};

    value = wr_span_trim(value);
    if (!value.len)
        return WR_CODING_IDENTITY;
    for (size_t i = 0; i < WR_COUNT_OF(codings); i++)
        if (strlen(codings[i].name) == value.len &&
            !strncasecmp(codings[i].name, value.ptr, value.len))
            return codings[i].coding;
    return WR_CODING_UNKNOWN;
}

struct wr_decoder *wr_decoder_new(enum wr_coding coding, size_t bytes_max, wr_decode_fn *sink,
                                  void *user)
{
    struct wr_decoder *d = coding == WR_CODING_UNKNOWN ? NULL : calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->coding = coding;
    d->bytes_max = bytes_max;
    d->sink = sink;
    d->user = user;
    d->is_open = true;
    if (coding == WR_CODING_IDENTITY)
        d->is_complete = true;
    else if (coding == WR_CODING_BR)
        d->is_open = (d->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL));
    else if (coding == WR_CODING_ZSTD)
        d->is_open = (d->zstd = ZSTD_createDStream()) &&
                     !ZSTD_isError(
                         ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX));
    else
        d->is_open = inflateInit2(&d->zlib, ZLIB_WINDOW_BITS + ZLIB_ANY_WRAPPER) == Z_OK;
    if (d->is_open)
        return d;
    wr_decoder_free(d);
    return NULL;
}

void wr_decoder_free(struct wr_decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->brotli)
        BrotliDecoderDestroyInstance(decoder->brotli);
    ZSTD_freeDStream(decoder->zstd);
    if (decoder->is_open &&
        (decoder->coding == WR_CODING_GZIP || decoder->coding == WR_CODING_DEFLATE))
        (void)inflateEnd(&decoder->zlib);
    free(decoder);
}

static weir_status give_decoded(struct wr_decoder *d, weir_span bytes)
{
    if (!bytes.len)
        return WEIR_OK;
    if (bytes.len > d->bytes_max - d->bytes_count)
        return WEIR_LIMIT;
    d->bytes_count += bytes.len;
    return d->sink(d->user, bytes);
}

static weir_status feed_zlib(struct wr_decoder *d, weir_span bytes)
{
    weir_status status = WEIR_OK;
    bool is_full = true;

    d->zlib.next_in = (Bytef *)(uintptr_t)bytes.ptr;
    d->zlib.avail_in = (uInt)bytes.len;
    while (!status && (d->zlib.avail_in || is_full)) {
        if (d->is_complete && d->zlib.avail_in) {
            if (inflateReset(&d->zlib) != Z_OK)
                return WEIR_SYNTAX;
            d->is_complete = false;
        }
        d->zlib.next_out = (Bytef *)d->piece;
        d->zlib.avail_out = PIECE_BYTES;
        int result = inflate(&d->zlib, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return WEIR_SYNTAX;
        is_full = !d->zlib.avail_out;
        d->is_complete = result == Z_STREAM_END;
        status = give_decoded(d, (weir_span){d->piece, PIECE_BYTES - d->zlib.avail_out});
        if (result == Z_BUF_ERROR)
            break;
    }
    return status;
}

static weir_status feed_brotli(struct wr_decoder *d, weir_span bytes)
{
    const uint8_t *in = (const uint8_t *)bytes.ptr;
    size_t left = bytes.len;
    weir_status status = WEIR_OK;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;

    if (d->is_complete)
        return bytes.len ? WEIR_SYNTAX : WEIR_OK;
    while (!status && result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
        uint8_t *out = (uint8_t *)d->piece;
        size_t room = PIECE_BYTES;
        result = BrotliDecoderDecompressStream(d->brotli, &left, &in, &room, &out, NULL);
        status = give_decoded(d, (weir_span){d->piece, PIECE_BYTES - room});
    }
    if (result == BROTLI_DECODER_RESULT_ERROR || (result == BROTLI_DECODER_RESULT_SUCCESS && left))
        return WEIR_SYNTAX;
    d->is_complete = result == BROTLI_DECODER_RESULT_SUCCESS;
    return status;
}

static weir_status feed_zstd(struct wr_decoder *d, weir_span bytes)
{
    ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
    bool is_full = true;
    weir_status status = WEIR_OK;

    while (!status && (in.pos < in.size || is_full)) {
        ZSTD_outBuffer out = {d->piece, PIECE_BYTES, 0};
        size_t hint = ZSTD_decompressStream(d->zstd, &out, &in);
        if (ZSTD_isError(hint))
            return WEIR_SYNTAX;
        /* A call that neither takes nor gives anything speaks of the next frame, not of ours. */
        if (out.pos || in.pos)
            d->is_complete = !hint;
        is_full = out.pos == out.size;
        status = give_decoded(d, (weir_span){d->piece, out.pos});
    }
    return status;
}

weir_status wr_decoder_feed(struct wr_decoder *decoder, weir_span bytes)
{
    if (!bytes.len)
        return WEIR_OK;
    switch (decoder->coding) {
    case WR_CODING_BR:
        return feed_brotli(decoder, bytes);
    case WR_CODING_ZSTD:
        return feed_zstd(decoder, bytes);
    case WR_CODING_GZIP:
    case WR_CODING_DEFLATE:
        return feed_zlib(decoder, bytes);
    case WR_CODING_IDENTITY:
        return give_decoded(decoder, bytes);
    case WR_CODING_UNKNOWN:
        break;
    }
    return WEIR_INVALID;
}

bool wr_decoder_is_complete(const struct wr_decoder *decoder)
{
    return decoder->is_complete;
}

static weir_status add_decoded(void *user, weir_span bytes)
{
    struct wr_buf *out = user;
    wr_buf_append(out, bytes);
    return wr_buf_status(out);
}

bool wr_decode_whole(enum wr_coding coding, weir_span coded, struct wr_buf *out)
{
    struct wr_decoder *decoder = wr_decoder_new(coding, out->cap_max, add_decoded, out);
    bool ok = decoder && !wr_decoder_feed(decoder, coded) && wr_decoder_is_complete(decoder);
    wr_decoder_free(decoder);
    return ok;
}
