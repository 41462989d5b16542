/* api.h -- the APIs of the providers, each a table of functions and facts in a file of its own.
 *
 * Everything that knows what an API looks like is in this folder; whoever needs to know asks the
 * table of the API at hand. docs/apis.md goes through it function by function.
 *
 * Kinds that are not known become segments of kind `other` that stay exact: vendors add kinds
 * monthly, and none is an error. An object that repeats a key we read means different things to
 * different readers: it too stays exact.
 */
#ifndef WR_API_API_H
#define WR_API_API_H

#include "transcript/transcript.h"

struct wr_buf;
struct wr_reply;
struct wr_sse_event;
struct wr_json_writer;
struct wr_body;
struct wr_body_head;
struct wr_line;
struct wr_line_image;
struct weir_tool;
struct wr_joiner;

/* What one that looks on at a stream does with an event: most are pieces of text. */
enum wr_look { WR_LOOK_AWAY, WR_LOOK_INTO, WR_LOOK_LAST };

struct wr_api_path {
    const char *end;   /* of a path, without its query */
    const char *usual; /* how it is usually written; what counts and logs call it */
    bool is_answer;    /* a model answers: with usage, and calls. Not so where tokens are counted */
};

/* What begins so goes to that upstream, whatever is asked for there. */
struct wr_api_front {
    const char *front, *upstream;
};

/* Where a provider is asked unless a user says otherwise, and what that place is called. */
struct wr_api_upstream {
    const char *name, *base_url;
};

struct wr_api {
    weir_dialect dialect;
    const char *name;                /* "chat" */
    const struct wr_api_path *paths; /* POST alone; the first is where a model is asked */
    size_t paths_count;
    const char *answer_part; /* of a path: behind it stands the id of an answer; NULL: of none */
    const struct wr_api_front *fronts; /* paths that are one provider's; front NULL at the end */
    /* The first is who is meant by the variables and the version header below; name NULL at the
     * end. NULL: another API has them. */
    const struct wr_api_upstream *upstreams;
    /* The model that a path names, as it stands there; empty: none. NULL: the body names it. */
    weir_span (*model_of_path)(weir_span path);

    /* Requests. */
    weir_status (*read_request)(struct wr_transcript *transcript);

    weir_status (*list_tools)(const struct wr_transcript *transcript, struct wr_arena *arena,
                              wr_offer_fn *on_offer, void *user);
    struct wr_framing framing;
    const char *list_key;    /* of its messages or items */
    bool may_lack_list;      /* or have a text in its place */
    const char *content_key; /* of what a message says */
    const char *prompt_key;  /* of instructions that stand apart; NULL: none do */
    const char *session_key; /* of a name that clients give a conversation; NULL: none do */
    /* Members under which some send the whole request; NULL at the end. NULL: nobody does. */
    const char *const *wrapper_keys;
    const char *model_role; /* of a message of the model; NULL: "assistant" */
    bool may_lack_role;     /* a message without one is the user's */
    bool numbers_calls;     /* calls without an id are known by "#" and their number */
    /* The answer or the conversation that a request goes on from, as its id is spelt, where the
     * provider holds the history; NULL: it never does. */
    weir_span (*id_before)(const struct wr_json *doc);
    /* Whether that is an answer, which somebody was given, and no conversation, which may be new;
     * there wherever `id_before` is. */
    bool (*is_answer_before)(const struct wr_json *doc);
    /* Whether a later request may go on from the answer to this one; NULL: none can. */
    bool (*is_continued)(const struct wr_json *doc);

    /* Rules (api/lawful.h). */
    bool has_user_ends;     /* the first message is the user's, and the last is not the model's */
    bool has_results_first; /* results come first in their message */
    bool may_alternate;     /* servers that speak it may want user and model to take turns */
    bool must_alternate;    /* all of them do; results are messages of the user */
    bool ties_reasoning;    /* reasoning and the output it led to travel together */
    bool marks_blocks_only; /* no cache marker stands beside a result's content */
    bool has_calls_next;    /* what calls a tool stands right behind the user's words or results */

