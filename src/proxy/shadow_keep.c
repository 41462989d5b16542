#include "proxy/shadow_keep.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "record/report.h"

enum { PATH_BYTES_MAX = 4096 };

static bool write_all(int fd, weir_span text)
{
    while (text.len) {
        ssize_t bytes = write(fd, text.ptr, text.len);
        if (bytes <= 0)
            return false;
        text = wr_span_cut(text, (size_t)bytes, text.len);
    }
    return true;
}

static void replace_file(const char *dir, uint64_t name, const char *what, weir_span text)
{
    char path[PATH_BYTES_MAX], draft[PATH_BYTES_MAX + 8];
    int bytes =
        snprintf(path, sizeof(path), "%s/%016llx.%s.json", dir, (unsigned long long)name, what);

    if (bytes < 0 || (size_t)bytes >= sizeof(path))
        return;
    (void)snprintf(draft, sizeof(draft), "%s.new", path);
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    bool ok = write_all(fd, text);
    if (close(fd) || !ok || rename(draft, path))
        (void)unlink(draft);
}

void wr_shadow_keep(const char *dir, const struct wr_record *record, weir_span came, weir_span made)
{
    uint64_t name = wr_hash64_seeded(wr_span_of(record->model),
                                     wr_hash64_seeded(record->session, wr_hash64(record->tenant)));
    struct wr_buf report;

    wr_buf_init(&report, WR_LEDGER_REPORT_BYTES_MAX);
    wr_record_report(record, &report);
    if (!wr_buf_status(&report)) {
        replace_file(dir, name, "came", came);
        replace_file(dir, name, "made", made);
        replace_file(dir, name, "report", wr_buf_view(&report));
    }
    wr_buf_release(&report);
}

void wr_shadow_forget_tool(struct wr_record *record)
{
    uint64_t tokens = record->own_tools_tokens;

    if (record->tokens_before <= tokens || record->came_tokens[WR_CATEGORY_TOOLS] < tokens)
        return;
    record->tokens_before -= tokens;
    record->came_tokens[WR_CATEGORY_TOOLS] -= tokens;
}
