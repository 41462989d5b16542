/* gemini.h -- what the files of Google's API share. Private to them. */
#ifndef WR_API_GEMINI_H
#define WR_API_GEMINI_H

#include "api/answer.h"

/* Members of a part. */
enum part_field {
    P_TEXT,
    P_THOUGHT,
    P_SIGNATURE,
    P_CALL,
    P_RESPONSE,
    P_INLINE,
    P_FILE,
    P_CODE,
    P_CODE_RESULT,
    P_TOOL_CALL,
    P_TOOL_RESPONSE,
    P_COUNT,
    WR_GEMINI_FIELDS = P_COUNT + P_COUNT - P_SIGNATURE
};

/* Finds them in either spelling that the service takes. False: one is there twice. */
bool wr_gemini_pick(const struct wr_json *doc, wr_json_id part,
                    wr_json_id fields[WR_GEMINI_FIELDS]);

/* The value under either name. */
wr_json_id wr_gemini_find(const struct wr_json *doc, wr_json_id object, const char *name,
                          const char *other);

/* A part of an answer, as it goes back. */
void wr_gemini_write_part(struct wr_json_writer *writer, const struct wr_part *part);

weir_status wr_gemini_read(struct wr_transcript *transcript);
weir_status wr_gemini_list_tools(const struct wr_transcript *transcript, struct wr_arena *arena,
                                 wr_offer_fn *on_offer, void *user);

#endif
