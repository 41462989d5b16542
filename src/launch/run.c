/* The folder of one run: made, filled, and taken away again with all that is in it.
 *
 * A lock on owner.lock inside says that the run is alive. The same file lists the names that Weir
 * has put into the folder. There are two ways of taking a folder away:
 *
 *   the run ends            everything in it goes, also what the agent wrote there
 *   a run that was killed   only what owner.lock lists goes; a folder that holds more stays
 *
 * The second is careful because it acts on folders that some other process made, in a place where
 * anybody may write. Both open each folder first and work below its descriptor, never by path, so
 * that a link that is put there meanwhile leads nowhere.
 */
#include "launch/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/record_row.h"
#include "json/write.h"

#define FRONT     "weir-run-"
#define LOCK_NAME "owner.lock" /* a line for each file of ours beside it */

enum { NAME_BYTES_MAX = 80, LIST_BYTES_MAX = 4096 };

const char *wr_run_dir_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent && parent[0] == '/' ? parent : "/tmp";
}

/* ---- one run's ---- */

bool wr_run_dir_make(struct wr_run_dir *dir, const char *parent)
{
    char path[WR_RUN_DIR_BYTES + NAME_BYTES_MAX];
    int bytes = snprintf(dir->path, sizeof(dir->path), "%s/" FRONT "XXXXXX", parent);

    dir->lock = -1;
    if (bytes < 0 || (size_t)bytes >= sizeof(dir->path) || !mkdtemp(dir->path)) {
        dir->path[0] = '\0';
        return false;
    }
    (void)snprintf(path, sizeof(path), "%s/" LOCK_NAME, dir->path);
    dir->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (dir->lock >= 0 && !flock(dir->lock, LOCK_EX | LOCK_NB))
        return true;
    wr_run_dir_remove(dir);
    return false;
}

bool wr_run_dir_expect(struct wr_run_dir *dir, const char *name)
{
    char line[NAME_BYTES_MAX + 2];
    int bytes = snprintf(line, sizeof(line), "%s\n", name);

    return bytes > 1 && (size_t)bytes < sizeof(line) && !strchr(name, '/') &&
           write(dir->lock, line, (size_t)bytes) == bytes;
}

bool wr_run_dir_write(struct wr_run_dir *dir, const char *name, weir_span text)
{
    char path[WR_RUN_DIR_BYTES + NAME_BYTES_MAX];

    if (!wr_run_dir_expect(dir, name))
        return false;
    (void)snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len;
    if (fd >= 0 && close(fd))
        ok = false;
    return ok;
}

void wr_run_dir_share(const struct wr_run_dir *dir)
{
    (void)fcntl(dir->lock, F_SETFD, 0);
}

/* ---- taking away ---- */

/* Everything is done below the folder that was looked at, whatever its name means by now. */
static bool remove_listed(int folder, int lock)
{
    char list[LIST_BYTES_MAX];
    ssize_t bytes = pread(lock, list, sizeof(list), 0);
    weir_span rest = {list, bytes > 0 ? (size_t)bytes : 0}, line;

    while (wr_span_line(&rest, &line)) {
        char name[NAME_BYTES_MAX + 1];
        if (!line.len || line.len > NAME_BYTES_MAX || memchr(line.ptr, '/', line.len))
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)line.len, line.ptr);
        (void)unlinkat(folder, name, 0);
    }
    return !unlinkat(folder, LOCK_NAME, 0);
}

/* A folder that is being emptied. */
struct level {
    DIR *dir;
    size_t stuck_count; /* folders in it that cannot be emptied */
};

/* Removes what is in it, except folders that are not empty: `name` gets the first of those that has
 * not been tried, "" if there is none. True: nothing is left. */
