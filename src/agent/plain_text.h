/* plain_text.h -- text of others on a terminal.
 *
 * What a model, a command or a file says may hold escapes; they must not steer the terminal.
 * Control characters but tab and line break, also those of two bytes (U+0080 to U+009F), are shown
 * as '?'.
 */
#ifndef WR_AGENT_PLAIN_TEXT_H
#define WR_AGENT_PLAIN_TEXT_H

#include <stdio.h>

#include "weir/weir.h"

void wr_plain_text_put(FILE *out, weir_span text);

#endif
