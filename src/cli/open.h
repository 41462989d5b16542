/* open.h -- what several commands open, with errors said the user's way, and the rows of options
 * that several commands have alike.
 */
#ifndef WR_CLI_OPEN_H
#define WR_CLI_OPEN_H

#include "api/api.h"
#include "cli/cmd.h"
#include "models/registry.h"
#include "policy/meter.h"
#include "policy/policy.h"
#include "store/ledger.h"
#include "weir/store.h"

/* The tenant of everything that comes over loopback. */
#define WR_CLI_TENANT WEIR_TENANT_DEFAULT

/* ---- rows ---- */

#define WR_ROW_STORE(member)                                                                 \
    {                                                                                        \
        "store", WR_DIR(member),                                                             \
            "the store of originals; unless told $XDG_DATA_HOME/weir or ~/.local/share/weir" \
    }
#define WR_ROW_TENANT(member)                                                        \
    {                                                                                \
        "tenant", WR_TEXT("T", member), "whose it is; " WR_CLI_TENANT " unless told" \
    }
#define WR_ROW_PRICES(member)                                                 \
    {                                                                         \
        "config", WR_FILE(member),                                            \
            "a weir.yaml with models and prices of your own (docs/models.md)" \
    }
#define WR_ROW_DIALECT(member)                                                    \
    {                                                                             \
        "dialect", WR_CHOICE("D", member), WR_API_NAMES ": do not guess the API", \
            .words = WR_API_WORDS                                                 \
    }
#define WR_ROW_SINCE(member)                                                        \
    {                                                                               \
        "since", WR_TEXT("T", member),                                              \
            "only from then on: how long ago (90m, 24h, 7d) or seconds since 1970", \
            .words = "1h 24h 7d 30d"                                                \
    }

/* Words of --mode, some of which take a percentage. */
#define WR_WORDS_MODES  "active off meter shadow canary holdout"
#define WR_WORDS_RECALL "auto client own off"

/* Values for completion and for "did you mean": the presets, the models of the registry, the newest
 * sessions of the usual store, without what stands before the ':', at which bash parts words. */
void wr_list_policies(wr_word_fn *each, void *user);
void wr_list_models(wr_word_fn *each, void *user);
void wr_list_sessions(wr_word_fn *each, void *user);

/* ---- the store ---- */

/* Where the store is, with a NUL: `dir`; if that is NULL $XDG_DATA_HOME/weir or
 * ~/.local/share/weir. Initialises `path`, which is to be released in any case. False: it was told
 * on stderr. */
bool wr_cli_store_path(const char *dir, struct wr_buf *path);

/* Opens the store there. NULL: said on stderr. */
struct weir_store *wr_cli_store(const char *dir, const struct weir_store_options *options);

/* What to do about it, to be added to the error: empty, or beginning with "; ". */
const char *wr_cli_store_advice(weir_trouble trouble);

/* The ledger of the store in `dir`, which must exist. NULL: it was told on stderr why not. */
struct wr_ledger *wr_cli_ledger(const char *dir);

/* ---- models and policies ---- */

/* The registry, with the user's overrides if `config` names a file. NULL: it was told on stderr why
 * not. */
struct wr_models *wr_cli_models(const char *config);

/* Says that no model is called so, and which are nearest. Returns WR_EXIT_USAGE. */
int wr_cli_fail_model(const struct wr_models *models, weir_span name);

/* What the commands on sessions read: what was kept, and what it cost. */
struct wr_books {
    struct wr_ledger *ledger;
    struct wr_models *models;
};
bool wr_books_open(struct wr_books *books, const char *dir, const char *config); /* False: said */
void wr_books_close(struct wr_books *books);

/* The presets and, if `path` is not NULL, the policies of that file. `yaml` gets its text and must
 * outlive them. NULL: it was told on stderr why not. */
struct wr_policies *wr_cli_policies(const char *path, struct wr_buf *yaml);

/* NULL: none is called so, which is said with the name that is nearest. */
const struct wr_policy *wr_cli_policy(const struct wr_policies *policies, const char *name);

/* A registry, what it says of one model, and a meter that counts as that model does. */
struct wr_ruler {
    struct wr_models *models;
    struct wr_model_match match;
    struct wr_meter *meter;
};

/* `model` may be empty: then nothing is known of it. With `must_know` a name that no rule but the
 * fallback fits is refused, and the nearest names suggested. False: said on stderr. */
bool wr_ruler_open(struct wr_ruler *ruler, weir_span model, bool must_know);
void wr_ruler_close(struct wr_ruler *ruler);

/* ---- money and time ---- */

/* Appends "$1.23", with as many decimals as say something; a negative one begins with '-'. */
void wr_cli_put_money(struct wr_buf *out, int64_t micro_usd);

/* Appends "3 min", "2 h", "5 days": how long ago that was. */
void wr_cli_put_ago(struct wr_buf *out, int64_t time_ms);

/* What --since says, 0 for NULL: seconds since 1970, or how long ago, as "90m", "24h", "7d". False:
 * it was told on stderr. */
bool wr_cli_since(const char *text, int64_t *since_ms);

#endif
