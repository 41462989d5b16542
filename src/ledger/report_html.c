#include "base/limits.h"
#include "base/web.h"
#include "ledger/report.h"
#include "weir/weir.h"

void wr_report_html(const struct wr_report *report, struct wr_buf *out)
{
    struct wr_json_writer w;
    struct wr_buf data;

    wr_buf_init(&data, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&w, &data);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "view", "report");
    wr_json_member_word(&w, "version", weir_version());
    wr_json_write_key(&w, "report");
    wr_json_write_object(&w);
    wr_report_members(report, 0, &w);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
    if (wr_buf_status(&data))
        out->status = wr_buf_status(&data);
    wr_web_page(out, "weir report", wr_buf_view(&data));
    wr_buf_release(&data);
}
