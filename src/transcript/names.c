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
