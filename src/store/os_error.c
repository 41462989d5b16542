#include "store/os_error.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

static weir_trouble trouble_of(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return WEIR_TROUBLE_FULL;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOTDIR:
    case ENOENT:
    case EISDIR:
    case ELOOP:
        return WEIR_TROUBLE_DENIED;
    default:
        return WEIR_TROUBLE_SYSTEM;
    }
}

weir_status wr_os_error(const char *what, weir_trouble *trouble, struct weir_err *err)
{
    int code = errno;
    *trouble = trouble_of(code);
    return wr_fail(err, *trouble == WEIR_TROUBLE_FULL ? WEIR_LIMIT : WEIR_IO, 0, "%s: %s", what,
                   strerror(code));
}
