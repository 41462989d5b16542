/* effect.h -- what one tool call did to one path: read, searched, changed it, or ran something.
 *
 * 1. A call has a list of effects in the order they happened; an effect has at most one path.
 * 2. Lines count from 1. A negative line counts from the end: -1 is the last one, so the whole
 *    file is 1 to -1 and `tail -n 20` is -20 to -1. 0 means not known. A range may reach past the
 *    end of the file, as `head -n 50` of a short file does.
 * 3. A path that holds a variable, a glob or a substitution is kept as written with `literal`
 *    false: it names something, but not something that can be looked up.
 */
#ifndef WR_TRANSCRIPT_EFFECT_H
#define WR_TRANSCRIPT_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/span.h"

enum wr_effect_kind {
    WR_EFFECT_OTHER, /* nothing of the below, or nothing known */
    WR_EFFECT_READ,
    WR_EFFECT_SEARCH,
    WR_EFFECT_LIST,  /* names or sizes of files, not what is in them */
    WR_EFFECT_DIFF,  /* shows changes; changes nothing */
    WR_EFFECT_EDIT,  /* changes part of a file */
    WR_EFFECT_WRITE, /* makes, replaces, moves or removes a file */
    WR_EFFECT_RUN,
    WR_EFFECT_POLL, /* asks a process that runs already for more */
    WR_EFFECT_PLAN,
    WR_EFFECT_FETCH, /* from the network */
    WR_EFFECT_RECALL,
    WR_EFFECT_SKILL, /* shows instructions that are kept under a name */
    WR_EFFECT_KINDS
};

struct wr_effect {
    enum wr_effect_kind kind;
    bool literal;    /* the path is the very name of a file */
    bool whole_tree; /* EDIT of files that are not named: any file may have changed */
    bool filtered;   /* what is shown passed through something else first */
    bool if_long;    /* the range holds only where the file reaches its end line */
    weir_span path;  /* normalised, joined to the directory it was meant in; empty: none */
    weir_span query; /* what was sought; a name pattern for LIST */
    weir_span rev;   /* the version read, where it is not the file as it stands */
    weir_span program;
    int64_t start_line, end_line; /* READ only; see 2 */
};

static inline bool wr_effect_writes(const struct wr_effect *effect)
{
    return effect->kind == WR_EFFECT_EDIT || effect->kind == WR_EFFECT_WRITE;
}

static inline bool wr_effect_is_whole_file(const struct wr_effect *effect)
{
    return effect->kind == WR_EFFECT_READ && effect->start_line == 1 && effect->end_line == -1;
}

/* The lower-case word for a kind: "read", "search", ... */
const char *wr_effect_kind_text(enum wr_effect_kind kind);

/* ---- ranges of lines ----
 *
 * Ranges of lines, and ranges of ranges: what `sed -n '40,80p' | head -5` leaves.
 *
 * A positive number counts lines from the first, a negative one from the last (-1), 0 is not known.
 * A range ends with its file at the latest: 1 to 50 of a short file is all of it.
 */

struct wr_lines {
    int64_t start, end; /* inclusive */
    bool if_long;       /* holds only where the file is long enough for every number in it */
};

/* The lines `slice` of the lines `of`. {0, 0} where that is empty or cannot be told without the
 * file. */
struct wr_lines wr_lines_slice(struct wr_lines of, struct wr_lines slice);

/* ---- patches ----
 *
 * Which files a patch changes: the `*** Update File:` form of apply_patch, and unified
 * diffs. */

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
