#include "cli/measure.h"

#include "base/span.h"

static bool refuse_unknown(const struct wr_ruler *ruler, const char *command, weir_span model)
{
    weir_span near[WR_SUGGESTIONS_MAX];
    uint32_t count = wr_models_suggest(ruler->models, model, near);
    struct wr_buf names;

    wr_buf_init(&names, 4096);
    for (uint32_t i = 0; i < count; i++)
        wr_buf_printf(&names, "%s%.*s", i ? ", " : "", (int)near[i].len, near[i].ptr);
    wr_cli_fail(command, "no model is known as '%.*s'%s%.*s; `weir models` lists them",
                (int)model.len, model.ptr, count ? "; the nearest: " : "", (int)names.len,
                names.len ? names.bytes : "");
    wr_buf_release(&names);
    return false;
}

bool wr_ruler_open(struct wr_ruler *ruler, const char *command, weir_span model, bool must_know)
{
    struct weir_err err = {0};
    *ruler = (struct wr_ruler){0};
    weir_status status = wr_models_new(&ruler->models, NULL, &err);
    if (!status)
        status = wr_meter_new(&ruler->meter);
    if (status) {
        wr_cli_fail(command, "%s", err.text[0] ? err.text : weir_status_text(status));
        wr_ruler_close(ruler);
        return false;
    }
    ruler->match = wr_models_lookup(ruler->models, model);
    bool is_known = ruler->match.rule != WR_RULE_FALLBACK;
    if (must_know && !is_known) {
        refuse_unknown(ruler, command, model);
        wr_ruler_close(ruler);
        return false;
    }
    if (!wr_meter_use_model(ruler->meter, ruler->match.model, &err))
        return true;
    wr_cli_fail(command, "%s", err.text);
    wr_ruler_close(ruler);
    return false;
}

void wr_ruler_close(struct wr_ruler *ruler)
{
    wr_meter_free(ruler->meter);
    wr_models_free(ruler->models);
    *ruler = (struct wr_ruler){0};
}
