/* How many tokens an image counts: its size, read from its header, and the provider's arithmetic.
 * At the end, rough figures for files of other kinds.
 *
 * An image comes as base64 inside a request. image_byte() decodes the one byte that is asked for,
 * so a size is found without decoding the rest of the image. Each format has its
 * size somewhere else: PNG and GIF at a fixed place; WebP in one of three ways; JPEG in a frame
 * header behind any number of other segments, which are stepped over, at most JPEG_SEGMENTS_MAX of
 * them.
 *
 * What cannot be read is not an error. The size is then 0 by 0, and the rule's figure for an
 * unknown image is counted. The arithmetic itself (fixed, patch, tile) is in image.h.
 */
#include "models/image.h"

#include "base/base64.h"
#include "base/span.h"

enum {
    PX_MAX = 1000000,       /* a side; beyond it a header is nonsense */
    JPEG_SEGMENTS_MAX = 512 /* looked at before the size must have come */
};

/* The byte at `at` of what the base64 stands for; -1 past its end or where it is not base64. */
static int image_byte(weir_span base64, size_t at)
{
    size_t first = at / 3 * 4 + at % 3;
    if (at > WR_IMAGE_HEADER_BYTES_MAX || first + 1 >= base64.len)
        return -1;
    int high = wr_base64_value(base64.ptr[first]), low = wr_base64_value(base64.ptr[first + 1]);
    if (high < 0 || low < 0)
        return -1;
    unsigned shift = 2 * (unsigned)(at % 3);
    unsigned both = (unsigned)high << 6 | (unsigned)low;
    return (int)(both >> (4 - shift) & 0xff);
}

/* `bytes` (at most 4) at `at`, the highest first; 0 where one is missing. */
static uint32_t big_endian(weir_span base64, size_t at, unsigned bytes)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < bytes; i++) {
        int byte = image_byte(base64, at + i);
        if (byte < 0)
            return 0;
        n = n << 8 | (uint32_t)byte;
    }
    return n;
}

static uint32_t little_endian(weir_span base64, size_t at, unsigned bytes)
{
    uint32_t n = 0;
    for (unsigned i = bytes; i > 0; i--) {
        int byte = image_byte(base64, at + i - 1);
        if (byte < 0)
            return 0;
        n = n << 8 | (uint32_t)byte;
    }
    return n;
}

static bool has_bytes(weir_span base64, size_t at, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (image_byte(base64, at + i) != (unsigned char)bytes[i])
            return false;
    return true;
}

/* Segments are FF, a marker, a length. The size is in the frame header, any of C0 to CF but the
 * three that mean something else; thumbnails hide inside APP segments, which are stepped over
 * whole. */
static struct wr_image_size jpeg_size(weir_span base64)
{
    size_t at = 2;
    for (int i = 0; i < JPEG_SEGMENTS_MAX; i++) {
        if (image_byte(base64, at) != 0xff)
            break;
        int marker = image_byte(base64, at + 1);
        if (marker == 0xff) { /* padding */
            at++;
            continue;
        }
        bool frame =
            marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (frame)
            return (struct wr_image_size){big_endian(base64, at + 7, 2),
                                          big_endian(base64, at + 5, 2)};
        uint32_t len = big_endian(base64, at + 2, 2);
        if (len < 2)
            break;
        at += 2 + (size_t)len;
    }
    return (struct wr_image_size){0};
}

static struct wr_image_size webp_size(weir_span base64)
{
    if (has_bytes(base64, 12, "VP8X", 4))
        return (struct wr_image_size){little_endian(base64, 24, 3) + 1,
                                      little_endian(base64, 27, 3) + 1};
    if (has_bytes(base64, 12, "VP8 ", 4) && has_bytes(base64, 23, "\x9d\x01\x2a", 3))
        return (struct wr_image_size){little_endian(base64, 26, 2) & 0x3fff,
                                      little_endian(base64, 28, 2) & 0x3fff};
    if (has_bytes(base64, 12, "VP8L", 4) && image_byte(base64, 20) == 0x2f) {
        uint32_t bits = little_endian(base64, 21, 4);
        return (struct wr_image_size){(bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1};
    }
    return (struct wr_image_size){0};
}

static weir_span skip_data_url(weir_span text)
{
    if (!wr_span_starts(text, WR_LIT("data:")))
        return text;
    weir_span head = text;
    if (head.len > WR_MODEL_NAME_BYTES_MAX)
        head.len = WR_MODEL_NAME_BYTES_MAX;
    size_t at = wr_span_find(head, WR_LIT(";base64,"), 0);
    return at == SIZE_MAX ? (weir_span){text.ptr, 0} : wr_span_cut(text, at + 8, text.len);
}

struct wr_image_size wr_image_size_read(weir_span text)
{
    struct wr_image_size size = {0};
    weir_span base64 = skip_data_url(text);

