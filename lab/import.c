/* One log, of any format: gzip is undone, the format found, its reader run. A file may be one JSON
 * document or one a line; what is no JSON between the lines is skipped and counted. Formats are
 * asked in the order of the table, by content alone: names of files say nothing after they were
 * copied. */
#include "lab/import.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "lab/import_reader.h"

/* ---- what was wrong with logs ---- */

enum { CAP_FIRST = 16, KEY_BYTES_MAX = 32 };

static const bool is_trouble[WR_IMPORT_NOTES] = {
    [WR_IMPORT_LINE_BROKEN] = true,     [WR_IMPORT_LINE_LONG] = true,
    [WR_IMPORT_LINE_FOREIGN] = true,    [WR_IMPORT_ROLE_UNKNOWN] = true,
    [WR_IMPORT_BLOCK_UNKNOWN] = true,   [WR_IMPORT_RESULT_ORPHAN] = true,
    [WR_IMPORT_COMPACTION_LOST] = true, [WR_IMPORT_ANSWER_UNASKED] = true,
};

bool wr_import_is_troubled(const struct wr_import *import)
{
    for (int i = 0; i < WR_IMPORT_NOTES; i++)
        if (is_trouble[i] && import->notes[i])
            return true;
    return false;
}

/* "lines that are no JSON object": for counts of `note`. */
const char *wr_import_note_text(enum wr_import_note note)
{
    static const char *const texts[WR_IMPORT_NOTES] = WR_NAMES_OF(WR_IMPORT_NOTE_MAP);
    return texts[note];
}

void wr_import_trouble_text(const struct wr_import *import, struct wr_buf *out)
{
    const char *between = "";
    for (int i = 0; i < WR_IMPORT_NOTES; i++) {
        unsigned long long count = import->notes[i], line = import->first_lines[i];
        if (!is_trouble[i] || !count)
            continue;
        wr_buf_printf(out, "%s%s: %llu", between, wr_import_note_text((enum wr_import_note)i),
                      count);
        if (line)
            wr_buf_printf(out, " (%sline %llu)", count > 1 ? "the first in " : "", line);
        if (i == WR_IMPORT_LINE_LONG)
            wr_buf_printf(out, ", which is %d bytes", (int)WR_IMPORT_LINE_BYTES_MAX);
        between = "; ";
    }
}

void wr_import_troubles_add(struct wr_import_troubles *t, const char *path, const char *why,
                            bool is_left_out, const struct wr_import *import)
{
    if (!WR_HEAP_ROOM(t->items, t->count, t->cap, CAP_FIRST)) {
        t->status = WEIR_NOMEM;
        return;
    }
    struct wr_import_trouble *item = &t->items[t->count++];
    *item = (struct wr_import_trouble){
        .path = strdup(path), .why = strdup(why), .is_left_out = is_left_out};
    if (!item->path || !item->why)
        t->status = WEIR_NOMEM;
    for (int i = 0; import && i < WR_IMPORT_NOTES; i++)
        item->notes[i] = import->notes[i];
}

void wr_import_troubles_free(struct wr_import_troubles *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->items[i].path);
        free(t->items[i].why);
    }
    free(t->items);
    *t = (struct wr_import_troubles){0};
}

/* ---- JSON ---- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct wr_import_trouble *)a)->path,
                  ((const struct wr_import_trouble *)b)->path);
}

/* "line_broken": the name of the note in small letters. */
static void write_note_key(struct wr_json_writer *w, int note)
{
    static const char *const names[WR_IMPORT_NOTES] = {
#define X(name, text) #name,
        WR_IMPORT_NOTE_MAP(X)
#undef X
    };
    char key[KEY_BYTES_MAX] = {0};
    for (size_t i = 0; names[note][i] && i + 1 < sizeof(key); i++)
        key[i] = wr_lower(names[note][i]);
    wr_json_write_key(w, key);
}

static void write_trouble(struct wr_json_writer *w, const struct wr_import_trouble *item)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "path", item->path);
    wr_json_member_bool(w, "left_out", item->is_left_out);
    wr_json_member_word(w, "why", item->why);
    wr_json_member_object(w, "notes");
    for (int i = 0; i < WR_IMPORT_NOTES; i++) {
        if (!item->notes[i])
            continue;
        write_note_key(w, i);
        wr_json_write_i64(w, (int64_t)item->notes[i]);
    }
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

