/* web.h -- the files of web/page inside the program, and pages that hold all of themselves.
 *
 * `weir serve` gives the files out one by one (proxy/pages.h). `weir report --html` and
 * `weir simulate --html` write the same scripts and styles into one file, with what is to be shown
 * as JSON beside them, so a chart is drawn by one function wherever it stands.
 *
 * A page in a file loads nothing: its policy (CSP) names its one script and its one style by their
 * hashes, and forbids everything else. What is data stays data, whatever stands in it.
 */
#ifndef WR_BASE_WEB_H
#define WR_BASE_WEB_H

#include <stdbool.h>

#include "base/buf.h"

struct wr_web_file {
    const char *name; /* in web/page */
    const char *type; /* of the content */
    weir_span text;
};

/* A file that a browser may ask for; false: there is no such. */
bool wr_web_find(weir_span name, struct wr_web_file *file);

/* Appends a page that shows `data`, one JSON object (web/page/file.js). `title` is plain text of
 * our own, as "weir report". */
void wr_web_page(struct wr_buf *out, const char *title, weir_span data);

#endif
