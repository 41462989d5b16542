/* form.h -- the forms a segment can have in a projection. */
#ifndef WR_POLICY_FORM_H
#define WR_POLICY_FORM_H

#define WR_FORM_MAP(X)          \
    X(EXACT, "exact")           \
    X(EDITED, "edited")         \
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

const char *wr_form_name(enum wr_form form);

#endif
