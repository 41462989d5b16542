/* Takes one decoration after another off a model's name.
 *
 * wr_name_simplify() tries, in this order: the window in brackets that Claude Code writes, a path,
 * a vendor's prefix, a reseller's spelling, a tag, a date, a word such as -latest. The name is a
 * window [start, end) over a copy in lower case, so taking something off moves one of the two ends.
 *
 * Something always remains: a name that is all decoration ("-latest") stays as it is.
 */
#include "models/name.h"

#include "base/ascii.h"
#include "base/span.h"

void wr_name_init(struct wr_name *name, weir_span text)
{
    text = wr_span_trim(text);
    if (text.len > sizeof(name->text))
        text.len = sizeof(name->text);
    *name = (struct wr_name){.end = text.len};
    for (size_t i = 0; i < text.len; i++)
        name->text[i] = wr_lower(text.ptr[i]);
}

bool wr_name_eq(weir_span a, weir_span b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (wr_lower(a.ptr[i]) != wr_lower(b.ptr[i]))
            return false;
    return true;
}

/* Keeps `len` bytes, if any. */
static bool keep_front(struct wr_name *name, size_t len, enum wr_name_change change)
{
    if (!len)
        return false;
    name->end = name->start + len;
    name->changes |= change;
    return true;
}

static bool drop_front(struct wr_name *name, size_t len, enum wr_name_change change)
{
    if (name->start + len >= name->end)
        return false;
    name->start += len;
    name->changes |= change;
    return true;
}

/* Claude Code writes the window it wants behind the name: "claude-sonnet-4-5[1m]". */
static bool drop_window(struct wr_name *name)
{
    weir_span view = wr_name_view(name);
    if (view.len < 4 || view.ptr[view.len - 1] != ']')
        return false;
    size_t open = view.len - 1;
    while (open > 0 && view.ptr[open] != '[')
        open--;
    weir_span inside = wr_span_cut(view, open + 1, view.len - 1);
    uint64_t number;
    if (view.ptr[open] != '[' || inside.len < 2)
        return false;
    char unit = inside.ptr[inside.len - 1];
    uint64_t scale = unit == 'm' ? 1000000 : unit == 'k' ? 1000 : 0;
    inside.len--;
    if (!scale || !wr_span_u64(inside, &number) || !number || number > WR_MODEL_TOKENS_MAX / scale)
        return false;
    if (!keep_front(name, open, WR_NAME_WINDOW))
        return false;
    name->window_tokens = (uint32_t)(number * scale);
    return true;
}

static bool drop_path(struct wr_name *name)
{
    weir_span view = wr_name_view(name);
    size_t len = view.len;
    while (len > 0 && view.ptr[len - 1] != '/')
        len--;
    return len && drop_front(name, len, WR_NAME_PREFIXED);
}

/* Bedrock: "us.anthropic.claude-...". Ids have dots of their own, so only known words go. */
static bool drop_vendor(struct wr_name *name)
{
    static const char *const words[] = {
        "us.",      "eu.",       "ap.",     "apac.",      "jp.",         "au.",      "ca.",
        "global.",  "us-gov.",   "amazon.", "anthropic.", "openai.",     "meta.",    "google.",
        "mistral.", "deepseek.", "qwen.",   "moonshot.",  "moonshotai.", "minimax.", "zai.",
    };
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        weir_span word = wr_span_of(words[i]);
        if (wr_span_starts(wr_name_view(name), word))
            return drop_front(name, word.len, WR_NAME_PREFIXED);
    }
    return false;
}

static bool drop_tag(struct wr_name *name)
{
    weir_span view = wr_name_view(name);
    size_t at = view.len;
    while (at > 0 && view.ptr[at - 1] != ':')
        at--;
    if (at)
        return keep_front(name, at - 1, WR_NAME_TAGGED);

    /* Bedrock's "-v1", once its ":0" is gone. */
    size_t digits = view.len;
    while (digits > 0 && wr_is_digit(view.ptr[digits - 1]))
        digits--;
    if (digits < view.len && digits > 2 && wr_span_ends(wr_span_cut(view, 0, digits), WR_LIT("-v")))
        return keep_front(name, digits - 2, WR_NAME_TAGGED);
    return false;
}

static bool drop_word(struct wr_name *name)
{
    static const struct {
        const char *word;
        enum wr_name_change change;
    } words[] = {
        {"-latest", WR_NAME_DATED},    {"@latest", WR_NAME_DATED}, {"@default", WR_NAME_DATED},
        {"-preview", WR_NAME_DATED},   {"-exp", WR_NAME_DATED},    {"-beta", WR_NAME_DATED},
        {"-thinking", WR_NAME_TAGGED},
    };
    weir_span view = wr_name_view(name);
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        weir_span word = wr_span_of(words[i].word);
        if (wr_span_ends(view, word))
            return keep_front(name, view.len - word.len, words[i].change);
    }
    return false;
}

/* Whether `view` ends in `shape`, where 9 is any digit and - also stands for @. */
static bool ends_in_shape(weir_span view, const char *shape)
{
    size_t len = strlen(shape);
    if (view.len <= len)
        return false;
    const char *tail = view.ptr + view.len - len;
    for (size_t i = 0; i < len; i++) {
        bool fits = shape[i] == '9' ? wr_is_digit(tail[i])
                                    : tail[i] == shape[i] || (i == 0 && tail[i] == '@');
        if (!fits)
            return false;
    }
    return true;
}

static bool drop_date(struct wr_name *name)
{
    static const char *const shapes[] = {"-9999-99-99", "-99999999", "-99-99", "-9999"};
    weir_span view = wr_name_view(name);
    for (size_t i = 0; i < WR_COUNT_OF(shapes); i++)
        if (ends_in_shape(view, shapes[i]))
            return keep_front(name, view.len - strlen(shapes[i]), WR_NAME_DATED);
    return false;
}

/* Resellers write "claude-opus-4.5" where the provider has "claude-opus-4-5". */
static bool respell_version(struct wr_name *name)
{
    bool changed = false;
    if (!wr_span_starts(wr_name_view(name), WR_LIT("claude-")))
        return false;
    for (size_t i = name->start + 1; i + 1 < name->end; i++)
        if (name->text[i] == '.' && wr_is_digit(name->text[i - 1]) &&
            wr_is_digit(name->text[i + 1])) {
            name->text[i] = '-';
            changed = true;
        }
    if (changed)
        name->changes |= WR_NAME_SPELT;
    return changed;
}

bool wr_name_simplify(struct wr_name *name)
{
    return drop_window(name) || drop_path(name) || drop_vendor(name) || respell_version(name) ||
           drop_tag(name) || drop_date(name) || drop_word(name);
}