void wr_import_troubles_json(struct wr_import_troubles *t, struct wr_json_writer *w)
{
    wr_json_member_array(w, "troubles");
    if (t && !t->status && t->count) {
        qsort(t->items, t->count, sizeof(*t->items), by_path);
        for (size_t i = 0; i < t->count; i++)
            write_trouble(w, &t->items[i]);
    }
    wr_json_write_array_end(w);
}

/* ---- import ---- */

enum { PIECE_BYTES = 256 * 1024, WINDOW_BITS_GZIP_ONLY = 15 + 16 };

/* The formats. The first that claims a log has it, so those that take almost any list of messages
 * come last. */
static const struct wr_import_format *const formats[] = {
    &wr_import_claude,
    &wr_import_codex,
    &wr_import_copilot,
    &wr_import_gemini,
    &wr_import_gemini_stream,
    &wr_import_pi,
    &wr_import_opencode,
    &wr_import_openhands,
    &wr_import_swe_agent,
    &wr_import_mini_swe,
    &wr_import_openhands_messages,
    &wr_import_tau,
    &wr_import_langchain,
    &wr_import_chat,
};
enum { FORMATS = WR_COUNT_OF(formats) };

const struct wr_import_format *wr_import_format_of(wr_node line)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->claims_line && formats[i]->claims_line(line))
            return formats[i];
    return NULL;
}

static const struct wr_import_format *format_of_document(wr_node document)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->claims && formats[i]->claims(document))
            return formats[i];
    return NULL;
}

/* ---- gzip ---- */

static bool is_gzip(weir_span bytes)
{
    return wr_span_starts(bytes, WR_LIT("\x1f\x8b"));
}

/* Inflates until the input ends; members follow one another without a word. */
static int inflate_all(z_stream *z, struct wr_buf *out, const char *end)
{
    int got = Z_OK;
    do {
        wr_buf_reserve(out, PIECE_BYTES);
        if (out->status)
            return Z_OK;
        size_t left = (size_t)(end - (const char *)z->next_in);
        z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        z->next_out = (Bytef *)(out->bytes + out->len);
        z->avail_out = PIECE_BYTES;
        got = inflate(z, Z_NO_FLUSH);
        out->len += PIECE_BYTES - z->avail_out;
        bool is_more = (const char *)z->next_in < end;
        if (got == Z_STREAM_END && is_more)
            got = inflateReset(z);
        else if (got == Z_OK && !is_more && z->avail_out)
            got = Z_BUF_ERROR; /* all is read, and the stream has not ended */
    } while (got == Z_OK);
    return got;
}

/* Appends what one or more gzip members hold. WEIR_SYNTAX with the byte where the stream breaks or
 * ends early; WEIR_LIMIT past the buffer's cap. */
static weir_status inflate_log(struct wr_buf *out, weir_span bytes, struct weir_err *err)
{
    z_stream z = {.next_in = (z_const Bytef *)bytes.ptr};
    if (inflateInit2(&z, WINDOW_BITS_GZIP_ONLY) != Z_OK)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory to undo gzip");
    int got = inflate_all(&z, out, bytes.ptr + bytes.len);
    size_t at = (size_t)((const char *)z.next_in - bytes.ptr);
    (void)inflateEnd(&z);
    if (out->status)
        return wr_fail(err, out->status, at, "the log inflates to more than %zu bytes",
                       out->cap_max);
    if (got == Z_MEM_ERROR)
        return wr_fail(err, WEIR_NOMEM, at, "no memory to undo gzip");
    if (got != Z_STREAM_END)
        return wr_fail(err, WEIR_SYNTAX, at, "the gzip stream is broken or ends early");
    return WEIR_OK;
}

/* ---- which format ---- */

/* Reads a line that may be anything. */
static bool is_json_line(struct wr_importer *in, weir_span line)
{
    if (!line.len || line.ptr[0] != '{' || line.len > WR_IMPORT_LINE_BYTES_MAX)
        return false;
    wr_arena_reset(&in->line);
    weir_status status = wr_json_parse(&in->doc, &in->line, line, NULL, NULL);
    if (status == WEIR_NOMEM)
        in->status = status;
    return !status;
}

/* The format that claims one of the first lines. What is no JSON may stand between them. */
static const struct wr_import_format *sniff_lines(struct wr_importer *in, weir_span text)
{
    weir_span line;
    for (uint32_t i = 0; i < WR_IMPORT_SNIFF_LINES_MAX && wr_span_line(&text, &line); i++) {
        if (!is_json_line(in, wr_span_trim(line)))
            continue;
        const struct wr_import_format *format = wr_import_format_of(wr_import_root(in));
        if (format)
            return format;
    }
    return NULL;
}