    if (has_bytes(base64, 0, "\x89PNG\r\n\x1a\n", 8))
        size = (struct wr_image_size){big_endian(base64, 16, 4), big_endian(base64, 20, 4)};
    else if (has_bytes(base64, 0, "\xff\xd8", 2))
        size = jpeg_size(base64);
    else if (has_bytes(base64, 0, "GIF8", 4))
        size = (struct wr_image_size){little_endian(base64, 6, 2), little_endian(base64, 8, 2)};
    else if (has_bytes(base64, 0, "RIFF", 4) && has_bytes(base64, 8, "WEBP", 4))
        size = webp_size(base64);
    if (!size.width_px || !size.height_px || size.width_px > PX_MAX || size.height_px > PX_MAX)
        return (struct wr_image_size){0};
    return size;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Shrinks `size` so that its side `side_px` becomes `max_px`; never grows it. */
static struct wr_image_size shrink_to(struct wr_image_size size, uint32_t side_px, uint32_t max_px)
{
    if (!max_px || side_px <= max_px)
        return size;
    uint64_t width = ((uint64_t)size.width_px * max_px + side_px / 2) / side_px;
    uint64_t height = ((uint64_t)size.height_px * max_px + side_px / 2) / side_px;
    return (struct wr_image_size){width ? (uint32_t)width : 1, height ? (uint32_t)height : 1};
}

static uint32_t long_side(struct wr_image_size size)
{
    return size.width_px > size.height_px ? size.width_px : size.height_px;
}

static uint32_t short_side(struct wr_image_size size)
{
    return size.width_px < size.height_px ? size.width_px : size.height_px;
}

static uint32_t clamp_tokens(uint64_t tokens)
{
    return tokens < WR_MODEL_TOKENS_MAX ? (uint32_t)tokens : WR_MODEL_TOKENS_MAX;
}

static uint32_t patch_tokens(const struct wr_image_rule *rule, struct wr_image_size size)
{
    size = shrink_to(size, long_side(size), rule->edge_px_max);
    uint64_t patches =
        ceil_div(size.width_px, rule->patch_px) * ceil_div(size.height_px, rule->patch_px);
    if (rule->patches_max && patches > rule->patches_max)
        patches = rule->patches_max;
    return clamp_tokens(ceil_div(patches * rule->multiplier_bp, 10000));
}

static uint32_t tile_tokens(const struct wr_image_rule *rule, struct wr_image_size size)
{
    uint64_t tiles = 1;
    if (!rule->small_px || long_side(size) > rule->small_px) {
        size = shrink_to(size, long_side(size), rule->fit_px);
        size = shrink_to(size, short_side(size), rule->short_px);
        tiles = ceil_div(size.width_px, rule->tile_px) * ceil_div(size.height_px, rule->tile_px);
    }
    if (tiles > WR_MODEL_TOKENS_MAX)
        tiles = WR_MODEL_TOKENS_MAX;
    return clamp_tokens(rule->base_tokens + tiles * rule->tile_tokens);
}

uint32_t wr_image_tokens(const struct wr_image_rule *rule, struct wr_image_size size,
                         enum wr_image_detail detail)
{
    if (detail == WR_DETAIL_LOW && rule->low_tokens)
        return rule->low_tokens;
    if (!size.width_px || !size.height_px || rule->kind == WR_IMAGE_FIXED)
        return rule->unknown_tokens;
    if (size.width_px > PX_MAX)
        size.width_px = PX_MAX;
    if (size.height_px > PX_MAX)
        size.height_px = PX_MAX;
    return rule->kind == WR_IMAGE_PATCH ? patch_tokens(rule, size) : tile_tokens(rule, size);
}

/* ---- files ---- */

enum {
    PDF_PAGE_TOKENS = 3000, /* text and picture of a page, the upper end of what is published */
    PDF_PAGE_BYTES = 50000, /* a page of a mixed document */
    AUDIO_SECOND_TOKENS = 32,
    AUDIO_SECOND_BYTES =
        16000,               /* 128 kbit/s; speech is often less, so this is low at worst by half */
    REFERENCE_TOKENS = 2000, /* a file that is only named */
};

uint64_t wr_file_tokens(enum wr_file_kind kind, uint64_t file_bytes)
{
    if (!file_bytes)
        return REFERENCE_TOKENS;
    switch (kind) {
    case WR_FILE_PDF:
        return (file_bytes / PDF_PAGE_BYTES + 1) * PDF_PAGE_TOKENS;
    case WR_FILE_AUDIO:
        return (file_bytes / AUDIO_SECOND_BYTES + 1) * AUDIO_SECOND_TOKENS;
    case WR_FILE_OTHER:
        break;
    }
    return file_bytes / 4 + 1;
}

enum wr_file_kind wr_file_kind_of(weir_span media_type)
{
    if (wr_span_starts(media_type, WR_LIT("application/pdf")))
        return WR_FILE_PDF;
    if (wr_span_starts(media_type, WR_LIT("audio/")))
        return WR_FILE_AUDIO;
    return WR_FILE_OTHER;
}
