/* Any bytes as a registry, overrides, an error text, a server's answer, an image or a saved
 * calibration: no crash, and names        looking up the id of an answer gives the same answer,
 * whoever wrote the registry; overflow     the cap is never above the window that was believed;
 *   calibration  what was read and written reads and writes the same again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/span.h"
#include "models/calibrate.h"
#include "models/image.h"
#include "models/registry.h"
#include "models/window.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static struct wr_models *embedded(void)
{
    static struct wr_models *models;
    if (!models)
        MUST(wr_models_new(&models, NULL, NULL) == WEIR_OK);
    return models;
}

static void check_name(const struct wr_models *models, weir_span name)
{
    weir_span near[WR_SUGGESTIONS_MAX];
    struct wr_model_match match = wr_models_lookup(models, name);
    MUST(match.model);
    MUST(wr_models_lookup(models, match.model->id).model == match.model);
    MUST(wr_models_suggest(models, name, near) <= WR_SUGGESTIONS_MAX);
    MUST(wr_models_table_window(models, name) > 0 || match.rule == WR_RULE_FAMILY ||
         models != embedded());
}

static void check_registry(const struct wr_models_source *source)
{
    struct wr_models *models;
    struct weir_err err = {0};
    if (wr_models_new(&models, source, &err)) {
        MUST(!models && err.text[0]);
        return;
    }
    for (uint32_t i = 0; i < wr_models_count(models); i++)
        MUST(wr_models_lookup(models, wr_models_at(models, i)->id).model ==
             wr_models_at(models, i));
    for (uint32_t i = 0; i < wr_models_alias_count(models); i++)
        check_name(models, wr_models_alias_at(models, i).name);
    wr_models_free(models);
}

static void check_overflow(weir_span text)
{
    struct wr_overflow overflow;
    if (!wr_overflow_read(text, &overflow))
        return;
    MUST(overflow.provider);
    MUST(wr_overflow_cap(&overflow, &(struct wr_overflow_sent){200000, 150000, 8000}) <= 200000);
}

static void check_image(weir_span text)
{
    struct wr_image_size size = wr_image_size_read(text);
    MUST(!size.width_px == !size.height_px);
    for (uint32_t i = 0; i < wr_models_count(embedded()); i++)
        MUST(wr_image_tokens(wr_models_at(embedded(), i)->image, size, WR_DETAIL_AUTO) > 0);
}

static void check_calibration(weir_span text)
{
    static struct wr_calibration first, second;
    struct wr_buf a, b;
    if (wr_calibration_read(&first, text, NULL))
        return;
    wr_buf_init(&a, 4 * WR_CALIBRATION_TEXT_BYTES_MAX);
    wr_buf_init(&b, 4 * WR_CALIBRATION_TEXT_BYTES_MAX);
    wr_calibration_write(&first, &a);
    MUST(wr_buf_status(&a) == WEIR_OK);
    if (a.len <= WR_CALIBRATION_TEXT_BYTES_MAX) {
        MUST(wr_calibration_read(&second, wr_buf_view(&a), NULL) == WEIR_OK);
        wr_calibration_write(&second, &b);
        MUST(wr_span_eq(wr_buf_view(&a), wr_buf_view(&b)));
    }
    wr_buf_release(&a);
    wr_buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;
    weir_span text = {(const char *)bytes + 1, len - 1};
    uint32_t window_tokens;

    switch (bytes[0]) {
    case 'r':
        check_registry(&(struct wr_models_source){.registry = text});
        break;
    case 'y':
        check_registry(&(struct wr_models_source){.overrides = text});
        break;
    case 'o':
        check_overflow(text);
        break;
    case 'i':
        check_image(text);
        break;
    case 'c':
        check_calibration(text);
        break;
    case 's':
        for (int server = WR_SERVER_OLLAMA; server <= WR_SERVER_VLLM; server++)
            if (!wr_loaded_read((enum wr_model_server)server, text, WR_LIT("m"), &window_tokens))
                MUST(window_tokens > 0);
        break;
    default:
        check_name(embedded(), text);
        break;
    }
    return 0;
}
