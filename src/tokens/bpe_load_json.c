/* Reads the tokenizer.json of HuggingFace: {"model": {"type": "BPE", "vocab": {TOKEN: ID},
 * "merges": [...]}, "pre_tokenizer": ..., "added_tokens": [...]}.
 *
 *   read_pretokenizer    how text is cut into pieces, by comparing with the expressions we know
 *   read_vocabulary      the tokens, in the alphabet of ByteLevel: one character for each byte
 *   add_merges           the merges in order, which is the order of rank; then the tokens that no
 *                        merge reaches, which are only ever found as whole pieces
 *
 * We have no engine for the expressions that cut text: each known one is code of its own
 * (pretoken_*.c). A file with another one is still read, with the expression of cl100k, and the
 * report says that its counts may differ. The same goes for a normalizer and for steps we do not
 * know.
 */
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "tokens/bpe_table.h"

enum { ARENA_BYTES_MAX = 1024 * 1024 * 1024, ALPHABET_SHIFTED = 256, ALPHABET_END = 324 };

struct reader {
    struct wr_json doc;
    struct wr_arena arena;
    struct wr_bpe_vocabulary vocabulary;
    struct wr_bpe_load_report report;
    bool ignore_merges;
};

/* Bytes that stand for themselves in the alphabet. The others follow in order, from U+0100 on. */
static bool is_plain(unsigned byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/* The byte that a character of the alphabet stands for, or -1. */
static int alphabet_byte(unsigned code_point)
{
    if (code_point < ALPHABET_SHIFTED)
        return is_plain(code_point) ? (int)code_point : -1;
    unsigned nth = code_point - ALPHABET_SHIFTED;
    for (unsigned byte = 0; byte < 256 && code_point < ALPHABET_END; byte++)
        if (!is_plain(byte) && !nth--)
            return (int)byte;
    return -1;
}

/* The bytes that a token's text stands for, in the arena; a NULL ptr where it is not of the
 * alphabet. */
static weir_span token_bytes(struct reader *reader, weir_span text)
{
    char *out = wr_arena_alloc(&reader->arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; out && i < text.len;) {
        unsigned code_point = (unsigned char)text.ptr[i++];
        if (code_point >= 0xC0 && code_point < 0xE0 && i < text.len)
            code_point = (code_point & 0x1F) << 6 | ((unsigned char)text.ptr[i++] & 0x3F);
        int byte = alphabet_byte(code_point);
        if (byte < 0)
            return (weir_span){NULL, 0};
        out[len++] = (char)byte;
    }
    return (weir_span){out, len};
}

static size_t node_byte(const struct reader *reader, wr_json_id id)
{
    return id == WR_JSON_NONE ? 0 : reader->doc.nodes[id].start;
}

static weir_status read_vocabulary(struct reader *reader, wr_json_id vocab, struct weir_err *err)
{
    const struct wr_json *doc = &reader->doc;
    if (!wr_json_is(doc, vocab, WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, node_byte(reader, vocab), "model.vocab is not an object");
    weir_status status = wr_bpe_vocabulary_init(&reader->vocabulary, &reader->arena,
                                                wr_json_count(doc, vocab) + 1, err);
    for (wr_json_id key = wr_json_first(doc, vocab); key != WR_JSON_NONE && !status;
         key = wr_json_next(doc, vocab, key)) {
        int64_t id;
        if (!wr_json_i64(doc, wr_json_value(key), &id) || id < 0)
            return wr_fail(err, WEIR_INVALID, node_byte(reader, key),
                           "a token's number is not one");
        weir_span bytes = token_bytes(reader, wr_json_text(doc, &reader->arena, key));
        if (bytes.ptr)
            status = wr_bpe_vocabulary_add(&reader->vocabulary, bytes, (uint64_t)id,
                                           node_byte(reader, key), err);
        else if (wr_arena_status(&reader->arena))
            status =
                wr_fail(err, wr_arena_status(&reader->arena), node_byte(reader, key), "no memory");
        /* What is not of the alphabet is a special token; as plain text it never occurs. */
    }
    return status;
}

/* Both halves of a merge, written "LEFT RIGHT" or ["LEFT", "RIGHT"]. */
static bool merge_halves(struct reader *reader, wr_json_id merge, weir_span halves[2])
{
    const struct wr_json *doc = &reader->doc;
    if (wr_json_is(doc, merge, WR_JSON_STRING)) {
        weir_span text = wr_json_text(doc, &reader->arena, merge);
        size_t space = text.ptr ? wr_span_find(text, WR_LIT(" "), 0) : SIZE_MAX;
        if (space == SIZE_MAX)
            return false;
        halves[0] = token_bytes(reader, wr_span_cut(text, 0, space));
        halves[1] = token_bytes(reader, wr_span_cut(text, space + 1, text.len));
    } else {
        if (!wr_json_is(doc, merge, WR_JSON_ARRAY) || wr_json_count(doc, merge) != 2)
            return false;
        wr_json_id first = wr_json_first(doc, merge), second = wr_json_next(doc, merge, first);
        if (!wr_json_is(doc, first, WR_JSON_STRING) || !wr_json_is(doc, second, WR_JSON_STRING))
            return false;
        halves[0] = token_bytes(reader, wr_json_text(doc, &reader->arena, first));
        halves[1] = token_bytes(reader, wr_json_text(doc, &reader->arena, second));
    }
    return halves[0].ptr && halves[1].ptr && halves[0].len && halves[1].len;
}

static uint32_t reachable_rank(const struct wr_bpe *bpe, weir_span text)
{
    const uint8_t *at = (const uint8_t *)text.ptr;
    uint32_t rank = wr_bpe_find_key(bpe, at, text.len, wr_bpe_key(at, text.len, at + text.len));
    return rank & WR_BPE_UNREACHABLE ? WR_BPE_NO_RANK : rank;
}

/* A list may name several pairs that make the same token. Merging only ever meets the pair that the
 * merges before it leave alone, so the other pairs are skipped. A merge of a part that cannot be
 * reached is skipped too. */
static weir_status add_merge(struct reader *reader, struct wr_bpe *bpe, wr_json_id merge,
                             struct weir_err *err)
{
    weir_span halves[2];
    if (!merge_halves(reader, merge, halves))
        return wr_fail(err, WEIR_INVALID, node_byte(reader, merge), "a merge is not of two tokens");
    uint32_t left = reachable_rank(bpe, halves[0]), right = reachable_rank(bpe, halves[1]);
    if (left == WR_BPE_NO_RANK || right == WR_BPE_NO_RANK)
        return WEIR_OK;

    char *both = wr_arena_alloc(&reader->arena, halves[0].len + halves[1].len);
    if (!both)
        return wr_fail(err, wr_arena_status(&reader->arena), node_byte(reader, merge), "no memory");
    memcpy(both, halves[0].ptr, halves[0].len);
    memcpy(both + halves[0].len, halves[1].ptr, halves[1].len);
    struct wr_bpe_word *word = wr_bpe_vocabulary_find(
        &reader->vocabulary, (weir_span){both, halves[0].len + halves[1].len});
    if (!word)
        return wr_fail(err, WEIR_INVALID, node_byte(reader, merge),
                       "a merge makes a token that model.vocab lacks");
    if (!word->added && wr_bpe_is_stable_pair(bpe, left, right))
        wr_bpe_build_add(bpe, word, (struct wr_bpe_split){left, right});
    return WEIR_OK;
}

static weir_status add_merges(struct reader *reader, struct wr_bpe *bpe, wr_json_id merges,
                              struct weir_err *err)
{
    const struct wr_json *doc = &reader->doc;
    weir_status status = WEIR_OK;
    if (!wr_json_is(doc, merges, WR_JSON_ARRAY))
        return wr_fail(err, WEIR_INVALID, node_byte(reader, merges),
                       "model.merges is not an array");
    for (wr_json_id merge = wr_json_first(doc, merges); merge != WR_JSON_NONE && !status;
         merge = wr_json_next(doc, merges, merge))
        status = add_merge(reader, bpe, merge, err);
    for (uint32_t i = 0; i < reader->vocabulary.count && !status; i++)
        if (!reader->vocabulary.words[i].added)
            wr_bpe_build_add(bpe, &reader->vocabulary.words[i],
                             (struct wr_bpe_split){WR_BPE_NO_RANK, WR_BPE_NO_RANK});
    return status;
}

#define CONTRACTIONS_ANY_CASE "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES                "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define HEAD                  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define TAIL                  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"

static const struct {
    const char *expression;
    enum wr_bpe_pattern pattern;
} known_patterns[] = {
    {CONTRACTIONS_ANY_CASE
     "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES,
     WR_BPE_PATTERN_CL100K},
    {CONTRACTIONS_ANY_CASE
     "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES,
     WR_BPE_PATTERN_QWEN2},
    {HEAD "*" TAIL "+" CONTRACTIONS_ANY_CASE "?|" HEAD "+" TAIL "*" CONTRACTIONS_ANY_CASE
          "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES,
     WR_BPE_PATTERN_O200K},
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     WR_BPE_PATTERN_GPT2},
    {"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     WR_BPE_PATTERN_GPT2},
};

static void report_doubt(struct reader *reader, const char *why)
{
    if (reader->report.exact)
        (void)snprintf(reader->report.text, sizeof reader->report.text, "%s", why);
    reader->report.exact = false;
}

static void read_split_step(struct reader *reader, wr_json_id split)
{
    const struct wr_json *doc = &reader->doc;
    wr_json_id regex = wr_json_find(doc, wr_json_find(doc, split, "pattern"), "Regex");
    for (size_t i = 0; i < WR_COUNT_OF(known_patterns); i++) {
        if (wr_json_text_is(doc, regex, known_patterns[i].expression) &&
            wr_json_text_is(doc, wr_json_find(doc, split, "behavior"), "Isolated")) {
            reader->report.pattern = known_patterns[i].pattern;
            return;
        }
    }
    report_doubt(reader,
                 "the expression that cuts text into pieces is not known; cl100k's is used");
}

/* One step of the pre-tokenizer; true where it cuts text. */
static bool read_cut_step(struct reader *reader, wr_json_id step)
{
    const struct wr_json *doc = &reader->doc;
    wr_json_id type = wr_json_find(doc, step, "type");
    if (wr_json_text_is(doc, type, "Split")) {
        read_split_step(reader, step);
        return true;
    }
    if (!wr_json_text_is(doc, type, "ByteLevel")) {
        report_doubt(reader, "a step of the pre-tokenizer is not known and left out");
        return false;
    }
    if (wr_json_is(doc, wr_json_find(doc, step, "add_prefix_space"), WR_JSON_TRUE))
        report_doubt(reader, "the tokenizer puts a space before the text; that is left out");
    if (wr_json_is(doc, wr_json_find(doc, step, "use_regex"), WR_JSON_FALSE))
        return false;
    reader->report.pattern = WR_BPE_PATTERN_GPT2;
    return true;
}

static void read_pretokenizer(struct reader *reader)
{
    const struct wr_json *doc = &reader->doc;
    wr_json_id pretokenizer = wr_json_find(doc, 0, "pre_tokenizer");
    wr_json_id steps = wr_json_find(doc, pretokenizer, "pretokenizers");
    int cuts = 0;

    reader->report = (struct wr_bpe_load_report){WR_BPE_PATTERN_CL100K, true, ""};
    if (wr_json_is(doc, steps, WR_JSON_ARRAY)) {
        for (wr_json_id step = wr_json_first(doc, steps); step != WR_JSON_NONE;
             step = wr_json_next(doc, steps, step))
            cuts += read_cut_step(reader, step);
    } else if (wr_json_is(doc, pretokenizer, WR_JSON_OBJECT)) {
        cuts += read_cut_step(reader, pretokenizer);
    }
    if (!cuts)
        reader->report.pattern = WR_BPE_PATTERN_NONE;
    if (cuts > 1)
        report_doubt(reader, "text is cut by several expressions; only the last is used");
    if (wr_json_is(doc, wr_json_find(doc, 0, "normalizer"), WR_JSON_OBJECT))
        report_doubt(reader, "the tokenizer normalises text first; here it is counted as it is");
}

static weir_status read_model(struct reader *reader, struct wr_bpe **bpe, struct weir_err *err)
{
    const struct wr_json *doc = &reader->doc;
    wr_json_id model = wr_json_find(doc, 0, "model");
    wr_json_id merges = wr_json_find(doc, model, "merges");
    wr_json_id type = wr_json_find(doc, model, "type");

    if (!wr_json_is(doc, model, WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, 0, "no tokenizer.json: it has no model");
    if (type != WR_JSON_NONE && !wr_json_text_is(doc, type, "BPE"))
        return wr_fail(err, WEIR_INVALID, node_byte(reader, type), "model.type is not BPE");
    reader->ignore_merges =
        wr_json_is(doc, wr_json_find(doc, model, "ignore_merges"), WR_JSON_TRUE);
    read_pretokenizer(reader);
    weir_status status = read_vocabulary(reader, wr_json_find(doc, model, "vocab"), err);
    if (!status)
        status = wr_bpe_build_new(bpe, &reader->vocabulary, reader->report.pattern, err);
    return status ? status : add_merges(reader, *bpe, merges, err);
}

weir_status wr_bpe_load_json(struct wr_bpe **out, weir_span file, struct wr_bpe_load_report *report,
                             struct weir_err *err)
{
    struct reader reader = {0};
    struct wr_bpe *bpe = NULL;

    if (file.len > WR_TOKENS_TABLE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, file.len, "a table of %zu bytes, at most %d are read",
                       file.len, WR_TOKENS_TABLE_BYTES_MAX);
    wr_arena_init(&reader.arena, ARENA_BYTES_MAX);
    weir_status status = wr_json_parse(&reader.doc, &reader.arena, file, NULL, err);
    if (!status)
        status = read_model(&reader, &bpe, err);
    wr_arena_release(&reader.arena);
    if (status) {
        wr_bpe_free(bpe);
        return status;
    }
    bpe->whole_pieces = reader.ignore_merges;
    if (report)
        *report = reader.report;
    *out = bpe;
    return WEIR_OK;
}
