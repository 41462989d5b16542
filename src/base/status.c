#include "weir/status.h"

const char *weir_status_text(weir_status status)
{
    switch (status) {
#define STATUS_CASE(name, text) \
    case WEIR_##name:           \
        return text;
        WEIR_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}
