/* The registry of models: made once, then only looked at.
 *
 *   wr_models_new    copies the JSON (the embedded file, unless another is given) into its arena,
 *                    reads it (registry_json.c), and lays the user's YAML over it (overrides.c)
 *   wr_models_find   a model, a family or the fallback by its id; all other rules are below
 *   wr_cost          what a request costs by a model's prices
 *
 * Both readers call wr_model_check() for every model, so what holds for all of them is said once.
 * While they read, a model may still move in memory: aliases hold its index, not its address.
 */
#include "models/registry.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/span.h"
#include "models/registry_inside.h"

/* ==== a model ==== */

const char *wr_cache_mode_text(enum wr_cache_mode mode)
{
    switch (mode) {
    case WR_CACHE_NONE:
        return "none";
    case WR_CACHE_EXPLICIT:
        return "explicit";
    case WR_CACHE_BREAKPOINT:
        return "breakpoint";
    case WR_CACHE_PREFIX:
        return "prefix";
    }
    return "unknown";
}

const char *wr_tokenizer_text(enum wr_tokenizer tokenizer)
{
    switch (tokenizer) {
    case WR_TOKENIZER_ESTIMATE:
        return "estimate";
    case WR_TOKENIZER_O200K:
        return "o200k_base";
    case WR_TOKENIZER_CL100K:
        return "cl100k_base";
    }
    return "unknown";
}

/* ==== what a request costs ==== */

static uint32_t or_else(uint32_t price, uint32_t otherwise)
{
    return price == WR_PRICE_UNSET ? otherwise : price;
}

struct wr_prices wr_prices_resolve(const struct wr_prices *prices)
{
    uint32_t write = or_else(prices->cache_write, prices->cache_write_5m);
    write = or_else(or_else(write, prices->cache_write_30m), prices->input);
    return (struct wr_prices){
        .input = prices->input,
        .cache_read = or_else(prices->cache_read, prices->input),
        .cache_write = write,
        .cache_write_5m = or_else(prices->cache_write_5m, write),
        .cache_write_1h = or_else(prices->cache_write_1h, write),
        .cache_write_30m = or_else(prices->cache_write_30m, write),
        .output = prices->output,
    };
}

static uint64_t capped(uint64_t tokens)
{
    return tokens < WR_MODEL_TOKENS_MAX ? tokens : WR_MODEL_TOKENS_MAX;
}

uint64_t wr_cache_read_likely(const struct wr_model *model, uint64_t tokens)
{
    uint32_t percent = model->cache ? model->cache->hit_percent : 0;
    return percent && percent < 100 ? tokens * percent / 100 : tokens;
}

uint64_t wr_usage_input_total(const struct wr_usage *usage)
{
    return capped(usage->input_tokens) + capped(usage->cache_read_tokens) +
           capped(usage->cache_write_5m_tokens) + capped(usage->cache_write_1h_tokens) +
           capped(usage->cache_write_30m_tokens);
}

struct wr_prices wr_model_prices(const struct wr_model *model, uint64_t input_tokens,
                                 uint32_t *tier)
{
    uint32_t in = 0;
    while (in < model->tiers_count && input_tokens > model->tiers[in].above_tokens)
        in++;
    if (tier)
        *tier = in;
    return wr_prices_resolve(in ? &model->tiers[in - 1].prices : &model->prices);
}

/* At most 1e9 tokens at 1e9 a kind, six kinds: 6e18 fits 64 bits. */
_Static_assert((uint64_t)WR_MODEL_TOKENS_MAX *WR_MODEL_PRICE_MAX <= UINT64_MAX / 16,
               "a cost must not overflow");

struct wr_cost wr_cost(const struct wr_model *model, const struct wr_usage *usage)
{
    struct wr_cost cost = {0};
    struct wr_prices p = wr_model_prices(model, wr_usage_input_total(usage), &cost.tier);

    if (p.input == WR_PRICE_UNSET || p.output == WR_PRICE_UNSET)
        return cost;
    uint64_t pico = capped(usage->input_tokens) * p.input +
                    capped(usage->cache_read_tokens) * p.cache_read +
                    capped(usage->cache_write_5m_tokens) * p.cache_write_5m +
                    capped(usage->cache_write_1h_tokens) * p.cache_write_1h +
                    capped(usage->cache_write_30m_tokens) * p.cache_write_30m +
                    capped(usage->output_tokens) * p.output;
    cost.known = true;
    cost.micro_usd = (pico + 500000) / 1000000;
    return cost;
}

