/* Reads data/odds.tsv and answers from it: how likely a result of this kind and size is asked for
 * again when it is cut to so many tokens.
 *
 * The table is measured at four cuts (wr_odds_cuts); between two of them the answer lies on the
 * line that joins them, and behind the last on the line to the whole text, of which nothing is
 * missed. A kind without rows has those of `other`. */
#include "policy/odds.h"

#include "base/ascii.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/span.h"

WR_EMBED(wr_odds_data, "data/odds.tsv");

enum { LACK_PCT_MAX = 10000 };

const uint32_t wr_odds_cuts[WR_ODDS_CUTS_COUNT] = {220, 500, 1000, 2000};

weir_span wr_odds_embedded(void)
{
    return WR_EMBEDDED(wr_odds_data);
}

/* ---- reading ---- */

static weir_span take_field(weir_span *line)
{
    size_t tab = wr_span_find(*line, WR_LIT("\t"), 0);
    size_t end = tab == SIZE_MAX ? line->len : tab;
    weir_span field = wr_span_cut(*line, 0, end);
    *line = wr_span_cut(*line, end < line->len ? end + 1 : end, line->len);
    return field;
}

static bool take_number(weir_span *line, uint32_t max, uint32_t *number)
{
    uint64_t value;
    if (!wr_span_u64(take_field(line), &value) || value > max)
        return false;
    *number = (uint32_t)value;
    return true;
}

const char *wr_odds_class_text(enum wr_odds_class class)
{
    static const char *const names[] = WR_NAMES_OF(WR_ODDS_CLASS_MAP);
    return names[class];
}

static bool class_of(weir_span name, enum wr_odds_class *class)
{
    for (int i = 0; i < WR_ODDS_CLASSES; i++)
        if (wr_span_is(name, wr_odds_class_text((enum wr_odds_class)i))) {
            *class = (enum wr_odds_class)i;
            return true;
        }
    return false;
}

static bool take_percents(weir_span *line, uint32_t max, uint32_t pct[WR_ODDS_CUTS_COUNT])
{
    for (int i = 0; i < WR_ODDS_CUTS_COUNT; i++)
        if (!take_number(line, max, &pct[i]))
            return false;
    return true;
}

static bool read_row(struct wr_odds_row *row, weir_span line)
{
    uint32_t tokens_max;
    if (!class_of(take_field(&line), &row->class) || !take_number(&line, UINT32_MAX, &tokens_max))
        return false;
    row->tokens_max = tokens_max;
    return take_percents(&line, 100, row->next_pct) && take_percents(&line, 100, row->ever_pct) &&
           take_number(&line, 100, &row->far_pct) &&
           take_percents(&line, LACK_PCT_MAX, row->lack_pct) &&
           (!line.len || take_percents(&line, 100, row->blind_pct)) && !line.len;
}

/* "# name<TAB>value"; any other comment says nothing to us. */
static bool read_setting(struct wr_odds *odds, weir_span line)
{
    const struct {
        const char *name;
        uint32_t *value;
    } settings[] = {{"# version", &odds->version},
                    {"# turns_left", &odds->turns_left},
                    {"# turns_left_min", &odds->turns_left_min},
                    {"# recall_tokens", &odds->recall_tokens},
                    {"# call_tokens", &odds->call_tokens},
                    {"# prompt_tokens", &odds->prompt_tokens}};
    weir_span name = take_field(&line);
    for (size_t i = 0; i < WR_COUNT_OF(settings); i++)
        if (wr_span_is(name, settings[i].name))
            return take_number(&line, 1000000, settings[i].value);
    return true;
}

static bool is_whole(const struct wr_odds *odds)
{
    bool has_rest = false;
    for (uint32_t i = 0; i < odds->rows_count; i++)
        has_rest |= odds->rows[i].class == WR_ODDS_OTHER && !odds->rows[i].tokens_max;
    return has_rest && odds->version && odds->turns_left && odds->turns_left_min &&
           odds->recall_tokens && odds->call_tokens && odds->prompt_tokens;
}

weir_status wr_odds_read(struct wr_odds *odds, weir_span table, struct weir_err *err)
{
    weir_span rest = table, line;

    *odds = (struct wr_odds){0};
    while (wr_span_line(&rest, &line)) {
        size_t at = (size_t)(line.ptr - table.ptr);
        if (!line.len)
            continue;
        if (line.ptr[0] == '#') {
            if (!read_setting(odds, line))
                return wr_fail(err, WEIR_INVALID, at, "a setting of the odds is no number");
            continue;
        }
        if (odds->rows_count == WR_ODDS_ROWS_MAX)
            return wr_fail(err, WEIR_LIMIT, at, "the odds have more than %d rows",
                           (int)WR_ODDS_ROWS_MAX);
        if (!read_row(&odds->rows[odds->rows_count++], line))
            return wr_fail(err, WEIR_INVALID, at,
                           "a row of the odds wants a class, a size and 13 or 17 percentages");
    }
    if (!is_whole(odds))
        return wr_fail(
            err, WEIR_INVALID, table.len,
            "the odds want version, turns_left, turns_left_min, recall_tokens, call_tokens, "
            "prompt_tokens and a row `other` of any size");
    return WEIR_OK;
}

/* ---- asking ---- */

enum { NAME_CHARS_MIN = 4 }; /* of a file: a shorter one is found by chance */

static weir_span name_of(weir_span path)
{
    for (size_t i = path.len; i-- > 0;)
        if (path.ptr[i] == '/')
            return wr_span_cut(path, i + 1, path.len);
    return path;
}

