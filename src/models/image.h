/* image.h -- how many tokens an image counts, and a file that is not text.
 *
 * The size is read from the image's own header, straight out of its base64, so nothing is decoded
 * that is not looked at. Where it cannot be read, the rule's `unknown_tokens` stands in.
 *
 *   fixed  unknown_tokens, whatever the size
 *   patch  the long edge is fitted to edge_px_max; then ceil(w/patch_px) * ceil(h/patch_px)
 *          patches, at most patches_max, times multiplier_bp. Where the provider would shrink the
 *          image to fit its patch budget we count the whole budget, which is at most 2 % too high
 *   tile   up to small_px both ways it is one tile. Else it is fitted into fit_px, its short side
 *          is shrunk to short_px, and it counts base_tokens + tile_tokens for each square of
 *          tile_px that is begun
 */
#ifndef WR_MODELS_IMAGE_H
#define WR_MODELS_IMAGE_H

#include <stdbool.h>

#include "models/registry.h"

enum wr_image_detail { WR_DETAIL_AUTO, WR_DETAIL_LOW, WR_DETAIL_HIGH };

struct wr_image_size { /* 0 by 0: not known */
    uint32_t width_px, height_px;
};

/* PNG, JPEG, GIF or WebP in base64 without line breaks; a "data:...;base64," in front is skipped.
 */
struct wr_image_size wr_image_size_read(weir_span base64);

uint32_t wr_image_tokens(const struct wr_image_rule *rule, struct wr_image_size size,
                         enum wr_image_detail detail);

enum wr_file_kind { WR_FILE_PDF, WR_FILE_AUDIO, WR_FILE_OTHER };

/* A file that is neither text nor an image, by its size in bytes (decoded; 0: only a reference). A
 * rough figure: count it with low confidence. Files of text are counted as text. */
uint64_t wr_file_tokens(enum wr_file_kind kind, uint64_t file_bytes);

enum wr_file_kind wr_file_kind_of(weir_span media_type);

#endif
