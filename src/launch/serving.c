/* A server for one run of an agent: one that is found, or one that is started.
 *
 *   find     the lock of the store names it ──▶ it answers /weir/v1/health ──▶ it is as wished
 *   start    fork ──▶ its first line names its port ──▶ it answers /weir/v1/health
 *
 * What a server that was found says of itself counts, not what its file says: a reload changes
 * mode and policy. If it is not as wished, the run gets one of its own, and the user is told why.
 *
 * A started server is in a session of its own, so that Ctrl+C in the terminal does not end it
 * before the agent, which may still have a request under way; it is told to end when its parent
 * dies.
 */
#include "launch/serving.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/os.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"
#include "net/fetch.h"

/* ---- the lock of a server ----
 *
 * The file serve.lock, by which `weir run` finds the server of a store.
 *
 * Taking it: open, lock, and then look whether the path still names the file that was locked.
 * Whoever held it before may have removed it between our opening and our locking, and a lock on a
 * file without a name is found by nobody; then it is tried again.
 *
 * The lock is fcntl's and not flock's, because it belongs to one process. The workers of a server
 * that was killed inherit its descriptors and may live on for a while; with flock they would hold
 * the lock of a server that is gone. fcntl also tells who holds a lock, so finding needs no trust
 * in the pid that stands in the file.
 */

enum { PATH_BYTES_MAX = 4096, TRIES_MAX = 8 };

struct wr_lock {
    char path[PATH_BYTES_MAX];
    int fd;
};

static bool make_path(char path[PATH_BYTES_MAX], const char *dir)
{
    int bytes = snprintf(path, PATH_BYTES_MAX, "%s/" WR_LOCK_NAME, dir);
    return bytes > 0 && bytes < PATH_BYTES_MAX;
}

/* ---- what the file says ---- */

static void write_facts(struct wr_buf *out, const struct wr_server_facts *facts)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_i64(&w, "pid", facts->pid);
    wr_json_member_word(&w, "address", facts->host);
    wr_json_member_i64(&w, "port", facts->port);
    wr_json_member_word(&w, "mode", facts->mode);
    wr_json_member_word(&w, "policy", facts->policy);
    wr_json_member_i64(&w, "started_ms", facts->started_ms);
    wr_json_member_bool(&w, "one_upstream", facts->has_one_upstream);
    wr_json_member_bool(&w, "needs_token", facts->needs_token);
    wr_json_member_array(&w, "upstreams");
    for (size_t i = 0; i < facts->upstreams_count; i++)
        wr_json_write_text(&w, wr_span_of(facts->upstreams[i]));
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

static const char *copy_json_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return NULL;
    weir_span text = wr_json_text(doc, arena, id);
    char *copy = text.ptr ? wr_arena_alloc(arena, text.len + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static bool read_facts(weir_span text, struct wr_arena *arena, struct wr_server_facts *facts)
{
    struct wr_json doc;
    int64_t port = 0;

    if (wr_json_parse(&doc, arena, text, NULL, NULL))
        return false;
    facts->host = copy_json_text(&doc, arena, wr_json_find(&doc, 0, "address"));
    facts->mode = copy_json_text(&doc, arena, wr_json_find(&doc, 0, "mode"));
    facts->policy = copy_json_text(&doc, arena, wr_json_find(&doc, 0, "policy"));
    facts->has_one_upstream = wr_json_is(&doc, wr_json_find(&doc, 0, "one_upstream"), WR_JSON_TRUE);
    facts->needs_token = wr_json_is(&doc, wr_json_find(&doc, 0, "needs_token"), WR_JSON_TRUE);
    wr_json_id list = wr_json_find(&doc, 0, "upstreams"), at = wr_json_first(&doc, list);
    for (; at != WR_JSON_NONE && facts->upstreams_count < WR_PROXY_UPSTREAMS_MAX;
         at = wr_json_next(&doc, list, at)) {
        const char *name = copy_json_text(&doc, arena, at);
        if (name)
            facts->upstreams[facts->upstreams_count++] = name;
    }
    bool ok = wr_json_i64(&doc, wr_json_find(&doc, 0, "port"), &port) && port > 0 &&
              port <= UINT16_MAX &&
              wr_json_i64(&doc, wr_json_find(&doc, 0, "started_ms"), &facts->started_ms);
    facts->port = (uint32_t)port;
    return ok && facts->host && facts->mode && facts->policy;
}

/* ---- the lock ---- */

/* A lock of fcntl belongs to one process: workers that a killed server left do not hold it. */
static bool set_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return !fcntl(fd, F_SETLK, &whole);
}