static bool empty_level(const struct level *level, char name[NAME_MAX + 1])
{
    const struct dirent *entry;
    size_t full_count = 0, left_count = 0;
    int at = dirfd(level->dir);

    name[0] = '\0';
    rewinddir(level->dir);
    while ((entry = readdir(level->dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            !unlinkat(at, entry->d_name, 0) || !unlinkat(at, entry->d_name, AT_REMOVEDIR))
            continue;
        left_count++;
        if ((errno == ENOTEMPTY || errno == EEXIST) && full_count++ == level->stuck_count)
            (void)snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
    }
    return !left_count;
}

/* Opens a folder below `at`: no link, and on the same file system, for whatever else is mounted
 * there is not the run's. */
static DIR *open_below(DIR *at, const char *name)
{
    int fd = openat(dirfd(at), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat here, there;
    bool ok =
        fd >= 0 && !fstat(dirfd(at), &here) && !fstat(fd, &there) && here.st_dev == there.st_dev;
    DIR *below = ok ? fdopendir(fd) : NULL;

    if (below)
        (void)fchmod(fd,
                     S_IRWXU); /* nothing can be removed from a folder without the right to write */
    if (!below && fd >= 0)
        (void)close(fd);
    return below;
}

/* What an agent has put into its run's folder leaves with it, as deep as it goes up to a limit.
 * Every name is taken below a folder that is held open, so that no link leads out of it. */
static void empty_tree(int folder)
{
    struct level levels[WR_LAUNCH_RUN_DEPTH_MAX] = {{.dir = NULL}};
    int fd = dup(folder);
    size_t deep = 0, tries = 0;
    char name[NAME_MAX + 1];

    levels[0].dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!levels[0].dir && fd >= 0)
        (void)close(fd);
    for (deep = levels[0].dir ? 1 : 0; deep && tries < WR_LAUNCH_RUN_FOLDERS_MAX; tries++) {
        struct level *level = &levels[deep - 1];
        bool is_empty = empty_level(level, name);
        DIR *below =
            name[0] && deep < WR_LAUNCH_RUN_DEPTH_MAX ? open_below(level->dir, name) : NULL;
        if (below) {
            levels[deep++] = (struct level){.dir = below};
        } else if (name[0]) {
            level->stuck_count++;
        } else {
            (void)closedir(level->dir);
            if (--deep)
                levels[deep - 1].stuck_count += !is_empty;
        }
    }
    while (deep)
        (void)closedir(levels[--deep].dir);
}

void wr_run_dir_remove(struct wr_run_dir *dir)
{
    int folder =
        dir->path[0] ? open(dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    if (folder >= 0) {
        empty_tree(folder);
        (void)close(folder);
        (void)rmdir(dir->path);
    }
    if (dir->lock >= 0)
        (void)close(dir->lock);
    dir->lock = -1;
    dir->path[0] = '\0';
}

/* A folder of this user's, that nobody else can have put things into. */
static bool is_own_folder(int folder)
{
    struct stat status;
    return !fstat(folder, &status) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IRWXG | S_IRWXO));
}

/* The lock is free only when the run and its agent are dead. A folder without that file is just
 * being made, or is not ours. */
static bool is_stale(int parent, const char *name, bool removes)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int lock = folder >= 0 && is_own_folder(folder)
                   ? openat(folder, LOCK_NAME, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
                   : -1;
    bool stale = lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB);

    if (stale && removes && remove_listed(folder, lock))
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    if (lock >= 0)
        (void)close(lock);
    if (folder >= 0)
        (void)close(folder);
    return stale;
}

unsigned wr_run_dirs_stale(const char *parent, bool removes)
{
    DIR *list = opendir(parent);
    const struct dirent *entry;
    unsigned count = 0, seen = 0;

    while (list && (entry = readdir(list)) && seen < WR_LAUNCH_RUN_DIRS_MAX) {
        if (strncmp(entry->d_name, FRONT, strlen(FRONT)) != 0)
            continue;
        seen++;
        count += is_stale(dirfd(list), entry->d_name, removes);
    }
    if (list)
        (void)closedir(list);
    return count;
}

/* ---- the agent as a child ---- */

enum { CANNOT_RUN = 126, NOT_FOUND = 127, SIGNAL_BASE = 128, PATH_BYTES_MAX = 4096 };

static const int passed_on[] = {SIGINT,  SIGQUIT,  SIGTERM, SIGHUP, SIGTSTP,
                                SIGCONT, SIGWINCH, SIGUSR1, SIGUSR2};

