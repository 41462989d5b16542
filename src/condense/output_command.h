/* output_command.h -- the kind of output a shell's command line gives, from the names of its
 * programs. */
#ifndef WR_CONDENSE_OUTPUT_COMMAND_H
#define WR_CONDENSE_OUTPUT_COMMAND_H

#include "condense/output_kind.h"

/* PROCESS where the line runs several programs that do not agree, or one that is not known.
 * Programs that print next to nothing (cd, mkdir, echo) do not count. */
enum wr_output_kind wr_output_kind_of_command(weir_span command);

#endif