static bool is_word(char c)
{
    return wr_is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* As the bytes stand in the request: names of files have nothing that JSON escapes. */
static bool names(weir_span text, weir_span name)
{
    for (size_t at = wr_span_find(text, name, 0); at != SIZE_MAX;
         at = wr_span_find(text, name, at + 1))
        if (!at || !is_word(text.ptr[at - 1]))
            return true;
    return false;
}

static bool changes(const struct wr_segment *call, weir_span path)
{
    for (size_t i = 0; call->handles && i < call->handles->effects_count; i++)
        if (wr_effect_writes(&call->handles->effects[i]) &&
            wr_span_eq(call->handles->effects[i].path, path))
            return true;
    return false;
}

bool wr_odds_is_target(const struct wr_transcript *t, uint32_t result)
{
    const struct wr_tool_handles *h = t->segments[result].handles;
    weir_span name = h ? name_of(h->path) : (weir_span){"", 0};
    if (!h || h->kind != WR_EFFECT_READ || name.len < NAME_CHARS_MIN)
        return false;
    for (uint32_t i = 0; i < result; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_said = s->kind == WEIR_KIND_TEXT && s->payload != WR_JSON_NONE &&
                       (s->role == WEIR_ROLE_USER || s->role == WEIR_ROLE_ASSISTANT);
        if (is_said ? names(wr_json_raw(t->doc, s->payload), name)
                    : s->kind == WEIR_KIND_TOOL_CALL && changes(s, h->path))
            return true;
    }
    return false;
}

/* A run without a command is another agent's: what it reports is all that is left of its work. */
enum wr_odds_class wr_odds_class_of(const struct wr_segment *result, enum wr_output_kind kind,
                                    bool is_target)
{
    static const enum wr_odds_class classes[WR_OUTPUT_KINDS] = {
        [WR_OUTPUT_PROCESS] = WR_ODDS_PROCESS, [WR_OUTPUT_FILE] = WR_ODDS_FILE,
        [WR_OUTPUT_LOG] = WR_ODDS_PROCESS,     [WR_OUTPUT_TEST] = WR_ODDS_TEST,
        [WR_OUTPUT_SEARCH] = WR_ODDS_SEARCH,   [WR_OUTPUT_DIFF] = WR_ODDS_DIFF,
        [WR_OUTPUT_JSON] = WR_ODDS_JSON,       [WR_OUTPUT_LIST] = WR_ODDS_LIST,
        [WR_OUTPUT_BLOB] = WR_ODDS_OTHER,      [WR_OUTPUT_PROSE] = WR_ODDS_OTHER};
    const struct wr_tool_handles *h = result->handles;

    if (h && h->kind == WR_EFFECT_RUN && !h->command.len)
        return WR_ODDS_AGENT;
    if (h && (h->kind == WR_EFFECT_EDIT || h->kind == WR_EFFECT_WRITE))
        return WR_ODDS_EDIT;
    if (h && h->kind == WR_EFFECT_POLL)
        return WR_ODDS_POLL;
    if (h && h->kind == WR_EFFECT_READ && kind == WR_OUTPUT_FILE && h->start_line > 1)
        return is_target ? WR_ODDS_SPOT : WR_ODDS_PART;
    if (h && h->kind == WR_EFFECT_READ && kind == WR_OUTPUT_FILE && is_target)
        return WR_ODDS_TARGET;
    return classes[kind];
}

static bool row_fits(const struct wr_odds_row *row, enum wr_odds_class class, uint64_t tokens)
{
    return row->class == class && (!row->tokens_max || tokens <= row->tokens_max);
}

const struct wr_odds_row *wr_odds_find(const struct wr_odds *odds, enum wr_odds_class class,
                                       uint64_t tokens)
{
    for (uint32_t i = 0; i < odds->rows_count; i++)
        if (row_fits(&odds->rows[i], class, tokens))
            return &odds->rows[i];
    for (uint32_t i = 0; i < odds->rows_count; i++)
        if (row_fits(&odds->rows[i], WR_ODDS_OTHER, tokens))
            return &odds->rows[i];
    return &odds->rows[odds->rows_count - 1];
}

static uint32_t at_cut(const uint32_t pct[WR_ODDS_CUTS_COUNT], uint64_t tokens, uint64_t cut)
{
    const int last = WR_ODDS_CUTS_COUNT - 1;
    if (cut <= wr_odds_cuts[0])
        return pct[0] * 100;
    if (cut >= tokens)
        return 0;
    if (cut >= wr_odds_cuts[last])
        return (uint32_t)(pct[last] * 100 * (tokens - cut) / (tokens - wr_odds_cuts[last]));
    int i = 0;
    while (cut > wr_odds_cuts[i + 1])
        i++;
    int64_t span = wr_odds_cuts[i + 1] - wr_odds_cuts[i];
    int64_t into = (int64_t)cut - wr_odds_cuts[i];
    return (uint32_t)(pct[i] * 100 + ((int64_t)pct[i + 1] - (int64_t)pct[i]) * 100 * into / span);
}

uint32_t wr_odds_next_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens)
{
    return at_cut(row->next_pct, tokens, cut_tokens);
}

uint32_t wr_odds_ever_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens)
{
    return at_cut(row->ever_pct, tokens, cut_tokens);
}

uint32_t wr_odds_lack_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens)
{
    return at_cut(row->lack_pct, tokens, cut_tokens);
}

uint32_t wr_odds_blind_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens)
{
    return at_cut(row->blind_pct, tokens, cut_tokens);
}
