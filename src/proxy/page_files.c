#include "proxy/page_files.h"

#include "base/span.h"

bool wr_page_file_find(weir_span path, struct wr_web_file *file)
{
    weir_span front = WR_LIT("/weir/");

    if (!wr_span_starts(path, front))
        return false;
    weir_span name = wr_span_from(path, front.len);
    if (wr_span_is(name, "index.html") || wr_span_is(name, "file.js"))
        return false; /* the page has one address, and a page in a file is not served */
    return wr_web_find(name.len ? name : WR_LIT("index.html"), file);
}

bool wr_page_file_is(weir_span path)
{
    struct wr_web_file file;
    return wr_span_is(path, "/weir") || wr_page_file_find(path, &file);
}
