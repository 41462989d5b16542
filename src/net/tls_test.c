/* Both sides in one process: what one says is put into the other. Certificates that are really
 * signed, and real clients, are tests/upstream/tls_cases.py's. */
#include "net/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include "base/span.h"
#include "tests/test_dir.h"

struct world {
    struct wr_test_dir dir;
    char cert[WR_TEST_PATH_BYTES + 16];
    struct wr_tls *tls;
    struct wr_tls_conn *server;
    SSL_CTX *context;
    SSL *client;
    BIO *in, *out;
    struct wr_buf wire, heard; /* from the server; what it was told */
    bool wants_more;
};

/* A certificate that signs itself, and its key, in one file. */
static void write_cert(const char *path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    FILE *file = fopen(path, "w");

    assert_true(key && cert && file);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    assert_int_equal(X509_set_pubkey(cert, key), 1);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    assert_int_equal(PEM_write_X509(file, cert), 1);
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    (void)fclose(file);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    *state = w;
    w->dir = wr_test_dir_new();
    (void)snprintf(w->cert, sizeof(w->cert), "%s/cert.pem", w->dir.path);
    write_cert(w->cert);
    struct wr_tls_files files = {.cert = w->cert};
    assert_int_equal(wr_tls_new(&w->tls, &files, NULL), WEIR_OK);
    w->server = wr_tls_conn_new(w->tls);
    w->context = SSL_CTX_new(TLS_client_method());
    w->client = SSL_new(w->context);
    w->in = BIO_new(BIO_s_mem());
    w->out = BIO_new(BIO_s_mem());
    SSL_set_bio(w->client, w->in, w->out);
    SSL_set_connect_state(w->client);
    wr_buf_init(&w->wire, 64 << 20);
    wr_buf_init(&w->heard, 64 << 20);
    w->wants_more = true;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    SSL_free(w->client);
    SSL_CTX_free(w->context);
    wr_tls_conn_free(w->server);
    wr_tls_free(w->tls);
    wr_buf_release(&w->wire);
    wr_buf_release(&w->heard);
    wr_test_dir_remove(&w->dir);
    free(w);
    return 0;
}

static bool hear(void *user, weir_span plain)
{
    struct world *w = user;
    wr_buf_append(&w->heard, plain);
    return w->wants_more;
}

/* Carries what waits on either side to the other, `piece_bytes` at a time. */
static enum wr_tls_news carry(struct world *w, size_t piece_bytes)
{
    enum wr_tls_news news = WR_TLS_OPEN;
    char *bytes;

    (void)BIO_write(w->in, w->wire.bytes, (int)w->wire.len);
    wr_buf_reset(&w->wire);
    (void)SSL_do_handshake(w->client);
    long len = BIO_get_mem_data(w->out, &bytes);
    for (size_t at = 0; at < (size_t)len && news == WR_TLS_OPEN; at += piece_bytes) {
        size_t left = (size_t)len - at;
        weir_span piece = {bytes + at, left < piece_bytes ? left : piece_bytes};
        news = wr_tls_feed(w->server, piece, &w->wire, hear, w);
    }
    (void)BIO_reset(w->out);
    return news;
}

static void agree(struct world *w, size_t piece_bytes)
{
    for (int i = 0; i < 8 && !wr_tls_has_begun(w->server); i++)
        assert_int_equal(carry(w, piece_bytes), WR_TLS_OPEN);
    assert_true(wr_tls_has_begun(w->server));
}

static void any_pieces_of_the_wire_say_the_same(void **state)
{
    struct world *w = *state;
    static char text[200000];

    memset(text, 'x', sizeof(text));
    agree(w, 1);
    assert_int_equal(SSL_write(w->client, text, sizeof(text)), sizeof(text));
    assert_int_equal(carry(w, 777), WR_TLS_OPEN);
    assert_int_equal(w->heard.len, sizeof(text));
}

static void what_is_sealed_before_the_handshake_waits_for_it(void **state)
{
    struct world *w = *state;
    char got[64];

    wr_buf_text(wr_tls_buf(w->server), "early");
    assert_true(wr_tls_seal(w->server, &w->wire));
    assert_int_equal(w->wire.len, 0);
    agree(w, 4096);
    assert_true(wr_tls_end(w->server, &w->wire));
    assert_int_equal(wr_tls_buf(w->server)->len, 0);
    assert_int_equal(carry(w, 4096), WR_TLS_OPEN);
    assert_int_equal(SSL_read(w->client, got, sizeof(got)), 5);
    assert_memory_equal(got, "early", 5);
    assert_int_equal(SSL_get_error(w->client, SSL_read(w->client, got, sizeof(got))),
                     SSL_ERROR_ZERO_RETURN); /* and nothing more comes */
}

static void a_client_says_that_it_is_done(void **state)
{
    struct world *w = *state;

    agree(w, 4096);
    (void)SSL_shutdown(w->client);
    assert_int_equal(carry(w, 4096), WR_TLS_ENDED);
}

static void plain_http_is_told_so(void **state)
{
    struct world *w = *state;
    weir_span asked = WR_LIT("GET / HTTP/1.1\r\nHost: a\r\n\r\n");

    assert_int_equal(wr_tls_feed(w->server, asked, &w->wire, hear, w), WR_TLS_FAILED);
    assert_true(wr_span_starts(wr_buf_view(&w->wire), WR_LIT("HTTP/1.1 400 Bad Request\r\n")));
    assert_int_equal(wr_tls_feed(w->server, asked, &w->wire, hear, w), WR_TLS_FAILED);
    assert_false(wr_tls_seal(w->server, &w->wire));
}

static void what_is_no_tls_gets_an_alert(void **state)
{
    struct world *w = *state;
    weir_span noise = WR_LIT("\x16\x03\x01\x00\x04\x09\x00\x00\x00");

    assert_int_equal(wr_tls_feed(w->server, noise, &w->wire, hear, w), WR_TLS_FAILED);
    assert_true(w->wire.len >= 7 && w->wire.bytes[0] == 0x15);
}

static void who_wants_no_more_is_left_alone(void **state)
{
    struct world *w = *state;
    static char text[100000];

    agree(w, 4096);
    assert_int_equal(SSL_write(w->client, text, sizeof(text)), sizeof(text));
    w->wants_more = false;
    assert_int_equal(carry(w, SIZE_MAX / 2), WR_TLS_OPEN);
    assert_int_equal(w->heard.len, 16384);
}

static void files_that_are_none_are_named(void **state)
{
    struct world *w = *state;
    struct wr_tls *tls;
    struct weir_err err = {0};
    struct wr_tls_files missing = {.cert = "/nosuch/cert.pem"};
    struct wr_tls_files no_ca = {.cert = w->cert, .client_ca = "/nosuch/ca.pem"};

    assert_int_equal(wr_tls_new(&tls, &missing, &err), WEIR_INVALID);
    assert_null(tls);
    assert_non_null(strstr(err.text, "tls: cert /nosuch/cert.pem: it cannot be read"));
    assert_int_equal(wr_tls_new(&tls, &no_ca, &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "tls: client_ca /nosuch/ca.pem"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(any_pieces_of_the_wire_say_the_same), T(what_is_sealed_before_the_handshake_waits_for_it),
        T(a_client_says_that_it_is_done),       T(plain_http_is_told_so),
        T(what_is_no_tls_gets_an_alert),        T(who_wants_no_more_is_left_alone),
        T(files_that_are_none_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
