/* Loaders: small tables by hand, and cl100k_base written out in both formats and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "json/write.h"
#include "tokens/bpe_load.h"
#include "tokens/bpe_table.h"

enum { FILE_BYTES_MAX = 32 * 1024 * 1024, ARENA_BYTES_MAX = 16 * 1024 * 1024 };

static const char sample[] = "static int f(void)\n{\n    return it's 12345 + "
                             "\xE4\xB8\xAD\xE6\x96\x87 / getHTTPServer();  \n\n}\r\n"
                             "\xF0\x9F\x98\x80 <|endoftext|> aaaaaaaaaaaaaaaaaaaaaaaaaaaaa zqxjkv";

static void append_base64(struct wr_buf *out, weir_span bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        unsigned word = 0;
        for (size_t k = 0; k < 3; k++)
            word = word << 8 | (i + k < bytes.len ? (unsigned char)bytes.ptr[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            wr_buf_byte(out, i + k > bytes.len ? '=' : digits[word >> (18 - 6 * k) & 63]);
    }
}

/* In the alphabet of ByteLevel. */
static weir_span spelled(char *out, weir_span bytes)
{
    size_t len = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte = (unsigned char)bytes.ptr[i], code_point = 256;
        bool plain =
            (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        for (unsigned b = 0; b < byte && !plain; b++)
            code_point += !((b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE);
        if (plain)
            code_point = byte;
        if (code_point >= 0x80)
            out[len++] = (char)(0xC0 | code_point >> 6);
        out[len++] = (char)(code_point >= 0x80 ? 0x80 | (code_point & 63) : code_point);
    }
    return (weir_span){out, len};
}

static void write_tiktoken(struct wr_buf *file, const struct wr_bpe *bpe)
{
    for (uint32_t id = 0; id < wr_bpe_tokens_count(bpe); id++) {
        append_base64(file, wr_bpe_token_text(bpe, id));
        wr_buf_printf(file, " %u\n", id);
    }
}

static void write_merges(struct wr_json_writer *w, const struct wr_bpe *bpe)
{
    char text[2][512];
    wr_json_write_key(w, "merges");
    wr_json_write_array(w);
    for (uint32_t id = WR_BPE_SINGLE_BYTES; id < wr_bpe_tokens_count(bpe); id++) {
        struct wr_bpe_split split = bpe->makings[id].split;
        wr_json_write_array(w);
        wr_json_write_text(w, spelled(text[0], wr_bpe_token_text(bpe, split.left)));
        wr_json_write_text(w, spelled(text[1], wr_bpe_token_text(bpe, split.right)));
        wr_json_write_array_end(w);
    }
    wr_json_write_array_end(w);
}

static void write_json(struct wr_buf *file, const struct wr_bpe *bpe)
{
    struct wr_json_writer w;
    char text[512];
    wr_buf_text(
        file,
        "{\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{"
        "\"type\":"
        "\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{"
        "N}]?"
        "\\\\p{L}+|\\\\p{N}{1,3}| "
        "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!"
        "\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","
        "\"add_prefix_space\":false,\"use_regex\":false}]},\"model\":");
    wr_json_write_init(&w, file);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "type", WR_LIT("BPE"));
    wr_json_write_key(&w, "vocab");
    wr_json_write_object(&w);
    for (uint32_t id = 0; id < wr_bpe_tokens_count(bpe); id++) {
        weir_span token = spelled(text, wr_bpe_token_text(bpe, id));
        text[token.len] = 0;
        wr_json_member_i64(&w, text, id);
    }
    wr_json_write_object_end(&w);
    write_merges(&w, bpe);
    wr_json_write_object_end(&w);
    wr_buf_text(file, "}");
}

static void assert_same_ids(const struct wr_bpe *want, const struct wr_bpe *got)
{
    const struct wr_bpe *both[2] = {want, got};
    struct wr_bpe_ids ids[2];
    struct wr_arena arena;
    wr_arena_init(&arena, ARENA_BYTES_MAX);
    for (int i = 0; i < 2; i++) {
        struct wr_bpe_scratch *scratch;
        assert_int_equal(wr_bpe_scratch_new(&scratch, both[i]), WEIR_OK);
        assert_int_equal(wr_bpe_encode(scratch, &arena, wr_span_of(sample), &ids[i]), WEIR_OK);
        wr_bpe_scratch_free(scratch);
    }
    assert_int_equal(ids[0].count, ids[1].count);
    assert_memory_equal(ids[0].ids, ids[1].ids, ids[0].count * sizeof *ids[0].ids);
    wr_arena_release(&arena);
}

