/* The doctor's questions to others: the server, the port, the upstreams, the agents.
 *
 * Upstreams are asked without a key, so that any answer is a good one: it shows that name, network
 * and certificate work. The date in the answer is compared with our clock. Agents are asked for
 * their version and given a limited time; one that does not answer is no failure.
 */
#include "launch/doctor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/span.h"
#include "launch/child.h"
#include "launch/http.h"
#include "launch/lock.h"
#include "net/host.h"

enum {
    PORT = 4141, /* of a bare `weir serve` */
    CLOCK_SKEW_S_MAX = 300,
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
