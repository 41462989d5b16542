/* raw_facts.h -- a second reader of what happened in a session, to check src/policy/summary_facts.c
 * by.
 *
 * It shares no code with the library: it reads the log's own JSON lines with a small reader of its
 * own, cuts command lines by looking at characters, and knows failures by the words that each agent
 * puts into its results. It knows the agents of the recorded sessions only. */
#ifndef TESTS_RAW_FACTS_H
#define TESTS_RAW_FACTS_H

#include <stddef.h>

struct raw_list {
    char **texts; /* owned, distinct */
    size_t count;
};

struct raw_facts {
    struct raw_list changed; /* paths of files */
    struct raw_list failing; /* command lines, on one line, cut to RAW_LINE_BYTES */
    struct raw_list open;    /* ids of the calls whose failure nothing later mended */
};

enum { RAW_LINE_BYTES = 100 };

/* `jsonl`: one message a line. */
void raw_facts_read(struct raw_facts *facts, const char *jsonl, size_t len);
void raw_facts_free(struct raw_facts *facts);

#endif
