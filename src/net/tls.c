/* The server's side of TLS (net/tls.h).
 *
 * TLS 1.2 and 1.3 with OpenSSL's own choice of ciphers, no renegotiation, no compression. Of what a
 * client may ask to speak (ALPN) only http/1.1 is offered. OpenSSL keeps a queue of errors for each
 * thread: it is emptied before each call whose outcome is looked at.
 */
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

enum { PLAIN_BYTES_MAX = 64 * 1024 * 1024, PIECE_BYTES = WR_NET_TLS_RECORD_BYTES };

struct wr_tls {
    SSL_CTX *context;
};

struct wr_tls_conn {
    SSL *ssl;
    BIO *in, *out; /* owned by `ssl` */
    struct wr_buf plain;
    bool has_failed;
};

/* ---- files ---- */

/* OpenSSL's last word, for people: "no start line". */
static weir_status fail_file(const char *what, const char *path, struct weir_err *err)
{
    unsigned long code = ERR_peek_last_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;

    if (ERR_GET_LIB(code) == ERR_LIB_SYS || ERR_GET_REASON(code) == ERR_R_SYS_LIB)
        why = "it cannot be read";
    ERR_clear_error();
    return wr_fail(err, WEIR_INVALID, 0, "tls: %s %s: %s", what, path, why ? why : "it is refused");
}

/* Of what the client offers: http/1.1, if that is among it; a client that offers none of it may
 * still speak it. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_bytes,
                           const unsigned char *offered, unsigned offered_bytes, void *user)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen = NULL;

    (void)ssl;
    (void)user;
    if (SSL_select_next_proto(&chosen, out_bytes, ours, sizeof(ours) - 1, offered, offered_bytes) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void set_manners(SSL_CTX *context)
{
    static const unsigned char name[] = "weir"; /* resumed sessions were begun with it */

    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    (void)SSL_CTX_set_session_id_context(context, name, sizeof(name) - 1);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
}

static weir_status load_files(SSL_CTX *context, const struct wr_tls_files *files,
                              struct weir_err *err)
{
    const char *key = files->key ? files->key : files->cert;

    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, files->cert) != 1)
        return fail_file("cert", files->cert, err);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return fail_file("key", key, err);
    if (SSL_CTX_check_private_key(context) != 1)
        return fail_file("key", key, err);
    if (!files->client_ca)
        return WEIR_OK;
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(files->client_ca);
    if (!names || SSL_CTX_load_verify_locations(context, files->client_ca, NULL) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fail_file("client_ca", files->client_ca, err);
    }
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return WEIR_OK;
}

weir_status wr_tls_new(struct wr_tls **tls, const struct wr_tls_files *files, struct weir_err *err)
{
    struct wr_tls *t = *tls = calloc(1, sizeof(*t));

    if (t)
        t->context = SSL_CTX_new(TLS_server_method());
    if (!t || !t->context) {
        free(t);
        *tls = NULL;
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    }
    set_manners(t->context);
    weir_status status = load_files(t->context, files, err);
    if (status) {
        wr_tls_free(t);
        *tls = NULL;
    }
    return status;
}

