/* segment.h -- what a request consists of, as Weir sees it.
 *
 * A segment is one payload of a request: a message's text, a tool call, a tool result, a block of
 * reasoning, the tools list. A turn is what came in since the last model output, and the output
 * that answers it. A loop is a user message and everything up to the answer that ends the work on
 * it.
 */
#ifndef WEIR_SEGMENT_H
#define WEIR_SEGMENT_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

WEIR_BEGIN_DECLS

#define WEIR_DIALECT_MAP(X)   \
    X(CHAT, "chat")           \
    X(RESPONSES, "responses") \
    X(MESSAGES, "messages")   \
    X(GEMINI, "gemini")       \
    X(OLLAMA, "ollama")       \
    X(CONVERSE, "converse")

#define WEIR_ROLE_MAP(X)      \
    X(NONE, "none")           \
    X(SYSTEM, "system")       \
    X(DEVELOPER, "developer") \
    X(USER, "user")           \
    X(ASSISTANT, "assistant") \
    X(TOOL, "tool")

#define WEIR_KIND_MAP(X)          \
    X(TEXT, "text")               \
    X(TOOL_CALL, "tool_call")     \
    X(TOOL_RESULT, "tool_result") \
    X(REASONING, "reasoning")     \
    X(IMAGE, "image")             \
    X(FILE, "file")               \
    X(SYSTEM, "system")           \
    X(TOOLS, "tools")             \
    X(COMPACTION, "compaction")   \
    X(OTHER, "other")

/* What may be done with a segment, from "nothing" to "anything". */
#define WEIR_CLASS_MAP(X)                                                                          \
    X(PROTOCOL_EXACT, "protocol exact")                 /* the provider checks it */               \
    X(CONTINUATION_EXACT, "continuation exact")         /* the model's own thread of work */       \
    X(CRITICAL_EXACT, "critical exact")                 /* instructions, the user, fresh errors */ \
    X(REHYDRATABLE_EXACT, "rehydratable exact")         /* may leave whole: there is a way back */ \
    X(LOSSLESS_TRANSFORMABLE, "lossless transformable") /* can shrink without losing a word */     \
    X(CONDENSABLE, "condensable")                       /* a shorter form may stand for it */      \
    X(DROPPABLE_DUPLICATE, "droppable duplicate")       /* its text stands earlier in the prompt */

typedef enum weir_dialect {
#define X(name, text) WEIR_DIALECT_##name,
    WEIR_DIALECT_MAP(X)
#undef X
} weir_dialect;

typedef enum weir_role {
#define X(name, text) WEIR_ROLE_##name,
    WEIR_ROLE_MAP(X)
#undef X
} weir_role;

typedef enum weir_kind {
#define X(name, text) WEIR_KIND_##name,
    WEIR_KIND_MAP(X)
#undef X
} weir_kind;

typedef enum weir_class {
#define X(name, text) WEIR_CLASS_##name,
    WEIR_CLASS_MAP(X)
#undef X
} weir_class;

WEIR_API const char *weir_dialect_name(weir_dialect dialect);
WEIR_API const char *weir_role_name(weir_role role);
WEIR_API const char *weir_kind_name(weir_kind kind);
WEIR_API const char *weir_class_name(weir_class class_);

WEIR_END_DECLS

#endif