/* ==== the registry ==== */

WR_EMBED(wr_models_data, "data/models.json");

struct wr_rule_book wr_models_rule_book(const struct wr_models *models)
{
    return (struct wr_rule_book){models->caches, models->caches_count, models->images,
                                 models->images_count};
}

struct wr_model *wr_models_append(struct wr_models *models)
{
    size_t bytes = models->models_count * sizeof(*models->models);
    struct wr_model *grown =
        wr_arena_grow(&models->arena, models->models, bytes, bytes + sizeof(*models->models));
    if (!grown)
        return NULL;
    models->models = grown;
    grown[models->models_count] = wr_model_blank();
    return &grown[models->models_count++];
}

const struct wr_model *wr_models_find(const struct wr_models *models, weir_span id)
{
    for (uint32_t i = 0; i < models->models_count; i++)
        if (wr_same_any_case(models->models[i].id, id))
            return &models->models[i];
    for (uint32_t i = 0; i < models->families_count; i++)
        if (wr_same_any_case(models->families[i].model.id, id))
            return &models->families[i].model;
    return wr_same_any_case(models->fallback.id, id) ? &models->fallback : NULL;
}

struct wr_model *wr_models_find_part(struct wr_models *models, weir_span id)
{
    /* The registry is ours to change here, so dropping const is honest. */
    return (struct wr_model *)(uintptr_t)wr_models_find(models, id);
}

/* White space and control bytes: a name in a request is trimmed, so an id must not end in them. */
static bool has_blank(weir_span id)
{
    for (size_t i = 0; i < id.len; i++)
        if ((unsigned char)id.ptr[i] <= ' ' || id.ptr[i] == 0x7f)
            return true;
    return false;
}

weir_status wr_model_check(const struct wr_model *model, struct weir_err *err)
{
    if (!model->id.len || model->id.len > WR_MODEL_NAME_BYTES_MAX || has_blank(model->id))
        return wr_fail(err, WEIR_INVALID, 0, "a model's id must have 1 to %d bytes and no blanks",
                       WR_MODEL_NAME_BYTES_MAX);
    for (uint32_t i = 1; i < model->tiers_count; i++)
        if (model->tiers[i].above_tokens <= model->tiers[i - 1].above_tokens)
            return wr_fail(err, WEIR_INVALID, 0, "tiers must be in rising order of `above`");
    if ((model->prices.input == WR_PRICE_UNSET) != (model->prices.output == WR_PRICE_UNSET))
        return wr_fail(err, WEIR_INVALID, 0, "give both an input and an output price, or neither");
    for (uint32_t i = 0; i < model->tiers_count; i++)
        if (model->tiers[i].prices.input == WR_PRICE_UNSET ||
            model->tiers[i].prices.output == WR_PRICE_UNSET)
            return wr_fail(err, WEIR_INVALID, 0, "a tier needs an input and an output price");
    if (!model->cache || !model->image)
        return wr_fail(err, WEIR_INVALID, 0, "a model needs a cache rule and an image rule");
    return WEIR_OK;
}

static weir_status read_sources(struct wr_models *models, const struct wr_models_source *source,
                                struct weir_err *err)
{
    weir_span text = source->registry.len ? source->registry : WR_EMBEDDED(wr_models_data);
    if (text.len > WR_MODELS_TEXT_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a registry has at most %d bytes",
                       WR_MODELS_TEXT_BYTES_MAX);
    weir_span copy = wr_arena_copy(&models->arena, text);
    if (!copy.ptr)
        return wr_fail(err, wr_arena_status(&models->arena), 0, "no memory for the registry");

    weir_status status = wr_models_read_json(models, copy, err);
    if (!status && source->overrides.len)
        status = wr_models_read_yaml(models, source->overrides, source->overrides_shared, err);
    return status;
}

weir_status wr_models_new(struct wr_models **models, const struct wr_models_source *source,
                          struct weir_err *err)
{
    const struct wr_models_source embedded = {0};
    struct wr_models *made = calloc(1, sizeof(*made));

