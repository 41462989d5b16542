#include "proxy/mcp_record.h"

#include "base/span.h"
#include "json/write.h"

static void put_span(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void put_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

const char *wr_mcp_result_name(const struct wr_mcp_answer *answer)
{
    return answer->miss ? "missed" : answer->is_error ? "refused" : "done";
}

void wr_mcp_record_write(const struct wr_mcp_record *r, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    put_number(&w, "time_ms", (uint64_t)r->started_ms);
    put_number(&w, "request", r->number);
    put_span(&w, "api", WR_LIT("mcp"));
    put_span(&w, "path", WR_LIT("/mcp"));
    put_span(&w, "tenant", r->tenant);
    put_span(&w, "agent", wr_span_of(r->agent));
    if (r->run.len)
        put_span(&w, "run", r->run);
    put_number(&w, "status", (uint64_t)r->status);
    put_span(&w, "end", r->status ? WR_LIT("done") : WR_LIT("client_gone"));
    put_number(&w, "body_bytes_received", r->request_bytes);
    put_number(&w, "answer_bytes", r->answer_bytes);
    put_number(&w, "total_us", r->total_us);
    put_span(&w, "mcp_method", wr_span_of(r->told->method));
    if (r->told->tool)
        put_span(&w, "mcp_tool", wr_span_of(r->told->tool));
    put_span(&w, "mcp_result", wr_span_of(wr_mcp_result_name(r->told)));
    if (r->told->miss)
        put_span(&w, "mcp_miss", wr_span_of(wr_mcp_miss_name(r->told->miss)));
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}
