#include "policy/form.h"

const char *wr_form_name(enum wr_form form)
{
    switch (form) {
#define X(name, text)    \
    case WR_FORM_##name: \
        return text;
        WR_FORM_MAP(X)
#undef X
    }
    return "unknown";
}
