#include "agent/large_result.h"

#include <stdio.h>
#include <sys/stat.h>

#include "agent/toolbox.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

enum { NAME_BYTES_MAX = 100 };

#define FOLDER "large_tool_results"

/* Providers make up ids; only what can be no path goes into the name. */
static void name_file(char name[NAME_BYTES_MAX + 1], weir_span call_id)
{
    size_t len = call_id.len < NAME_BYTES_MAX ? call_id.len : NAME_BYTES_MAX;

    for (size_t i = 0; i < len; i++)
        name[i] = wr_is_word(call_id.ptr[i]) || call_id.ptr[i] == '-' ? call_id.ptr[i] : '_';
    name[len] = 0;
}

void wr_large_result_keep(const char *session_dir, weir_span call_id, struct wr_buf *result)
{
    char path[4096 + NAME_BYTES_MAX], name[NAME_BYTES_MAX + 1];

    if (!session_dir || result->len < WR_AGENT_LARGE_RESULT_BYTES)
        return;
    name_file(name, call_id);
    (void)snprintf(path, sizeof(path), "%s/" FOLDER, session_dir);
    (void)mkdir(path, 0700);
    int bytes = snprintf(path, sizeof(path), "%s/" FOLDER "/%s.txt", session_dir, name);
    if (bytes < 0 || (size_t)bytes >= sizeof(path) || wr_file_replace(path, wr_buf_view(result)))
        return;
    weir_span text = wr_buf_view(result);
    wr_buf_printf(result, "%s[this result of %llu lines is also in %s; read_file pages it]",
                  wr_span_ends(text, WR_LIT("\n")) ? "" : "\n",
                  (unsigned long long)wr_span_lines(text), path);
}
