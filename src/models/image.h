/* image.h -- how many tokens an image counts.
 *
 * The size is read from the image's own header, straight out of its base64, so nothing is decoded
 * that is not looked at. Where it cannot be read, the rule's `unknown_tokens` stands in.
 *
 *   fixed  unknown_tokens, whatever the size
 *   patch  the long edge fitted to edge_px_max; ceil(w/patch_px) * ceil(h/patch_px) patches, at
 * most patches_max; times multiplier_bp. Where the provider would shrink the image to fit its patch
 * budget we count the whole budget: at most 2 % high. tile   up to small_px both ways: one tile.
 * Else fitted into fit_px, the short side shrunk to short_px, then base_tokens + tile_tokens for
 * each tile_px square begun.
 */
#ifndef WR_MODELS_IMAGE_H
#define WR_MODELS_IMAGE_H

#include "models/model.h"

enum wr_image_detail { WR_DETAIL_AUTO, WR_DETAIL_LOW, WR_DETAIL_HIGH };

struct wr_image_size { /* 0 by 0: not known */
    uint32_t width_px, height_px;
};

/* PNG, JPEG, GIF or WebP in base64 without line breaks; a "data:...;base64," in front is skipped.
 */
struct wr_image_size wr_image_size_read(weir_span base64);

uint32_t wr_image_tokens(const struct wr_image_rule *rule, struct wr_image_size size,
                         enum wr_image_detail detail);

#endif
