/* own_settings.h -- addresses that the user has set himself, which the server must then ask.
 *
 * They are read, never written: from the usual variables, and from the settings files of the agents
 * that have a list of providers. A file that is not there, or cannot be understood, adds nothing.
 */
#ifndef WR_LAUNCH_OWN_SETTINGS_H
#define WR_LAUNCH_OWN_SETTINGS_H

#include "json/json.h"
#include "launch/agents.h"

struct wr_own {
    struct wr_provider upstreams[WR_PROVIDERS_MAX]; /* all of them, by the names the server uses */
    size_t upstreams_count;
    struct wr_provider providers[WR_PROVIDERS_MAX]; /* of the agent's files, by the agent's names */
    size_t providers_count;
    bool is_redirected; /* a file of the agent's names an address that the agent must not ask */
    struct wr_own_piece pieces[WR_PROVIDERS_MAX + 1]; /* such a file, led through Weir */
    size_t pieces_count;
    const char *refusal; /* why what the user has set cannot go through Weir; NULL: it can */
    bool has_recall;     /* Codex's file names an MCP server called weir */
};

/* Reads for one agent; texts live in `arena`. `folder` is where the agent will run. */
void wr_own_read(struct wr_own *own, struct wr_arena *arena, const struct wr_agent *agent,
                 char **environment, const char *folder);

/* A settings file whole, in `arena`. False: it cannot be read (errno), or is larger than
 * WR_LAUNCH_SETTINGS_BYTES_MAX, or `bytes_max`. */
bool wr_own_file(struct wr_arena *arena, const char *path, weir_span *text);
bool wr_own_file_up_to(struct wr_arena *arena, const char *path, size_t bytes_max, weir_span *text);

/* Such a file as JSON, with comments and a comma too many taken for what people mean by them. */
WEIR_MUST_USE weir_status wr_own_parse(struct wr_json *doc, struct wr_arena *arena, weir_span text,
                                       struct weir_err *err);

/* A copy of cline's or droid's file, led through Weir, as `pieces`. */
void wr_own_copy(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                 weir_span text);

/* The parts that read a file's text, for the tests. */
void wr_own_read_json(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                      weir_span text);
void wr_own_read_codex(struct wr_own *own, struct wr_arena *arena, weir_span text);

#endif