/* 0: nobody. */
static int64_t holder_of(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_GETLK, &whole) || whole.l_type == F_UNLCK ? 0 : whole.l_pid;
}

/* Whether the path still names the file that was opened: its owner may have taken it away between
 * our opening and our locking it. */
static bool is_still_there(const struct wr_lock *lock)
{
    struct stat ours, there;
    return !fstat(lock->fd, &ours) && !stat(lock->path, &there) && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static weir_status lock_file(struct wr_lock *lock, int64_t *holder, struct weir_err *err)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock->fd < 0)
            return wr_fail(err, WEIR_IO, 0, "%s: %s", lock->path, strerror(errno));
        bool is_ours = set_lock(lock->fd);
        if (is_ours && is_still_there(lock))
            return WEIR_OK;
        *holder = is_ours ? 0 : holder_of(lock->fd);
        (void)close(lock->fd);
        lock->fd = -1;
        if (*holder)
            return wr_fail(err, WEIR_INVALID, 0, "process %lld holds it", (long long)*holder);
    }
    return wr_fail(err, WEIR_IO, 0, "%s: it cannot be locked", lock->path);
}

weir_status wr_lock_take(struct wr_lock **lock, const char *dir,
                         const struct wr_server_facts *facts, int64_t *holder, struct weir_err *err)
{
    struct wr_lock *l = calloc(1, sizeof(*l));
    struct wr_buf text;
    weir_status status = WEIR_NOMEM;

    wr_buf_init(&text, WR_LAUNCH_LOCK_BYTES_MAX);
    *holder = 0;
    if (!l)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    l->fd = -1;
    write_facts(&text, facts);
    status = wr_buf_status(&text);
    if (!status && !make_path(l->path, dir))
        status = wr_fail(err, WEIR_LIMIT, 0, "the path of the store is too long");
    if (!status)
        status = lock_file(l, holder, err);
    if (!status &&
        (ftruncate(l->fd, 0) || pwrite(l->fd, text.bytes, text.len, 0) != (ssize_t)text.len))
        status = wr_fail(err, WEIR_IO, 0, "%s: %s", l->path, strerror(errno));
    wr_buf_release(&text);
    if (status)
        wr_lock_release(l);
    else
        *lock = l;
    return status;
}

void wr_lock_release(struct wr_lock *lock)
{
    if (!lock)
        return;
    if (lock->fd >= 0) {
        (void)unlink(lock->path);
        (void)close(lock->fd);
    }
    free(lock);
}

weir_status wr_lock_find(const char *dir, struct wr_arena *arena, struct wr_server_facts *facts)
{
    char path[PATH_BYTES_MAX];
    char *text = wr_arena_alloc(arena, WR_LAUNCH_LOCK_BYTES_MAX);

    *facts = (struct wr_server_facts){0};
    if (!text)
        return WEIR_NOMEM;
    int fd = make_path(path, dir) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return WEIR_NOTFOUND;
    facts->pid = holder_of(fd);
    ssize_t bytes = facts->pid ? pread(fd, text, WR_LAUNCH_LOCK_BYTES_MAX, 0) : -1;
    (void)close(fd);
    if (bytes <= 0 || !read_facts((weir_span){text, (size_t)bytes}, arena, facts))
        return WEIR_NOTFOUND;
    return WEIR_OK;
}

/* ---- one GET ---- */

struct reading {
    struct wr_buf *body;
    struct wr_http_answer *answer;
};

