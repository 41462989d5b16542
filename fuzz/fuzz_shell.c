/* Any bytes as a command line: no crash, and
 *   words      that a reference quoter has quoted come back as they were;
 *   memory     every span of every effect can be read;
 *   appending  `true` on a line of its own changes nothing that came before;
 *   moving     `cd /d` in front is the same as starting in /d.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "transcript/shell.h"
#include "transcript/shell_lex.h"

enum { TEXT_BYTES_MAX = 1 << 20, WORDS_MAX = 64 };

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

/* --- words --- */

static void quote_single(struct wr_buf *out, weir_span word)
{
    wr_buf_byte(out, '\'');
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == '\'')
            wr_buf_text(out, "'\\''");
        else
            wr_buf_byte(out, word.ptr[i]);
    wr_buf_byte(out, '\'');
}

static void quote_double(struct wr_buf *out, weir_span word)
{
    wr_buf_byte(out, '"');
    for (size_t i = 0; i < word.len; i++) {
        if (memchr("$`\"\\", word.ptr[i], 4))
            wr_buf_byte(out, '\\');
        wr_buf_byte(out, word.ptr[i]);
    }
    wr_buf_byte(out, '"');
}

/* A backslash before a line break would join lines: those are quoted. */
static void quote_bytes(struct wr_buf *out, weir_span word)
{
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == '\n')
            wr_buf_text(out, "'\n'");
        else
            wr_buf_printf(out, "\\%c", word.ptr[i]);
    if (!word.len)
        wr_buf_text(out, "''");
}

static void quote_ansi(struct wr_buf *out, weir_span word)
{
    wr_buf_text(out, "$'");
    for (size_t i = 0; i < word.len; i++)
        wr_buf_printf(out, "\\x%02x", (unsigned char)word.ptr[i]);
    wr_buf_byte(out, '\'');
}

static void check_words(uint8_t style, weir_span bytes)
{
    static void (*const quoters[])(struct wr_buf *, weir_span) = {quote_single, quote_double,
                                                                  quote_bytes, quote_ansi};
    weir_span words[WORDS_MAX];
    size_t count = 0;
    struct wr_buf line;
    struct wr_arena arena;
    struct wr_shell_tokens tokens;

    wr_buf_init(&line, TEXT_BYTES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t from = 0, i = 0; i <= bytes.len && count < WORDS_MAX; i++) {
        if (i < bytes.len && bytes.ptr[i])
            continue; /* a word holds no NUL */
        words[count] = wr_span_cut(bytes, from, i);
        quoters[(style + count) % 4](&line, words[count]);
        count++;
        wr_buf_byte(&line, ' ');
        from = i + 1;
    }
    MUST(wr_shell_lex(&tokens, &arena, wr_buf_view(&line)) == WEIR_OK);
    MUST(!tokens.incomplete && tokens.count == count);
    for (size_t i = 0; i < count; i++)
        MUST(tokens.items[i].kind == WR_SHELL_WORD && tokens.items[i].literal &&
             wr_span_eq(tokens.items[i].text, words[i]));
    wr_arena_release(&arena);
    wr_buf_release(&line);
}

/* --- effects --- */

static unsigned sum;

static void touch(weir_span span)
{
    for (size_t i = 0; i < span.len; i++)
        sum += (unsigned char)span.ptr[i];
}

static void check_effects(const struct wr_shell *shell)
{
    MUST(shell->effects_count <= WR_SHELL_EFFECTS_MAX);
    for (size_t i = 0; i < shell->effects_count; i++) {
        const struct wr_effect *effect = &shell->effects[i];
        touch(effect->path);
        touch(effect->query);
        touch(effect->rev);
        touch(effect->program);
        MUST(effect->kind > WR_EFFECT_OTHER && effect->kind <= WR_EFFECT_RUN);
        MUST(effect->kind == WR_EFFECT_READ || (!effect->start_line && !effect->end_line));
        MUST(!effect->start_line == !effect->end_line);
    }
}

static bool same_effect(const struct wr_effect *a, const struct wr_effect *b)
{
    return a->kind == b->kind && a->literal == b->literal && a->whole_tree == b->whole_tree &&
           a->start_line == b->start_line && a->end_line == b->end_line &&
           wr_span_eq(a->path, b->path) && wr_span_eq(a->query, b->query) &&
           wr_span_eq(a->rev, b->rev);
}

static void must_be_same(const struct wr_shell *a, const struct wr_shell *b)
{
    MUST(a->effects_count == b->effects_count);
    for (size_t i = 0; i < a->effects_count; i++)
        MUST(same_effect(&a->effects[i], &b->effects[i]));
}

static weir_span concat(struct wr_arena *arena, weir_span a, weir_span b)
{
    char *bytes = wr_arena_alloc(arena, a.len + b.len + 1);
    MUST(bytes);
    memcpy(bytes, a.ptr, a.len);
    memcpy(bytes + a.len, b.ptr, b.len);
    return (weir_span){bytes, a.len + b.len};
}

/* Whether a line behind the text is a command of its own: not the rest of a heredoc or of a list.
 */
static bool can_go_on(const struct wr_shell *shell, struct wr_arena *arena, weir_span text)
{
    struct wr_shell_tokens tokens;
    MUST(wr_shell_lex(&tokens, arena, text) == WEIR_OK);
    enum wr_shell_token_kind last =
        tokens.count ? tokens.items[tokens.count - 1].kind : WR_SHELL_END;
    bool open = last == WR_SHELL_PIPE || last == WR_SHELL_AND || last == WR_SHELL_OR;
    bool heredoc = wr_span_find(text, WR_LIT("<<"), 0) != SIZE_MAX;
    return shell->is_complete && !open && !heredoc && !wr_span_ends(text, WR_LIT("\\"));
}

static void check_line(weir_span text)
{
    struct wr_arena arena;
    struct wr_shell plain, longer, moved, there;
    weir_span nowhere = {"", 0};

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    MUST(wr_shell_parse(&plain, &arena, text, nowhere) == WEIR_OK);
    check_effects(&plain);
    if (can_go_on(&plain, &arena, text)) {
        MUST(wr_shell_parse(&longer, &arena, concat(&arena, text, WR_LIT("\ntrue")), nowhere) ==
             WEIR_OK);
        must_be_same(&plain, &longer);
    }
    MUST(wr_shell_parse(&moved, &arena, concat(&arena, WR_LIT("cd /d\n"), text), nowhere) ==
         WEIR_OK);
    MUST(wr_shell_parse(&there, &arena, text, WR_LIT("/d")) == WEIR_OK);
    check_effects(&there);
    must_be_same(&moved, &there);
    wr_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!len)
        return 0;
    weir_span rest = {(const char *)bytes + 1, len - 1};
    if (bytes[0] < 4)
        check_words(bytes[0], rest);
    else
        check_line((weir_span){(const char *)bytes, len});
    return 0;
}