static void a_table_written_out_reads_back_the_same(void **state)
{
    struct wr_bpe *built_in, *loaded;
    struct wr_bpe_load_report report;
    struct weir_err err = {0};
    (void)state;
    assert_int_equal(wr_bpe_new(&built_in, WR_BPE_CL100K_BASE, NULL), WEIR_OK);
    for (int json = 0; json < 2; json++) {
        struct wr_buf file;
        wr_buf_init(&file, FILE_BYTES_MAX);
        (json ? write_json : write_tiktoken)(&file, built_in);
        assert_int_equal(wr_buf_status(&file), WEIR_OK);
        weir_status status =
            json ? wr_bpe_load_json(&loaded, wr_buf_view(&file), &report, &err)
                 : wr_bpe_load_tiktoken(&loaded, wr_buf_view(&file), WR_BPE_PATTERN_CL100K, &err);
        wr_buf_release(&file);
        if (status)
            fail_msg("%s at byte %zu", err.text, err.at_byte);
        assert_same_ids(built_in, loaded);
        wr_bpe_free(loaded);
    }
    assert_int_equal(report.pattern, WR_BPE_PATTERN_CL100K);
    assert_true(report.exact);
    wr_bpe_free(built_in);
}

/* A rank file of the single bytes, then `lines`. */
static weir_status load_ranks(struct wr_bpe **bpe, const char *lines, struct weir_err *err)
{
    struct wr_buf file;
    wr_buf_init(&file, FILE_BYTES_MAX);
    for (unsigned id = 0; id < 256; id++) {
        char byte = (char)id;
        append_base64(&file, (weir_span){&byte, 1});
        wr_buf_printf(&file, " %u\n", id);
    }
    wr_buf_text(&file, lines);
    weir_status status = wr_bpe_load_tiktoken(bpe, wr_buf_view(&file), WR_BPE_PATTERN_NONE, err);
    wr_buf_release(&file);
    return status;
}

static const struct {
    const char *behaviour, *lines, *text;
    size_t tokens;
} tables[] = {
    /* YWI= ab, YmM= bc, YWJj abc, YWJjZA== abcd */
    {"the lower rank merges first", "YmM= 256\nYWI= 257\n", "abc", 2},
    {"a token that merging cannot reach is a whole piece", "YWJjZA== 300\n", "abcd", 1},
    {"and nothing inside one", "YWJjZA== 300\n", "abcdx", 5},
    {"ranks may have gaps", "YWI= 1000\nYWJj 5000\n", "abcab", 2},
    {"lines may end in CR LF, or be empty", "\r\nYWI= 256\r\n\r\n", "ab", 1},
};

static void ranks_say_how_text_is_merged(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(tables); i++) {
        struct wr_bpe *bpe;
        struct wr_bpe_scratch *scratch;
        size_t tokens;
        assert_int_equal(load_ranks(&bpe, tables[i].lines, NULL), WEIR_OK);
        assert_int_equal(wr_bpe_scratch_new(&scratch, bpe), WEIR_OK);
        assert_int_equal(wr_bpe_count(scratch, wr_span_of(tables[i].text), &tokens), WEIR_OK);
        if (tokens != tables[i].tokens)
            fail_msg("%s: %zu tokens", tables[i].behaviour, tokens);
        wr_bpe_scratch_free(scratch);
        wr_bpe_free(bpe);
    }
}

static const struct {
    const char *behaviour, *lines, *message;
    weir_status status;
} bad_ranks[] = {
    {"a line of one word", "YWI=\n", "want a token in base64, a space and its rank", WEIR_SYNTAX},
    {"a rank that is no number", "YWI= x\n", "want a token in base64, a space and its rank",
     WEIR_SYNTAX},
    {"what is not base64", "Y?I= 256\n", "the token is not base64", WEIR_SYNTAX},
    {"a token of no bytes", " 256\n", "want a token in base64, a space and its rank", WEIR_SYNTAX},
    {"a token twice", "YWI= 256\nYWI= 257\n", "the token of this line or key is there twice",
     WEIR_INVALID},
    {"a rank twice", "YWI= 256\nYmM= 256\n", "token number 256 is there twice", WEIR_INVALID},
    {"a rank too large", "YWI= 1048576\n", "token number 1048576, below 1048576 are read",
     WEIR_LIMIT},
};

static void a_bad_rank_file_is_refused(void **state)
{
    struct wr_bpe *bpe;
    struct weir_err err;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(bad_ranks); i++) {
        weir_status status = load_ranks(&bpe, bad_ranks[i].lines, &err);
        if (status != bad_ranks[i].status || strcmp(err.text, bad_ranks[i].message))
            fail_msg("%s: %d, %s", bad_ranks[i].behaviour, status, err.text);
    }
    assert_int_equal(wr_bpe_load_tiktoken(&bpe, WR_LIT("YQ== 0\n"), WR_BPE_PATTERN_GPT2, &err),
                     WEIR_INVALID);
    assert_string_equal(err.text, "no token for the byte 0x00: not an encoding of bytes");
}

