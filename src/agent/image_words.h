/* image_words.h -- images that a message of the user names by their paths.
 *
 *   look at @shots/login.png            a path behind an @, of the working directory or absolute
 *   @"my shots/login.png"  @my\ a.png   with spaces: in quotes, or each behind a backslash
 *   '/home/me/login.png' what is wrong? a terminal puts the path there when a file is dropped on it
 *
 * The text stays as it was typed. A path without an @ counts in a message of one line only: a log
 * that is pasted may name any file, and nobody meant to send it.
 */
#ifndef WR_AGENT_IMAGE_WORDS_H
#define WR_AGENT_IMAGE_WORDS_H

#include "agent/agent.h"

struct wr_image_word {
    struct wr_buf path;  /* without quotes and backslashes */
    bool may_end_sooner; /* it was not quoted: a sign at its end may be the sentence's */
};

/* Appends the next path of `text` from `*at` on to `word->path`, which is empty; `*at` is behind it
 * then. False: there is none. */
bool wr_image_word_next(weir_span text, size_t *at, struct wr_image_word *word);

/* Attaches the images of `text` to the words that are said next, and tells each by a notice. What
 * has the name of an image and cannot be sent is told too, and stays what it is: text. */
void wr_image_words_attach(struct wr_agent *agent, weir_span text);

#endif
