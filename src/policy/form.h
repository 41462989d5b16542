/* form.h -- the forms a segment can have in a projection. */
#ifndef WR_POLICY_FORM_H
#define WR_POLICY_FORM_H

#include <stdbool.h>

#include "base/span.h"

#define WR_FORM_MAP(X)          \
    X(EXACT, "exact")           \
    X(EDITED, "edited")         \
    X(TIDIED, "tidied")         \
    X(CAPPED, "capped")         \
    X(CONDENSED, "condensed")   \
    X(REFERENCE, "reference")   \
    X(MASKED, "masked")         \
    X(CLEARED, "cleared")       \
    X(FOLDED, "folded")         \
    X(EVICTED, "evicted")       \
    X(SUMMARISED, "summarised") \
    X(PRUNED, "pruned")         \
    X(DROPPED, "dropped")

enum wr_form {
#define X(name, text) WR_FORM_##name,
    WR_FORM_MAP(X)
#undef X
};

static inline const char *wr_form_name(enum wr_form form)
{
    static const char *const names[] = WR_NAMES_OF(WR_FORM_MAP);
    return form < WR_COUNT_OF(names) ? names[form] : "unknown";
}

/* Whether all that the text says is still there: a tidied one lacks only white space, what was
 * drawn over, or numbers that can be counted. */
static inline bool wr_form_says_all(enum wr_form form)
{
    return form == WR_FORM_EXACT || form == WR_FORM_TIDIED;
}

#endif
