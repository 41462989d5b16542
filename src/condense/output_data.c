#include "condense/output_kind.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/words.h"
#include "condense/numbered.h"
#include "condense/shape.h"
#include "condense/volatile.h"

enum {
    LINES_MAX = 64,         /* that are looked at, */
    LINES_MIN = 12,         /* and without which nothing is said */
    FRONT_BYTES_MAX = 2048, /* where the root of a report stands */
};

bool wr_output_is_data_path(weir_span path)
{
    static struct wr_words ends = WR_WORDS(".log|.out|.err|.output|.csv|.tsv|.jsonl|.ndjson");
    return wr_words_end(&ends, path) || wr_span_starts(path, WR_LIT("/var/log/"));
}

/* What the first lines of a file have in common. */
struct sample {
    unsigned lines;
    unsigned alike;  /* of the shape that most of them have, as far as one has a majority */
    unsigned timed;  /* begin with a time */
    unsigned barred; /* rows of a table */
};

static bool begins_with_time(weir_span line)
{
    if (line.len && line.ptr[0] == '[')
        line = wr_span_from(line, 1);
    return wr_volatile_time(line) > 0;
}

/* A shape that has the majority is the one that is left of a vote; a second look counts it. */
static void read_sample(struct sample *s, weir_span text)
{
    struct wr_numbered numbered = wr_numbered_detect(text);
    uint64_t shapes[LINES_MAX], winner = 0;
    unsigned votes = 0;
    weir_span line;

    if (text.len > WR_OUTPUT_SNIFF_BYTES_MAX)
        text.len = WR_OUTPUT_SNIFF_BYTES_MAX;
    *s = (struct sample){.lines = 0};
    while (s->lines < LINES_MAX && wr_span_line(&text, &line)) {
        size_t skip = wr_numbered_skip(&numbered, line, NULL);
        line = wr_span_trim(wr_span_from(line, skip));
        if (!line.len)
            continue;
        uint64_t shape = shapes[s->lines++] = wr_shape_of(line);
        s->timed += begins_with_time(line);
        s->barred += line.ptr[0] == '|';
        if (!votes)
            winner = shape;
        votes += shape == winner ? 1U : -1U;
    }
    for (unsigned i = 0; i < s->lines; i++)
        s->alike += shapes[i] == winner;
}

static bool is_report(weir_span text)
{
    static const char roots[] = "<testsuite|<testcase|<test-run|<TestRun|<assembly |<checkstyle";
    weir_span front = wr_span_cut(text, 0, text.len < FRONT_BYTES_MAX ? text.len : FRONT_BYTES_MAX);
    return wr_has_any_of(front, roots);
}

/* Files of plain text that are a program's all the same. */
static bool is_written_text(weir_span path)
{
    static struct wr_words names =
        WR_WORDS("CMakeLists.txt|requirements.txt|README.txt|LICENSE.txt|CHANGELOG.txt|robots.txt");
    return wr_words_end(&names, path);
}

enum wr_output_kind wr_output_kind_of_file(weir_span path, weir_span text)
{
    struct sample s;

    if (wr_output_is_data_path(path))
        return WR_OUTPUT_LOG;
    read_sample(&s, text);
    bool is_text = wr_span_ends(path, WR_LIT(".txt")) && !is_written_text(path);
    if (s.lines < LINES_MIN)
        return is_text ? WR_OUTPUT_PROCESS : WR_OUTPUT_FILE;
    if (s.timed * 5 >= s.lines * 3)
        return WR_OUTPUT_LOG;
    if (is_text)
        return s.alike * 2 > s.lines ? WR_OUTPUT_LOG : WR_OUTPUT_PROCESS;
    bool is_page = wr_span_ends(path, WR_LIT(".md")) || wr_span_ends(path, WR_LIT(".markdown"));
    if (is_page)
        return s.barred * 2 > s.lines ? WR_OUTPUT_LOG : WR_OUTPUT_FILE;
    return wr_span_ends(path, WR_LIT(".xml")) && is_report(text) ? WR_OUTPUT_LOG : WR_OUTPUT_FILE;
}
