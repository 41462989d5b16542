/* A session of two requests through the engine, with marks: the second takes a cold step. */
#include "tests/torture/torture.h"

#include "base/limits.h"
#include "base/span.h"
#include "engine/projection.h"

enum { RESULTS = 6, LINES = 40, PAUSE_MS = 86400000 };

static const char yaml[] =
    "policies: {p: {stages: [{stage: deepen, keep_turns: 0, gain_bp: 0, margin_pct: 100000}]}}";
static const char table[] =
    "# version\t1\n# turns_left\t40\n# turns_left_min\t6\n# recall_tokens\t600\n"
    "# call_tokens\t80\n# prompt_tokens\t60000\nother\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n";

/* What an engine has, but for the marks it holds: made once, by the run that nothing is refused. */
static struct {
    struct wr_models *models;
    struct wr_policies *policies;
    struct wr_odds odds;
    struct wr_buf bodies[2];
} made;

static void write_body(struct wr_buf *out, int results)
{
    wr_buf_init(out, 1 << 20);
    wr_buf_text(out,
                "{\"model\":\"claude-sonnet-4-5\",\"tools\":[{\"type\":\"function\",\"function\":{"
                "\"name\":\"weir_recall\"}}],\"messages\":[{\"role\":\"user\",\"content\":"
                "\"go\"}");
    for (int i = 0; i < results; i++) {
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
                      "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{}\"}}"
                      "]},{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"",
                      i, i);
        for (int line = 0; line < LINES; line++)
            wr_buf_printf(out, "row %d of result %d says that the waters are level\\n", line, i);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

static weir_status make(void)
{
    if (made.models)
        return WEIR_OK;
    write_body(&made.bodies[0], RESULTS);
    write_body(&made.bodies[1], RESULTS + 1);
    weir_status status = wr_odds_read(&made.odds, wr_span_of(table), NULL);
    if (!status)
        status = wr_policies_new(&made.policies, wr_span_of(yaml), NULL);
    return status ? status : wr_models_new(&made.models, NULL, NULL);
}

/* What is held back for want of memory failed, as far as this is concerned; but nothing may have
 * been taken out then. */
static weir_status project(struct wr_projection *job, const struct weir_project_options *options,
                           int which, struct wr_buf *out)
{
    struct wr_record record = {0};
    struct weir_projected projected;
    weir_span body = wr_buf_view(&made.bodies[which]);
    weir_status status = weir_request_new(body, NULL, &job->request, NULL);
    if (status)
        return status;
    job->options = options;
    status = wr_project(job, &record, &projected, NULL);
    if (!status && record.held_back.ptr)
        status = record.is_changed ? WEIR_INVALID : WEIR_NOMEM;
    if (!status && record.is_step != (which == 1))
        status = WEIR_INVALID;
    if (!status) {
        wr_buf_append(out, projected.body);
        status = out->status;
    }
    weir_request_free(job->request);
    return status;
}

static weir_status two_requests(struct weir_store *store, struct wr_meter *meter,
                                struct wr_marks_held *held, struct wr_buf *out)
{
    struct wr_fold_memo *folds = NULL;
    weir_status status = wr_fold_memo_new(&folds);
    for (int i = 0; i < 2 && !status; i++) {
        struct weir_project_options options = {
            .policy = "p", .store = store, .now_ms = 1 + (int64_t)i * PAUSE_MS};
        struct wr_projection job = {
            .models = made.models,
            .meter = meter,
            .policies = made.policies,
            .held = held,
            .folds = folds,
            .input = {.odds = &made.odds, .count = wr_meter_count, .user = meter}};
        status = project(&job, &options, i, out);
    }
    wr_fold_memo_free(folds);
    return status;
}

weir_status torture_session(void)
{
    struct weir_store *store = NULL;
    struct wr_meter *meter = NULL;
    struct wr_marks_held *held = NULL;
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    weir_status status = make();
    if (!status)
        status = weir_store_new_memory(0, &store);
    if (!status)
        status = wr_meter_new(&meter);
    if (!status)
        status = wr_marks_held_new(&held);
    if (!status)
        status = two_requests(store, meter, held, &out);
    if (!status)
        torture_tell(wr_buf_view(&out));
    wr_marks_held_free(held);
    wr_meter_free(meter);
    weir_store_close(store);
    wr_buf_release(&out);
    return status;
}
