#include "quality/quality.h"

void wr_quality_write(const struct wr_quality *quality, struct wr_json_writer *writer)
{
#define X(name, text)                                      \
    if (quality->name) {                                   \
        wr_json_write_key(writer, "task_quality_" #name);  \
        wr_json_write_i64(writer, (int64_t)quality->name); \
    }
    WR_QUALITY_MAP(X)
#undef X
    if (quality->is_recall_only) {
        wr_json_write_key(writer, "recall_only");
        wr_json_write_bool(writer, true);
    }
}
