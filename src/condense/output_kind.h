/* output_kind.h -- what kind of text a tool gave back, which decides how it is read and condensed.
 *
 * The kind comes from what the tool does first (a read gives a file, a search its results), then
 * from the command line where one was run, then from a look at the text. Doubt is PROCESS: that
 * kind hides nothing, because all diagnostics are sought in it.
 */
#ifndef WR_CONDENSE_OUTPUT_KIND_H
#define WR_CONDENSE_OUTPUT_KIND_H

#include <stdbool.h>

#include "weir/span.h"

enum wr_output_kind {
    WR_OUTPUT_PROCESS, /* what a command printed */
    WR_OUTPUT_FILE,    /* the text of a file that was read */
    WR_OUTPUT_LOG,
    WR_OUTPUT_TEST, /* a run of tests */
    WR_OUTPUT_SEARCH,
    WR_OUTPUT_DIFF,
    WR_OUTPUT_JSON,
    WR_OUTPUT_LIST, /* names of files, with sizes or without */
    WR_OUTPUT_BLOB, /* bytes for no reader: base64, binary */
    WR_OUTPUT_PROSE,
    WR_OUTPUT_KINDS
};

/* What the tool that gave the text does. */
enum wr_output_origin {
    WR_ORIGIN_UNKNOWN,
    WR_ORIGIN_READ,
    WR_ORIGIN_SEARCH,
    WR_ORIGIN_LIST,
    WR_ORIGIN_DIFF,
    WR_ORIGIN_CHANGE, /* edits or writes a file and says so */
    WR_ORIGIN_RUN,    /* runs a command, or asks a running one for more */
    WR_ORIGIN_FETCH,  /* from the network */
    WR_ORIGIN_TELL,   /* plans, recalled text, words of another model */
};

struct wr_output_hint {
    enum wr_output_origin origin;
    weir_span command; /* the shell's command line; empty where there was none */
    weir_span path;    /* what was read; empty where it is not known */
};

enum wr_output_kind wr_output_kind(const struct wr_output_hint *hint, weir_span text);

/* The kind the text alone suggests; PROCESS where nothing stands out. Looks at a bounded part. */
enum wr_output_kind wr_output_kind_sniff(weir_span text);

/* The lower-case word for a kind: "process", "file", ... */
const char *wr_output_kind_text(enum wr_output_kind kind);

/* ---- from the command line ---- */

/* PROCESS where the line runs several programs that do not agree, or one that is not known.
 * Programs that print next to nothing (cd, mkdir, echo) do not count. */
enum wr_output_kind wr_output_kind_of_command(weir_span command);

/* ---- which files that are read hold rows that a program wrote ---- */

/* Logs, tables, reports of tests: in them one row may be what the reader looks for, as in the
 * output of a command; the text of a program or of a page has no such rows. */

/* LOG where the file holds rows, PROCESS where it may hold what a program printed, else FILE. Looks
 * at a bounded part of the text. `path` may be empty. */
enum wr_output_kind wr_output_kind_of_file(weir_span path, weir_span text);

#endif