static void fill_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    for (size_t i = 0; i < WR_COUNT_OF(passed_on); i++)
        (void)sigaddset(set, passed_on[i]);
    (void)sigaddset(set, SIGCHLD);
}

/* ---- finding it ---- */

/* False: errno says why. */
static bool can_run(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return false;
    if (!S_ISREG(status.st_mode)) {
        errno = EACCES;
        return false;
    }
    return !access(path, X_OK);
}

const char *wr_child_find(struct wr_arena *arena, const char *program)
{
    const char *path = getenv("PATH");
    weir_span rest = wr_span_of(path && *path ? path : "/usr/local/bin:/usr/bin:/bin");

    if (strchr(program, '/'))
        return can_run(program) ? program : NULL;
    char *found = wr_arena_alloc(arena, PATH_BYTES_MAX);
    while (found && rest.len) {
        const char *colon = memchr(rest.ptr, ':', rest.len);
        size_t bytes = colon ? (size_t)(colon - rest.ptr) : rest.len;
        int len = snprintf(found, PATH_BYTES_MAX, "%.*s%s%s", (int)bytes, rest.ptr,
                           bytes ? "/" : "", program);
        if (len > 0 && len < PATH_BYTES_MAX && can_run(found))
            return found;
        rest = wr_span_cut(rest, colon ? bytes + 1 : bytes, rest.len);
    }
    errno = ENOENT;
    return NULL;
}

/* ---- running it ---- */

void wr_child_prepare(void)
{
    sigset_t set;
    fill_signals(&set);
    /* Whoever ignores the ends of its children is told of none, and may have started us. */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

_Noreturn static void become(const char *path, const struct wr_plan *plan)
{
    sigset_t set;

    fill_signals(&set);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    for (size_t i = 0; i < plan->env_count; i++)
        if (setenv(plan->env[i].name, plan->env[i].value, 1))
            _exit(CANNOT_RUN);
    (void)execv(path, plan->argv);
    int why = errno;
    fprintf(stderr, "weir run: %s: %s\n", path, strerror(why));
    _exit(why == ENOENT ? NOT_FOUND : CANNOT_RUN);
}

/* What the terminal sends has reached the whole group. */
static void pass_on(pid_t child, int number, bool is_terminals)
{
    if (number == SIGCONT || !is_terminals)
        (void)kill(child, number);
}

/* True: it has ended. */
static bool look_at_child(pid_t child, int *result)
{
    int status;

    while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
        if (WIFSTOPPED(status)) {
            (void)raise(SIGSTOP); /* until somebody continues us */
            continue;
        }
        *result = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
        return true;
    }
    return false;
}

int wr_child_run(const char *path, const struct wr_plan *plan)
{
    int result = CANNOT_RUN;
    sigset_t set;
    pid_t child = fork();

    if (child < 0)
        return CANNOT_RUN;
    if (!child)
        become(path, plan);
    fill_signals(&set);
    while (!look_at_child(child, &result)) {
        bool is_terminals;
        int number = wr_os_signal_wait(&set, &is_terminals);
        if (number > 0 && number != SIGCHLD)
            pass_on(child, number, is_terminals);
    }
    return result;
}

/* ---- the receipt ----
 *
 * What an agent's run has come to, from the rows that the server left in the store.
 *
 * Rows from a day before are read too, though not counted: the prices of a request depend on what
 * the provider's cache held before it.
 */

enum { DAY_MS = 24 * 60 * 60 * 1000, MICRO = 1000 * 1000 };

struct reading {
    struct wr_receipt *receipt;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of a row */
    int64_t since_ms;
};

/* ---- reading ---- */

static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->receipt->tally};
    struct wr_record record;
    weir_status status = wr_row_parse(row->line, &r->arena, &record);

    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status; /* one damaged row spoils no sum */
    bool is_ours = row->time_ms >= r->since_ms && wr_span_is(record.run, r->receipt->run);
    return wr_tallier_add(r->tallier, row, &record, tallies, is_ours ? 1 : 0);
}

