/* The doctor's look at what agents are told by their own files and by the environment: whether it
 * can be read, and whether the addresses in it lead to a Weir that runs.
 *
 * Of JSON it says which line is wrong, because the reader knows it. Of Codex's TOML it does not:
 * Codex refuses to start with a broken one and names the line itself
 * (docs/decisions/007-no-toml-reader.md). */
#include "launch/doctor.h"

#include <errno.h>
#include <unistd.h>

#include "base/span.h"
#include "launch/http.h"
#include "launch/own_settings.h"
#include "net/host.h"

enum { PATH_BYTES_MAX = 4096, HEALTH_BYTES_MAX = 4096 };

/* A file of an agent's. Codex has everything in one; the others say elsewhere which MCP servers
 * they have, or there too. */
static const struct file {
    const char *agent, *variable, *below, *name;
    enum wr_own_format format;
    const char *mcp_section; /* where it may name MCP servers; NULL: it has none */
    const char *mcp_by_hand; /* how to name ours */
} files[] = {
    {"codex", "CODEX_HOME", ".codex", "config.toml", WR_OWN_CODEX, "mcp_servers",
     "codex mcp add weir -- weir mcp"},
    {"claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json", WR_OWN_CLAUDE, NULL,
     "claude mcp add weir -- weir mcp"},
    {"opencode", "XDG_CONFIG_HOME", ".config", "opencode/opencode.json", WR_OWN_OPENCODE, "mcp",
     "opencode mcp add"},
    {"opencode", "XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc", WR_OWN_OPENCODE, "mcp",
     "opencode mcp add"},
    {"pi", "PI_CODING_AGENT_DIR", ".pi/agent", "models.json", WR_OWN_PI, NULL, NULL},
};

struct look {
    struct wr_doctor *doctor;
    char **environment;
    const struct file *file; /* NULL: the environment */
    const char *path;
    weir_span text;
    bool has_weir;     /* an address leads to one */
    bool has_recall;   /* it names our MCP server */
    size_t said_count; /* findings of this file */
};

static void add_finding(struct look *look, enum wr_finding_level level, const char *advice,
                        const char *what, const char *detail)
{
    look->said_count++;
    wr_doctor_add(look->doctor, level, "settings", advice, "%s%s%s: %s%s",
                  look->file ? look->file->agent : "", look->file ? ", " : "", look->path, what,
                  detail);
}

/* ---- addresses ---- */

/* The part of an address before its path, and the address at which a Weir tells how it is. */
static bool health_url(const char *url, char health[PATH_BYTES_MAX])
{
    struct wr_host host;

    if (!wr_host_of_url(wr_span_of(url), &host) || !wr_host_is_loopback(host.name))
        return false;
    size_t host_at = (size_t)(host.name.ptr - url);
    size_t bytes = host_at + strcspn(host.name.ptr, "/?#");
    return snprintf(health, PATH_BYTES_MAX, "%.*s/weir/v1/health", (int)bytes, url) <
           PATH_BYTES_MAX;
}

/* A server that wants a token says so in its own words. */
static bool is_weir(const struct wr_http_answer *answer, weir_span body)
{
    if (answer->status == 200)
        return wr_span_find(body, WR_LIT("\"uptime_s\":"), 0) != SIZE_MAX;
    return wr_span_find(body, WR_LIT("\"code\":\"weir\""), 0) != SIZE_MAX;
}

static void look_at_address(struct look *look, const char *url)
{
    struct wr_http_answer answer;
    struct wr_buf body;
    char health[PATH_BYTES_MAX];

    if (!health_url(url, health)) {
        add_finding(look, WR_FINDING_OK, "`weir run` stands in front of it, and asks it",
                    "leads to ", url);
        return;
    }
    wr_buf_init(&body, HEALTH_BYTES_MAX);
    wr_http_get_local(health, WR_LAUNCH_HEALTH_MS_MAX, &body, &answer);
    if (!answer.status) {
        add_finding(
            look, WR_FINDING_FAIL,
            "nobody answers there: start `weir serve --listen` with that address, or take it out "
            "(`weir run` needs no setting)",
            "leads to ", url);
    } else if (is_weir(&answer, wr_buf_view(&body))) {
        look->has_weir = true;
        add_finding(look, WR_FINDING_OK, "", "leads to the Weir at ", url);
    } else {
        add_finding(look, WR_FINDING_OK, "`weir run` stands in front of it, and asks it",
                    "leads to a server that is not Weir, ", url);
    }
    wr_buf_release(&body);
}

