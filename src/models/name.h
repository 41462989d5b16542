/* name.h -- the many spellings of one model's name, taken apart step by step.
 *
 * "us.anthropic.claude-opus-4-5-20251101-v1:0" is, one step at a time, "claude-opus-4-5". A caller
 * looks each form up and stops at the first that is known, so a decoration that belongs to a real
 * id ("mistral-medium-latest") is never lost.
 */
#ifndef WR_MODELS_NAME_H
#define WR_MODELS_NAME_H

#include <stdbool.h>

#include "base/limits.h"
#include "weir/span.h"

enum wr_name_change {                       /* bits */
                      WR_NAME_PREFIXED = 1, /* a path or vendor in front was taken off */
                      WR_NAME_DATED = 2,    /* a date, or a word like -latest */
                      WR_NAME_TAGGED = 4,   /* ":free", "-v1:0", "-thinking" */
                      WR_NAME_WINDOW = 8,   /* "[1m]" */
                      WR_NAME_SPELT = 16,   /* "claude-opus-4.5" for "claude-opus-4-5" */
};

struct wr_name {
    char text[WR_MODEL_NAME_BYTES_MAX]; /* lower case (ASCII) */
    size_t start, end;                  /* the part still standing */
    unsigned changes;                   /* enum wr_name_change */
    uint32_t window_tokens;             /* what "[1m]" asked for; 0: nothing */
};

/* White space around `name` is dropped; what is past the cap is cut. */
void wr_name_init(struct wr_name *name, weir_span text);

/* Takes one decoration off. False when there is none left; something always remains. */
bool wr_name_simplify(struct wr_name *name);

static inline weir_span wr_name_view(const struct wr_name *name)
{
    return (weir_span){name->text + name->start, name->end - name->start};
}

bool wr_name_eq(weir_span a, weir_span b); /* ASCII letter case aside */

#endif