    /* Answers (api/answer.h). */
    enum wr_look (*look)(const struct wr_sse_event *event);
    void (*read_event)(struct wr_reply *answer, const struct wr_json *doc);
    bool (*read_whole)(struct wr_reply *answer, const struct wr_json *doc);
    void (*read_item)(struct wr_reply *answer, const struct wr_json *doc, wr_json_id item);
    /* The members of the body that a streamed answer has when it comes whole. */
    void (*write_answer)(struct wr_reply *answer, struct wr_json_writer *writer);
    /* Members of an error that is ours. */
    void (*write_error)(struct wr_json_writer *writer, int status, const char *message);

    /* Writing a request (api/write.h). */
    void (*write_prompt)(struct wr_body *body, const struct wr_body_head *head);
    void (*write_tool)(struct wr_body *body, const struct weir_tool *tool);
    void (*write_line)(struct wr_body *body, const struct wr_line *line);
    /* A picture of the user's, as a value of its list. */
    void (*write_image)(struct wr_body *body, const struct wr_line_image *image);
    const char *images_key; /* of a list of them beside the words; NULL: they are blocks */
    /* The members of a whole answer that says what the line does. */
    void (*write_reply)(struct wr_body *body, const struct wr_line *line);
    /* Whether an item of an answer cannot go back: the API refuses it, or what stood before it is
     * another by now and it is bound to that. NULL: all can. */
    bool (*drops_item)(struct wr_body *body, weir_span item, bool is_unbound);
    bool (*is_signed_item)(weir_span item); /* whether it is bound; NULL: none is */
    const char *marker_key; /* of cache markers that are the client\'s to place; NULL: none are */
    const char *marker;     /* the member that marks a prefix; NULL: there is none */
    bool marks_with_blocks; /* a marker is a block of its own behind what it marks */
    const char *tools_key;  /* of the list inside a tool that holds all; NULL: none */
    const char *tools_object_key;   /* of the object that the list of tools stands in; NULL: none */
    const char *model_front;        /* what a body puts before a model's name; NULL: nothing */
    const char *output_max_key;     /* what an answer may take, for every server; NULL: the prompt's
                                     * writer says it */
    const char *provider_max_key;   /* the same for the provider's own */
    uint64_t output_tokens_default; /* where the API wants a number; 0: it does not */
    bool has_prompt_in_list;        /* instructions are the list's first messages */
    bool has_prompt_apart;          /* the list may not begin with them */
    bool types_messages;            /* a message says that it is one */
    bool checks_ids;                /* ids of calls are letters, digits, _ and - */
    bool must_not_store;            /* unless told the provider keeps the conversation */

    /* Asking a provider of it. */
    const char *url, *url_variable, *key_variable; /* its address, and where users name theirs */
    const char *older_url_variable, *other_key_variable; /* that some programs read; NULL: none */
    const char *base_path; /* of an address that has none; NULL: "/v1" */
    /* Appends the path to ask for an answer to `body` at; NULL: it is the first of `paths`. */
    void (*write_path)(struct wr_buf *url, weir_span body);
    const char *key_header;               /* NULL: authorization, as Bearer */
    const char *version_header, *version; /* NULL: there is none */
    const char *model;                    /* the one that weir agent asks unless told */
    const char *model_word;     /* a model's name that holds it speaks this API; NULL: none does */
    const char *stream_members; /* of a request whose answer is to come as a stream with usage */

    /* Words of its errors (api/answer.h); NULL at the end. */
    const char *const *overflow_codes;     /* the prompt is too long */
    const char *const *previous_codes;     /* the answer that the request names is not known */
    const char *const *continuation_words; /* in small letters: a call and its result are apart */
    const char *const *unbound_words;      /* signed thinking stands behind another prompt */
    const char *const *end_words;          /* why an answer ended, where the model is done */

