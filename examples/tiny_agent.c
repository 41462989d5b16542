/* A whole agent on the session runtime, with one tool of its own.
 *
 *   tiny_agent DIR COMMAND TASK
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

#include <weir/weir.h>

enum { TEXT_BYTES_MAX = 1 << 20 };

struct agent {
    struct weir_session *session;
    struct weir_store *store;
    const char *dir, *command;
    uint64_t from;             /* events up to this one are of earlier runs */
    char text[TEXT_BYTES_MAX]; /* of an answer, or of a tool's result */
    struct weir_err err;
};

#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }
static const struct weir_tool tools[] = {
    {TEXT("read_file"), TEXT("Gives the text of a file."),
     TEXT("{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}")},
    {TEXT("weir_recall"), TEXT("Brings back what was taken out, by its handle (wr_...)."),
     TEXT("{\"type\":\"object\",\"properties\":{\"handle\":{\"type\":\"string\"}}}")},
};

static weir_span span(const char *text)
{
    return (weir_span){text, strlen(text)};
}

static int64_t now_ms(void)
{
    return (int64_t)time(NULL) * 1000;
}

/* Path or handle of a call: what stands between the last two quotes. It knows no escapes: a real
 * program has a JSON library. */
static const char *get_argument(weir_span arguments, char *value, size_t value_bytes)
{
    snprintf(value, value_bytes, "%.*s", (int)arguments.len, arguments.ptr);
    char *last = strrchr(value, '"');
    if (last)
        *last = 0;
    char *first = strrchr(value, '"');
    return first ? first + 1 : "";
}

/* The result, or NULL for what there is not. */
static const char *run_tool(struct agent *agent, const struct weir_call *call, weir_span *result)
{
    struct weir_lookup lookup = {.tenant = {NULL, 0}};
    struct weir_artifact artifact;
    char value[1024];
    const char *argument = get_argument(call->arguments, value, sizeof(value));

    if (call->name.len == 11) { /* weir_recall */
        if (!weir_handle_parse(span(argument), &lookup.handle) ||
            weir_store_get(agent->store, &lookup, &artifact, NULL, NULL))
            return NULL;
        return (*result = artifact.text).ptr;
    }
    FILE *in = fopen(argument, "rb");
    if (!in)
        return NULL;
    *result = (weir_span){agent->text, fread(agent->text, 1, TEXT_BYTES_MAX, in)};
    fclose(in);
    return agent->text;
}

/* Answers every call that waits, also those that a killed run left behind. */
static weir_status answer_calls(struct agent *agent)
{
    const struct weir_call *calls;
    weir_status status = WEIR_OK;

    while (!status && weir_session_pending(agent->session, &calls)) {
        weir_span result = span("there is no such thing");
        printf("  %.*s %.*s\n", (int)calls->name.len, calls->name.ptr, (int)calls->arguments.len,
               calls->arguments.ptr);
        int ok = run_tool(agent, calls, &result) != NULL;
        status = weir_session_result(agent->session, calls->id, result, !ok, now_ms(), &agent->err);
    }
    return status;
}

/* One request. Its body lies in a file, so that neither of two pipes can fill up. */
static weir_status ask_model(struct agent *agent)
{
    struct weir_session_want want = WEIR_SESSION_WANT_INIT;
    struct weir_session_turn turn;
    char path[1024], line[4096];

    want.dialect = WEIR_DIALECT_CHAT;
    want.now_ms = now_ms();
    weir_status status = weir_session_request(agent->session, &want, &turn, &agent->err);
    if (status)
        return status;
    snprintf(path, sizeof(path), "%s/request.json", agent->dir);
    snprintf(line, sizeof(line), "( %s ) < '%s'", agent->command, path);
    FILE *request = fopen(path, "wb");
    int is_written = request && fwrite(turn.body.ptr, 1, turn.body.len, request) == turn.body.len;
    is_written = request && !fclose(request) && is_written;
    FILE *in = is_written ? popen(line, "r") : NULL;
    size_t len = in ? fread(agent->text, 1, TEXT_BYTES_MAX, in) : 0;
    if (!in || pclose(in))
        len = 0;
    return weir_session_answer_body(agent->session, WEIR_DIALECT_CHAT,
                                    (weir_span){agent->text, len}, now_ms(), &agent->err);
}

static weir_status show_words(void *user, const struct weir_event *event)
{
    const struct agent *agent = user;
    if (event->seq > agent->from && !strcmp(event->kind, "assistant") && event->text.len)
        printf("%.*s\n", (int)event->text.len, event->text.ptr);
    return WEIR_OK;
}

static weir_status run(struct agent *agent, const char *task)
{
    struct weir_session_options options = WEIR_SESSION_OPTIONS_INIT;
    const struct weir_call *calls;
    char store_dir[1024];

    snprintf(store_dir, sizeof(store_dir), "%s/store", agent->dir);
    weir_status status = weir_store_open(store_dir, NULL, &agent->store, NULL, &agent->err);
    options.dir = agent->dir;
    options.name = "main";
    options.model = "gpt-5";
    options.store = agent->store;
    options.now_ms = now_ms();
    if (!status)
        status = weir_session_open(&options, &agent->session, &agent->err);
    if (!status)
        status = weir_session_set_prompt(agent->session, span("You answer questions about files."),
                                         now_ms(), &agent->err);
    if (!status)
        status = weir_session_set_tools(agent->session, tools, 2, &agent->err);
    agent->from = status ? 0 : weir_session_last_event(agent->session);
    if (!status)
        status = weir_session_say(agent->session, span(task), now_ms(), &agent->err);
    do { /* the session's own limits end a run that does not come to an end */
        if (!status)
            status = answer_calls(agent);
        if (!status)
            status = ask_model(agent);
    } while (!status && weir_session_pending(agent->session, &calls));
    return status ? status : weir_journal_read(agent->dir, show_words, agent, &agent->err);
}

int main(int argc, char **argv)
{
    static struct agent agent;

    if (argc != 4) {
        fprintf(stderr, "usage: tiny_agent DIR COMMAND TASK\n");
        return 2;
    }
    agent.dir = argv[1];
    agent.command = argv[2];
    weir_status status = run(&agent, argv[3]);
    if (status)
        fprintf(stderr, "tiny_agent: %s\n", agent.err.text[0] ? agent.err.text : "failed");
    weir_session_close(agent.session);
    weir_store_close(agent.store);
    return status ? 1 : 0;
}
