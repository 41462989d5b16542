/* The doctor's findings, and those of its questions that this machine alone can answer: versions,
 * open files, the store, folders of runs that were killed, the clock. Then others are asked, and
 * what agents are told is looked at; doctor_recall.c looks at recall servers and hooks.
 *
 * Every question ends in findings: a level, a text and, if something is wrong, what to do about
 * it. Nothing is changed in order to find something out. That is why a store that does not exist
 * is not opened, which would make it: the doctor looks for the nearest folder above it and asks
 * whether one could be made there. A store is read whole only while that takes about a second.
 */
#include "launch/doctor.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"
#include "launch/own_settings.h"
#include "launch/run.h"
#include "launch/serving.h"
#include "net/http.h"
#include "weir/weir.h"

enum {
    FILES_MIN = 1024,       /* two for every open request, and some */
    CLOCK_SKEW_S_MAX = 300, /* what a cache that lives five minutes can bear */
    TEXT_BYTES_MAX = 4096,
};

static const uint64_t free_bytes_min = 64ULL << 20, free_bytes_low = 1ULL << 30;
static const uint64_t verified_bytes_max = 256ULL << 20; /* what is read whole in a second or so */

void wr_doctor_init(struct wr_doctor *doctor)
{
    *doctor = (struct wr_doctor){.store = NULL};
    wr_arena_init(&doctor->arena, WR_LAUNCH_MEMORY_BYTES_MAX);
}

void wr_doctor_release(struct wr_doctor *doctor)
{
    wr_arena_release(&doctor->arena);
}

const char *wr_finding_level_name(enum wr_finding_level level)
{
    static const char *const names[] = {"ok", "warn", "fail"};
    return names[level];
}

void wr_doctor_add(struct wr_doctor *doctor, enum wr_finding_level level, const char *name,
                   const char *advice, const char *format, ...)
{
    char *text = wr_arena_alloc(&doctor->arena, TEXT_BYTES_MAX);
    va_list args;

    doctor->has_failed = doctor->has_failed || level == WR_FINDING_FAIL;
    if (!text || doctor->findings_count == WR_FINDINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, TEXT_BYTES_MAX, format, args);
    va_end(args);
    doctor->findings[doctor->findings_count++] =
        (struct wr_finding){.level = level, .name = name, .text = text, .advice = advice};
}

void wr_doctor_versions(struct wr_doctor *doctor)
{
    wr_doctor_add(doctor, WR_FINDING_OK, "version", "",
                  "weir %s; sqlite %s, curl %s, openssl %s, libuv %s, zlib %s, zstd %s",
                  weir_version(), sqlite3_libversion(), curl_version_info(CURLVERSION_NOW)->version,
                  OpenSSL_version(OPENSSL_VERSION_STRING), uv_version_string(), zlibVersion(),
                  ZSTD_versionString());
}

void wr_doctor_limits(struct wr_doctor *doctor)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    bool is_low = limit.rlim_max < FILES_MIN;
    wr_doctor_add(doctor, is_low ? WR_FINDING_WARN : WR_FINDING_OK, "limits",
                  is_low ? "raise it: ulimit -Hn 65536, or LimitNOFILE= of the service" : "",
                  "%s files may be open at a time", WR_GROUPED(limit.rlim_max));
}

/* ---- the store ---- */

static void look_at_room(struct wr_doctor *doctor)
{
    struct statvfs disk;

    if (statvfs(doctor->store, &disk))
        return;
    uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    enum wr_finding_level level = bytes < free_bytes_min   ? WR_FINDING_FAIL
                                  : bytes < free_bytes_low ? WR_FINDING_WARN
                                                           : WR_FINDING_OK;
    wr_doctor_add(doctor, level, "disk",
                  level ? "make room, or `weir store gc`: a full disk stops what is taken out" : "",
                  "%s MiB free", WR_GROUPED(bytes >> 20));
}

static void look_at_owner(struct wr_doctor *doctor)
{
    struct stat status;

    if (stat(doctor->store, &status))
        return;
    unsigned others = status.st_mode & (S_IRWXG | S_IRWXO);
    wr_doctor_add(doctor, others ? WR_FINDING_WARN : WR_FINDING_OK, "permissions",
                  others ? "it holds what your agents read: chmod 700 the directory" : "",
                  "%s has mode %04o", doctor->store, (unsigned)status.st_mode & 07777);
}