static size_t on_data(char *bytes, size_t size, size_t count, void *user)
{
    struct reading *r = user;
    if (r->body)
        wr_buf_append(r->body, (weir_span){bytes, size * count});
    return size * count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *user)
{
    static const char name[] = "date:";
    struct reading *r = user;
    size_t len = size * count;
    char value[64];

    if (len > sizeof(name) && !strncasecmp(bytes, name, strlen(name))) {
        weir_span text = wr_span_trim((weir_span){bytes + strlen(name), len - strlen(name)});
        (void)snprintf(value, sizeof(value), "%.*s", (int)text.len, text.ptr);
        r->answer->date_s = (int64_t)curl_getdate(value, NULL);
    }
    return len;
}

static void perform_request(CURL *curl, struct wr_http_answer *answer)
{
    CURLcode code = curl_easy_perform(curl);
    curl_off_t connect_us = 0, tls_us = 0;
    long status = 0;

    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &connect_us);
    (void)curl_easy_getinfo(curl, CURLINFO_APPCONNECT_TIME_T, &tls_us);
    answer->has_connected = connect_us > 0;
    answer->connect_ms = (uint32_t)((tls_us ? tls_us : connect_us) / 1000);
    answer->status = code && !status ? 0 : (int)status;
    if (code)
        answer->why = curl_easy_strerror(code);
}

static void get_url(CURL *curl, const char *url, uint32_t ms_max, struct wr_buf *body,
                    struct wr_http_answer *answer)
{
    struct reading r = {body, answer};

    *answer = (struct wr_http_answer){.date_s = -1, .why = "out of memory"};
    if (!curl)
        return;
    answer->why = "";
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ms_max);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &r);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, &r);
    perform_request(curl, answer);
    curl_easy_cleanup(curl);
}

void wr_http_get_local(const char *url, uint32_t ms_max, struct wr_buf *body,
                       struct wr_http_answer *answer)
{
    CURL *curl = curl_easy_init();

    if (curl)
        (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    get_url(curl, url, ms_max, body, answer);
}

void wr_http_get(const char *url, const char *proxy, const char *ca_file, uint32_t ms_max,
                 struct wr_http_answer *answer)
{
    CURL *curl = curl_easy_init();
    const char *chosen = wr_fetch_proxy(proxy, url);

