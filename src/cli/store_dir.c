#include "cli/store_dir.h"

#include <stdlib.h>

enum { PATH_BYTES_MAX = 4096 };

/* The specification of XDG_DATA_HOME says that a path that is not absolute is to be ignored. */
static bool default_dir(const char *command, struct wr_buf *path)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && data[0] == '/') {
        wr_buf_printf(path, "%s/weir", data);
    } else if (home && home[0]) {
        wr_buf_printf(path, "%s/.local/share/weir", home);
    } else {
        wr_cli_fail(command, "neither XDG_DATA_HOME nor HOME is set; name the store: --store DIR");
        return false;
    }
    wr_buf_byte(path, '\0');
    if (!wr_buf_status(path))
        return true;
    wr_cli_fail(command, "the path of the store is longer than %d bytes", (int)PATH_BYTES_MAX);
    return false;
}

bool wr_cli_store_path(const char *command, struct wr_buf *path)
{
    return default_dir(command, path);
}

const char *wr_cli_store_advice(weir_trouble trouble)
{
    switch (trouble) {
    case WEIR_TROUBLE_MISSING:
    case WEIR_TROUBLE_FOREIGN:
    case WEIR_TROUBLE_NEWER:
        return "; --store DIR names another";
    case WEIR_TROUBLE_LOCKED:
        return "; try again";
    case WEIR_TROUBLE_FULL:
        return "; make room on its disk and try again, nothing that was stored is lost";
    case WEIR_TROUBLE_DENIED:
        return "; check who owns it and its directory";
    case WEIR_TROUBLE_CORRUPT:
        return "; move it away, a new one is made when it is needed";
    default:
        return "";
    }
}

struct weir_store *wr_cli_store(const char *command, const char *dir,
                                const struct weir_store_options *options)
{
    struct weir_store *store = NULL;
    struct weir_err err = {0};
    struct wr_buf path;
    weir_trouble trouble;

    wr_buf_init(&path, PATH_BYTES_MAX);
    if (!dir && !default_dir(command, &path))
        goto out;
    if (!dir)
        dir = path.bytes;
    if (weir_store_open(dir, options, &store, &trouble, &err))
        wr_cli_fail(command, "store %s: %s%s", dir, err.text, wr_cli_store_advice(trouble));
out:
    wr_buf_release(&path);
    return store;
}