static void verify_store(struct wr_doctor *doctor, struct weir_store *store,
                         const struct weir_store_stats *stats)
{
    struct weir_verify_report report = {0};
    struct weir_err err = {0};

    if (stats->text_bytes > verified_bytes_max) {
        wr_doctor_add(doctor, WR_FINDING_OK, "store", "",
                      "%llu originals; not read whole here, `weir store verify` does",
                      (unsigned long long)stats->artifacts_count);
        return;
    }
    if (weir_store_verify(store, NULL, NULL, &report, &err)) {
        wr_doctor_add(doctor, WR_FINDING_FAIL, "store", "try again when no server is busy", "%s",
                      err.text);
        return;
    }
    bool is_damaged = report.corrupt_count || report.has_damage;
    wr_doctor_add(doctor, is_damaged ? WR_FINDING_FAIL : WR_FINDING_OK, "store",
                  is_damaged ? "`weir store verify` names what is lost; move the store away for a "
                               "new one"
                             : "",
                  "%s: %llu originals, %llu sessions, %llu damaged%s%s", doctor->store,
                  (unsigned long long)stats->artifacts_count,
                  (unsigned long long)stats->sessions_count,
                  (unsigned long long)report.corrupt_count, report.has_damage ? "; " : "",
                  report.has_damage ? report.damage : "");
}

/* The nearest folder above that is there. */
static void find_folder(char *path)
{
    struct stat status;

    while (stat(path, &status) && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (!slash) {
            (void)snprintf(path, 2, ".");
            return;
        }
        slash[slash == path] = '\0';
    }
}

/* A store that does not exist yet is fine if it can be made; it is not made to find that out. */
static void look_at_place(struct wr_doctor *doctor)
{
    char folder[TEXT_BYTES_MAX];
    struct stat status;
    struct statvfs disk;
    const char *why = NULL;

    (void)snprintf(folder, sizeof(folder), "%s", doctor->store);
    find_folder(folder);
    if (stat(folder, &status) || access(folder, W_OK | X_OK))
        why = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        why = "it is no folder";
    else if (statvfs(folder, &disk) || !disk.f_blocks)
        why = "it keeps no files";
    else if (disk.f_flag & ST_RDONLY)
        why = "it can only be read";
    if (why)
        wr_doctor_add(doctor, WR_FINDING_FAIL, "store",
                      "without it nothing is taken out; --store DIR names another",
                      "%s: there is none, and in %s none can be made: %s", doctor->store, folder,
                      why);
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "store", "",
                      "%s: none yet, made when it is needed, which %s allows", doctor->store,
                      folder);
}

void wr_doctor_store(struct wr_doctor *doctor)
{
    struct weir_store_options options = {.must_exist = true};
    struct weir_store_stats stats = {0};
    struct weir_store *store = NULL;
    weir_trouble trouble = WEIR_TROUBLE_NONE;
    struct weir_err err = {0};

    weir_status status = weir_store_open(doctor->store, &options, &store, &trouble, &err);
    if (status && trouble == WEIR_TROUBLE_MISSING) {
        look_at_place(doctor);
        return;
    }
    if (!status)
        status = weir_store_stats(store, &stats, &err);
    if (status)
        wr_doctor_add(doctor, WR_FINDING_FAIL, "store",
                      "without it nothing is taken out; --store DIR names another", "%s: %s",
                      doctor->store, err.text);
    else
        verify_store(doctor, store, &stats);
    weir_store_close(store);
    look_at_owner(doctor);
    look_at_room(doctor);
}

/* ---- runs ---- */

void wr_doctor_runs(struct wr_doctor *doctor)
{
    const char *parent = wr_run_dir_parent();
    unsigned count = wr_run_dirs_stale(parent, false);
    char text[16];

    (void)snprintf(text, sizeof(text), "%u", count);
    wr_doctor_add(doctor, count ? WR_FINDING_WARN : WR_FINDING_OK, "runs",
                  count ? "the next `weir run` takes them away" : "",
                  "%s has %s folder%s of a run that was killed", parent, count ? text : "no",
                  count > 1 ? "s" : "");
}

/* ---- the clock ---- */

/* A file cannot have been written later than now. */
void wr_doctor_clock(struct wr_doctor *doctor)
{
    static const char *const names[] = {"", "/store.db", "/requests.jsonl"};
    char path[TEXT_BYTES_MAX];
    int64_t newest_s = 0;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        struct stat status;
        (void)snprintf(path, sizeof(path), "%s%s", doctor->store, names[i]);
        if (!stat(path, &status) && status.st_mtime > newest_s)
            newest_s = status.st_mtime;
    }
    int64_t ahead_s = newest_s - doctor->now_s;
    bool is_wrong = ahead_s > CLOCK_SKEW_S_MAX;
    if (is_wrong)
        wr_doctor_add(doctor, WR_FINDING_WARN, "clock",
                      "set the clock: what is cold and what may be collected goes by it",
                      "the store was written %lld s in the future: the clock went back",
                      (long long)ahead_s);
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "clock", "",
                      "no file of the store is from the future");
}