    if (curl && chosen) {
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, chosen);
        (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
    }
    if (!ca_file)
        ca_file = wr_ca_file_find();
    if (curl && ca_file)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    get_url(curl, url, ms_max, NULL, answer);
}

/* ---- a server for one run ---- */

enum {
    URL_BYTES_MAX = 512,
    HEALTH_BYTES_MAX = 64 * 1024,
    LINE_BYTES_MAX = 16 * 1024,
    WORDS_MAX = 18 + 2 * WR_PROVIDERS_MAX,
    WAIT_MS = 20,
};

static int64_t steady_ms(void)
{
    return (int64_t)(wr_clock_steady_us() / 1000);
}

static void pause_ms(long ms)
{
    struct timespec time = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* ---- a server that is found ---- */

/* Asks the server how it is. Its answer is newer than its file: a reload changes mode and policy.
 */
static bool ask_health(struct wr_serving *serving, struct wr_arena *arena)
{
    struct wr_http_answer answer;
    char url[URL_BYTES_MAX];
    struct wr_json doc;
    struct wr_buf body;

    (void)snprintf(url, sizeof(url), "http://%s:%u/weir/v1/health", serving->facts.host,
                   serving->facts.port);
    wr_buf_init(&body, HEALTH_BYTES_MAX);
    wr_http_get_local(url, WR_LAUNCH_HEALTH_MS_MAX, &body, &answer);
    serving->facts.is_mode_said = serving->facts.is_policy_said = true; /* if it does not say */
    /* A server that wants a token even for this is there nevertheless. */
    bool ok = answer.status == 200 || (answer.status == 401 && serving->facts.needs_token);
    weir_span text = wr_arena_copy(arena, wr_buf_view(&body));
    wr_buf_release(&body);
    if (!ok || answer.status != 200)
        return ok;
    if (!text.ptr || wr_json_parse(&doc, arena, text, NULL, NULL) ||
        !wr_json_text_is(&doc, wr_json_find(&doc, 0, "status"), "ok"))
        return false;
    serving->facts.is_mode_said =
        wr_json_is(&doc, wr_json_find(&doc, 0, "mode_said"), WR_JSON_TRUE);
    serving->facts.is_policy_said =
        wr_json_is(&doc, wr_json_find(&doc, 0, "policy_said"), WR_JSON_TRUE);
    const char **fields[] = {&serving->facts.mode, &serving->facts.policy, &serving->store};
    static const char *const names[] = {"mode", "policy", "store"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        wr_json_id id = wr_json_find(&doc, 0, names[i]);
        weir_span value =
            wr_json_is(&doc, id, WR_JSON_STRING) ? wr_json_inner(&doc, id) : (weir_span){0};
        char *copy = value.len ? wr_arena_zalloc(arena, value.len + 1) : NULL;
        if (copy)
            *fields[i] = memcpy(copy, value.ptr, value.len);
    }
    return true;
}

static bool has_upstream(const struct wr_server_facts *facts, const char *name)
{
    if (!name || facts->has_one_upstream)
        return true;
    for (size_t i = 0; i < facts->upstreams_count; i++)
        if (!strcmp(facts->upstreams[i], name))
            return true;
    return false;
}

/* Whether an address is the server's own: the user has pointed his agents at it already. */
static bool is_itself(const struct wr_server_facts *facts, const char *url)
{
    char itself[URL_BYTES_MAX];
    int bytes = snprintf(itself, sizeof(itself), "http://%s:%u", facts->host, facts->port);
    return !strncmp(url, itself, (size_t)bytes) && (!url[bytes] || url[bytes] == '/');
}

static const char *what_is_wrong(const struct wr_server_facts *facts,
                                 const struct wr_serving_wishes *wishes)
{
    size_t mode_bytes = wishes->mode ? strcspn(wishes->mode, " ") : 0;

    if (wishes->config)
        return "its configuration is its own";
    if (wishes->shadow_dir)
        return "it keeps no requests to look at";
    if (wishes->mode && (strncmp(facts->mode, wishes->mode, mode_bytes) || facts->mode[mode_bytes]))
        return "its mode is another";
    if (wishes->mode && wishes->mode[mode_bytes])
        return "the share of sessions it changes is not known"; /* "canary 10%" */
    if (wishes->policy && strcmp(facts->policy, wishes->policy))
        return "its policy is another";
    /* What is typed for this run holds for sessions that go on in it. */
    if (wishes->mode && !facts->is_mode_said)
        return "sessions keep the mode they have there";
    if (wishes->policy && !facts->is_policy_said)
        return "sessions keep the policy they have there";
    if (!has_upstream(facts, wishes->upstream))
        return "it does not have the upstream";
    for (size_t i = 0; i < wishes->own_count; i++)
        if (!is_itself(facts, wishes->own[i].url))
            return "it does not know an address that you use";
    return NULL;
}

weir_status wr_serving_find(struct wr_serving *serving, struct wr_arena *arena,
                            const struct wr_serving_wishes *wishes, const char **why_not)
{
    *why_not = NULL;
    *serving = (struct wr_serving){.child = 0};
    weir_status status = wr_lock_find(wishes->store, arena, &serving->facts);
    if (status)
        return status;
    if (!ask_health(serving, arena))
        *why_not = "it does not answer";
    else
        *why_not = what_is_wrong(&serving->facts, wishes);
    return *why_not ? WEIR_NOTFOUND : WEIR_OK;
}

/* ---- a server that is started ---- */

static size_t make_words(const struct wr_serving_wishes *wishes, struct wr_arena *arena,
                         const char *words[WORDS_MAX])
{
    const char *const options[][2] = {
        {"--store", wishes->store},   {"--listen", "127.0.0.1:0"},
        {"--mode", wishes->mode},     {"--policy", wishes->policy},
        {"--config", wishes->config}, {"--keep-shadow", wishes->shadow_dir}};
    size_t count = 0;

    words[count++] = wishes->weir;
    words[count++] = "serve";
    words[count++] = "--unlisted";
    for (size_t i = 0; i < WR_COUNT_OF(options); i++)
        if (options[i][1]) {
            words[count++] = options[i][0];
            words[count++] = options[i][1];
        }
    for (size_t i = 0; i < wishes->own_count; i++) {
        const struct wr_provider *own = &wishes->own[i];
        size_t bytes = strlen(own->name) + strlen(own->url) + sizeof("=");
        char *word = wr_arena_alloc(arena, bytes);
        if (!word)
            return 0;
        (void)snprintf(word, bytes, "%s=%s", own->name, own->url);
        words[count++] = "--upstream";
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

/* In a session of its own, so that a key pressed in the terminal does not end it before the agent
 * has ended. */
_Noreturn static void become_server(const struct wr_serving_wishes *wishes, const char **words,
                                    int out, pid_t parent)
{
    int errors = open(wishes->stderr_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    (void)setsid();
    if (!wr_parent_watch(parent, SIGTERM))
        _exit(0);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0)
        (void)execv(wishes->weir, (char **)(uintptr_t)words);
    _exit(127);
}

/* The first line says where it listens. False: there was none in time. */
static bool read_first_line(int fd, char line[LINE_BYTES_MAX])
{
    int64_t until = steady_ms() + WR_LAUNCH_START_MS_MAX;
    size_t bytes = 0;

    for (int64_t left_ms; bytes + 1 < LINE_BYTES_MAX && (left_ms = until - steady_ms()) > 0;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, (int)left_ms) <= 0)
            continue;
        ssize_t got = read(fd, line + bytes, LINE_BYTES_MAX - 1 - bytes);
        if (!got || (got < 0 && errno != EINTR))
            return false;
        bytes += got > 0 ? (size_t)got : 0;
        line[bytes] = '\0';
        if (memchr(line, '\n', bytes))
            return true;
    }
    return false;
}

static bool read_address(const char *line, struct wr_server_facts *facts)
{
    static const char before[] = "http://127.0.0.1:";
    const char *at = strstr(line, before);
    uint64_t port;

    if (!at)
        return false;
    at += strlen(before);
    if (!wr_span_u64((weir_span){at, strspn(at, "0123456789")}, &port) || port > UINT16_MAX)
        return false;
    facts->host = "127.0.0.1";
    facts->port = (uint32_t)port;
    return true;
}

static bool is_alive(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

static bool wait_until_well(struct wr_serving *serving, struct wr_arena *arena, int out)
{
    int64_t until = steady_ms() + WR_LAUNCH_START_MS_MAX;
    char *line = wr_arena_alloc(arena, LINE_BYTES_MAX);

    if (!line || !read_first_line(out, line) || !read_address(line, &serving->facts))
        return false;
    while (steady_ms() < until && is_alive(serving->child)) {
        if (ask_health(serving, arena))
            return true;
        pause_ms(WAIT_MS);
    }
    return false;
}

weir_status wr_serving_start(struct wr_serving *serving, struct wr_arena *arena,
                             const struct wr_serving_wishes *wishes, struct weir_err *err)
{
    const char *words[WORDS_MAX + 1];
    pid_t parent = getpid();
    int out[2];

    *serving = (struct wr_serving){.facts = {.mode = "", .policy = ""}};
    if (!make_words(wishes, arena, words))
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    if (wr_os_pipe(out))
        return wr_fail(err, WEIR_IO, 0, "no pipe: %s", strerror(errno));
    serving->child = fork();
    if (!serving->child)
        become_server(wishes, words, out[1], parent);
    (void)close(out[1]);
    bool ok = serving->child > 0 && wait_until_well(serving, arena, out[0]);
    (void)close(out[0]);
    if (ok)
        return WEIR_OK;
    wr_serving_end(serving);
    return wr_fail(err, WEIR_IO, 0, "the server does not start");
}

bool wr_serving_has_died(const struct wr_serving *serving)
{
    return serving->child > 0 && !is_alive(serving->child);
}

void wr_serving_end(struct wr_serving *serving)
{
    if (serving->child <= 0)
        return;
    (void)kill(serving->child, SIGTERM);
    while (waitpid(serving->child, NULL, 0) < 0 && errno == EINTR)
        ;
    serving->child = 0;
}
