/* output_data.h -- which files that are read hold rows that a program wrote: logs, tables, reports
 * of tests. In them one row may be what the reader looks for, as in the output of a command; the
 * text of a program or of a page has no such rows. */
#ifndef WR_CONDENSE_OUTPUT_DATA_H
#define WR_CONDENSE_OUTPUT_DATA_H

#include <stdbool.h>

#include "condense/output_kind.h"

/* By the name alone: "app.log", "/var/log/x", "results.csv", "events.jsonl". */
bool wr_output_is_data_path(weir_span path);

/* LOG where the file holds rows, PROCESS where it may hold what a program printed, else FILE. Looks
 * at a bounded part of the text. `path` may be empty. */
enum wr_output_kind wr_output_kind_of_file(weir_span path, weir_span text);

#endif