static const struct {
    const char *behaviour, *file, *message;
    weir_status status;
} bad_files[] = {
    {"not JSON", "{", NULL, WEIR_SYNTAX},
    {"another JSON", "{\"a\":1}", "no tokenizer.json: it has no model", WEIR_INVALID},
    {"another model", "{\"model\":{\"type\":\"Unigram\"}}", "model.type is not BPE", WEIR_INVALID},
    {"no vocabulary", "{\"model\":{\"type\":\"BPE\"}}", "model.vocab is not an object",
     WEIR_INVALID},
    {"numbers that are none", "{\"model\":{\"vocab\":{\"a\":\"b\"}}}",
     "a token's number is not one", WEIR_INVALID},
    {"no bytes", "{\"model\":{\"vocab\":{\"a\":0}}}",
     "no token for the byte 0x00: not an encoding of bytes", WEIR_INVALID},
};

static void a_bad_tokenizer_json_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(bad_files); i++) {
        struct wr_bpe *bpe;
        struct weir_err err;
        weir_status status = wr_bpe_load_json(&bpe, wr_span_of(bad_files[i].file), NULL, &err);
        if (status != bad_files[i].status ||
            (bad_files[i].message && strcmp(err.text, bad_files[i].message)))
            fail_msg("%s: %d, %s", bad_files[i].behaviour, status, err.text);
    }
}

/* A tokenizer.json of the single bytes and `ab`, with `parts` in front of the model. */
static weir_status load_parts(struct wr_bpe **bpe, const char *parts,
                              struct wr_bpe_load_report *report)
{
    struct wr_buf file;
    char text[16];
    wr_buf_init(&file, FILE_BYTES_MAX);
    wr_buf_printf(
        &file, "{%s\"model\":{\"type\":\"BPE\",\"merges\":[\"a b\"],\"vocab\":{\"ab\":256", parts);
    for (unsigned id = 0; id < 256; id++) {
        char byte = (char)id;
        weir_span key = spelled(text, (weir_span){&byte, 1});
        wr_buf_printf(&file, ",\"%s%.*s\":%u", id == '"' || id == '\\' ? "\\" : "", (int)key.len,
                      key.ptr, id);
    }
    wr_buf_text(&file, "}}}");
    weir_status status = wr_bpe_load_json(bpe, wr_buf_view(&file), report, NULL);
    wr_buf_release(&file);
    return status;
}

static const struct {
    const char *behaviour, *parts, *text;
    enum wr_bpe_pattern pattern;
} reports[] = {
    {"no pre-tokenizer", "", "", WR_BPE_PATTERN_NONE},
    {"ByteLevel cuts as GPT-2 does", "\"pre_tokenizer\":{\"type\":\"ByteLevel\"},", "",
     WR_BPE_PATTERN_GPT2},
    {"an expression that is not known",
     "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"},\"behavior\":"
     "\"Isolated\"},",
     "the expression that cuts text into pieces is not known; cl100k's is used",
     WR_BPE_PATTERN_CL100K},
    {"a space put in front",
     "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true},",
     "the tokenizer puts a space before the text; that is left out", WR_BPE_PATTERN_GPT2},
    {"a normaliser",
     "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\"},",
     "the tokenizer normalises text first; here it is counted as it is", WR_BPE_PATTERN_GPT2},
    {"a step that is not known", "\"pre_tokenizer\":{\"type\":\"Metaspace\"},",
     "a step of the pre-tokenizer is not known and left out", WR_BPE_PATTERN_NONE},
};

static void what_cannot_be_honoured_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(reports); i++) {
        struct wr_bpe *bpe;
        struct wr_bpe_load_report report;
        assert_int_equal(load_parts(&bpe, reports[i].parts, &report), WEIR_OK);
        if (report.pattern != reports[i].pattern || strcmp(report.text, reports[i].text) ||
            report.exact != !reports[i].text[0])
            fail_msg("%s: pattern %d, %s", reports[i].behaviour, (int)report.pattern, report.text);
        wr_bpe_free(bpe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_written_out_reads_back_the_same),
        cmocka_unit_test(ranks_say_how_text_is_merged),
        cmocka_unit_test(a_bad_rank_file_is_refused),
        cmocka_unit_test(a_bad_tokenizer_json_is_refused),
        cmocka_unit_test(what_cannot_be_honoured_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
