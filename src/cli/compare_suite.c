/* The suite's tasks: its script is written out and asked for names, prompts and repositories.
 *
 * The script is Python, because that is what both the tasks and their checks are written in; it
 * needs nothing but its standard library. It stays outside of the folders that agents work in.
 */
#include "cli/compare_suite.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/cmd.h"
#include "cli/compare_run.h"

WR_EMBED(wr_suite_script, "data/suite/suite.py");

/* What it is told to do without: a context of its own, for that is what is compared. */
#define AGENT_SETTINGS "session:\n  policy: exact\n  max_tool_iterations: 200\n"

enum { PATH_BYTES_MAX = 4096, WORDS_MAX = 64 };

/* Runs the script with two words more; NULL: it failed, which was said. */
static char *ask_script(struct wr_suite *s, const char *verb, const char *task, const char *folder)
{
    char out[PATH_BYTES_MAX + 64];
    char *argv[] = {(char[]){"python3"},       s->script,
                    (char *)(uintptr_t)verb,   (char *)(uintptr_t)task,
                    (char *)(uintptr_t)folder, NULL};
    struct wr_compare_job job = {.work = s->dir, .out = out};
    struct wr_buf text = {0};
    char *answer = NULL;

    (void)snprintf(out, sizeof(out), "%s/%s-%s.txt", s->dir, verb, task ? task : "all");
    int status = wr_compare_check(&job, argv);
    if (status) {
        wr_cli_fail("the suite needs python3: `python3 suite.py %s` ends with %d", verb, status);
        return NULL;
    }
    if (wr_cli_read(out, &text))
        answer = wr_arena_string(s->arena, wr_buf_view(&text));
    wr_buf_release(&text);
    return answer;
}

/* ---- the agent ---- */

static char **default_agent(struct wr_suite *s)
{
    static const char *const words[] = {NULL, "agent", "--yes", "--config", NULL, "-p", NULL};
    char **argv = wr_arena_zalloc(s->arena, WR_COUNT_OF(words) * sizeof(*argv));
    char path[PATH_BYTES_MAX], settings[PATH_BYTES_MAX + 64];
    size_t bytes = wr_os_program_path(path, sizeof(path));

    (void)snprintf(settings, sizeof(settings), "%s/agent.yaml", s->dir);
    if (!argv || !bytes || !wr_cli_write_file(settings, WR_LIT(AGENT_SETTINGS)))
        return NULL;
    for (size_t i = 1; i < WR_COUNT_OF(words); i++)
        argv[i] = (char *)(uintptr_t)words[i];
    argv[0] = wr_arena_string(s->arena, (weir_span){path, bytes});
    argv[4] = wr_arena_string(s->arena, wr_span_of(settings));
    return argv[0] && argv[4] ? argv : NULL;
}

static char **with_prompt(struct wr_suite *s, char **agent, char *prompt)
{
    size_t count = 0;
    bool has_place = false;

    while (agent[count])
        count++;
    char **argv = wr_arena_zalloc(s->arena, (count + 2) * sizeof(*argv));
    if (!argv)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_place = !strcmp(agent[i], "{}");
        argv[i] = is_place ? prompt : agent[i];
        has_place = has_place || is_place;
    }
    if (!has_place)
        argv[count] = prompt;
    return argv;
}

/* ---- the tasks ---- */

static bool is_wanted(const struct wr_opt_list *only, const char *name)
{
    for (size_t i = 0; i < only->count; i++)
        if (!strcmp(only->items[i], name))
            return true;
    return !only->count;
}

static bool add_task(struct wr_suite *s, const char *name, char **agent)
{
    char folder[PATH_BYTES_MAX + 128];
    uint32_t i = s->count;

    (void)snprintf(folder, sizeof(folder), "%s/%s", s->dir, name);
    if (mkdir(folder, 0700))
        return !wr_cli_fail("%s: %s", folder, strerror(errno));
    char *prompt = ask_script(s, "prompt", name, NULL);
    if (!prompt || !ask_script(s, "write", name, folder))
        return false;
    prompt[strcspn(prompt, "\n")] = '\0';
    s->names[i] = name;
    s->folders[i] = wr_arena_string(s->arena, wr_span_of(folder));
    s->argv[i] = with_prompt(s, agent, prompt);
    s->count++;
    return (s->folders[i] && s->argv[i]) || !wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
}

bool wr_suite_open(struct wr_suite *s, struct wr_arena *arena, const char *dir,
                   const struct wr_opt_list *only, char **agent)
{
    *s = (struct wr_suite){.arena = arena};
    (void)snprintf(s->dir, sizeof(s->dir), "%s", dir);
    int bytes = snprintf(s->script, sizeof(s->script), "%s/suite.py", dir);
    if (bytes < 0 || (size_t)bytes >= sizeof(s->script) || mkdir(dir, 0700))
        return !wr_cli_fail("%s: %s", dir, strerror(errno));
    if (!wr_cli_write_file(s->script, WR_EMBEDDED(wr_suite_script)))
        return false;
    char *list = ask_script(s, "list", NULL, NULL);
    if (list && !agent[0])
        agent = default_agent(s);
    if (!list || !agent)
        return false;
    for (char *name = list, *end; *name && s->count < WR_COMPARE_TASKS_MAX; name = end + 1) {
        end = name + strcspn(name, "\n");
        bool is_last = !*end;
        *end = '\0';
        if (is_wanted(only, name) && !add_task(s, name, agent))
            return false;
        if (is_last)
            break;
    }
    return s->count > 0 || !wr_cli_fail("--task: the suite has no task of that name");
}

void wr_suite_check(const struct wr_suite *s, uint32_t task, char *argv[6])
{
    const char *const words[] = {"python3", s->script, "check", s->names[task], ".", NULL};

    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        argv[i] = (char *)(uintptr_t)words[i];
}