/* ---- questions to others ----
 *
 * The doctor's questions to others: the server, the port, the upstreams, the agents.
 *
 * Upstreams are asked without a key, so that any answer is a good one: it shows that name, network
 * and certificate work. The date in the answer is compared with our clock. Agents are asked for
 * their version and given a limited time; one that does not answer is no failure.
 */

enum {
    PORT = 4141, /* of a bare `weir serve` */
    URL_BYTES_MAX = 512,
    VERSION_MS_MAX = 10 * 1000,
};

/* ---- the server ---- */

/* Whether somebody else has it. */
static bool is_taken(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = wr_os_socket(AF_INET, SOCK_STREAM, 0), on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    bool taken =
        fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) && errno == EADDRINUSE;
    if (fd >= 0)
        (void)close(fd);
    return taken;
}

static void look_at_port(struct wr_doctor *doctor, uint32_t ours)
{
    if (ours == PORT)
        return;
    if (is_taken(PORT))
        wr_doctor_add(doctor, WR_FINDING_WARN, "port",
                      "weir serve --listen 127.0.0.1:0 takes another; `weir run` does so anyway",
                      "127.0.0.1:%d is taken by another program", (int)PORT);
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "port", "", "127.0.0.1:%d is free", (int)PORT);
}

void wr_doctor_server(struct wr_doctor *doctor)
{
    struct wr_server_facts facts;
    struct wr_http_answer answer;
    char url[URL_BYTES_MAX];

    if (wr_lock_find(doctor->store, &doctor->arena, &facts)) {
        wr_doctor_add(doctor, WR_FINDING_OK, "server", "",
                      "none runs on this store; `weir serve` starts one, `weir run` its own");
        look_at_port(doctor, 0);
        return;
    }
    (void)snprintf(url, sizeof(url), "http://%s:%u/weir/v1/health", facts.host, facts.port);
    wr_http_get_local(url, WR_LAUNCH_HEALTH_MS_MAX, NULL, &answer);
    bool is_well = answer.status == 200 || (answer.status == 401 && facts.needs_token);
    wr_doctor_add(doctor, is_well ? WR_FINDING_OK : WR_FINDING_FAIL, "server",
                  is_well ? "" : "end it (kill its process) and start it again",
                  "process %lld on %s:%u, mode %s, policy %s: %s", (long long)facts.pid, facts.host,
                  facts.port, facts.mode, facts.policy, is_well ? "answers" : "does not answer");
    look_at_port(doctor, facts.port);
}

/* ---- the upstreams ---- */

static bool is_default(const struct wr_upstream *upstream)
{
    struct wr_config *defaults = wr_config_new();
    const struct wr_upstream *known =
        defaults ? wr_config_find(defaults, wr_span_of(upstream->name)) : NULL;
    bool is_same = known && !strcmp(known->base_url, upstream->base_url);

    wr_config_free(defaults);
    return is_same;
}

static void compare_clocks(struct wr_doctor *doctor, const char *name, int64_t date_s)
{
    int64_t ahead_s = doctor->now_s - date_s;

    if (date_s > 0 && (ahead_s > CLOCK_SKEW_S_MAX || ahead_s < -CLOCK_SKEW_S_MAX))
        wr_doctor_add(doctor, WR_FINDING_WARN, "clock", "set the clock",
                      "it differs from that of %s by %lld s", name, (long long)ahead_s);
}

/* Nobody said that there is one: it is asked only by who has it. */
static bool may_be_absent(const struct wr_upstream *upstream)
{
    struct wr_host host;
    return is_default(upstream) && wr_host_of_url(wr_span_of(upstream->base_url), &host) &&
           wr_host_is_private(host.name);
}

