/* The headers below are the first bytes of made-up images, in base64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "models/image.h"
#include "models/registry.h"

#define PNG_1280_720 "iVBORw0KGgoAAAANSUhEUgAABQAAAALQCAIAAAAAAAAAAAAAAA=="

static const struct {
    const char *behaviour, *base64;
    uint32_t width_px, height_px;
} sizes[] = {
    {"PNG", PNG_1280_720, 1280, 720},
    {"a data URL", "data:image/png;base64," PNG_1280_720, 1280, 720},
    {"GIF", "R0lGODlhgALgAQAAAAAAAA==", 640, 480},
    {"JPEG: a progressive frame behind a thumbnail and padding",
     "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAK/8AAAQABAAH//8IACwgEOAeAAQERAA==", 1920, 1080},
    {"JPEG: a Huffman table is not a frame", "/9j/xAAKAAABAAEAAQD/wAALCAAhACwBAREA", 44, 33},
    {"WebP, lossy", "UklGRmQAAABXRUJQVlA4IFAAAAAAAACdASogA1gC", 800, 600},
    {"WebP, lossless", "UklGRmQAAABXRUJQVlA4TFAAAAAvK8ExAA==", 300, 200},
    {"WebP, extended", "UklGRmQAAABXRUJQVlA4WAoAAAAAAAAAvw8AzwsA", 4032, 3024},
    {"a PNG that stops before its size", "iVBORw0KGgoAAAAN", 0, 0},
    {"a JPEG that stops inside a segment", "/9j/4AAQSkZJRgABAQ", 0, 0},
    {"a line break is not base64", "iVBORw0KGgoA\nAAANSUhEUgAABQAAAALQ", 0, 0},
    {"another kind of data", "JVBERi0xLjcK", 0, 0},
    {"a data URL that is not base64", "data:image/svg+xml,<svg/>", 0, 0},
    {"nothing", "", 0, 0},
};

static void reads_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(sizes); i++) {
        struct wr_image_size size = wr_image_size_read(wr_span_of(sizes[i].base64));
        if (size.width_px != sizes[i].width_px || size.height_px != sizes[i].height_px)
            fail_msg("%s: %u by %u", sizes[i].behaviour, size.width_px, size.height_px);
    }
}

static const struct {
    const char *behaviour, *model;
    struct wr_image_size size;
    enum wr_image_detail detail;
    uint32_t tokens;
} counts[] = {
    {"Claude: patches of 28", "claude-opus-5-5", {256, 256}, WR_DETAIL_AUTO, 100},
    {"Claude: both sides rounded up", "claude-opus-5-5", {1280, 720}, WR_DETAIL_AUTO, 46 * 26},
    {"Claude: no cap yet", "claude-opus-5-5", {1920, 1080}, WR_DETAIL_AUTO, 69 * 39},
    {"Claude: the whole budget above it", "claude-opus-5-5", {4032, 3024}, WR_DETAIL_AUTO, 4784},
    {"earlier Claude: a third of it", "claude-haiku-4-5", {4032, 3024}, WR_DETAIL_AUTO, 1568},
    {"a thin image is fitted by its long edge",
     "claude-haiku-4-5",
     {15680, 280},
     WR_DETAIL_AUTO,
     56},
    {"OpenAI now: patches of 32 and a fifth more", "gpt-6-sol", {512, 512}, WR_DETAIL_AUTO, 308},
    {"OpenAI now: a screen", "gpt-6-sol", {1280, 720}, WR_DETAIL_AUTO, 1104},
    {"OpenAI now: low detail", "gpt-6-sol", {4000, 4000}, WR_DETAIL_LOW, 308},
    {"small models multiply more", "gpt-5-nano", {512, 512}, WR_DETAIL_AUTO, 630},
    {"tiles: four of 512", "gpt-4.1", {1024, 1024}, WR_DETAIL_AUTO, 85 + 4 * 170},
    {"tiles: fitted into 2048, then 768", "gpt-4.1", {4096, 2048}, WR_DETAIL_AUTO, 85 + 6 * 170},
    {"tiles: low detail is the base", "gpt-4.1", {4096, 2048}, WR_DETAIL_LOW, 85},
    {"Gemini 2: a small image is one tile", "gemini-2.5-pro", {384, 384}, WR_DETAIL_AUTO, 258},
    {"Gemini 2: tiles of 768", "gemini-2.5-pro", {1000, 700}, WR_DETAIL_AUTO, 516},
    {"Gemini 3: always the same", "gemini-3.8-flash", {4000, 3000}, WR_DETAIL_AUTO, 1120},
    {"a size not known", "claude-opus-5-5", {0, 0}, WR_DETAIL_AUTO, 1600},
    {"a model not known", "whatever", {640, 480}, WR_DETAIL_AUTO, 1600},
    {"a size that cannot be", "gpt-4.1", {UINT32_MAX, 1}, WR_DETAIL_AUTO, 85 + 4 * 170},
};

static void counts_tokens(void **state)
{
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(counts); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(counts[i].model));
        uint32_t tokens = wr_image_tokens(match.model->image, counts[i].size, counts[i].detail);
        if (tokens != counts[i].tokens)
            fail_msg("%s: %u", counts[i].behaviour, tokens);
    }
    wr_models_free(models);
}

static void overhead(void **state)
{
    (void)state;
}

static void files(void **state)
{
    (void)state;
    assert_int_equal(wr_file_kind_of(WR_LIT("application/pdf")), WR_FILE_PDF);
    assert_int_equal(wr_file_kind_of(WR_LIT("audio/wav")), WR_FILE_AUDIO);
    assert_int_equal(wr_file_kind_of(WR_LIT("application/zip")), WR_FILE_OTHER);
    assert_int_equal(wr_file_tokens(WR_FILE_PDF, 0), 2000);
    assert_int_equal(wr_file_tokens(WR_FILE_PDF, 120000), 9000);
    assert_int_equal(wr_file_tokens(WR_FILE_OTHER, 4000), 1001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(counts_tokens),
        cmocka_unit_test(overhead),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