    *models = NULL;
    if (err)
        *err = (struct weir_err){0};
    if (!made)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the registry");
    wr_arena_init(&made->arena, WR_MODELS_BYTES_MAX);
    weir_status status = read_sources(made, source ? source : &embedded, err);
    if (!status) {
        *models = made;
        return WEIR_OK;
    }
    wr_models_free(made);
    /* A reader that ran out of memory may have left no words. */
    if (err && !err->text[0])
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    return status;
}

void wr_models_free(struct wr_models *models)
{
    if (!models)
        return;
    wr_arena_release(&models->arena);
    free(models);
}

weir_span wr_models_generated(const struct wr_models *models)
{
    return models->generated;
}

uint32_t wr_models_count(const struct wr_models *models)
{
    return models->models_count;
}

const struct wr_model *wr_models_at(const struct wr_models *models, uint32_t index)
{
    WR_ASSERT(index < models->models_count);
    return &models->models[index];
}

uint32_t wr_models_alias_count(const struct wr_models *models)
{
    return models->aliases_count;
}

struct wr_alias wr_models_alias_at(const struct wr_models *models, uint32_t index)
{
    WR_ASSERT(index < models->aliases_count);
    const struct wr_alias_part *alias = &models->aliases[index];
    return (struct wr_alias){alias->name, &models->models[alias->model]};
}

/* ==== the model that a request names ==== */

/* Finds what Weir knows about the model that a request names.
 *
 *   1. the id itself, or an alias of the user's
 *   2. the same again after each decoration that is taken off the name (names)
 *   3. the first family one of whose patterns is in the name
 *   4. the fallback
 *
 * Decorations go one at a time, with a look-up after each, because some belong to a real id:
 * "mistral-medium-latest" is one. A family is asked last: its figures are defaults for names that
 * nobody listed.
 */

/* ---- names ----
 *
 * "us.anthropic.claude-opus-4-5-20251101-v1:0" is, one step at a time, "claude-opus-4-5".
 *
 * Takes one decoration after another off a model's name.
 *
 * simplify_name() tries, in this order: the window in brackets that Claude Code writes, a path,
 * a vendor's prefix, a reseller's spelling, a tag, a date, a word such as -latest. The name is a
 * window [start, end) over a copy in lower case, so taking something off moves one of the two ends.
 *
 * Something always remains: a name that is all decoration ("-latest") stays as it is.
 */

struct name {
    char text[WR_MODEL_NAME_BYTES_MAX]; /* lower case (ASCII) */
    size_t start, end;                  /* the part still standing */
    unsigned changes;                   /* enum wr_name_change */
    uint32_t window_tokens;             /* what "[1m]" asked for; 0: nothing */
};

static weir_span view_name(const struct name *name)
{
    return (weir_span){name->text + name->start, name->end - name->start};
}

/* White space around `name` is dropped; what is past the cap is cut. */
static void init_name(struct name *name, weir_span text)
{
    text = wr_span_trim(text);
    if (text.len > sizeof(name->text))
        text.len = sizeof(name->text);
    *name = (struct name){.end = text.len};
    for (size_t i = 0; i < text.len; i++)
        name->text[i] = wr_lower(text.ptr[i]);
}

/* Keeps `len` bytes, if any. */
static bool keep_front(struct name *name, size_t len, enum wr_name_change change)
{
    if (!len)
        return false;
    name->end = name->start + len;
    name->changes |= change;
    return true;
}

static bool drop_front(struct name *name, size_t len, enum wr_name_change change)
{
    if (name->start + len >= name->end)
        return false;
    name->start += len;
    name->changes |= change;
    return true;
}

/* Claude Code writes the window it wants behind the name: "claude-sonnet-4-5[1m]". */
static bool drop_window(struct name *name)
{
    weir_span view = view_name(name);
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

static bool drop_path(struct name *name)
{
    weir_span view = view_name(name);
    size_t len = view.len;
    while (len > 0 && view.ptr[len - 1] != '/')
        len--;
    return len && drop_front(name, len, WR_NAME_PREFIXED);
}

/* Bedrock: "us.anthropic.claude-...". Ids have dots of their own, so only known words go. */
static bool drop_vendor(struct name *name)
{
    static const char *const words[] = {
        "us.",      "eu.",       "ap.",     "apac.",      "jp.",         "au.",      "ca.",
        "global.",  "us-gov.",   "amazon.", "anthropic.", "openai.",     "meta.",    "google.",
        "mistral.", "deepseek.", "qwen.",   "moonshot.",  "moonshotai.", "minimax.", "zai.",
    };
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        weir_span word = wr_span_of(words[i]);
        if (wr_span_starts(view_name(name), word))
            return drop_front(name, word.len, WR_NAME_PREFIXED);
    }
    return false;
}

