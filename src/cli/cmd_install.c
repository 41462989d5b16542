/* `weir install` and `weir uninstall`: Weir that stays, and leaves without a trace.
 *
 * All is planned first, shown as a diff, asked for, and then done (launch/install.c). The service
 * is a file like the others; systemd or launchd is told of it afterwards, and where that fails the
 * command to type is said: a machine without a session bus is no reason to undo the rest.
 */
#include "cli/cmd.h"

#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "launch/agents.h"
#include "launch/install.h"

struct install_values {
    const char *store, *listen, *service;
    bool by_hook, says_yes, shows_status, only_shows;
};

static const struct install_values defaults = {.listen = "127.0.0.1:4141"};

#define VALUES struct install_values

static void list_agents(wr_word_fn *each, void *user)
{
    for (size_t i = 0; wr_install_agent_at(i); i++)
        each(user, wr_install_agent_at(i), wr_agent_find(wr_install_agent_at(i))->what);
}

static const struct wr_option options[] = {
    {"yes", WR_FLAG(says_yes), "does it without asking"},
    {"dry-run", WR_FLAG(only_shows), "shows what would be changed, and changes nothing"},
    {"status", WR_FLAG(shows_status), "says what is installed, and whether it can be taken back"},
    {"hook", WR_FLAG(by_hook),
     "the agents call `weir hook` after a tool, in place of a server: claude and opencode"},
    {"listen", WR_TEXT("HOST:PORT", listen), "where the server is; 127.0.0.1:4141 unless told"},
    {"store", WR_DIR(store), "the server's store; unless told the usual one"},
    {"service", WR_CHOICE("WHICH", service),
     "systemd, launchd (untested) or none; unless told the one of this system",
     .words = "systemd launchd none"},
};

static const struct wr_option undo_options[] = {
    {"yes", WR_FLAG(says_yes), "does it without asking"},
};

/* ---- where things are ---- */

static const char *state_folder(struct wr_buf *path)
{
    const char *state = wr_environment_find(environ, "XDG_STATE_HOME");
    const char *home = wr_environment_find(environ, "HOME");

    wr_buf_init(path, 4096);
    if (state)
        wr_buf_printf(path, "%s/weir/install", state);
    else if (home)
        wr_buf_printf(path, "%s/.local/state/weir/install", home);
    wr_buf_byte(path, '\0');
    return (state || home) && !wr_buf_status(path) ? path->bytes : NULL;
}

/* The service begins elsewhere. */
static const char *whole_path(const char *path, char room[PATH_MAX])
{
    char here[PATH_MAX];

    if (!path || *path == '/' || !getcwd(here, sizeof(here)))
        return path;
    int bytes = snprintf(room, PATH_MAX, "%s/%s", here, path);
    return bytes < PATH_MAX ? room : path;
}

static enum wr_install_service service_of(const struct install_values *o)
{
    struct utsname system;
    bool is_mac = !uname(&system) && !strcmp(system.sysname, "Darwin");

    if (o->by_hook || (o->service && !strcmp(o->service, "none")))
        return WR_SERVICE_NONE;
    if (o->service)
        return !strcmp(o->service, "launchd") ? WR_SERVICE_LAUNCHD : WR_SERVICE_SYSTEMD;
    return is_mac ? WR_SERVICE_LAUNCHD : WR_SERVICE_SYSTEMD;
}

/* ---- asking ---- */