    /* Several answers shown as one, and the proxy's own recall (api/join_api.h); NULL: it has no
     * way to do that. */
    const struct wr_joiner *joiner;

    const char *usage_key;         /* of what an answer used; NULL: "usage" */
    bool streams_lists;            /* a stream may come as one JSON array */
    bool streams_lines;            /* a stream is lines of JSON (application/x-ndjson) */
    bool names_calls;              /* calls may come without an id */
    const char *semconv_operation; /* OpenTelemetry's gen_ai.operation.name; NULL: "chat" */
    bool counts_cached_apart;      /* input tokens are counted without those of the cache */
};

extern const struct wr_api wr_api_chat, wr_api_responses, wr_api_messages, wr_api_gemini,
    wr_api_ollama, wr_api_converse;

enum { WR_APIS_COUNT = 6 };

/* Their names, for people and for completion. */
#define WR_API_NAMES "chat, responses, messages, gemini, ollama or converse"
#define WR_API_WORDS "chat responses messages gemini ollama converse"
/* Variables of their keys, and upstreams as `weir serve --upstream` takes them. */
#define WR_API_KEYS           "OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY"
#define WR_API_UPSTREAM_WORDS "openai= anthropic= gemini= ollama="

extern const struct wr_api *const wr_apis[WR_APIS_COUNT]; /* by dialect */

const struct wr_api *wr_api_of(weir_dialect dialect);
const struct wr_api *wr_api_named(weir_span name); /* NULL: none is called so */
/* "chat", ...; "other" for NULL. */
const char *wr_api_name(const struct wr_api *api);
/* In the shape that most clients know, for NULL. */
void wr_api_write_error(const struct wr_api *api, struct wr_json_writer *writer, int status,
                        const char *message);

/* The API of an HTTP path such as /v1/chat/completions?x; NULL: none of ours. `row`, where it
 * is not NULL, is set to what the API says of it. */
const struct wr_api *wr_api_by_path(weir_span path, const struct wr_api_path **row);

/* The id of an answer that an HTTP path names, as in /v1/responses/ID/cancel; empty: it names
 * none. */
weir_span wr_api_answer_id(weir_span path);
/* The API of such a path; NULL: it is none. */
const struct wr_api *wr_api_of_answers(weir_span path);

/* The upstream whose paths begin like this one; NULL: no API knows. */
const char *wr_api_upstream_of(weir_span path);

/* All upstreams of the APIs, from 0 on; NULL: there are no more. */
const struct wr_api_upstream *wr_api_upstream_at(size_t index);
bool wr_api_has_upstream(weir_span name);

/* Variables that hold a key, and those that hold an address with the upstream whose it is, from 0
 * on; NULL: there are no more. */
const char *wr_api_key_variable(size_t index);
const char *wr_api_url_variable(size_t index, const char **upstream);

/* How a conversation begins: its model, instructions and first words of the user. Cache markers and
 * the like, which come and go, are no part of it. */
wr_hash128 wr_api_hash_beginning(const struct wr_json *doc);

/* What a provider's cache may rest on beside the prompt: a change of it loses the cache. */
uint64_t wr_api_hash_parameters(const struct wr_json *doc);

struct wr_api_options {
    const char *dialect; /* "chat", "gemini", ...; NULL: by path, else by shape */
    const char *path;    /* of the HTTP request, or NULL */
    struct wr_memo
        *memo; /* borrowed, for this call and as long as the transcript is used; NULL: none */
    const struct wr_start
        *start;          /* that `doc` went on from (transcript/transcript.h); NULL: none */
    bool structure_only; /* pairs, turns, loops and groups, but no handles and no classes */
};

/* Reads the request in `doc`. WEIR_INVALID: this is not a request of any of the APIs, and `err`
 * says what is missing. */
WEIR_MUST_USE weir_status wr_api_read(struct wr_transcript *transcript, struct wr_arena *arena,
                                      const struct wr_json *doc,
                                      const struct wr_api_options *options, struct weir_err *err);

#endif
