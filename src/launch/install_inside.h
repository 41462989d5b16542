/* install_inside.h -- what the files of `weir install` share. */
#ifndef WR_LAUNCH_INSTALL_INSIDE_H
#define WR_LAUNCH_INSTALL_INSIDE_H

#include "launch/install.h"

/* In the plan's arena; NULL: out of memory. */
const char *wr_install_text(struct wr_install *install, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A text of the table as it is for this install; NULL: out of memory. */
const char *wr_install_value(struct wr_install *install, const char *text);

/* A file of ours; one that is there already is refused unless it says the same. */
WEIR_MUST_USE weir_status wr_install_add_file(struct wr_install *install, const char *path,
                                              const char *why, weir_span text,
                                              struct weir_err *err);

/* Settings in a file of the user's, which may be missing. */
WEIR_MUST_USE weir_status wr_install_add_edits(struct wr_install *install, const char *path,
                                               const char *why, const struct wr_edit *edits,
                                               size_t edits_count, struct weir_err *err);

#endif
