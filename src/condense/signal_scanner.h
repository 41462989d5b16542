/* signal_scanner.h -- what the detectors of signals share: the line at hand, the context, the set.
 *
 * Private to the signal_*.c files. The scanner goes over the lines once. What a line means may
 * depend on earlier lines in three ways only, and each remembers which lines it rests on, so that
 * they are listed with the signal (invariant 3 of signal.h):
 *   - the context: the path a heading gave, the hunk or the JSON object the line stands in;
 *   - the stack: the first frame behind an error is its top;
 *   - the traceback: the last of Python's frames before the exception is its top.
 * Of these the stack begins as if an error had come, and a traceback that is cut off still gives
 * its last frame: so a text and the same text twice say the same.
 */
#ifndef WR_CONDENSE_SIGNAL_SCANNER_H
#define WR_CONDENSE_SIGNAL_SCANNER_H

#include "base/ascii.h"
#include "base/limits.h"
#include "base/words.h"
#include "condense/signal.h"

#define WR_LINE_NONE UINT32_MAX

enum wr_signal_context {
    WR_CONTEXT_NONE,
    WR_CONTEXT_PATH, /* below a line that is a path */
    WR_CONTEXT_HUNK, /* in the body of a diff */
    WR_CONTEXT_JSON, /* in the object of an error */
};

/* The lines something rests on: its own, and those that gave or ended the context it was read in.
 */
struct wr_signal_basis {
    uint32_t line, line_end;
    uint32_t set_line, set_end; /* empty where the context did not matter */
    uint32_t reset_line;        /* WR_LINE_NONE likewise */
};

struct wr_signal_scanner {
    struct wr_signal_set *set;
    struct wr_arena *arena;
    enum wr_output_kind kind;
    weir_status status; /* first failure; nothing is added after it */

    weir_span rest;          /* the text behind the line at hand, without escapes */
    uint32_t line, line_end; /* the line at hand; two lines where the next belongs to it */
    uint32_t below_count;    /* lines behind it that show that it is not the head of them */
    bool in_header;          /* only the tool's own header lines so far */

    enum wr_signal_context context;
    weir_span context_path;                     /* PATH and HUNK */
    size_t context_indent;                      /* JSON: of the line that opened the object */
    uint32_t context_set_line, context_set_end; /* the lines that gave it */
    uint32_t context_reset_line;                /* the line that ended it, or WR_LINE_NONE */
    bool context_asked; /* the line at hand was read in the light of the context */

    bool frame_wanted;             /* the next frame is the top of a stack */
    struct wr_signal_basis header; /* the error it belongs to */
    weir_span python_frame;        /* empty: none waits for its exception */
    struct wr_signal_basis python_basis;

    bool error_found; /* on the line at hand */
    char scratch[WR_SIGNAL_TEXT_BYTES_MAX];
};

/* signal_set.c -- adding. Texts are normalised unless said otherwise; empty ones are dropped. */
void wr_signal_add(struct wr_signal_scanner *scanner, enum wr_signal_kind kind, weir_span text);
void wr_signal_add_exact(struct wr_signal_scanner *scanner, enum wr_signal_kind kind,
                         weir_span text);
void wr_signal_add_place(struct wr_signal_scanner *scanner, weir_span path, weir_span line,
                         weir_span column);
void wr_signal_add_hunk(struct wr_signal_scanner *scanner, weir_span path, weir_span numbers);
/* One that stood further up, and is sure only now. */
void wr_signal_add_earlier(struct wr_signal_scanner *scanner, enum wr_signal_kind kind,
                           weir_span text, const struct wr_signal_basis *basis);
WEIR_MUST_USE weir_status wr_signal_set_init(struct wr_signal_set *set, struct wr_arena *arena);
void wr_signal_set_finish(struct wr_signal_set *set); /* sorts the lines */

/* signal.c */
void wr_signal_set_context(struct wr_signal_scanner *scanner, enum wr_signal_context context,
                           weir_span path);
void wr_signal_reset_context(struct wr_signal_scanner *scanner);
enum wr_signal_context wr_signal_ask_context(struct wr_signal_scanner *scanner);
struct wr_signal_basis wr_signal_basis_now(const struct wr_signal_scanner *scanner);

/* The next line, trimmed; empty where there is none. */
weir_span wr_signal_peek(struct wr_signal_scanner *scanner);
void wr_signal_take_next(struct wr_signal_scanner *scanner); /* makes it part of the line at hand */

/* What is behind the first `prefix` bytes, trimmed. */
static inline weir_span wr_signal_behind(weir_span text, size_t prefix)
{
    return wr_span_trim(wr_span_from(text, prefix));
}

/* -- signal_words.c: what the words of a line say ---------------------------------------------- */

struct wr_signal_words {
    bool found;
    enum wr_signal_kind kind; /* CRITICAL or ERROR */
};

/* Words and phrases anywhere in `text` that say something went wrong. "0 failed", "no errors",
 * `error_handler`, "src/errors.go" are not found. */
struct wr_signal_words wr_signal_words_find(weir_span text);

/* "a.b.SomeError: message", "java.lang.Exception", "Caused by: ...", "Traceback (most ...": a line
 * that heads or ends a stack. Its kind is ERROR or, for "SomeWarning: ", WARNING. */
bool wr_signal_is_exception(weir_span text);
enum wr_signal_kind wr_signal_exception_kind(weir_span text);

/* Whether the line is more likely a line of a program than a message of one. */
bool wr_signal_is_code(weir_span text);

struct wr_signal_level {
    bool found;
    bool note;                /* a word such as "note:" that says it is less than a warning */
    enum wr_signal_kind kind; /* CRITICAL, ERROR or WARNING */
    weir_span message;        /* behind the word */
};

/* Of the word that begins `text`: "error:", "[WARN]", "FATAL", "npm ERR!". "error: none" and the
 * like say that there is none. */
struct wr_signal_level wr_signal_level_read(weir_span text);

/* Without the lines some tools draw around a message. */
weir_span wr_signal_without_frame(weir_span text);

/* Without what logs put in front: times, hosts, process ids, names in brackets. What is left begins
 * with the level where the line has one. */
weir_span wr_signal_without_prefix(weir_span text);

/* -- the detectors: each looks at one line; `true`: the line is dealt with --------------------- */

bool wr_signal_frame(struct wr_signal_scanner *scanner, weir_span line); /* of a stack */
void wr_signal_frame_flush(struct wr_signal_scanner *scanner);           /* at the end */
void wr_signal_exit_codes(struct wr_signal_scanner *scanner, weir_span line);
bool wr_signal_test_result(struct wr_signal_scanner *scanner, weir_span line);
/* "1) name" may be the head of the lines below; where it is not, what is found in it rests on them
 * (below_count). */
void wr_signal_look_below(struct wr_signal_scanner *scanner, weir_span text);
bool wr_signal_totals(struct wr_signal_scanner *scanner, weir_span line);
void wr_signal_diagnostic(struct wr_signal_scanner *scanner, weir_span line);
bool wr_signal_diff(struct wr_signal_scanner *scanner, weir_span line);
bool wr_signal_is_diff_detail(weir_span line); /* "index 1..2", "rename from x": between headers */
bool wr_signal_json(struct wr_signal_scanner *scanner, weir_span line);

/* signal_complaint.c: the header a tool puts in front, that an agent refused a call, what a tool
 * says of itself. */
bool wr_signal_line_header(struct wr_signal_scanner *scanner, weir_span line);
bool wr_signal_refusal(struct wr_signal_scanner *scanner, weir_span line);
bool wr_signal_complaint(struct wr_signal_scanner *scanner, weir_span line);

#endif