/* Whether the first line is an entry by itself and others follow. */
static bool is_one_a_line(struct wr_importer *in, weir_span text)
{
    weir_span rest = text, line;
    if (!wr_span_line(&rest, &line) || !wr_span_trim(rest).len)
        return false;
    return line.len > WR_IMPORT_LINE_BYTES_MAX || is_json_line(in, wr_span_trim(line));
}

/* ORDER LOG: a file of one line is a document first; a file that is no document may still have
 * lines that can be read. */
static weir_status find_format(struct wr_importer *in, weir_span text, struct weir_err *err)
{
    weir_status status = WEIR_INVALID;
    bool is_json = text.len && (text.ptr[0] == '{' || text.ptr[0] == '[');
    if (is_json && !is_one_a_line(in, text) && !in->status) {
        status = wr_json_parse(&in->doc, &in->scratch, text, NULL, err);
        if (!status)
            in->format = format_of_document(wr_import_root(in));
        if (in->format || status == WEIR_NOMEM)
            return status;
    }
    if (!in->status)
        in->format = sniff_lines(in, text);
    in->is_lines = true;
    in->rest = text;
    if (in->status)
        return wr_fail(err, in->status, 0, "no memory for the log");
    if (in->format)
        return WEIR_OK;
    if (status && status != WEIR_INVALID)
        return status;
    return wr_fail(err, WEIR_INVALID, 0, "this is no log of an agent that is known here");
}

/* What stands behind the first key that names a working directory. */
static weir_span find_folder(struct wr_importer *in, weir_span text)
{
    static const char *const keys[] = {"\"cwd\"", "\"workdir\"", "\"working_dir\""};
    for (size_t i = 0; i < WR_COUNT_OF(keys); i++) {
        size_t at = wr_span_find(text, wr_span_of(keys[i]), 0);
        if (at == SIZE_MAX)
            continue;
        for (at += strlen(keys[i]); at < text.len && strchr(": \t", text.ptr[at]);)
            at++;
        size_t end = at + 1;
        while (end < text.len && text.ptr[end] != '"' && text.ptr[end] != '\n')
            end++;
        if (at < text.len && text.ptr[at] == '"' && end < text.len)
            return wr_arena_copy(in->arena, wr_span_cut(text, at + 1, end));
    }
    return (weir_span){"", 0};
}

static weir_status read_text(struct wr_importer *in, weir_span text, struct weir_err *err)
{
    weir_span start = wr_span_trim(text);
    if (wr_span_starts(start, WR_LIT("\xef\xbb\xbf")))
        start = wr_span_trim(wr_span_cut(start, 3, start.len));
    weir_status status = find_format(in, start, err);
    if (status) {
        if (err)
            err->at_byte += (size_t)(start.ptr - text.ptr);
        return status;
    }
    in->import->agent = in->format->agent;
    in->import->folder = find_folder(in, text);
    for (const char *c = text.ptr; c < start.ptr; c++)
        in->line_number += *c == '\n';
    status = in->format->read(in);
    if (status)
        return wr_fail(err, status, 0, "%s log: %s", in->format->agent, weir_status_text(status));
    if (!in->import->sessions_count)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s log: nothing was asked of a model in it",
                       in->format->agent);
    return WEIR_OK;
}

static weir_status read_bytes(struct wr_importer *in, weir_span bytes, struct weir_err *err)
{
    struct wr_buf inflated;
    if (bytes.len > WR_IMPORT_FILE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a log has at most %d bytes",
                       (int)WR_IMPORT_FILE_BYTES_MAX);
    if (!is_gzip(bytes))
        return read_text(in, bytes, err);
    wr_buf_init(&inflated, WR_IMPORT_FILE_BYTES_MAX);
    weir_status status = inflate_log(&inflated, bytes, err);
    if (!status)
        status = read_text(in, wr_buf_view(&inflated), err);
    wr_buf_release(&inflated);
    return status;
}

weir_status wr_import_read(struct wr_import *import, struct wr_arena *arena, weir_span bytes,
                           struct weir_err *err)
{
    struct wr_importer in = {.import = import, .arena = arena};
    *import = (struct wr_import){0};
    wr_arena_init(&in.scratch, WR_ARENA_BYTES_MAX);
    wr_arena_init(&in.line, WR_ARENA_BYTES_MAX);
    weir_status status = read_bytes(&in, bytes, err);
    wr_arena_release(&in.line);
    wr_arena_release(&in.scratch);
    return status;
}
