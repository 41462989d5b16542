/* recall_words.h -- how the recall tool is described to a model: by the MCP server, and by the
 * proxy where it offers the tool itself.
 *
 * The bytes are part of prompts that providers cache: a change of them costs every session that
 * begins after it nothing, and those under way keep what they began with.
 */
#ifndef WR_TRANSCRIPT_RECALL_WORDS_H
#define WR_TRANSCRIPT_RECALL_WORDS_H

#define WR_RECALL_NAME "weir_recall"

/* Nothing in it needs an escape in JSON. */
#define WR_RECALL_DESCRIPTION                                                                    \
    "Brings back text that was left out of this conversation, as it was. A line "                \
    "`[weir wr_…: N lines, ~N tokens left out; …]` stands in its place and has its handle. " \
    "Ask for what you need by lines or grep; a long text comes in pages, and the last line of "  \
    "a page says which lines are next."

#define WR_RECALL_SCHEMA                                                                           \
    "{\"type\":\"object\",\"properties\":{"                                                        \
    "\"handle\":{\"type\":\"string\",\"description\":\"wr_ and 20 hex digits\"},"                  \
    "\"lines\":{\"type\":\"string\",\"description\":\"A-B, A- or several: 1-20,90-\"},"            \
    "\"head\":{\"type\":\"integer\",\"description\":\"the first N lines\"},"                       \
    "\"tail\":{\"type\":\"integer\",\"description\":\"the last N lines\"},"                        \
    "\"grep\":{\"type\":\"string\",\"description\":\"only lines that match this PCRE2 pattern\"}," \
    "\"context\":{\"type\":\"integer\",\"description\":\"with grep: lines around a match\"}},"     \
    "\"required\":[\"handle\"],\"additionalProperties\":false}"

#endif
