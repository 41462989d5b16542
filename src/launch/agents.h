/* agents.h -- how each agent is pointed at a server: a table, and what it makes of one call.
 *
 * Nothing of the user's is written: settings reach an agent as variables, as words before the
 * user's own, or as files in a folder that is the run's own. What the user has set himself stays in
 * force beside them.
 *
 * In the texts of the table <name> stands for a value, and <"name"> for it as a JSON string (which
 * TOML and JavaScript read the same way):
 *
 *   <root>       the server's address for this run; <v1> the same with /v1
 *   <weir>       this program; <store> its store; <dir> the run's folder
 *   <mcp_env>    what the MCP process must find in its environment, as a JSON object
 *   <providers>  the providers that are redirected: ["name","address"],...
 *   <name> <url> one provider, in a setting that is made for each
 *   <gemini>     or another upstream of an API: where that is; <mcp> where MCP is spoken over HTTP
 *   <own>        the agent's own settings, with every address in them led through Weir
 */
#ifndef WR_LAUNCH_AGENTS_H
#define WR_LAUNCH_AGENTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/ascii.h"

enum { WR_SETTINGS_MAX = 12, WR_PROVIDERS_MAX = 32 };

enum wr_setting_kind {
    WR_SET_ENV,   /* a variable */
    WR_SET_WORDS, /* before the user's words; several are parted by line ends */
    WR_SET_FILE,  /* in the run's folder */
};

struct wr_setting {
    enum wr_setting_kind kind;
    const char *name; /* of the variable or the file; of words: unless the user has this one */
    const char *text;
    const char *if_env;          /* only where this is set; NULL: always */
    const char *unless_env;      /* not where one of these is, parted by '|'; NULL: always */
    const char *if_word;         /* words: only with one of these, parted by '|', in the call */
    const char *after;           /* words: behind one of these commands, parted by '|' */
    const char *unless_upstream; /* not where the user has an address of his own for this one */
    bool if_redirected;          /* only where the agent's own settings name an address */
    bool is_for_each;            /* once for each of the user's providers */
    bool is_recall;              /* it brings weir_recall */
};

struct wr_provider {
    const char *name;
    const char *url; /* the user's own; of the table: what follows <root> */
};

/* A part of a settings file, and what follows the server's root in the address that stands behind
 * it (NULL: none does). */
struct wr_own_piece {
    weir_span text;
    const char *address;
};

/* Where an agent keeps its own settings. */
enum wr_own_format {
    WR_OWN_NONE,
    WR_OWN_CLAUDE,
    WR_OWN_CODEX,
    WR_OWN_OPENCODE,
    WR_OWN_KILO,
    WR_OWN_PI,
    WR_OWN_CLINE,
    WR_OWN_DROID,
};

/* A service of the agent's maker, or a cloud, that speaks a model's API: an upstream of that name.
 */
struct wr_service {
    const char *name;
    const char *url;      /* NULL: the cloud's of that name, or only what the variable names */
    const char *variable; /* in which the user may name another */
    const char *if_env;   /* only where this is switched on; NULL: always */
    /* What stands for the word in capitals in the address: the first of these variables that is
     * set, parted by '|'; a word in small letters stands for itself. NULL: there is no such word */
    const char *place;
};

/* What the user has set and what leads the agent past Weir. */
struct wr_detour {
    const char *variable;
    const char *values;     /* parted by '|'; NULL: any that is set and not 0 or false */
    const char *unless_env; /* with this it does not; NULL: always */
    const char *why;
};

struct wr_agent {
    const char *name;
    const char *also;     /* other names of its program, parted by '|'; NULL: none */
    const char *what;     /* what of it goes through Weir, in a few words */
    const char *by_hand;  /* how to point it at a server without `weir run` */
    const char *tried;    /* the version whose requests were looked at; NULL: none */
    const char *refusal;  /* why it cannot be pointed at Weir: it is not started; NULL: it can */
    bool has_no_tools;    /* so there is no way back, and nothing that needs one is taken out */
    const char *upstream; /* that the server must have; NULL: what every server has */
    struct wr_service services[3];
    struct wr_detour detours[5];
    struct wr_setting settings[WR_SETTINGS_MAX];
    struct wr_provider providers[6]; /* known to it without being told */
    const char *const *commands; /* its subcommands: no words may be put before one; NULL: none */
    enum wr_own_format own;
};

/* The one for programs that are not known is the last, and is what is found for them. */
const struct wr_agent *wr_agent_find(const char *program);
const struct wr_agent *wr_agent_at(size_t index); /* NULL past the last */
bool wr_agent_is_known(const struct wr_agent *agent);

/* The known one whose name is nearest to one that is not. */
struct wr_near wr_agent_near(const char *program);

/* Why the agent would not come by Weir with what is set in `environment`; NULL: nothing is known
 * that leads it elsewhere. */
const char *wr_agent_detour(const struct wr_agent *agent, char **environment);

struct wr_launch { /* what the texts name */
    const char *root, *weir, *store, *dir;
    const char *token; /* NULL: none is needed */
    char **environment;
    struct wr_provider providers[WR_PROVIDERS_MAX]; /* the user's own */
    size_t providers_count;
    const struct wr_provider *upstreams; /* for which the user has an address of his own */
    size_t upstreams_count;
    const struct wr_own_piece *pieces; /* of the agent's settings */
    size_t pieces_count;
    bool is_redirected;    /* the agent's own settings name an address */
    bool has_one_upstream; /* the server: no path names another */
};

struct wr_plan {
    char **argv; /* ends with NULL */
    struct {
        const char *name, *value;
    } env[WR_SETTINGS_MAX + 2];
    size_t env_count;
    struct {
        const char *name;
        weir_span text;
    } files[WR_SETTINGS_MAX];
    size_t files_count;
    bool has_recall; /* weir_recall is among its tools */
};

/* `argv` ends with NULL; its first word is the program. Everything lives in `arena`. */
WEIR_MUST_USE weir_status wr_plan_make(struct wr_plan *plan, struct wr_arena *arena,
                                       const struct wr_agent *agent, const struct wr_launch *launch,
                                       char **argv);

/* A text of the table as it is for this launch, with a NUL; NULL: out of memory. */
const char *wr_launch_text(struct wr_arena *arena, const struct wr_launch *launch,
                           const struct wr_agent *agent, const char *text);

/* The value of a variable in `environment`; NULL: it is not there, or empty. */
const char *wr_environment_find(char **environment, const char *name);
/* Whether it is there, and does not say that something is switched off (0, false, no, off). */
bool wr_environment_is_on(char **environment, const char *name);

#endif
