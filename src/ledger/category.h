/* category.h -- kinds of content that a prompt is made of, as people ask for them. */
#ifndef WR_LEDGER_CATEGORY_H
#define WR_LEDGER_CATEGORY_H

#define WR_CATEGORY_MAP(X)                                                     \
    X(SYSTEM, "system")             /* the instructions at the front */        \
    X(TOOLS, "tools")               /* the definitions of tools */             \
    X(INSTRUCTIONS, "instructions") /* of the developer, or that came later */ \
    X(USER, "user")                                                            \
    X(ASSISTANT, "assistant")                                                  \
    X(REASONING, "reasoning")                                                  \
    X(CALLS, "calls")                                                          \
    X(RESULTS, "results")                                                      \
    X(MEDIA, "media") /* images and files */                                   \
    X(OTHER, "other") /* framing, summaries, notices, what is not known */

enum wr_category {
#define X(name, text) WR_CATEGORY_##name,
    WR_CATEGORY_MAP(X)
#undef X
        WR_CATEGORIES_COUNT
};

const char *wr_category_name(enum wr_category category);

#endif