/* Any answer is a good one: without a key it is a refusal. */
static bool ask_upstream(struct wr_doctor *doctor, const struct wr_upstream *upstream)
{
    struct wr_http_answer answer;

    wr_http_get(upstream->base_url, upstream->proxy, doctor->config->ca_file,
                WR_LAUNCH_UPSTREAM_MS_MAX, &answer);
    if (answer.status) {
        wr_doctor_add(doctor, WR_FINDING_OK, "upstream", "",
                      "%s %s: connected in %u ms, answers %d without a key", upstream->name,
                      upstream->base_url, answer.connect_ms, answer.status);
        compare_clocks(doctor, upstream->name, answer.date_s);
        return true;
    }
    if (!answer.has_connected && may_be_absent(upstream)) {
        wr_doctor_add(doctor, WR_FINDING_OK, "upstream", "", "%s %s: none runs there",
                      upstream->name, upstream->base_url);
        return false;
    }
    wr_doctor_add(doctor, WR_FINDING_FAIL, "upstream",
                  answer.has_connected ? "it is there; look at its certificate, or a proxy between"
                                       : "look at the network, HTTPS_PROXY, and the address",
                  "%s %s: %s", upstream->name, upstream->base_url, answer.why);
    return false;
}

void wr_doctor_upstreams(struct wr_doctor *doctor)
{
    const struct wr_config *config = doctor->config;
    size_t asked = 0, reached = 0;

    if (doctor->is_offline) {
        wr_doctor_add(doctor, WR_FINDING_OK, "upstream", "", "not asked: --offline");
        return;
    }
    for (size_t i = 0; i < config->upstreams_count; i++) {
        if (!doctor->asks_all_upstreams && is_default(&config->upstreams[i]))
            continue;
        asked++;
        reached += ask_upstream(doctor, &config->upstreams[i]);
    }
    if (asked > 1 && !reached)
        wr_doctor_add(doctor, WR_FINDING_FAIL, "network", "--offline leaves these questions out",
                      "no upstream was reached: this machine seems to be offline");
}

/* ---- the agents ---- */

static void read_version(int fd, pid_t child, char version[WR_DOCTOR_VERSION_BYTES])
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    size_t bytes = 0;

    while (bytes + 1 < WR_DOCTOR_VERSION_BYTES && poll(&ready, 1, VERSION_MS_MAX) == 1) {
        ssize_t got = read(fd, version + bytes, WR_DOCTOR_VERSION_BYTES - 1 - bytes);
        if (got <= 0)
            break;
        bytes += (size_t)got;
    }
    version[bytes] = '\0';
    version[strcspn(version, "\r\n")] = '\0';
    for (char *at = version; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    (void)kill(child, SIGKILL);
}

void wr_doctor_ask_version(const char *path, char version[WR_DOCTOR_VERSION_BYTES])
{
    int out[2];

    version[0] = '\0';
    if (wr_os_pipe(out))
        return;
    pid_t child = fork();
    if (!child) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0 &&
            dup2(nothing, STDERR_FILENO) >= 0)
            (void)execl(path, path, "--version", (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    if (child > 0) {
        read_version(out[0], child, version);
        (void)waitpid(child, NULL, 0);
    }
    (void)close(out[0]);
}

static void say_agent(struct wr_doctor *doctor, const struct wr_agent *agent, const char *version,
                      const char *path)
{
    const char *detour = agent->refusal ? agent->refusal : wr_agent_detour(agent, environ);

    if (detour)
        wr_doctor_add(doctor, WR_FINDING_WARN, "agent", "run it without Weir",
                      "%s %s at %s cannot go through Weir: %s", agent->name, version, path, detour);
    else if (!agent->tried)
        wr_doctor_add(doctor, WR_FINDING_OK, "agent", "", "%s %s at %s: weir run -- %s (untried)",
                      agent->name, version, path, agent->name);
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "agent", "",
                      "%s %s at %s: weir run -- %s (tried with %s)", agent->name, version, path,
                      agent->name, agent->tried);
}

void wr_doctor_agents(struct wr_doctor *doctor)
{
    char version[WR_DOCTOR_VERSION_BYTES];
    size_t found = 0;

    for (size_t i = 0; wr_agent_at(i); i++) {
        const struct wr_agent *agent = wr_agent_at(i);
        const char *path =
            wr_agent_is_known(agent) ? wr_child_find(&doctor->arena, agent->name) : NULL;
        if (!path)
            continue;
        found++;
        wr_doctor_ask_version(path, version);
        say_agent(doctor, agent, version, path);
    }
    if (!found)
        wr_doctor_add(doctor, WR_FINDING_WARN, "agent",
                      "`weir run --list` names those that are known",
                      "no agent that is known is in PATH");
}

/* ---- what agents are told ----
 *
 * The doctor's look at what agents are told by their own files and by the environment: whether it
 * can be read, and whether the addresses in it lead to a Weir that runs.
 *
 * Of JSON it says which line is wrong, because the reader knows it. Of Codex's TOML it does not:
 * Codex refuses to start with a broken one and names the line itself
 * (docs/decisions/007-no-toml-reader.md).
 */

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
