#include "api/own_api.h"

weir_status wr_own_show_stored(const struct wr_api *api, weir_span body,
                               const struct wr_own_stored *stored, struct wr_buf *out)
{
    struct wr_splice splice;
    struct wr_json doc;

    if (!api || !api->joiner || !api->joiner->show_stored)
        return WEIR_INVALID;
    weir_status status = wr_json_parse(&doc, stored->arena, body, NULL, NULL);
    if (status || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return WEIR_INVALID;
    wr_splice_init(&splice, &doc, stored->arena);
    api->joiner->show_stored(&splice, &doc, stored);
    return wr_splice_apply(&splice, out, NULL);
}