static bool is_agreed(const struct install_values *o, const char *question)
{
    char answer[16];

    if (o->says_yes)
        return true;
    if (!isatty(STDIN_FILENO)) {
        wr_cli_fail("nothing was changed: nobody is there to ask, and --yes is not given");
        return false;
    }
    printf("%s [y/N] ", question);
    (void)fflush(stdout);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* ---- the service's manager ---- */

static bool run_quietly(char *const *argv)
{
    posix_spawn_file_actions_t actions;
    int status = 1;
    pid_t pid;

    if (posix_spawn_file_actions_init(&actions))
        return false;
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
    bool ok = !posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return ok && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static char *const *manager_words(enum wr_install_service service, bool starts)
{
    static char *const systemd_start[] = {"systemctl", "--user",       "enable",
                                          "--now",     "weir.service", NULL};
    static char *const systemd_stop[] = {"systemctl", "--user",       "disable",
                                         "--now",     "weir.service", NULL};
    static char *const launchd_start[] = {"sh", "-c",
                                          "launchctl load ~/Library/LaunchAgents/weir.plist", NULL};
    static char *const launchd_stop[] = {
        "sh", "-c", "launchctl unload ~/Library/LaunchAgents/weir.plist", NULL};

    if (service == WR_SERVICE_SYSTEMD)
        return starts ? systemd_start : systemd_stop;
    return starts ? launchd_start : launchd_stop;
}

static bool reload_manager(enum wr_install_service service)
{
    char *const reload[] = {"systemctl", "--user", "daemon-reload", NULL};
    return service != WR_SERVICE_SYSTEMD || run_quietly(reload);
}

static void start_service(enum wr_install_service service)
{
    char *const *words = manager_words(service, true);

    if (service == WR_SERVICE_NONE || (reload_manager(service) && run_quietly(words)))
        return;
    printf("The service could not be started here. Type `");
    for (size_t i = service == WR_SERVICE_LAUNCHD ? 2 : 0; words[i]; i++)
        printf("%s%s", i && service == WR_SERVICE_SYSTEMD ? " " : "", words[i]);
    printf("`, or start `weir serve` yourself.\n");
}

/* While its file is there: systemd neither stops nor disables what it finds no file of. */
static void stop_service(enum wr_install_service service)
{
    if (service != WR_SERVICE_NONE)
        (void)run_quietly(manager_words(service, false));
}

/* ---- install ---- */

static void show_plan(const struct wr_install *install)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < install->files_count; i++) {
        const struct wr_install_file *file = &install->files[i];
        wr_buf_printf(&out, "%s%s: %s\n", i ? "\n" : "", file->why, file->path);
        if (strcmp(file->path, file->real) != 0)
            wr_buf_printf(&out, "  (which is %s)\n", file->real);
        wr_edit_show(&out, file->before, file->after);
    }
    (void)wr_cli_write(wr_buf_view(&out));
    wr_buf_release(&out);
}

static int plan_all(struct wr_install *install, const struct wr_words *words)
{
    struct weir_err err = {0};
    weir_status status = WEIR_OK;
    size_t planned_count = 0;

    for (size_t i = 0; i < words->count && !status; i++, planned_count++)
        status = wr_install_plan_agent(install, words->items[i], &err);
    for (size_t i = 0; !words->count && wr_install_agent_at(i) && !status; i++) {
        const char *agent = wr_install_agent_at(i);
        bool has_way =
            !install->options.by_hook || !strcmp(agent, "claude") || !strcmp(agent, "opencode");
        if (!has_way || !wr_install_agent_is_here(install, agent))
            continue;
        status = wr_install_plan_agent(install, agent, &err);
        planned_count++;
    }
    if (!status && !planned_count)
        return wr_cli_fail("no agent's settings are here: name one (claude, codex, opencode, pi)");
    if (!status)
        status = wr_install_plan_service(install, &err);
    if (!status)
        return WR_EXIT_OK;
    const char *why = err.text[0] ? err.text : weir_status_text(status);
    return wr_cli_fail("%s%s nothing was changed", why, why[strlen(why) - 1] == '?' ? "" : ";");
}

static int install_plan(struct wr_install *install, const struct install_values *o)
{
    struct weir_err err = {0};

    if (!install->files_count) {
        printf("Everything is as it would be installed; nothing was changed.\n");
        return WR_EXIT_OK;
    }
    show_plan(install);
    if (o->only_shows)
        return WR_EXIT_OK;
    if (!is_agreed(o, "\nChange these files?"))
        return WR_EXIT_CHECK;
    weir_status status = wr_install_apply(install, &err);
    if (status)
        return wr_cli_fail_status(status, &err);
    start_service(install->options.service);
    printf("Installed. Copies are in %s; `weir uninstall` takes it all back.\n",
           install->options.state);
    return WR_EXIT_OK;
}

static void tell_file(void *user, const char *path, enum wr_installed how, const char *copy)
{
    static const char *const now[] = {
        "as it was before", "without Weir; your changes since stay", "was removed since",
        "what was changed since where Weir's settings were is left alone"};
    static const char *const then[] = {
        "can be taken back", "was changed since; that will stay", "was removed since",
        "was changed where Weir's settings are; that will be left alone"};
    const bool *only_looks = user;

    printf("%s: %s%s%s\n", path, (*only_looks ? then : now)[how],
           how >= WR_INSTALLED_GONE && *copy ? "; what it said is in " : "",
           how >= WR_INSTALLED_GONE ? copy : "");
}

static void tell_nothing(void *user, const char *path, enum wr_installed how, const char *copy)
{
    (void)user;
    (void)path;
    (void)how;
    (void)copy;
}

static int take_back(struct wr_install *install, bool only_looks)
{
    struct weir_err err = {0};
    size_t stuck_count;
    weir_status status =
        wr_install_undo(install, only_looks, tell_file, &only_looks, &stuck_count, &err);

    if (status == WEIR_NOTFOUND && only_looks) {
        printf("Nothing is installed.\n");
        return WR_EXIT_OK;
    }
    if (status)
        return wr_cli_fail_status(status, &err);
    if (stuck_count && !only_looks)
        printf("The list stays. When these files are as you want them, remove %s.\n",
               install->options.state);
    return stuck_count ? WR_EXIT_CHECK : WR_EXIT_OK;
}

