/* The words for kinds: of segments, roles, classes and dialects (public), and of effects. */
#include "transcript/effect.h"
#include "weir/segment.h"

#define NAME_CASE(prefix, name, text) \
    case prefix##name:                \
        return text;

const char *weir_dialect_name(weir_dialect dialect)
{
    switch (dialect) {
#define X(name, text) NAME_CASE(WEIR_DIALECT_, name, text)
        WEIR_DIALECT_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_role_name(weir_role role)
{
    switch (role) {
#define X(name, text) NAME_CASE(WEIR_ROLE_, name, text)
        WEIR_ROLE_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_kind_name(weir_kind kind)
{
    switch (kind) {
#define X(name, text) NAME_CASE(WEIR_KIND_, name, text)
        WEIR_KIND_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_class_name(weir_class class_)
{
    switch (class_) {
#define X(name, text) NAME_CASE(WEIR_CLASS_, name, text)
        WEIR_CLASS_MAP(X)
#undef X
    }
    return "unknown";
}

const char *wr_effect_kind_text(enum wr_effect_kind kind)
{
    static const char *const texts[WR_EFFECT_KINDS] = {
        [WR_EFFECT_OTHER] = "other", [WR_EFFECT_READ] = "read",   [WR_EFFECT_SEARCH] = "search",
        [WR_EFFECT_LIST] = "list",   [WR_EFFECT_DIFF] = "diff",   [WR_EFFECT_EDIT] = "edit",
        [WR_EFFECT_WRITE] = "write", [WR_EFFECT_RUN] = "run",     [WR_EFFECT_POLL] = "poll",
        [WR_EFFECT_PLAN] = "plan",   [WR_EFFECT_FETCH] = "fetch", [WR_EFFECT_RECALL] = "recall",
        [WR_EFFECT_SKILL] = "skill",
    };
    return (unsigned)kind < WR_EFFECT_KINDS ? texts[kind] : "other";
}
