/* page_files.h -- which file of web/page a path below /weir/ is. */
#ifndef WR_PROXY_PAGE_FILES_H
#define WR_PROXY_PAGE_FILES_H

#include "base/web.h"

/* Whether `path` (without its query) is one of them, or /weir alone. They hold nothing of anybody's
 * and are given to whoever may ask at all, so that the page can ask for a token. */
bool wr_page_file_is(weir_span path);

/* False: there is no such file. */
bool wr_page_file_find(weir_span path, struct wr_web_file *file);

#endif