weir_status wr_receipt_read(struct wr_receipt *receipt, const char *store, int64_t since_ms,
                            struct weir_err *err)
{
    struct wr_ledger_filter filter = {.since_ms = since_ms - DAY_MS};
    struct reading r = {.receipt = receipt, .since_ms = since_ms};
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger *ledger = NULL;
    struct wr_models *models = NULL;

    receipt->tally = (struct wr_tally){0};
    wr_arena_init(&r.arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    weir_status status = wr_models_new(&models, NULL, err);
    if (!status && !(r.tallier = wr_tallier_new(models)))
        status = WEIR_NOMEM;
    if (!status)
        status = wr_ledger_open(store, &options, &ledger, NULL, err);
    if (!status)
        status = wr_ledger_each(ledger, &filter, on_row, &r, err);
    wr_ledger_close(ledger);
    wr_tallier_free(r.tallier);
    wr_models_free(models);
    wr_arena_release(&r.arena);
    return status;
}

/* ---- for people ---- */

/* "1 request", "2 requests". */
static void put_count(struct wr_buf *out, uint64_t count, const char *one, const char *many)
{
    wr_buf_printf(out, "%s %s", WR_GROUPED(count), count == 1 ? one : many);
}

static void put_money(struct wr_buf *out, uint64_t micro_usd)
{
    unsigned long long rounded =
        (micro_usd + 50) / 100; /* to the nearest, as `weir report` has it */

    if (micro_usd < MICRO / 100)
        wr_buf_printf(out, "$0.%06llu", (unsigned long long)micro_usd);
    else
        wr_buf_printf(out, "$%llu.%04llu", rounded / 10000, rounded % 10000);
}

static void print_requests(const struct wr_tally *t, struct wr_buf *out)
{
    put_count(out, t->requests_count, "request", "requests");
    if (t->failed_count)
        wr_buf_printf(out, ", %s without a good answer", WR_GROUPED(t->failed_count));
    if (t->shadow_count == t->requests_count)
        wr_buf_text(out, ", in shadow: all were sent as they came\n");
    else if (!t->changed_count)
        wr_buf_text(out, ". Nothing was changed: all were sent as they came\n");
    else
        wr_buf_printf(out, ", %s changed; prompt tokens %s -> %s\n", WR_GROUPED(t->changed_count),
                      WR_GROUPED(t->raw_tokens), WR_GROUPED(t->sent_tokens));
}

/* Tokens alone: what a cache that never saw these prompts would have cost is not known. */
static void print_shadow(const struct wr_tally *t, const char *prefix, struct wr_buf *out)
{
    uint64_t raw = t->shadow_prompt_tokens, would = t->shadow_would_send_tokens;

    if (!raw)
        return;
    wr_buf_printf(out, "%sshadow: their prompts, %s tokens by estimate, would have been %s", prefix,
                  WR_GROUPED(raw), WR_GROUPED(would));
    if (would <= raw)
        wr_buf_printf(out, " (%llu %% less)", (unsigned long long)((raw - would) * 100 / raw));
    wr_buf_text(out, "; nothing of it was saved\n");
}

/* What was saved, or lost. Of prompts that would have been refused there is nothing to compare
 * with: the session would have ended there, or begun anew. */
static void print_difference(const struct wr_tally *t, struct wr_buf *out)
{
    uint64_t real = t->micro_usd, raw = t->unchanged_micro_usd;
    bool is_dearer = raw < real;

    if (t->refused_count) {
        wr_buf_text(out, "; ");
        put_count(out, t->refused_count, "request fits", "requests fit");
        wr_buf_text(out, " now and would have been refused unchanged");
    }
    if (t->refused_count && is_dearer)
        return;
    wr_buf_text(out, "; unchanged it would have been ");
    put_money(out, raw);
    wr_buf_text(out, is_dearer ? ": DEARER by " : ": saved ");
    put_money(out, is_dearer ? real - raw : raw - real);
    if (raw)
        wr_buf_printf(out, " (%llu %%)",
                      (unsigned long long)((is_dearer ? real - raw : raw - real) * 100 / raw));
    if (is_dearer && !t->changed_count)
        wr_buf_text(out, ", by what Weir's own tools take in the prompt");
}

static void print_money(const struct wr_tally *t, struct wr_buf *out)
{
    if (t->unpriced_count == t->requests_count) {
        wr_buf_text(out, "what it cost is not known: no price is known of its models\n");
        return;
    }
    put_money(out, t->micro_usd);
    wr_buf_text(out, " at cache prices");
    if (t->changed_count || t->unchanged_micro_usd < t->micro_usd)
        print_difference(t, out);
    if (t->estimated_count) {
        wr_buf_text(out, "; ");
        put_count(out, t->estimated_count, "request is", "requests are");
        wr_buf_text(out, " estimated");
    }
    if (t->unpriced_count)
        wr_buf_printf(out, "; %s of models without known prices are in no sum",
                      WR_GROUPED(t->unpriced_count));
    wr_buf_byte(out, '\n');
}

/* Our own steps are planned, and paid for in the sum above; what others broke is a loss. */
static void print_recalls_and_busts(const struct wr_tally *t, struct wr_buf *out)
{
    const char *before = "; cache lost by others: ";

    put_count(out, t->quality.recalls, "recall", "recalls");
    wr_buf_printf(out, ", %s missed", WR_GROUPED(t->quality.missing_artifact_requests));
    if (t->busts[WR_BUST_WEIR]) {
        wr_buf_text(out, "; ");
        put_count(out, t->busts[WR_BUST_WEIR], "planned rewrite", "planned rewrites");
        wr_buf_text(out, " of the cache (");
        put_count(out, t->bust_tokens[WR_BUST_WEIR], "token", "tokens");
        if (t->steps_micro_usd) {
            wr_buf_text(out, ", ");
            put_money(out, t->steps_micro_usd);
        }
        wr_buf_text(out, ", in the sum)");
    }
    for (int i = 0; i < WR_BUSTS_COUNT; i++) {
        if (!t->busts[i] || i == WR_BUST_WEIR)
            continue;
        wr_buf_printf(out, "%s%s %s (", before, wr_bust_name((enum wr_bust)i),
                      WR_GROUPED(t->busts[i]));
        put_count(out, t->bust_tokens[i], "token)", "tokens)");
        before = ", ";
    }
    wr_buf_byte(out, '\n');
}

void wr_receipt_print(const struct wr_receipt *receipt, const char *prefix, struct wr_buf *out)
{
    const struct wr_tally *t = &receipt->tally;

    if (!t->requests_count && !receipt->tally.passed_count) {
        wr_buf_printf(out,
                      "%sno request came through Weir; if it asked a model, it did so elsewhere\n",
                      prefix);
        return;
    }
    if (t->requests_count) {
        wr_buf_text(out, prefix);
        print_requests(t, out);
        print_shadow(t, prefix, out);
        wr_buf_text(out, prefix);
        print_money(t, out);
        wr_buf_text(out, prefix);
        print_recalls_and_busts(t, out);
    }
    if (!receipt->tally.passed_count)
        return;
    wr_buf_text(out, prefix);
    put_count(out, receipt->tally.passed_count, "request", "requests");
    wr_buf_text(out, " passed through unread, ");
    put_count(out, receipt->tally.passed_bytes, "byte", "bytes");
    wr_buf_text(out, " both ways\n");
}

/* ---- for programs ---- */

void wr_receipt_write(const struct wr_receipt *receipt, int exit_status, struct wr_buf *out)
{
    const struct wr_tally *t = &receipt->tally;
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "run", receipt->run);
    wr_json_member_word(&w, "agent", receipt->agent);
    wr_json_member_i64(&w, "exit_status", exit_status);
    wr_tally_write_sums(t, &w);
    wr_json_member_number(&w, "recalls", t->quality.recalls);
    wr_json_member_number(&w, "recalls_missed", t->quality.missing_artifact_requests);
    wr_tally_write_busts(&w, "cache_busts", t->busts);
    wr_tally_write_busts(&w, "cache_bust_tokens", t->bust_tokens);
    wr_json_member_number(&w, "passed_requests", receipt->tally.passed_count);
    wr_json_member_number(&w, "passed_bytes", receipt->tally.passed_bytes);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}