static bool drop_tag(struct name *name)
{
    weir_span view = view_name(name);
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

static bool drop_word(struct name *name)
{
    static const struct {
        const char *word;
        enum wr_name_change change;
    } words[] = {
        {"-latest", WR_NAME_DATED},    {"@latest", WR_NAME_DATED}, {"@default", WR_NAME_DATED},
        {"-preview", WR_NAME_DATED},   {"-exp", WR_NAME_DATED},    {"-beta", WR_NAME_DATED},
        {"-thinking", WR_NAME_TAGGED},
    };
    weir_span view = view_name(name);
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

static bool drop_date(struct name *name)
{
    static const char *const shapes[] = {"-9999-99-99", "-99999999", "-99-99", "-9999"};
    weir_span view = view_name(name);
    for (size_t i = 0; i < WR_COUNT_OF(shapes); i++)
        if (ends_in_shape(view, shapes[i]))
            return keep_front(name, view.len - strlen(shapes[i]), WR_NAME_DATED);
    return false;
}

/* Resellers write "claude-opus-4.5" where the provider has "claude-opus-4-5". */
static bool respell_version(struct name *name)
{
    bool changed = false;
    if (!wr_span_starts(view_name(name), WR_LIT("claude-")))
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

/* Takes one decoration off. False when there is none left; something always remains. */
static bool simplify_name(struct name *name)
{
    return drop_window(name) || drop_path(name) || drop_vendor(name) || respell_version(name) ||
           drop_tag(name) || drop_date(name) || drop_word(name);
}

/* ---- looking up ---- */

static bool find_id_or_alias(const struct wr_models *models, weir_span id,
                             struct wr_model_match *match)
{
    match->model = wr_models_find(models, id);
    match->rule = match->model == &models->fallback ? WR_RULE_FALLBACK : WR_RULE_EXACT;
    for (uint32_t i = 0; !match->model && i < models->aliases_count; i++)
        if (wr_same_any_case(models->aliases[i].name, id)) {
            match->model = &models->models[models->aliases[i].model];
            match->rule = WR_RULE_ALIAS;
        }
    return match->model != NULL;
}

/* `whole` is the name as it came, in lower case; `bare` is the name without any decoration. */
static bool pattern_fits(weir_span pattern, weir_span whole, weir_span bare)
{
    if (pattern.len && pattern.ptr[0] == '^')
        return wr_span_starts(bare, wr_span_cut(pattern, 1, pattern.len));
    return wr_span_find(whole, pattern, 0) != SIZE_MAX;
}

static const struct wr_family *find_family(const struct wr_models *models, weir_span whole,
                                           weir_span bare, bool table_only, weir_span *pattern)
{
    for (uint32_t i = 0; i < models->families_count; i++) {
        const struct wr_family *family = &models->families[i];
        if (table_only && !family->in_table)
            continue;
        for (uint32_t k = 0; k < family->patterns_count; k++)
            if (pattern_fits(family->patterns[k], whole, bare)) {
                *pattern = family->patterns[k];
                return family;
            }
    }
    return NULL;
}

struct wr_model_match wr_models_lookup(const struct wr_models *models, weir_span text)
{
    struct wr_model_match match = {0};
    struct name whole, name;

    init_name(&whole, text);
    name = whole;
    bool known = find_id_or_alias(models, view_name(&name), &match);
    while (!known && simplify_name(&name)) {
        known = find_id_or_alias(models, view_name(&name), &match);
        if (known)
            match.rule = WR_RULE_FORM;
    }
    match.changes = known ? name.changes : 0;
    if (!known) {
        const struct wr_family *family =
            find_family(models, view_name(&whole), view_name(&name), false, &match.pattern);
        match.rule = family ? WR_RULE_FAMILY : WR_RULE_FALLBACK;
        match.model = family ? &family->model : &models->fallback;
    }
    match.window_tokens = name.window_tokens ? name.window_tokens : match.model->window_tokens;
    return match;
}

const char *wr_model_rule_text(enum wr_model_rule rule)
{
    switch (rule) {
    case WR_RULE_EXACT:
        return "exact";
    case WR_RULE_ALIAS:
        return "alias";
    case WR_RULE_FORM:
        return "form";
    case WR_RULE_FAMILY:
        return "family";
    case WR_RULE_FALLBACK:
        return "fallback";
    }
    return "unknown";
}

static void describe_form(unsigned changes, struct wr_buf *out)
{
    static const struct {
        enum wr_name_change change;
        const char *text;
    } words[] = {
        {WR_NAME_PREFIXED, "prefixed"}, {WR_NAME_DATED, "dated"},       {WR_NAME_TAGGED, "tagged"},
        {WR_NAME_WINDOW, "windowed"},   {WR_NAME_SPELT, "other-spelt"},
    };
    bool first = true;
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        if (!(changes & words[i].change))
            continue;
        wr_buf_text(out, first ? "" : ", ");
        wr_buf_text(out, words[i].text);
        first = false;
    }
}

void wr_model_match_describe(const struct wr_model_match *match, struct wr_buf *out)
{
    switch (match->rule) {
    case WR_RULE_EXACT:
        wr_buf_text(out, "exact id");
        return;
    case WR_RULE_ALIAS:
        wr_buf_text(out, "alias of ");
        wr_buf_append(out, match->model->id);
        return;
    case WR_RULE_FORM:
        describe_form(match->changes, out);
        wr_buf_text(out, " form of ");
        wr_buf_append(out, match->model->id);
        return;
    case WR_RULE_FAMILY:
        wr_buf_text(out, "not listed; the name fits the family pattern \"");
        wr_buf_append(out, match->pattern);
        wr_buf_text(out, "\"");
        return;
    case WR_RULE_FALLBACK:
        wr_buf_text(out, "not listed, no family pattern fits: the fallback");
        return;
    }
}

/* How far a name is from an id: 0 is best. An id that contains the name is near, however long the
 * rest of it is. */
static uint32_t name_nearness(weir_span wanted, weir_span id)
{
    struct name lower_id;
    init_name(&lower_id, id);
    uint32_t distance = wr_near_distance(wanted, id);
    if (wanted.len >= 3 && wr_span_find(view_name(&lower_id), wanted, 0) != SIZE_MAX)
        return distance < 2 ? distance : 2;
    return distance;
}

struct nearest {
    weir_span *names;
    uint32_t distances[WR_SUGGESTIONS_MAX];
    uint32_t count;
};

static void offer_suggestion(struct nearest *nearest, weir_span id, uint32_t distance,
                             uint32_t distance_max)
{
    if (distance > distance_max)
        return;
    uint32_t at = nearest->count;
    while (at > 0 && nearest->distances[at - 1] > distance)
        at--;
    if (at == WR_SUGGESTIONS_MAX)
        return;
    uint32_t last = nearest->count < WR_SUGGESTIONS_MAX ? nearest->count++ : WR_SUGGESTIONS_MAX - 1;
    for (uint32_t i = last; i > at; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[at] = id;
    nearest->distances[at] = distance;
}

uint32_t wr_models_suggest(const struct wr_models *models, weir_span text,
                           weir_span suggestions[WR_SUGGESTIONS_MAX])
{
    struct nearest nearest = {.names = suggestions};
    struct name name;

    init_name(&name, text);
    while (simplify_name(&name))
        ;
    weir_span wanted = view_name(&name);
    uint32_t distance_max = wanted.len < 4 ? 1 : wanted.len < 9 ? 2 : (uint32_t)(wanted.len / 3);
    for (uint32_t i = 0; i < models->models_count; i++)
        offer_suggestion(&nearest, models->models[i].id,
                         name_nearness(wanted, models->models[i].id), distance_max);
    for (uint32_t i = 0; i < models->aliases_count; i++)
        offer_suggestion(&nearest, models->aliases[i].name,
                         name_nearness(wanted, models->aliases[i].name), distance_max);
    return nearest.count;
}

uint32_t wr_models_table_window(const struct wr_models *models, weir_span text)
{
    struct name name;
    weir_span pattern;

    init_name(&name, text);
    weir_span whole = view_name(&name);
    const struct wr_family *family = find_family(models, whole, whole, true, &pattern);
    return family ? family->model.window_tokens : WR_TABLE_WINDOW_TOKENS;
}
