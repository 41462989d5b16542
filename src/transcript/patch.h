/* patch.h -- which files a patch changes: the `*** Update File:` form of apply_patch, and unified
 * diffs. */
#ifndef WR_TRANSCRIPT_PATCH_H
#define WR_TRANSCRIPT_PATCH_H

#include "transcript/effect.h"

struct wr_patch {
    weir_span rest;     /* what has not been read */
    weir_span old_path; /* of a unified diff's `---` line, waiting for its `+++` */
    bool has_old;
};

struct wr_patch_file {
    enum wr_effect_kind kind; /* EDIT, or WRITE for a file that is made, moved or removed */
    weir_span path;           /* points into the patch */
};

void wr_patch_init(struct wr_patch *patch, weir_span text);

/* The next file; false when there is none. A file that is moved comes twice, old name first. */
bool wr_patch_next(struct wr_patch *patch, struct wr_patch_file *file);

#endif
