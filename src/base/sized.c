#include "base/sized.h"

#include <string.h>

#include "base/err.h"

weir_status wr_options_read(void *own, size_t own_bytes, size_t first_bytes, const void *given,
                            struct weir_err *err)
{
    size_t given_bytes = first_bytes;

    memset(own, 0, own_bytes);
    if (!given)
        return WEIR_OK;
    memcpy(&given_bytes, given, sizeof(given_bytes));
    if (!given_bytes)
        given_bytes = first_bytes;
    if (given_bytes < sizeof(given_bytes))
        return wr_fail(err, WEIR_INVALID, 0, "options of %zu bytes: struct_bytes is wrong",
                       given_bytes);
    memcpy(own, given, given_bytes < own_bytes ? given_bytes : own_bytes);
    memcpy(own, &own_bytes, sizeof(own_bytes));
    for (size_t i = own_bytes; i < given_bytes; i++) {
        if (((const unsigned char *)given)[i])
            return wr_fail(err, WEIR_INVALID, 0,
                           "an option at byte %zu that this version of Weir does not have", i);
    }
    return WEIR_OK;
}