static void look_at_addresses(struct look *look, const struct wr_own *own)
{
    for (size_t i = 0; i < own->upstreams_count; i++)
        look_at_address(look, own->upstreams[i].url);
}

/* ---- files ---- */

static bool names_weir_in_json(const struct wr_json *doc, const char *section)
{
    wr_json_id list = section ? wr_json_find(doc, 0, section) : WR_JSON_NONE;
    return list != WR_JSON_NONE && wr_json_find(doc, list, "weir") != WR_JSON_NONE;
}

static void look_at_json(struct look *look, struct wr_own *own)
{
    struct wr_arena *arena = &look->doctor->arena;
    struct weir_err err = {0};
    struct wr_json doc;
    char why[128];

    if (wr_own_parse(&doc, arena, look->text, &err)) {
        size_t line = 1;
        for (size_t i = 0; i < err.at_byte && i < look->text.len; i++)
            line += look->text.ptr[i] == '\n';
        (void)snprintf(why, sizeof(why), "line %zu is no JSON", line);
        add_finding(look, WR_FINDING_FAIL, "mend it, or its agent does not heed it", why, "");
        return;
    }
    look->has_recall = names_weir_in_json(&doc, look->file->mcp_section);
    wr_own_read_json(own, arena, look->file->format, look->text);
}

/* Where an agent says which MCP servers it has in a file of their own. */
static bool is_in_claude_json(struct look *look)
{
    const char *dir = wr_environment_find(look->environment, "CLAUDE_CONFIG_DIR");
    const char *home = wr_environment_find(look->environment, "HOME");
    char path[PATH_BYTES_MAX];
    weir_span text;
    struct wr_json doc;

    (void)snprintf(path, sizeof(path), "%s/.claude.json", dir ? dir : home ? home : "");
    return wr_own_file(&look->doctor->arena, path, &text) &&
           !wr_own_parse(&doc, &look->doctor->arena, text, NULL) &&
           names_weir_in_json(&doc, "mcpServers");
}

static void look_at_recall(struct look *look)
{
    const struct file *file = look->file;

    if (!look->has_weir || !file->mcp_by_hand)
        return;
    if (file->format == WR_OWN_CLAUDE)
        look->has_recall = is_in_claude_json(look);
    if (look->has_recall)
        add_finding(look, WR_FINDING_OK, "", "weir_recall is among its MCP servers", "");
    else
        add_finding(
            look, WR_FINDING_WARN, file->mcp_by_hand,
            "has no MCP server called weir: what was taken out cannot be brought back, so less is",
            "");
}

static void look_at_file(struct look *look)
{
    struct wr_own own = {.upstreams_count = 0};

    if (!wr_own_file(&look->doctor->arena, look->path, &look->text)) {
        if (errno != ENOENT && errno != ENOTDIR)
            add_finding(look, WR_FINDING_WARN, "see who owns it, and its mode",
                        "cannot be read: ", strerror(errno));
        return;
    }
    if (look->file->format == WR_OWN_CODEX)
        wr_own_read_codex(&own, &look->doctor->arena, look->text);
    else
        look_at_json(look, &own);
    look->has_recall |= own.has_recall;
    look_at_addresses(look, &own);
    look_at_recall(look);
    if (!look->said_count)
        add_finding(look, WR_FINDING_OK, "", "can be read, and names no address", "");
}

static void look_at_environment(struct wr_doctor *doctor, char **environment)
{
    static const struct wr_agent none = {.own = WR_OWN_NONE};
    struct look look = {.doctor = doctor, .path = "the environment"};
    struct wr_own own;

    wr_own_read(&own, &doctor->arena, &none, environment, "");
    look_at_addresses(&look, &own);
}

void wr_doctor_settings(struct wr_doctor *doctor, char **environment)
{
    const char *home = wr_environment_find(environment, "HOME");
    char path[PATH_BYTES_MAX];

    for (size_t i = 0; i < WR_COUNT_OF(files); i++) {
        const struct file *file = &files[i];
        const char *dir = wr_environment_find(environment, file->variable);
        struct look look = {
            .doctor = doctor, .environment = environment, .file = file, .path = path};
        if (dir)
            (void)snprintf(path, sizeof(path), "%s/%s", dir, file->name);
        else
            (void)snprintf(path, sizeof(path), "%s/%s/%s", home ? home : "", file->below,
                           file->name);
        look_at_file(&look);
    }
    look_at_environment(doctor, environment);
}
