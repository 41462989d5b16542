/* read.h -- what the dialect readers share. Private to src/api.
 *
 * A reader fills a segment's shape with the functions here and hands it to wr_transcript_add(). */
#ifndef WR_API_READ_H
#define WR_API_READ_H

#include "api/api.h"
#include "transcript/transcript.h"

/* Where the segments of one message or item stand, and the role they have. */
struct wr_place {
    wr_json_id message; /* the message or item */
    wr_json_id list;    /* the array it stands in */
    weir_role role;
};

/* The object that has the members of the request: the document, or what wraps it. */
wr_json_id wr_api_root(const struct wr_transcript *transcript);
wr_json_id wr_api_root_of(const struct wr_json *doc, const struct wr_api *api);

/* A segment with nothing but its place. */
struct wr_segment wr_segment_at(const struct wr_place *place, weir_kind kind, wr_json_id payload);

/* An exact segment for something not understood: it is never dropped, unless it is a continuation.
 */
weir_status wr_add_opaque(struct wr_transcript *transcript, const struct wr_place *place,
                          weir_kind kind, wr_json_id payload, bool is_continuation);

/* `content` that is a string (one segment) or an array of blocks, each given to `read_block`. null
 * and an empty string are no payload. Anything else is opaque. */
typedef weir_status wr_block_fn(struct wr_transcript *transcript, const struct wr_place *place,
                                wr_json_id blocks, wr_json_id block);
weir_status wr_add_content(struct wr_transcript *transcript, const struct wr_place *place,
                           wr_json_id content, wr_block_fn *read_block);

/* A block of a content array whose text stands under `text`. */
weir_status wr_add_text_block(struct wr_transcript *transcript, const struct wr_place *place,
                              wr_json_id blocks, wr_json_id block, wr_json_id text);

/* A block that is kept exact whatever is in it: an image, a file, an unknown kind. */
weir_status wr_add_exact_block(struct wr_transcript *transcript, const struct wr_place *place,
                               weir_kind kind, wr_json_id blocks, wr_json_id block,
                               bool is_continuation);

/* What the model refused to say: its words, but not to be edited. `block` is NONE where it stands
 * beside the content. No-op where `refusal` is no text. */
weir_status wr_add_refusal(struct wr_transcript *transcript, const struct wr_place *place,
                           wr_json_id blocks, wr_json_id block, wr_json_id refusal);

/* Says of `segment` that it is `block` of the array `blocks`. */
void wr_place_block(struct wr_transcript *transcript, struct wr_segment *segment, wr_json_id blocks,
                    wr_json_id block);

/* Whether a block of thinking is signed. */
bool wr_has_signature(const struct wr_json *doc, wr_json_id block);

/* Makes `content` (a string, or blocks of which those of type `text_type` have a string under
 * `text`) the payload of a result: one segment however many blocks. A marker on one of the blocks
 * is its. NULL: blocks have no type, and those that are texts have nothing else. */
weir_status wr_set_result_parts(struct wr_transcript *transcript, struct wr_segment *segment,
                                wr_json_id content, const char *text_type);

/* The same of a result that is an object: the strings in it that are nearly all that it says (both
 * streams of a command, the text blocks of an MCP result, else the longest); none where more than a
 * quarter stands beside them. */
weir_status wr_set_object_parts(struct wr_transcript *transcript, struct wr_segment *segment,
                                wr_json_id object);

/* The unescaped text of a string node; empty where it is none. Sets `*status` when out of memory.
 */
weir_span wr_text_or_empty(struct wr_transcript *transcript, wr_json_id id, weir_status *status);

weir_role wr_role_of(const struct wr_json *doc, wr_json_id role);

/* The first element of the transcript's list whose segments are not known from an earlier body;
 * those that are known are added. No-op where `*status` is a failure. */
wr_json_id wr_first_unread(struct wr_transcript *transcript, weir_status *status);

/* Adds the tools list or a like value that is one segment. No-op where `payload` is NONE, null or
 * []. */
weir_status wr_add_whole(struct wr_transcript *transcript, weir_kind kind, weir_role role,
                         wr_json_id payload);

/* For wr_transcript.list_tools. A list of tools may stand in an object of its own (`tools`), and
 * inside a tool: a namespace. */
weir_status wr_list_tools(const struct wr_transcript *transcript, struct wr_arena *arena,
                          wr_offer_fn *on_offer, void *user);

/* What stands at `id` says how many answers are asked for at once; NONE: nothing does. */
void wr_read_answers(struct wr_transcript *transcript, wr_json_id id);

/* The shape of an error in OpenAI's APIs. */
void wr_write_openai_error(struct wr_json_writer *writer, int status, const char *message);

/* ---- spoken ----
 *
 * Calls and results that a client writes as plain text. Private to src/api.
 *
 * smolagents sends the model's calls back as the model's words and their results as words of the
 * user. Words of the user are never shortened (law L5), so such a result could only stay. Where the
 * client's own marks leave no doubt the two are read as what they are; in doubt they stay words.
 */

/* Adds `content` of a message of the model's as a call, if it is one and nothing else. `*is_call`
 * says so; else nothing is added. */
WEIR_MUST_USE weir_status wr_add_spoken_call(struct wr_transcript *transcript,
                                             const struct wr_place *place, wr_json_id content,
                                             bool *is_call);

/* Whether a user's message with this content, which comes next, is the result of such a call;
 * `*is_error`: that failed. */
bool wr_is_spoken_result(const struct wr_transcript *transcript, wr_json_id content,
                         bool *is_error);

/* The call that the last segment is; empty: it is none that was spoken. */
weir_span wr_spoken_call_id(const struct wr_transcript *transcript);

/* ---- calls ----
 *
 * Calls that may have no id, and which of them a result answers. Private to src/api.
 *
 * Such a call is known by its number in the conversation, "#12", which does not depend on what
 * comes later. A result with the id of a call is that call's; any other is of the next call of its
 * tool in the model output before it, whatever id the client made up for it.
 */

struct wr_calls {
    struct wr_transcript *t;
    uint32_t count;      /* of calls in the conversation so far */
    bool takes_nameless; /* a result that names no tool is of the next call */
    /* The model output that results at hand answer; found when the first of a message comes. */
    wr_json_id message; /* whose results these are */
    uint32_t output_first, output_end;
    bool *is_answered; /* of each of its segments */
};

/* Calls that the transcript has already are counted. */
void wr_calls_init(struct wr_calls *calls, struct wr_transcript *transcript);

/* Counts a call, and gives one without an id its number. */
weir_status wr_calls_number(struct wr_calls *calls, struct wr_segment *call);

/* The id of the call that a result in `message` answers; `*id` is its own, or empty. */
weir_status wr_calls_find(struct wr_calls *calls, wr_json_id message, weir_span tool,
                          weir_span *id);

#endif
