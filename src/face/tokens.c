#include "weir/tokens.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/span.h"
#include "face/face.h"
#include "models/registry.h"

struct weir_tokens {
    struct wr_models *models; /* the meter borrows its model */
    struct wr_meter *meter;
};

weir_status wr_face_choose(struct wr_meter *meter, const struct wr_models *models,
                           const char *model, const char *encoding, struct weir_err *err)
{
    enum wr_bpe_encoding table;
    enum wr_estimator estimator;

    if (model && encoding)
        return wr_fail(err, WEIR_INVALID, 0, "a model and an encoding both say how to count");
    if (model)
        return wr_meter_use_model(meter, wr_models_lookup(models, wr_span_of(model)).model, err);
    weir_span name = encoding ? wr_span_of(encoding) : WR_LIT("o200k_base");
    if (wr_bpe_encoding_find(name, &table))
        return wr_meter_use_encoding(meter, table, err);
    if (!wr_estimator_find(name, &estimator))
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       "no encoding is called '%.60s'; there are o200k_base, cl100k_base, fitted, "
                       "bytes/4, runs",
                       encoding);
    wr_meter_use_estimator(meter, estimator);
    return WEIR_OK;
}

weir_status weir_tokens_new(const struct weir_tokens_options *options, struct weir_tokens **tokens,
                            struct weir_err *err)
{
    struct weir_tokens_options own;
    weir_status status = WR_OPTIONS_READ(&own, options, err);

    *tokens = NULL;
    if (status)
        return status;
    struct weir_tokens *t = calloc(1, sizeof(*t));
    if (!t)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    if (own.model)
        status = wr_models_new(&t->models, NULL, err);
    if (!status)
        status = wr_meter_new(&t->meter);
    if (!status)
        status = wr_face_choose(t->meter, t->models, own.model, own.encoding, err);
    if (status) {
        weir_tokens_free(t);
        return status;
    }
    *tokens = t;
    return WEIR_OK;
}

void weir_tokens_free(struct weir_tokens *tokens)
{
    if (!tokens)
        return;
    wr_meter_free(tokens->meter);
    wr_models_free(tokens->models);
    free(tokens);
}

uint64_t weir_tokens_count(void *tokens, weir_span text)
{
    return wr_meter_count(((struct weir_tokens *)tokens)->meter, text);
}

bool weir_tokens_is_exact(const struct weir_tokens *tokens)
{
    return wr_meter_source(tokens->meter) == WR_COUNT_EXACT;
}

const char *weir_tokens_method(const struct weir_tokens *tokens)
{
    return wr_meter_method(tokens->meter);
}
