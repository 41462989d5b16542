#include "proxy/config.h"
#include "proxy/config_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

static void all_of_it_is_read(void **state)
{
    static const char yaml[] = "listen: 0.0.0.0:80\nmode: canary 10%\npolicy: tiered\n"
                               "store: /s\nlog: /l\nca_file: /c\nworkers: 2\nthreads: 3\n"
                               "tokens: [0123456789abcdef]\nupstreams:\n"
                               "  openai: {base_url: \"http://a/b/\", http2: true}\n"
                               "  mine: {base_url: https://c, api: chat}\nrollout:\n"
                               "  - {model: gpt-*, upstream: mine, mode: shadow, policy: auto}\n";
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_config_read(c, wr_span_of(yaml), NULL), WEIR_OK);
    assert_string_equal(c->listen, "0.0.0.0:80");
    assert_int_equal(c->mode, WR_MODE_CANARY);
    assert_int_equal(c->percent, 10);
    assert_string_equal(c->store_dir, "/s");
    assert_int_equal(c->workers * 10 + c->threads, 23);
    assert_int_equal(wr_config_threads(c, "postgresql://h/d"), 3);
    c->threads = 0; /* nothing was said */
    assert_int_equal(wr_config_threads(c, "/s"), WR_PROXY_THREADS);
    assert_int_equal(wr_config_threads(c, "postgresql://h/d"), WR_PROXY_DATABASE_THREADS);
    assert_int_equal(c->upstreams_count, 7);
    const struct wr_upstream *openai = wr_config_find(c, WR_LIT("openai"));
    assert_string_equal(openai->base_url, "http://a/b");
    assert_string_equal(openai->path, "/b");
    assert_true(openai->http2);
    assert_string_equal(wr_config_find(c, WR_LIT("mine"))->path, "");
    assert_null(wr_config_find(c, WR_LIT("nobody")));
    assert_int_equal(c->rules_count, 1);
    assert_int_equal(c->rules[0].mode, WR_MODE_SHADOW);
    assert_string_equal(c->rules[0].policy, "auto");
    wr_config_free(c);
}

