/* The four steps of the signature: the request in a canonical form, a text about its hash, a key
 * made of the secret for one day, region and service, and the HMAC of the text by that key.
 *
 * The path is escaped once more than it is sent, and parameters are sorted as they are spelt, as
 * AWS' own clients do for every service but S3.
 */
#include "net/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

enum { DAY_BYTES = 8, PARAMETERS_MAX = 64, SIGNED_BYTES_MAX = WR_NET_HEAD_BYTES_MAX * 4 };

static void write_hex(struct wr_buf *out, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wr_buf_printf(out, "%02x", bytes[i]);
}

static bool write_hash(struct wr_buf *out, weir_span bytes)
{
    unsigned char digest[WR_SHA256_BYTES];

    if (wr_sha256(bytes, digest))
        return false;
    write_hex(out, digest, sizeof(digest));
    return true;
}

static void write_path(struct wr_buf *out, weir_span path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";
    for (size_t i = 0; i < path.len; i++)
        if (memchr(plain, path.ptr[i], sizeof(plain) - 1))
            wr_buf_byte(out, path.ptr[i]);
        else
            wr_buf_printf(out, "%%%02X", (unsigned char)path.ptr[i]);
    if (!path.len)
        wr_buf_byte(out, '/');
}

static int compare_spans(weir_span a, weir_span b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static weir_span name_of(weir_span parameter)
{
    const char *sign = memchr(parameter.ptr, '=', parameter.len);
    return wr_span_cut(parameter, 0, sign ? (size_t)(sign - parameter.ptr) : parameter.len);
}

/* By name, and parameters of one name by value. */
static int compare_parameters(const void *a, const void *b)
{
    const weir_span *x = a, *y = b;
    int order = compare_spans(name_of(*x), name_of(*y));
    return order ? order : compare_spans(*x, *y);
}

/* False: there are too many. */
static bool write_query(struct wr_buf *out, weir_span query)
{
    weir_span parameters[PARAMETERS_MAX];
    size_t count = 0;

    while (query.len) {
        const char *next = memchr(query.ptr, '&', query.len);
        size_t bytes = next ? (size_t)(next - query.ptr) : query.len;
        if (bytes && count == PARAMETERS_MAX)
            return false;
        if (bytes)
            parameters[count++] = wr_span_cut(query, 0, bytes);
        query = wr_span_from(query, bytes + (next ? 1 : 0));
    }
    qsort(parameters, count, sizeof(*parameters), compare_parameters);
    for (size_t i = 0; i < count; i++) {
        wr_buf_text(out, i ? "&" : "");
        wr_buf_append(out, parameters[i]);
        if (name_of(parameters[i]).len == parameters[i].len)
            wr_buf_byte(out, '=');
    }
    return true;
}

static bool write_canonical(struct wr_buf *out, const struct wr_aws_keys *keys,
                            const struct wr_aws_request *request, const char *date)
{
    const char *question =
        request->target.len ? memchr(request->target.ptr, '?', request->target.len) : NULL;
    size_t path_bytes = question ? (size_t)(question - request->target.ptr) : request->target.len;

    wr_buf_append(out, request->method);
    wr_buf_byte(out, '\n');
    write_path(out, wr_span_cut(request->target, 0, path_bytes));
    wr_buf_byte(out, '\n');
    if (question && !write_query(out, wr_span_from(request->target, path_bytes + 1)))
        return false;
    wr_buf_text(out, "\nhost:");
    wr_buf_append(out, request->host);
    wr_buf_printf(out, "\nx-amz-date:%s\n", date);
    if (keys->session_token)
        wr_buf_printf(out, "x-amz-security-token:%s\n", keys->session_token);
    wr_buf_printf(out, "\nhost;x-amz-date%s\n", keys->session_token ? ";x-amz-security-token" : "");
    return write_hash(out, request->body);
}

/* `key` becomes the HMAC of `text` by it. */
static bool fold_key(unsigned char key[WR_SHA256_BYTES], size_t key_bytes, weir_span text)
{
    unsigned bytes = WR_SHA256_BYTES;
    unsigned char result[EVP_MAX_MD_SIZE];

    if (!HMAC(EVP_sha256(), key, (int)key_bytes, (const unsigned char *)text.ptr, text.len, result,
              &bytes))
        return false;
    memcpy(key, result, WR_SHA256_BYTES);
    return true;
}

static bool make_key(unsigned char key[WR_SHA256_BYTES], const struct wr_aws_keys *keys,
                     const char *service, weir_span day)
{
    unsigned bytes = WR_SHA256_BYTES;
    unsigned char result[EVP_MAX_MD_SIZE];
    struct wr_buf secret;

    wr_buf_init(&secret, WR_NET_HEAD_BYTES_MAX);
    wr_buf_printf(&secret, "AWS4%s", keys->secret_key);
    bool ok =
        !wr_buf_status(&secret) && HMAC(EVP_sha256(), secret.bytes, (int)secret.len,
                                        (const unsigned char *)day.ptr, day.len, result, &bytes);
    if (secret.len)
        OPENSSL_cleanse(secret.bytes, secret.len);
    wr_buf_release(&secret);
    if (!ok)
        return false;
    memcpy(key, result, WR_SHA256_BYTES);
    return fold_key(key, WR_SHA256_BYTES, wr_span_of(keys->region)) &&
           fold_key(key, WR_SHA256_BYTES, wr_span_of(service)) &&
           fold_key(key, WR_SHA256_BYTES, WR_LIT("aws4_request"));
}

static bool write_date(int64_t now_ms, char date[WR_AWS_DATE_BYTES])
{
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm;

    return gmtime_r(&seconds, &tm) && strftime(date, WR_AWS_DATE_BYTES, "%Y%m%dT%H%M%SZ", &tm);
}

bool wr_aws_sign(const struct wr_aws_keys *keys, const struct wr_aws_request *request,
                 char date[WR_AWS_DATE_BYTES], struct wr_buf *authorization)
{
    struct wr_buf canonical, text;
    unsigned char key[WR_SHA256_BYTES];

    if (!write_date(request->now_ms, date))
        return false;
    weir_span day = {date, DAY_BYTES};
    wr_buf_init(&canonical, SIGNED_BYTES_MAX);
    wr_buf_init(&text, SIGNED_BYTES_MAX);
    bool ok = write_canonical(&canonical, keys, request, date) && !wr_buf_status(&canonical);
    wr_buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%.*s/%s/%s/aws4_request\n", date, DAY_BYTES, date,
                  keys->region, request->service);
    ok = ok && write_hash(&text, wr_buf_view(&canonical)) && !wr_buf_status(&text) &&
         make_key(key, keys, request->service, day) &&
         fold_key(key, sizeof(key), wr_buf_view(&text));
    if (ok) {
        wr_buf_printf(authorization,
                      "AWS4-HMAC-SHA256 Credential=%s/%.*s/%s/%s/aws4_request, "
                      "SignedHeaders=host;x-amz-date%s, Signature=",
                      keys->access_key, DAY_BYTES, date, keys->region, request->service,
                      keys->session_token ? ";x-amz-security-token" : "");
        write_hex(authorization, key, sizeof(key));
    }
    wr_buf_release(&canonical);
    wr_buf_release(&text);
    return ok && !wr_buf_status(authorization);
}
