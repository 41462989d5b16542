/* A whole agent on the session runtime, with one tool of its own.
 *
 *   tiny_agent DIR COMMAND TASK...
 *
 * COMMAND is the way to a model: it gets a Chat Completions request on stdin and prints the answer,
 *   curl -s https://api.openai.com/v1/chat/completions -H "Authorization: Bearer $KEY"
 *        -H 'content-type: application/json' -d @-
 * for example (examples/pretend_model plays one). Everything that is said and done is in
 * DIR/events.jsonl before the next thing happens: a run that was killed goes on when it is started
 * again with the same DIR. The session keeps within the model's window by itself; what it takes out
 * of a request is in the store, and the model gets it back by the second tool, weir_recall.
 *   cc tiny_agent.c $(pkg-config --cflags --libs weir)
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir/weir.h>

enum { TEXT_BYTES_MAX = 1 << 20, TURNS_MAX = 20 };

struct agent {
    struct weir_session *session;
    struct weir_store *store;
    const char *command;
    char text[TEXT_BYTES_MAX]; /* of an answer, or of a tool's result */
    struct weir_err err;
};

static weir_span span(const char *text)
{
    return (weir_span){text, strlen(text)};
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static weir_span read_stream(struct agent *agent, FILE *in)
{
    return (weir_span){agent->text, fread(agent->text, 1, TEXT_BYTES_MAX, in)};
}

/* ---- tools ---- */

static const struct weir_tool tools[] = {
    {{"read_file", 9},
     {"Gives the text of a file.", 25},
     {"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}", 57}},
    {{"weir_recall", 11},
     {"Brings back what was taken out of the conversation, by its handle (wr_...).", 75},
     {"{\"type\":\"object\",\"properties\":{\"handle\":{\"type\":\"string\"}}}", 59}},
};

/* The string under `key`. This knows no escapes: a real program has a JSON library. */
static int get_argument(weir_span arguments, const char *key, char *value, size_t value_bytes)
{
    char quoted[40], copy[4096];
    if (arguments.len >= sizeof(copy))
        return 0;
    memcpy(copy, arguments.ptr, arguments.len);
    copy[arguments.len] = 0;
    snprintf(quoted, sizeof(quoted), "\"%s\"", key);
    char *at = strstr(copy, quoted);
    char *first = at ? strchr(at + strlen(quoted), '"') : NULL;
    char *last = first ? strchr(first + 1, '"') : NULL;
    if (!last || (size_t)(last - first) > value_bytes)
        return 0;
    memcpy(value, first + 1, (size_t)(last - first - 1));
    value[last - first - 1] = 0;
    return 1;
}

static int read_file(struct agent *agent, weir_span arguments, weir_span *result)
{
    char path[1024];
    FILE *in = get_argument(arguments, "path", path, sizeof(path)) ? fopen(path, "rb") : NULL;
    *result = span("there is no such file");
    if (!in)
        return 0;
    *result = read_stream(agent, in);
    fclose(in);
    return 1;
}

static int recall(struct agent *agent, weir_span arguments, weir_span *result)
{
    struct weir_lookup lookup = {.tenant = {NULL, 0}};
    struct weir_artifact artifact;
    char name[64];
    *result = span("nothing is known by that handle");
    if (!get_argument(arguments, "handle", name, sizeof(name)) ||
        !weir_handle_parse(span(name), &lookup.handle) ||
        weir_store_get(agent->store, &lookup, &artifact, NULL, NULL))
        return 0;
    *result = artifact.text;
    return 1;
}

/* Answers every call that waits, also those that a killed run left behind. */
static weir_status answer_calls(struct agent *agent)
{
    const struct weir_call *calls;
    weir_status status = WEIR_OK;

    while (!status && weir_session_pending(agent->session, &calls)) {
        int is_file = calls->name.len == 9 && !memcmp(calls->name.ptr, "read_file", 9);
        weir_span result;
        printf("  %.*s %.*s\n", (int)calls->name.len, calls->name.ptr, (int)calls->arguments.len,
               calls->arguments.ptr);
        int ok = is_file ? read_file(agent, calls->arguments, &result)
                         : recall(agent, calls->arguments, &result);
        status = weir_session_result(agent->session, calls->id, result, !ok, now_ms(), &agent->err);
    }
    return status;
}

/* ---- the model ---- */

/* The command's own stdin is a file, so that neither of two pipes can fill up. */
static int ask_model(struct agent *agent, weir_span body, weir_span *answer)
{
    char path[] = "/tmp/tiny_agent_XXXXXX", line[4096];
    int fd = mkstemp(path);
    FILE *request = fd < 0 ? NULL : fdopen(fd, "wb"), *in;
    if (!request)
        return 0;
    fwrite(body.ptr, 1, body.len, request);
    fclose(request);
    snprintf(line, sizeof(line), "( %s ) < %s", agent->command, path);
    in = popen(line, "r");
    if (in)
        *answer = read_stream(agent, in);
    int ok = in && !pclose(in) && answer->len;
    unlink(path);
    return ok;
}

static weir_status take_turn(struct agent *agent)
{
    struct weir_session_want want = WEIR_SESSION_WANT_INIT;
    struct weir_session_turn turn;
    weir_span answer;

    want.dialect = WEIR_DIALECT_CHAT;
    want.now_ms = now_ms();
    weir_status status = weir_session_request(agent->session, &want, &turn, &agent->err);
    if (status)
        return status;
    if (!ask_model(agent, turn.body, &answer)) {
        snprintf(agent->err.text, sizeof(agent->err.text), "the model gave no answer");
        return agent->err.code = WEIR_IO;
    }
    return weir_session_answer_body(agent->session, WEIR_DIALECT_CHAT, answer, now_ms(),
                                    &agent->err);
}

/* ---- the run ---- */

static weir_status open_session(struct agent *agent, const char *dir)
{
    struct weir_session_options options = WEIR_SESSION_OPTIONS_INIT;
    char store_dir[1024];

    snprintf(store_dir, sizeof(store_dir), "%s/store", dir);
    options.dir = dir;
    options.name = "main";
    options.model = "gpt-5";
    options.now_ms = now_ms();
    weir_status status = weir_store_open(store_dir, NULL, &agent->store, NULL, &agent->err);
    options.store = agent->store;
    if (!status)
        status = weir_session_open(&options, &agent->session, &agent->err);
    if (!status)
        status = weir_session_set_prompt(agent->session, span("You answer questions about files."),
                                         now_ms(), &agent->err);
    if (!status)
        status = weir_session_set_tools(agent->session, tools, sizeof(tools) / sizeof(tools[0]),
                                        &agent->err);
    return status;
}

static weir_status show_words(void *user, const struct weir_event *event)
{
    const uint64_t *from = user;
    if (event->seq > *from && !strcmp(event->kind, "assistant") && event->text.len)
        printf("%.*s\n", (int)event->text.len, event->text.ptr);
    return WEIR_OK;
}

static weir_status run(struct agent *agent, const char *dir, const char *task)
{
    const struct weir_call *calls;
    weir_status status = open_session(agent, dir);
    if (status)
        return status;
    uint64_t from = weir_session_last_event(agent->session);
    status = weir_session_say(agent->session, span(task), now_ms(), &agent->err);
    for (int turn = 0; !status && turn < TURNS_MAX; turn++) {
        status = take_turn(agent);
        if (status || !weir_session_pending(agent->session, &calls))
            break;
        status = answer_calls(agent);
    }
    return status ? status : weir_journal_read(dir, show_words, &from, &agent->err);
}

int main(int argc, char **argv)
{
    static struct agent agent;
    char task[4096] = "";

    if (argc < 4) {
        fprintf(stderr, "usage: tiny_agent DIR COMMAND TASK...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        size_t len = strlen(task);
        snprintf(task + len, sizeof(task) - len, "%s%s", len ? " " : "", argv[i]);
    }
    agent.command = argv[2];
    weir_status status = run(&agent, argv[1], task);
    if (status)
        fprintf(stderr, "tiny_agent: %s\n",
                agent.err.code ? agent.err.text : weir_status_text(status));
    weir_session_close(agent.session);
    weir_store_close(agent.store);
    return status ? 1 : 0;
}