/* Shows what would become of each file, and asks. */
static int agree_to_uninstall(struct wr_install *install, const struct install_values *o)
{
    struct weir_err err = {0};
    bool only_looks = true;
    size_t stuck_count;
    weir_status status = wr_install_undo(install, true, o->says_yes ? tell_nothing : tell_file,
                                         &only_looks, &stuck_count, &err);

    if (status)
        return wr_cli_fail_status(status, &err);
    return is_agreed(o, "Take this back?") ? WR_EXIT_OK : WR_EXIT_CHECK;
}

static int run_install(void *values, const struct wr_words *words)
{
    const struct install_values *o = values;
    struct wr_install install;
    struct wr_buf state;
    char weir[PATH_MAX], store[PATH_MAX];
    struct weir_err err = {0};
    const char *folder = state_folder(&state);
    size_t bytes = wr_os_program_path(weir, sizeof(weir));
    int code;

    if (!folder) {
        wr_buf_release(&state);
        return wr_cli_fail("HOME is not set: there is no place for settings");
    }
    wr_install_init(&install, &(struct wr_install_options){.environment = environ,
                                                           .weir = bytes ? weir : "weir",
                                                           .store = whole_path(o->store, store),
                                                           .listen = o->listen,
                                                           .state = folder,
                                                           .by_hook = o->by_hook,
                                                           .service = service_of(o)});
    if (o->shows_status)
        code = take_back(&install, true);
    else if (wr_install_check(&install, &err))
        code = wr_cli_fail("%s; nothing was changed", err.text);
    else if (wr_install_is_there(&install))
        code = wr_cli_fail("it is installed; `weir install --status` says what, and `weir "
                           "uninstall` takes it back");
    else {
        code = plan_all(&install, words);
        if (!code)
            code = install_plan(&install, o);
    }
    wr_install_release(&install);
    wr_buf_release(&state);
    return code;
}

static int run_uninstall(void *values, const struct wr_words *words)
{
    const struct install_values *o = values;
    struct wr_install_options how = {.environment = environ};
    struct wr_install install;
    struct wr_buf state;
    int code;
    (void)words;

    how.state = state_folder(&state);
    if (!how.state) {
        wr_buf_release(&state);
        return wr_cli_fail("HOME is not set: nothing can be found");
    }
    wr_install_init(&install, &how);
    if (!wr_install_is_there(&install)) {
        wr_install_sweep(&install);
        code = wr_cli_fail("nothing is installed (there is no list in %s)", how.state);
    } else if (!(code = agree_to_uninstall(&install, o))) {
        stop_service(install.options.service);
        code = take_back(&install, false);
        (void)reload_manager(install.options.service);
    }
    wr_install_release(&install);
    wr_buf_release(&state);
    return code;
}

const struct wr_command wr_cmd_install = {
    .name = "install",
    .purpose = "keeps Weir running, and agents pointed at it, for good",
    .usage = "[AGENT...] [OPTIONS]\n--status",
    .about = "Writes a service of this user's that serves, and the server's address into the "
             "settings of the agents (claude, codex, opencode, pi; without a name those whose "
             "settings are here). Shows what will be changed and asks first. Copies are kept, and "
             "`weir uninstall` takes everything back, byte for byte. What could not be undone is "
             "refused: files that are read-only, hard links, what cannot be read, a value of "
             "yours where Weir's would go. To update Weir is your package manager's work.",
    WR_OPTIONS(options),
    .defaults = &defaults,
    .words_min = 0,
    .words_max = 16,
    .list = list_agents,
    .exits = "Exit 0: done. 1: not agreed to. 2: it cannot be; nothing was changed.",
    .example = "weir install\nweir install codex --dry-run\nweir install --hook claude\n"
               "weir install --status",
    .run = run_install,
};

const struct wr_command wr_cmd_uninstall = {
    .name = "uninstall",
    .purpose = "takes back what `weir install` changed",
    .usage = "[--yes]",
    .about = "Every file that nobody changed since is what it was, byte for byte, and what was not "
             "there is gone. A file that you changed since loses Weir's settings and keeps yours. "
             "A setting of Weir's that has another value now is left alone, the file's copy is "
             "named, and the list stays. The store with your sessions stays too: `weir store` "
             "removes it.",
    WR_OPTIONS(undo_options),
    .words_min = 0,
    .words_max = 0,
    .exits = "Exit 0: all is as before. 1: not agreed to, or a setting was left alone.",
    .example = "weir uninstall\nweir uninstall --yes",
    .run = run_uninstall,
};
