/* config.h -- what `weir serve` is told: where to listen, whom to ask, which mode and policy.
 *
 * It comes from weir.yaml, then from the command line. A text that is wrong is refused whole, with
 * line and column. A configuration does not change once it is made: a reload makes a new one.
 */
#ifndef WR_PROXY_CONFIG_H
#define WR_PROXY_CONFIG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/limits.h"
#include "net/server.h"
#include "net/sigv4.h"
#include "net/tls.h"
#include "otel/settings.h"
#include "policy/policy.h"
#include "proxy/users.h"

#define WR_MODE_MAP(X)    \
    X(OFF, "off")         \
    X(METER, "meter")     \
    X(SHADOW, "shadow")   \
    X(CANARY, "canary")   \
    X(HOLDOUT, "holdout") \
    X(ACTIVE, "active")

enum wr_mode {
#define X(name, text) WR_MODE_##name,
    WR_MODE_MAP(X)
#undef X
};

const char *wr_mode_name(enum wr_mode mode);

/* Whose recall tool is the way back to what is taken out (docs/own-recall.md). */
#define WR_RECALL_MAP(X)                                                             \
    X(AUTO, "auto")     /* the client's where it offers one, else the proxy's own */ \
    X(CLIENT, "client") /* the client's alone */                                     \
    X(OWN, "own")       /* the proxy's own, whatever the client offers */            \
    X(OFF, "off")       /* none: nothing that needs one is taken out */

enum wr_recall {
#define X(name, text) WR_RECALL_##name,
    WR_RECALL_MAP(X)
#undef X
};

/* False: it is none of these words. */
bool wr_recall_parse(weir_span text, enum wr_recall *recall);

/* What is kept in the store beside the originals of what was taken out. */
enum wr_keep {
    WR_KEEP_UNSAID,     /* as the address says: transcripts on loopback, else originals */
    WR_KEEP_TRANSCRIPT, /* what requests said, as it came and as it was sent */
    WR_KEEP_ORIGINALS   /* nothing else */
};

struct wr_upstream {
    const char *name;
    const char *base_url; /* no '/' at its end */
    const char *path;     /* of base_url: "" or begins with '/' */
    bool http2;
    /* It refuses two messages of the user in a row (engine/run.h). Unless weir.yaml says it:
     * where its host is private, because models that are run at home have such templates. */
    bool alternates, is_alternates_said;
    const char *proxy; /* to ask it by; "": none; NULL: as its host and the environment say */
    /* What Weir shows it in place of the client's credential (credential.h). Neither: that one
     * goes on. */
    const char *key, *key_header; /* header NULL: that of its cloud or API */
    const struct wr_aws_keys *aws;
    /* Several places (places.h): the first is the upstream itself. NULL: there is but one. */
    struct wr_upstream *places;
    size_t places_count;
    bool is_weighted;       /* sessions are spread over them; else the first is asked that can be */
    uint32_t weight;        /* of this place; 0: not said, 1 */
    const char *place_name; /* for the log; NULL: it is no place */
};

/* Where a key that Weir holds is shown beside the paths that are known (credential.h). */
struct wr_key_paths {
    weir_span fronts[WR_PROXY_KEY_PATHS_MAX]; /* whole parts of paths; "/": all of them */
    size_t count;
};

/* A place in weir.yaml. */
struct wr_config_place {
    uint32_t line, column; /* from 1; 0: it does not come from there */
};

/* The first rule that matches a request decides instead of the general mode. A rule that names a
 * tool only decides about that tool's results, one that names a path about what shows or writes
 * such files. */
struct wr_rule {
    const char *upstream, *model; /* NULL: any; a model may end in '*' */
    const char *tool;             /* may end in '*'; NULL, and no path: it is for whole requests */
    const char *path;             /* as wr_pin_fits_path() takes it; NULL: none */
    enum wr_mode mode;
    uint32_t percent;   /* of canary and holdout */
    const char *policy; /* NULL: the general one */
    struct wr_config_place policy_at;
    bool says_recall;
    enum wr_recall recall;
};