static void templates_of_models_at_home_want_turns_to_be_taken(void **state)
{
    static const char yaml[] =
        "upstreams:\n"
        "  near: {base_url: \"http://127.0.0.1:11434/v1\"}\n"
        "  near_not: {alternate: false, base_url: \"http://10.0.0.3/v1\"}\n"
        "  far: {base_url: https://models.example/v1}\n"
        "  far_too: {base_url: https://models.example/v1, alternate: true}\n";
    static const struct {
        const char *name;
        bool alternates;
    } wanted[] = {{"near", true},    {"near_not", false}, {"far", false},
                  {"far_too", true}, {"openai", false},   {"anthropic", false}};
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_config_read(c, wr_span_of(yaml), NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(wanted); i++)
        if (wr_config_find(c, wr_span_of(wanted[i].name))->alternates != wanted[i].alternates)
            fail_msg("%s", wanted[i].name);
    wr_config_free(c);
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
    static const struct {
        const char *yaml, *words;
    } cases[] = {
        {"mode: wild\n", "line 1, column 7"},
        {"a: 1\n", "weir.yaml has no 'a'"},
        {"listn: 127.0.0.1:0\n", "weir.yaml has no 'listn'; did you mean listen?"},
        {"upstrems: {}\n", "did you mean upstreams?"},
        {"mode: off\nlisten: 127.0.0.1:99999\n", "line 2, column 9: an address to listen on is"},
        {"listen: 127.0.0.1\n", "line 1, column 9: an address to listen on is HOST:PORT"},
        {"listen: '127.0.0.1:'\n", "from 0 (any that is free) to 65535"},
        {"listen: 127.0.0.1:-1\n", "an address to listen on"},
        {"listen: 127.0.0.1:80x\n", "an address to listen on"},
        {"listen: '::1:80'\n", "IPv6 in []"},
        {"listen: []\n", "an address to listen on"},
        {"upstreams:\n  x: {base_url: \"http://h:99999\"}\n", "line 2, column 17: base_url is"},
        {"models:\n  gpt-5: {window: many}\n", "line 2"},
        {"models:\n  gpt-5: {windows: 1}\n", "line 2"},
        {"mode: canary\n", "a mode is"},
        {"mode: canary 101\n", "a mode is"},
        {"workers: 0\n", "a number from 1"},
        {"upstreams:\n  x: {base_url: file:///etc}\n", "line 2, column 17: base_url is"},
        {"upstreams:\n  x: {base_url: \"http://u:p@h\"}\n", "base_url is"},
        {"upstreams:\n  x: {api: chat}\n", "an upstream has a base_url"},
        {"upstreams:\n  x: {base_url: http://h, proxy: ''}\n", "line 2, column 34: a proxy is"},
        {"upstreams:\n  x: {base_url: http://h, proxy: h:1}\n", "a proxy is http://HOST"},
        {"upstreams:\n  x: {base_url: http://h, proxy: ftp://h:1}\n", "a proxy is"},
        {"upstreams:\n  x: {base_url: http://h, proxy: http://h:99999}\n", "a proxy is"},
        {"upstreams:\n  x: {base_url: http://h, proxy: http://h/x}\n", "a proxy is"},
        {"upstreams:\n  x: {url: http://a}\n", "an upstream has no 'url'"},
        {"tokens: [short]\n", "at least 16"},
        {"tokens: [0123456789/abcdef]\n", "no '/'"},
        {"tokens: x\n", "a list is wanted"},
        {"metrics_token: short\n", "line 1, column 16: a token has at least 16"},
        {"metrics_token: 0123456789abcdef\ntokens: [0123456789abcdef]\n",
         "line 1, column 16: metrics_token is none of the `tokens` and none of a user's"},
        {"allow_origins: ['*']\n", "line 1, column 17: an origin is SCHEME://HOST"},
        {"allow_origins: ['https://*']\n", "an origin is"},
        {"allow_origins: ['https://*.example']\n", "an origin is"},
        {"allow_origins: ['a-webview://*x']\n", "an origin is"},
        {"allow_origins: ['null']\n", "an origin is"},
        {"allow_origins: ['://x']\n", "an origin is"},
        {"allow_origins: x\n", "a list is wanted"},
        {"allow_hosts: ['*']\n", "line 1, column 15: a host is a name or an address"},
        {"allow_hosts: ['*.internal']\n", "a host is"},
        {"allow_hosts: ['h:1']\n", "a host is"},
        {"allow_hosts: ['http://h']\n", "a host is"},
        {"allow_hosts: ['']\n", "a host is"},
        {"allow_hosts: [a: b]\n", "a host is"},
        {"allow_hosts: ['fd00::1']\n", "a host is"},
        {"allow_hosts: x\n", "a list is wanted"},
        {"rollout: [{when: x}]\n", "a rule has"},
        {"rollout: [{tool: Read, mode: off, policy: auto}]\n", "it has no policy and no recall"},
        {"rollout: [{tool: 'a b', mode: off}]\n", "a tool's name no space"},
        {"rollout:\n  - {mode: off, upstream: nosuch}\n",
         "line 2, column 27: no upstream is called 'nosuch'"},
        {"upstreams:\n  x: {base_ul: http://a}\n", "no 'base_ul'; did you mean base_url?"},
        {"upstreams:\n  opnai: {key: {env: PATH}}\n", "has a base_url; did you mean openai?"},
        {"rollout:\n  - {mode: off, upstream: antropic}\n", "did you mean anthropic?"},
        {"limits: {patience: 1}\n", "there is no limit 'patience'"},
        {"limits: {conections: 1}\n", "no limit 'conections'; did you mean connections?"},
        {"limits: {head_ms: 0}\n", "a number from 1 to 3600000"},
        {"policy: []\n", "a text is wanted"},
        {"listen: 127.0.0.1:1\nlearning: maybe\n", "line 2, column 11: on or off"},
        {"learning: [on]\n", "on or off"},
        {"recall: maybe\n", "line 1, column 9: recall is auto, client, own or off"},
        {"rollout: [{model: m, recall: yes}]\n", "recall is auto"},
        {"rollout: [{tool: Read, path: a.c, mode: off}]\n", "for a tool or for a path"},
        {"rollout: [{path: \"a\\tb\", mode: off}]\n", "a path no tab"},
        {"rollout: [{tool: Read, recall: own}]\n", "no policy and no recall"},
        {"listen: [\n", "line"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *c = wr_config_new();
        struct weir_err err = {0};
        assert_non_null(c);
        if (!wr_config_read(c, wr_span_of(cases[i].yaml), &err) ||
            !strstr(err.text, cases[i].words))
            fail_msg("%s: %s", cases[i].yaml, err.text);
        wr_config_free(c);
    }
}

/* The largest number that is taken, and one more. */
static void numbers_have_bounds(void **state)
{
    static const struct {
        const char *yaml; /* of %llu */
        unsigned long long max;
    } rows[] = {
        {"workers: %llu\n", 64},
        {"threads: %llu\n", 64},
        {"limits: {connections: %llu}\n", 1024 * 1024},
        {"limits: {head_ms: %llu}\n", 3600 * 1000},
        {"limits: {body_idle_ms: %llu}\n", 3600 * 1000},
        {"limits: {keep_ms: %llu}\n", 3600 * 1000},
        {"limits: {write_idle_ms: %llu}\n", 3600 * 1000},
        {"limits: {project_ms: %llu}\n", 3600 * 1000},
        {"limits: {new_ms: %llu}\n", 3600 * 1000},
        {"store: {keep_days: %llu}\n", 100000},
        {"store: {max_bytes: %llu}\n", INT64_MAX},
        {"upstreams: {openai: {weight: %llu}}\n", 1000},
        {"mode: canary %llu\n", 100},
        {"mode: holdout %llu%%\n", 100},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        for (unsigned long long more = 0; more < 2; more++) {
            struct wr_config *c = wr_config_new();
            struct weir_err err;
            char yaml[128];
            (void)snprintf(yaml, sizeof(yaml), rows[i].yaml, rows[i].max + more);
            if (!wr_config_read(c, wr_span_of(yaml), &err) != !more)
                fail_msg("%s", yaml);
            wr_config_free(c);
        }
}

static void what_is_said_is_where_it_belongs(void **state)
{
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_int_equal(
        wr_config_read(c,
                       WR_LIT("workers: 2\nthreads: 3\nlimits: {connections: 4, head_ms: "
                              "5, body_idle_ms: 6, keep_ms: 7, write_idle_ms: 8, "
                              "project_ms: 9, new_ms: 10}\nstore: {dir: d, keep_days: 0, "
                              "max_bytes: 12}\nlog: l\naudit: a\nca_file: c\n"
                              "policies: p\nkeep: originals\nlearning: off\n"),
                       NULL),
        WEIR_OK);
    assert_int_equal(c->workers, 2);
    assert_int_equal(c->threads, 3);
    assert_int_equal(wr_config_threads(c, NULL), 3);
    assert_int_equal(c->limits.connections_max, 4);
    assert_int_equal(c->limits.head_ms_max, 5);
    assert_int_equal(c->limits.body_idle_ms_max, 6);
    assert_int_equal(c->limits.keep_ms_max, 7);
    assert_int_equal(c->limits.write_idle_ms_max, 8);
    assert_int_equal(c->project_ms_max, 9);
    assert_int_equal(c->new_ms_max, 10);
    assert_string_equal(c->store_dir, "d");
    assert_int_equal(c->keep_days, 0);
    assert_int_equal(c->store_bytes_max, 12);
    assert_string_equal(c->log_path, "l");
    assert_string_equal(c->audit_path, "a");
    assert_string_equal(c->ca_file, "c");
    assert_string_equal(c->policies_file, "p");
    assert_int_equal(c->keep, WR_KEEP_ORIGINALS);
    assert_false(c->learns);
    assert_false(wr_config_keeps_transcripts(c));
    assert_int_equal(
        wr_config_read(c, WR_LIT("keep: transcript\nlearning: on\nlisten: 0.0.0.0:1\n"), NULL),
        WEIR_OK);
    assert_true(c->learns);
    assert_true(wr_config_keeps_transcripts(c));
    c->keep = WR_KEEP_UNSAID;
    assert_false(wr_config_keeps_transcripts(c)); /* elsewhere than on loopback */
    assert_int_equal(wr_config_set_listen(c, "127.0.0.1:1", NULL), WEIR_OK);
    assert_true(wr_config_keeps_transcripts(c));
    c->store_dir = NULL;
    assert_false(wr_config_keeps_transcripts(c));
    c->threads = 0;
    assert_int_equal(wr_config_threads(c, NULL), WR_PROXY_THREADS);
    assert_int_equal(wr_config_threads(c, "d"), WR_PROXY_THREADS);
    assert_int_equal(wr_config_threads(c, "postgresql://h/d"), WR_PROXY_DATABASE_THREADS);
    wr_config_free(c);
}

static void an_address_is_one_or_none(void **state)
{
    static const struct {
        const char *url, *path; /* NULL: it is none */
    } rows[] = {{"http://h", ""},          {"https://h/v1", "/v1"},    {"http://h/v1/", "/v1"},
                {"http://h//", ""},        {"http://h:1/a/b", "/a/b"}, {"ftp://h", NULL},
                {"http://", NULL},         {"http://h?x", NULL},       {"http://h#x", NULL},
                {"http://u@h", NULL},      {"http://h h", NULL},       {"http://h/a b", NULL},
                {"http://h/\x1f", NULL},   {"http://h/!", "/!"},       {"", NULL},
                {"http://h/\x7f", "/\x7f"}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_config *c = wr_config_new();
        struct wr_upstream upstream = {.name = "x"};
        weir_status status = wr_config_set_url(c, &upstream, wr_span_of(rows[i].url));
        if (status != (rows[i].path ? WEIR_OK : WEIR_INVALID) ||
            (!status && strcmp(upstream.path, rows[i].path) != 0))
            fail_msg("%s: %s", rows[i].url, status ? "none" : upstream.path);
        wr_config_free(c);
    }
}

static void every_key_that_may_be_meant_is_one(void **state)
{
    static const struct {
        const char *const *keys;
        const char *yaml, *refusal;
    } places[] = {
        {wr_config_keys, "%s: {}\n", "weir.yaml has no"},
        {wr_config_upstream_keys, "upstreams: {x: {%s: {}}}\n", "an upstream has no"},
        {wr_config_limit_keys, "limits: {%s: {}}\n", "there is no limit"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(places); i++)
        for (const char *const *key = places[i].keys; *key; key++) {
            struct wr_config *c = wr_config_new();
            struct weir_err err = {0};
            struct wr_buf yaml;
            assert_non_null(c);
            wr_buf_init(&yaml, 256);
            wr_buf_printf(&yaml, "%.*s%s%s", (int)strcspn(places[i].yaml, "%"), places[i].yaml,
                          *key, strchr(places[i].yaml, '%') + 2);
            if (wr_config_read(c, wr_buf_view(&yaml), &err) && strstr(err.text, places[i].refusal))
                fail_msg("%s: %s", *key, err.text);
            wr_buf_release(&yaml);
            wr_config_free(c);
        }
}

static void a_slip_of_an_upstream_is_refused(void **state)
{
    static const struct {
        const char *upstream, *refusal; /* NULL: it is taken */
    } cases[] = {
        {"opnai=http://h", "no upstream is called 'opnai'; did you mean openai?"},
        {"antropic=http://h", "did you mean anthropic?"},
        {"openai=http://h", NULL},
        {"openai2=http://h", NULL},
        {"openai-eu=http://h", NULL},
        {"local=http://h", NULL},
        {"http://h", NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *c = wr_config_new();
        struct weir_err err = {0};
        assert_non_null(c);
        weir_status status = wr_config_set_upstream(c, cases[i].upstream, &err);
        if (!status != !cases[i].refusal ||
            (cases[i].refusal && !strstr(err.text, cases[i].refusal)))
            fail_msg("%s: %s", cases[i].upstream, err.text);
        wr_config_free(c);
    }
}

static void policies_must_be_there(void **state)
{
    static const char own[] = "policies:\n  mine: {like: tiered}\n";
    static const struct {
        const char *yaml, *words;
    } cases[] = {
        {"policy: mine\nrollout: [{model: x, policy: smart}]\n", NULL},
        {"listen: 127.0.0.1:1\npolicy: nosuch\n",
         "line 2, column 9: no policy is called 'nosuch'; there are exact"},
        {"rollout:\n  - {model: x, policy: nosuch}\n",
         "line 2, column 24: no policy is called 'nosuch'"},
        {"policy: Mine\n", "no policy is called 'Mine'"},
    };
    struct wr_policies *policies;
    (void)state;
    assert_int_equal(wr_policies_new(&policies, wr_span_of(own), NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_config *c = wr_config_new();
        struct weir_err err = {0};
        assert_non_null(c);
        assert_true(wr_config_has_policy(c, WR_LIT("nosuch"))); /* nobody has said which */
        assert_int_equal(wr_config_read(c, wr_span_of(cases[i].yaml), NULL), WEIR_OK);
        weir_status status = wr_config_set_policies(c, policies, &err);
        if (status != (cases[i].words ? WEIR_INVALID : WEIR_OK) ||
            (cases[i].words && !strstr(err.text, cases[i].words)))
            fail_msg("%s%s", cases[i].yaml, err.text);
        assert_false(wr_config_has_policy(c, WR_LIT("nosuch")));
        assert_true(wr_config_has_policy(c, WR_LIT("mine")));
        assert_non_null(strstr(c->no_policy, "mine"));
        wr_config_free(c);
    }
    wr_policies_free(policies);
}

static void a_store_has_a_folder_and_limits(void **state)
{
    struct wr_config *c = wr_config_new();
    struct weir_err err = {0};
    (void)state;
    assert_non_null(c);
    assert_int_equal(c->keep_days, 30);
    assert_int_equal(c->store_bytes_max, 0);
    assert_int_equal(
        wr_config_read(c, WR_LIT("store: {dir: /s, keep_days: 7, max_bytes: 5000000000}\n"), NULL),
        WEIR_OK);
    assert_string_equal(c->store_dir, "/s");
    assert_int_equal(c->keep_days, 7);
    assert_int_equal(c->store_bytes_max, 5000000000);
    assert_true(wr_config_keeps_transcripts(c)); /* on loopback */
    assert_int_equal(wr_config_read(c, WR_LIT("listen: 0.0.0.0:4141\n"), NULL), WEIR_OK);
    assert_false(wr_config_keeps_transcripts(c));
    assert_int_equal(wr_config_read(c, WR_LIT("keep: transcript\n"), NULL), WEIR_OK);
    assert_true(wr_config_keeps_transcripts(c));
    assert_int_equal(wr_config_read(c, WR_LIT("keep: originals\n"), NULL), WEIR_OK);
    assert_false(wr_config_keeps_transcripts(c));
    assert_int_equal(wr_config_read(c, WR_LIT("keep: all\n"), &err), WEIR_INVALID);
    assert_int_equal(wr_config_read(c, WR_LIT("store: {keep_days: 0}\n"), NULL), WEIR_OK);
    assert_int_equal(c->keep_days, 0);
    assert_string_equal(c->store_dir, "/s");
    assert_int_equal(wr_config_read(c, WR_LIT("store: {keep_days: ever}\n"), &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "line 1, column 20: a number"));
    assert_int_equal(wr_config_read(c, WR_LIT("store: {days: 7}\n"), &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "dir, keep_days and max_bytes"));
    wr_config_free(c);
}

static void an_upstream_may_have_a_proxy(void **state)
{
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_config_read(c,
                                    WR_LIT("upstreams:\n"
                                           "  a: {base_url: http://h, proxy: http://u:p@x:1}\n"
                                           "  b: {base_url: http://h, proxy: none}\n"
                                           "  c: {base_url: http://h, proxy: 'socks5h://[::1]:1'}\n"
                                           "  d: {base_url: http://h}\n"),
                                    NULL),
                     WEIR_OK);
    assert_string_equal(wr_config_find(c, WR_LIT("a"))->proxy, "http://u:p@x:1");
    assert_string_equal(wr_config_find(c, WR_LIT("b"))->proxy, "");
    assert_string_equal(wr_config_find(c, WR_LIT("c"))->proxy, "socks5h://[::1]:1");
    assert_null(wr_config_find(c, WR_LIT("d"))->proxy);
    wr_config_free(c);
}

static void origins_hosts_and_the_operators_token_are_read(void **state)
{
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_config_read(c,
                                    WR_LIT("allow_origins: ['vscode-webview://*', "
                                           "'https://app.example:8443']\n"
                                           "allow_hosts: [host.docker.internal, '[fd00::1]']\n"
                                           "metrics_token: 0123456789abcdef\n"),
                                    NULL),
                     WEIR_OK);
    assert_int_equal(c->origins_count, 2);
    assert_string_equal(c->origins[0], "vscode-webview://*");
    assert_int_equal(c->hosts_count, 2);
    assert_string_equal(c->hosts[0], "host.docker.internal");
    assert_string_equal(c->metrics_token, "0123456789abcdef");
    assert_int_equal(wr_config_read(c, WR_LIT("mode: off\n"), NULL), WEIR_OK);
    assert_int_equal(c->origins_count, 0);
    assert_int_equal(c->hosts_count, 0);
    assert_null(c->metrics_token);
    wr_config_free(c);
}

static void learning_is_on_unless_told(void **state)
{
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_true(c->learns);
    assert_int_equal(wr_config_read(c, WR_LIT("learning: off\n"), NULL), WEIR_OK);
    assert_false(c->learns);
    assert_int_equal(wr_config_read(c, WR_LIT("learning: on\n"), NULL), WEIR_OK);
    assert_true(c->learns);
    wr_config_free(c);
}

static void recall_is_auto_unless_told(void **state)
{
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_int_equal(c->recall, WR_RECALL_AUTO);
    assert_int_equal(wr_config_read(c,
                                    WR_LIT("recall: client\nrollout:\n  - {model: a, recall: own}\n"
                                           "  - {model: b}\n"),
                                    NULL),
                     WEIR_OK);
    assert_int_equal(c->recall, WR_RECALL_CLIENT);
    assert_true(c->rules[0].says_recall);
    assert_int_equal(c->rules[0].recall, WR_RECALL_OWN);
    assert_false(c->rules[1].says_recall);
    assert_int_equal(wr_config_set_recall(c, "off", NULL), WEIR_OK);
    assert_int_equal(c->recall, WR_RECALL_OFF);
    assert_int_equal(wr_config_set_recall(c, "on", NULL), WEIR_INVALID);
    wr_config_free(c);
}

static void an_address_to_listen_on_has_a_port(void **state)
{
    static const char *const wrong[] = {"",     "h",     ":1",    "h:",    "h:65536", "h:99999",
                                        "h:-1", "h:80x", "[::1]", "::1:1", "h:1:2",   "h: 1"};
    struct wr_config *c = wr_config_new();
    struct weir_err err = {0};
    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_config_set_listen(c, "[::1]:65535", NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(wrong); i++)
        if (wr_config_set_listen(c, wrong[i], &err) != WEIR_INVALID ||
            !strstr(err.text, "HOST:PORT, the port from 0"))
            fail_msg("'%s': %s", wrong[i], err.text);
    assert_string_equal(c->listen, "[::1]:65535");
    wr_config_free(c);
}

static void upstreams_are_set_by_name(void **state)
{
    struct wr_config *c = wr_config_new();
    (void)state;
    assert_non_null(c);
    assert_int_equal(wr_config_set_upstream(c, "openai=http://a/v1", NULL), WEIR_OK);
    assert_int_equal(wr_config_set_upstream(c, "My-own_1=http://b?", NULL), WEIR_INVALID);
    assert_int_equal(wr_config_set_upstream(c, "My-own_1=http://b", NULL), WEIR_OK);
    assert_string_equal(wr_config_find(c, WR_LIT("openai"))->base_url, "http://a/v1");
    assert_string_equal(wr_config_find(c, WR_LIT("My-own_1"))->base_url, "http://b");
    assert_false(c->has_one_upstream);
    assert_int_equal(wr_config_set_upstream(c, "http://c/x", NULL), WEIR_OK);
    assert_true(c->has_one_upstream);
    assert_int_equal(c->upstreams_count, 1);
    wr_config_free(c);
}

static void the_example_of_the_docs_is_right(void **state)
{
    struct wr_buf page;
    struct wr_config *c = wr_config_new();
    struct weir_err err = {0};
    (void)state;
    assert_non_null(c);
    wr_buf_init(&page, WR_PROXY_CONFIG_BYTES_MAX);
    FILE *file = fopen("docs/proxy.md", "rb");
    assert_non_null(file);
    wr_buf_reserve(&page, WR_PROXY_CONFIG_BYTES_MAX / 2);
    page.len = fread(page.bytes, 1, WR_PROXY_CONFIG_BYTES_MAX / 2, file);
    (void)fclose(file);
    size_t from = wr_span_find(wr_buf_view(&page), WR_LIT("```yaml\n"), 0) + strlen("```yaml\n");
    size_t to = wr_span_find(wr_buf_view(&page), WR_LIT("```"), from);
    assert_true(to != SIZE_MAX);
    if (wr_config_read(c, wr_span_cut(wr_buf_view(&page), from, to), &err))
        fail_msg("%s", err.text);
    assert_int_equal(c->rules_count, 5);
    assert_string_equal(c->rules[2].tool, "mcp__db__*");
    assert_string_equal(c->rules[4].path, "docs/*.md");
    assert_int_equal(c->limits.connections_max, WR_NET_CONNECTIONS_MAX);
    assert_int_equal(c->limits.write_idle_ms_max, WR_NET_WRITE_IDLE_MS_MAX);
    assert_int_equal(c->project_ms_max, WR_PROXY_PROJECT_MS_MAX);
    assert_int_equal(c->new_ms_max, WR_PROXY_DEADLINE_MS);
    wr_config_free(c);
    wr_buf_release(&page);
}

static void modes_are_read(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        enum wr_mode mode;
        uint32_t percent;
    } cases[] = {{"active", true, WR_MODE_ACTIVE, 0},
                 {"off", true, WR_MODE_OFF, 0},
                 {"canary 5%", true, WR_MODE_CANARY, 5},
                 {"holdout 100", true, WR_MODE_HOLDOUT, 100},
                 {"canary5", false, 0, 0},
                 {"active 5", false, 0, 0},
                 {"", false, 0, 0},
                 {"canary -1", false, 0, 0}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        enum wr_mode mode = WR_MODE_OFF;
        uint32_t percent = 0;
        bool ok = wr_mode_parse(wr_span_of(cases[i].text), &mode, &percent);
        if (ok != cases[i].ok || (ok && (mode != cases[i].mode || percent != cases[i].percent)))
            fail_msg("'%s'", cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_read),
        cmocka_unit_test(templates_of_models_at_home_want_turns_to_be_taken),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(the_example_of_the_docs_is_right),
        cmocka_unit_test(learning_is_on_unless_told),
        cmocka_unit_test(recall_is_auto_unless_told),
        cmocka_unit_test(an_upstream_may_have_a_proxy),
        cmocka_unit_test(origins_hosts_and_the_operators_token_are_read),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(what_is_said_is_where_it_belongs),
        cmocka_unit_test(an_address_is_one_or_none),
        cmocka_unit_test(every_key_that_may_be_meant_is_one),
        cmocka_unit_test(a_slip_of_an_upstream_is_refused),
        cmocka_unit_test(policies_must_be_there),
        cmocka_unit_test(a_store_has_a_folder_and_limits),
        cmocka_unit_test(upstreams_are_set_by_name),
        cmocka_unit_test(an_address_to_listen_on_has_a_port),
        cmocka_unit_test(modes_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
