/* write.h -- the body of a request, written line by line in any API.
 *
 * A line is what somebody said, whatever the API: a notice, words of the user, a result, an answer
 * with its calls. Written so, a body is lawful where its lines are in a lawful order: results come
 * first in their message, user and model take turns where the API wants that.
 *
 *    wr_body_init ─▶ wr_body_begin ─▶ wr_body_line ... ─▶ wr_body_end ─▶ wr_body_release
 *                    (or wr_body_list: the lines alone, for a list that is there already)
 *
 * Failure is the buffer's.
 */
#ifndef WR_API_WRITE_H
#define WR_API_WRITE_H

#include "api/api.h"
#include "json/write.h"
#include "weir/session.h"

enum wr_line_kind {
    WR_LINE_NOTICE, /* of the host: what is missing, what to do */
    WR_LINE_WORDS,  /* of the user */
    WR_LINE_RESULT,
    WR_LINE_ANSWER,
};

/* A picture that belongs to words of the user. */
struct wr_line_image {
    const char *type; /* "png", "jpeg", "gif" or "webp", as behind "image/" */
    weir_span url;    /* data:image/TYPE;base64,BYTES */
    weir_span base64; /* the end of `url` */
};

struct wr_line {
    enum wr_line_kind kind;
    weir_span text;                /* of an answer: or empty */
    weir_span call_id;             /* of a result */
    bool is_error;                 /* a result of a call that failed */
    const char *role;              /* of a notice that was a message of its own: "system" */
    const struct weir_call *calls; /* of an answer */
    size_t calls_count;
    const weir_span *items; /* an answer as this API gave it: written instead, as it came */
    size_t items_count;
    const struct wr_line_image *images; /* of words; borrowed until the body has ended */
    size_t images_count;
};

/* A call that was written: in some APIs its result must name the tool. */
struct wr_written_call {
    weir_span id, name;
};

struct wr_body {
    const struct wr_api *api;
    struct wr_json_writer w;
    struct wr_arena scratch;
    struct wr_arena kept;
    struct wr_written_call *calls; /* in `kept`, by wr_body_note_call() */
    uint32_t calls_count, calls_cap;
    struct wr_buf words;                 /* of the user's message that is not written yet */
    const struct wr_line_image **images; /* of the same message; in `kept` */
    uint32_t images_count, images_cap;
    const char *open_role; /* of the message that is open */
    bool joins;            /* words of the user that follow each other are one message */
    bool alternates;       /* a notice is part of the user's message */
    bool is_single;        /* one message for a list that is there */
    bool is_raw;           /* texts, ids, names and arguments are JSON strings as they stand */
};

struct wr_body_head {
    weir_span model;
    uint64_t output_tokens_max; /* 0: not said, where that is lawful */
    bool is_for_provider;       /* who asks knows no other server than the provider's own */
    bool is_bare;               /* without what the API wants or an agent adds */
    bool has_markers;           /* a cache marker behind the prompt */
    bool has_marked_tools;      /* and behind the tools */
    weir_span extra;            /* members of the body, or empty */
    const struct weir_tool *tools;
    size_t tools_count;
    bool has_tools;           /* a list of them, be it empty */
    const weir_span *prompts; /* instructions that stand before everything; NULL: none */
    size_t prompts_count;
};

void wr_body_init(struct wr_body *body, const struct wr_api *api, struct wr_buf *out);
void wr_body_release(struct wr_body *body);

void wr_body_begin(struct wr_body *body, const struct wr_body_head *head);
void wr_body_line(struct wr_body *body, const struct wr_line *line);
/* What was written last ends a prefix that the provider is to keep. No-op where it has no mark. */
void wr_body_mark(struct wr_body *body);
void wr_body_end(struct wr_body *body);

/* The lines alone: the items of a list, with commas between them. */
void wr_body_list(struct wr_body *body);
void wr_body_list_end(struct wr_body *body);

/* One line as a message of its own, in `arena`. ptr is NULL when there is no memory. */
weir_span wr_body_message(const struct wr_api *api, const struct wr_line *line,
                          struct wr_arena *arena);

/* What a provider answers, whole and without usage; `line` is an answer. */
void wr_body_reply(struct wr_body *body, const struct wr_line *line);

/* ---- for the files of the APIs ---- */

void wr_body_text(struct wr_body *body, const char *key, weir_span text);
/* As it is, or one that this API takes. */
void wr_body_id(struct wr_body *body, const char *key, weir_span id);
void wr_body_block(struct wr_body *body, const char *type, weir_span text);
/* As Chat Completions has them, and Ollama: a message whose content is a text, prompts as such
 * messages, a tool as a function. */
void wr_body_plain(struct wr_body *body, const char *role, weir_span text);
/* Words of the user, which wait for those that may follow. */
void wr_body_words(struct wr_body *body, weir_span text);
void wr_body_prompts(struct wr_body *body, const struct wr_body_head *head);
void wr_body_function(struct wr_body *body, const struct weir_tool *tool);
void wr_body_items(struct wr_body *body, const struct wr_line *line);
/* The images of a line, each as the API has it: in the message that is open, or kept for the words
 * that wait. */
void wr_body_images(struct wr_body *body, const struct wr_line *line);
void wr_body_keep_images(struct wr_body *body, const struct wr_line *line);
void wr_body_schema(struct wr_body *body, const char *key, const struct weir_tool *tool);
/* `arguments` as an object; what a model wrote that is none is kept under one key. */
void wr_body_object(struct wr_body *body, const char *key, weir_span arguments);
void wr_body_arguments(struct wr_body *body, weir_span arguments); /* as a text */
/* Remembers the tool of a call, and finds it again: empty where the call was not written. */
void wr_body_note_call(struct wr_body *body, weir_span id, weir_span name);
weir_span wr_body_tool_of(const struct wr_body *body, weir_span call_id);
/* A message with a list of blocks; one of the same role stays open. */
void wr_body_open(struct wr_body *body, const char *role);
/* Ends the message that is open, or writes the words that wait. */
void wr_body_close(struct wr_body *body);

#endif
