/* over_window.h -- why a prompt is larger than its room although all that is lawful was taken
 * out.
 */
#ifndef WR_ENGINE_OVER_WINDOW_H
#define WR_ENGINE_OVER_WINDOW_H

#include "engine/run.h"

/* A constant sentence; NULL: it is not over its window, or nobody knows the window. */
const char *wr_over_window(const struct wr_run *run);

#endif