void wr_tls_free(struct wr_tls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

/* ---- connections ---- */

struct wr_tls_conn *wr_tls_conn_new(struct wr_tls *tls)
{
    struct wr_tls_conn *conn = calloc(1, sizeof(*conn));

    if (!conn)
        return NULL;
    wr_buf_init(&conn->plain, PLAIN_BYTES_MAX);
    conn->ssl = SSL_new(tls->context);
    conn->in = BIO_new(BIO_s_mem());
    conn->out = BIO_new(BIO_s_mem());
    if (!conn->ssl || !conn->in || !conn->out) {
        BIO_free(conn->in);
        BIO_free(conn->out);
        SSL_free(conn->ssl);
        free(conn);
        return NULL;
    }
    SSL_set_bio(conn->ssl, conn->in, conn->out);
    SSL_set_accept_state(conn->ssl);
    return conn;
}

void wr_tls_conn_free(struct wr_tls_conn *conn)
{
    if (!conn)
        return;
    SSL_free(conn->ssl);
    wr_buf_release(&conn->plain);
    free(conn);
}

bool wr_tls_has_begun(const struct wr_tls_conn *conn)
{
    return SSL_is_init_finished(conn->ssl);
}

struct wr_buf *wr_tls_buf(struct wr_tls_conn *conn)
{
    return &conn->plain;
}

static void take_out(struct wr_tls_conn *conn, struct wr_buf *out)
{
    char *bytes;
    long len = BIO_get_mem_data(conn->out, &bytes);

    if (len > 0)
        wr_buf_append(out, (weir_span){bytes, (size_t)len});
    (void)BIO_reset(conn->out);
}

/* In words that the client's user can do something with. */
static void say_plainly(struct wr_buf *out)
{
    static const char body[] = "{\"error\":{\"type\":\"weir_refused\",\"message\":"
                               "\"weir: this port speaks TLS; ask it by https://\"}}\n";

    wr_buf_printf(out,
                  "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
                  "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                  sizeof(body) - 1, body);
}

static enum wr_tls_news judge_failure(struct wr_tls_conn *conn, int result, struct wr_buf *out)
{
    int error = SSL_get_error(conn->ssl, result);

    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        take_out(conn, out);
        return WR_TLS_OPEN;
    }
    if (error == SSL_ERROR_ZERO_RETURN)
        return WR_TLS_ENDED;
    conn->has_failed = true;
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST) {
        say_plainly(out);
        (void)BIO_reset(conn->out);
    } else {
        take_out(conn, out);
    }
    ERR_clear_error();
    return WR_TLS_FAILED;
}

enum wr_tls_news wr_tls_feed(struct wr_tls_conn *conn, weir_span wire, struct wr_buf *out,
                             wr_tls_plain_fn *on_plain, void *user)
{
    char piece[PIECE_BYTES];

    if (conn->has_failed)
        return WR_TLS_FAILED;
    if (wire.len > INT32_MAX || BIO_write(conn->in, wire.ptr, (int)wire.len) != (int)wire.len) {
        conn->has_failed = true; /* no memory */
        return WR_TLS_FAILED;
    }
    while (true) {
        ERR_clear_error();
        int bytes = SSL_read(conn->ssl, piece, sizeof(piece));
        if (bytes <= 0)
            return judge_failure(conn, bytes, out);
        take_out(conn, out);
        if (!on_plain(user, (weir_span){piece, (size_t)bytes}))
            return WR_TLS_OPEN;
    }
}

/* Memory takes all of it, so a write is only ever short for want of memory. */
bool wr_tls_seal(struct wr_tls_conn *conn, struct wr_buf *out)
{
    struct wr_buf *plain = &conn->plain;
    size_t at = 0;

    if (conn->has_failed || wr_buf_status(plain))
        return false;
    if (!plain->len || !wr_tls_has_begun(conn))
        return true;
    ERR_clear_error();
    while (at < plain->len) {
        size_t left = plain->len - at;
        int bytes =
            SSL_write(conn->ssl, plain->bytes + at, left > PIECE_BYTES ? PIECE_BYTES : (int)left);
        if (bytes <= 0) {
            conn->has_failed = true;
            ERR_clear_error();
            return false;
        }
        at += (size_t)bytes;
        take_out(conn, out);
    }
    wr_buf_release(plain);
    wr_buf_init(plain, PLAIN_BYTES_MAX);
    return true;
}

bool wr_tls_end(struct wr_tls_conn *conn, struct wr_buf *out)
{
    if (!wr_tls_seal(conn, out))
        return false;
    ERR_clear_error();
    if (wr_tls_has_begun(conn) && SSL_shutdown(conn->ssl) < 0)
        ERR_clear_error();
    take_out(conn, out);
    return true;
}