struct wr_config {
    struct wr_arena arena; /* owns what is pointed at */
    const char *listen;    /* "HOST:PORT" */
    enum wr_mode mode;
    uint32_t percent;
    const char *policy;
    struct wr_config_place policy_at;
    bool is_mode_said, is_policy_said; /* on the command line, now: they beat what sessions keep */
    const char *policies_file;         /* NULL: none */
    const char *models_yaml; /* weir.yaml, where it says something of models; NULL: it does not */
    const char *store_dir;   /* NULL: none; nothing that needs a way back is then taken out */
    uint32_t keep_days;      /* sessions that nobody used for longer leave it; 0: none does */
    enum wr_keep keep;
    uint64_t store_bytes_max; /* above it the least recently used leave; 0: no cap */
    const char *log_path;     /* NULL: no log */
    const char *audit_path;   /* NULL: acts are not noted */
    const char *shadow_dir;   /* --keep-shadow: where what shadow decides is kept; NULL: nowhere */
    struct wr_tls_files tls;  /* of the listener; read anew at each reload */
    struct wr_otel_settings otel; /* where telemetry is sent */
    const char *ca_file;          /* NULL: the system's */
    uint32_t workers;             /* processes */
    uint32_t threads;             /* that project, in each; 0: wr_config_threads() */
    uint32_t project_ms_max;      /* for a projection */
    uint32_t new_ms_max;   /* of work, for what is new in a request; past it that stays whole */
    enum wr_recall recall; /* for sessions that begin */
    bool learns;           /* from sessions that go badly: docs/quality.md */
    struct wr_server_limits limits;
    struct wr_upstream upstreams[WR_PROXY_UPSTREAMS_MAX];
    size_t upstreams_count;
    bool has_one_upstream; /* --upstream: all paths go there */
    struct wr_rule rules[WR_PROXY_RULES_MAX];
    size_t rules_count;
    const char *tokens[WR_PROXY_TOKENS_MAX]; /* access tokens; each is a tenant */
    size_t tokens_count;
    struct wr_key_paths key_paths; /* beside those that are known */
    struct wr_budgets budgets;
    struct wr_users users; /* who have names, and tokens beside those */
    bool names_people;     /* `tokens` or `users` stands in weir.yaml, be it that of nobody */
    const char
        *metrics_token; /* opens /metrics; NULL: if there are tokens, none of them opens it */
    const char *origins[WR_PROXY_ORIGINS_MAX]; /* pages that may ask; may end in '*' */
    size_t origins_count;
    const char *hosts[WR_PROXY_HOSTS_MAX]; /* what a Host may be beside loopback; IPv6 in [] */
    size_t hosts_count;
    const struct wr_policies *policies; /* NULL: not known */
    weir_span policies_yaml;            /* of the user's own among them, as they were read; */
    uint32_t policies_number;           /* and how often other ones were read before */
    const char *policy_names;           /* then NULL; "exact, smart, ..." */
    const char *no_policy;              /* then NULL; what to tell a request that names another */
};

/* Whether who asks must show a token, wherever it listens. Where the last one was taken out nobody
 * comes in any more: that is no server of a single user's, and a front before it lets others in. */
static inline bool wr_config_wants_token(const struct wr_config *config)
{
    return config->names_people;
}

/* Whether somebody has one. */
static inline bool wr_config_has_token(const struct wr_config *config)
{
    return config->tokens_count || config->users.tokens_count;
}

/* The defaults: active, auto, the upstreams of the APIs, loopback. NULL: out of memory. */
struct wr_config *wr_config_new(void);
void wr_config_free(struct wr_config *config); /* NULL is fine */

/* Reads weir.yaml: what it names replaces what was there. `err` names line and column; `config` is
 * then good for nothing but being freed. */
WEIR_MUST_USE weir_status wr_config_read(struct wr_config *config, weir_span yaml,
                                         struct weir_err *err);

/* The ways of the command line. They fail with what is wrong in `err`. */
WEIR_MUST_USE weir_status wr_config_set_mode(struct wr_config *config, const char *text,
                                             struct weir_err *err);
WEIR_MUST_USE weir_status wr_config_set_recall(struct wr_config *config, const char *text,
                                               struct weir_err *err);
/* `url` alone is one provider behind all APIs; NAME=URL is one more upstream, or that one's URL. */
WEIR_MUST_USE weir_status wr_config_set_upstream(struct wr_config *config, const char *url,
                                                 struct weir_err *err);
WEIR_MUST_USE weir_status wr_config_set_listen(struct wr_config *config, const char *listen,
                                               struct weir_err *err);
WEIR_MUST_USE weir_status wr_config_set_text(struct wr_config *config, const char **field,
                                             const char *text, struct weir_err *err);

/* Which policies there are: those that `config` names must be among them, and from then on those of
 * requests too (wr_config_has_policy). `policies` outlives it. What is wrong is in `err`, with line
 * and column where it stands in weir.yaml. */
WEIR_MUST_USE weir_status wr_config_set_policies(struct wr_config *config,
                                                 const struct wr_policies *policies,
                                                 struct weir_err *err);

/* Whether there is such a policy, as far as `config` was told which there are. */
bool wr_config_has_policy(const struct wr_config *config, weir_span name);

/* How many project in each worker. Those that wait for a database do nothing else, and it takes the
 * commits of many in one write of its disk: so there are more of them. */
uint32_t wr_config_threads(const struct wr_config *config, const char *store_dir);

/* Whether what requests say is kept (docs/page.md). */
bool wr_config_keeps_transcripts(const struct wr_config *config);

/* WEIR_INVALID: `url` is no address of an upstream. */
WEIR_MUST_USE weir_status wr_config_set_url(struct wr_config *config, struct wr_upstream *upstream,
                                            weir_span url);

const struct wr_upstream *wr_config_find(const struct wr_config *config, weir_span name);

#define WR_MODE_WANTED "a mode is off, meter, shadow, `canary N%%`, `holdout N%%` or active"

/* Reads "canary 10%", "holdout 5", "active". False: it is no mode. */
bool wr_mode_parse(weir_span text, enum wr_mode *mode, uint32_t *percent);

#endif
