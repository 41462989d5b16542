/* Messages: what compilers, linters, runtimes and logs say went wrong, and where.
 *
 * Shapes that are sure come first (a place and a level, a panic, an exception); what is left is
 * judged by its words (signal_words.c). A line that says "error" in passing must not come through:
 * the last function here has the exceptions.
 */
#include "condense/location.h"
#include "condense/signal_scanner.h"
#include "condense/volatile.h"

static const weir_span NOTHING = {"", 0};

static void add_place(struct wr_signal_scanner *scanner, const struct wr_location *location)
{
    wr_signal_add_place(scanner, location->path, location->line, location->column);
}

/* "--> a.rs:1:2", "::: a.rs:1:2", "at a.c:1", or a place and nothing else. */
static bool add_lone_place(struct wr_signal_scanner *scanner, weir_span text)
{
    struct wr_location location;
    size_t at =
        wr_span_starts(text, WR_LIT("--> ")) || wr_span_starts(text, WR_LIT("::: ")) ? 4 : 0;
    if (!wr_location_read(text, at, &location))
        return false;
    weir_span rest = wr_signal_behind(text, location.end);
    if (rest.len && !wr_span_is(rest, ":"))
        return false;
    add_place(scanner, &location);
    return true;
}

/* "thread 'main' panicked at src/main.rs:2:5:" and its message on the next line. */
static bool add_panic(struct wr_signal_scanner *scanner, weir_span text)
{
    struct wr_location location;
    if (!wr_span_starts(text, WR_LIT("thread ")))
        return false;
    size_t word = wr_span_find(text, WR_LIT(" panicked at "), 0);
    if (word == SIZE_MAX)
        return false;
    weir_span rest = wr_signal_behind(text, word + 13);
    if (!wr_location_read(rest, 0, &location)) { /* as it was: 'message', src/main.rs:2:5 */
        wr_signal_add(scanner, WR_SIGNAL_CRITICAL, rest);
        if (wr_location_find(rest, 0, &location))
            add_place(scanner, &location);
        return true;
    }
    /* The next line belongs to this one even where it is blank: else another would take its place
     * once it is gone. */
    weir_span next = NOTHING;
    if (location.end < rest.len) {
        next = wr_signal_peek(scanner);
        wr_signal_take_next(scanner);
    }
    add_place(scanner, &location);
    wr_signal_add(scanner, WR_SIGNAL_CRITICAL, next.len ? next : WR_LIT("panicked"));
    return true;
}

/* "  12:5  error  message  rule": below the path of the file. */
static bool add_row(struct wr_signal_scanner *scanner, weir_span text)
{
    size_t line = 0;
    while (line < text.len && wr_is_digit(text.ptr[line]))
        line++;
    size_t column = line + 1;
    while (column < text.len && wr_is_digit(text.ptr[column]))
        column++;
    if (!line || column <= line + 1 || column >= text.len || text.ptr[line] != ':' ||
        !wr_is_blank(text.ptr[column]))
        return false;
    weir_span message = wr_signal_behind(text, column);
    struct wr_signal_level level = wr_signal_level_read(message);
    if (!level.found)
        return false;
    bool below = wr_signal_ask_context(scanner) == WR_CONTEXT_PATH;
    wr_signal_add_place(scanner, below ? scanner->context_path : NOTHING,
                        wr_span_cut(text, 0, line), wr_span_cut(text, line + 1, column));
    wr_signal_add(scanner, level.kind, level.message);
    return true;
}

/* Python's last line of a traceback, Java's first: "a.b.SomeError: message". */
static bool add_exception(struct wr_signal_scanner *scanner, weir_span text)
{
    if (!wr_signal_is_exception(text))
        return false;
    wr_signal_add(scanner, wr_signal_exception_kind(text), text);
    wr_signal_frame_flush(scanner);
    return true;
}

/* "** (RuntimeError) message" of Elixir. */
static bool add_elixir(struct wr_signal_scanner *scanner, weir_span text)
{
    if (!wr_span_starts(text, WR_LIT("** (")) || wr_span_find(text, WR_LIT(")"), 4) == SIZE_MAX)
        return false;
    wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_signal_behind(text, 3));
    return true;
}

/* "E   message" of pytest, without the marks of a comparison. */
static bool add_pytest_message(struct wr_signal_scanner *scanner, weir_span text)
{
    if (!wr_span_starts(text, WR_LIT("E  ")))
        return false;
    weir_span message = wr_signal_behind(text, 1);
    if (message.len && !memchr("?+-", message.ptr[0], 3)) {
        wr_signal_add(scanner, WR_SIGNAL_ERROR, message);
        wr_signal_frame_flush(scanner);
    }
    return true;
}

/* "... in /x/a.php on line 12", "... at a.pl line 3.", "on main.tf line 12, in ...". */
static void add_spelt_place(struct wr_signal_scanner *scanner, weir_span text)
{
    size_t word = wr_span_find(text, WR_LIT(" line "), 0);
    if (word == SIZE_MAX || !word || word + 6 >= text.len || !wr_is_digit(text.ptr[word + 6]))
        return;
    size_t end = word, number = word + 6;
    if (wr_span_ends(wr_span_cut(text, 0, end), WR_LIT(" on")))
        end -= 3;
    size_t start = end;
    while (start && text.ptr[start - 1] != ' ')
        start--;
    while (number < text.len && wr_is_digit(text.ptr[number]))
        number++;
    weir_span path = wr_span_cut(text, start, end);
    if (wr_location_is_path(path))
        wr_signal_add_place(scanner, path, wr_span_cut(text, word + 6, number), NOTHING);
}

static enum wr_signal_kind placed_kind(weir_span text, const struct wr_signal_level *level,
                                       bool kotlin)
{
    if (level->found)
        return level->kind;
    if (kotlin)
        return text.ptr[0] == 'w' ? WR_SIGNAL_WARNING : WR_SIGNAL_ERROR;
    return wr_signal_exception_kind(level->message);
}

/* Ruby's "a.rb:3:in `f': message (SomeError)". */
static bool add_ruby(struct wr_signal_scanner *scanner, weir_span rest,
                     const struct wr_location *location)
{
    if (!wr_span_starts(rest, WR_LIT(":in ")))
        return false;
    size_t quote = wr_span_find(rest, WR_LIT("': "), 0);
    if (quote == SIZE_MAX)
        return false;
    add_place(scanner, location);
    wr_signal_add(scanner, WR_SIGNAL_ERROR, wr_signal_behind(rest, quote + 3));
    return true;
}

static bool is_test_log(weir_span text, const struct wr_location *location)
{
    return wr_span_ends(location->path, WR_LIT("_test.go")) && text.ptr[location->end] == ':';
}

/* A place at the front: "a.c:1:2: error: m", "a.ts(1,2): error m", "a.ts:1:2 - error m", "a.go:1:2:
 * m". Without a word of severity it is a diagnostic only where one space parts message and place:
 * two or more are the indent of a line that a search found. */
static bool add_placed(struct wr_signal_scanner *scanner, weir_span text)
{
    struct wr_location location;
    size_t at = wr_span_starts(text, WR_LIT("e: ")) || wr_span_starts(text, WR_LIT("w: ")) ? 3 : 0;
    if (wr_span_starts(text, WR_LIT("vet: ")))
        at = 5;
    if (!wr_location_read(text, at, &location) || location.end >= text.len)
        return false;
    weir_span rest = wr_span_from(text, location.end);
    if (add_ruby(scanner, rest, &location))
        return true;
    size_t mark = rest.ptr[0] == ':' ? 1 : wr_span_starts(rest, WR_LIT(" - ")) ? 2 : 0;
    weir_span message = wr_signal_behind(rest, mark);
    struct wr_signal_level level = wr_signal_level_read(message);
    bool kotlin = at == 3;
    bool one_space =
        rest.len > mark + 1 && wr_is_blank(rest.ptr[mark]) && !wr_is_blank(rest.ptr[mark + 1]);
    if (level.note)
        return true;
    if (!level.found && !kotlin && (!mark || !one_space))
        return false;
    if (!level.found && !location.column.len && !is_test_log(text, &location) &&
        !wr_signal_is_exception(message) && !wr_signal_words_find(message).found && at != 5)
        return true; /* "a.py:3: text" may be anything; a log's source, most often */
    add_place(scanner, &location);
    wr_signal_add(scanner, placed_kind(text, &level, kotlin), level.message);
    if (wr_signal_is_exception(message))
        wr_signal_frame_flush(scanner);
    return true;
}

/* "E0102 12:34:56.789 1 a.go:12] message" of klog. */
static bool add_klog(struct wr_signal_scanner *scanner, weir_span text)
{
    if (text.len < 8 || !memchr("EWF", text.ptr[0], 3) || text.ptr[5] != ' ' ||
        !wr_volatile_time(wr_signal_behind(text, 5)))
        return false;
    for (size_t i = 1; i < 5; i++)
        if (!wr_is_digit(text.ptr[i]))
            return false;
    size_t close = wr_span_find(text, WR_LIT("] "), 0);
    if (close == SIZE_MAX)
        return false;
    wr_signal_add(scanner,
                  text.ptr[0] == 'E'   ? WR_SIGNAL_ERROR
                  : text.ptr[0] == 'W' ? WR_SIGNAL_WARNING
                                       : WR_SIGNAL_CRITICAL,
                  wr_signal_behind(text, close + 2));
    return true;
}

/* A test that passed may have any name. */
static bool says_passed(weir_span text)
{
    static struct wr_words fronts = WR_WORDS("✓|✔|PASS |PASSED |--- PASS: |=== RUN |ok ");
    static struct wr_words ends = WR_WORDS(" PASSED| ... ok| PASS");
    return wr_words_front(&fronts, text) || wr_words_end(&ends, text) ||
           wr_span_has(text, WR_LIT("(pass) "));
}

/* "==== FAILURES ====" only parts what comes before from what comes behind. */
static bool is_rule(weir_span text)
{
    return wr_span_starts(text, WR_LIT("====")) && wr_span_ends(text, WR_LIT("===="));
}

/* "1a2b3c4 Fix what failed": a line of a history. */
static bool is_commit(weir_span text)
{
    size_t end = 0;
    bool digit = false;
    while (end < text.len && wr_is_hex(text.ptr[end]))
        digit |= wr_is_digit(text.ptr[end++]);
    return digit && end >= 7 && end <= 40 && end < text.len && text.ptr[end] == ' ';
}

static void add_message(struct wr_signal_scanner *scanner, weir_span text)
{
    struct wr_signal_level level = wr_signal_level_read(text);
    struct wr_location location;
    if (level.found) {
        wr_signal_add(scanner, level.kind, level.message);
        if (wr_location_find(level.message, 0, &location))
            add_place(scanner, &location);
        else
            add_spelt_place(scanner, text);
        return;
    }
    struct wr_signal_words words = wr_signal_words_find(text);
    if (!words.found || wr_signal_is_code(text) || says_passed(text) || is_rule(text) ||
        is_commit(text))
        return;
    wr_signal_add(scanner, words.kind, text);
    add_spelt_place(scanner, text);
}

void wr_signal_diagnostic(struct wr_signal_scanner *scanner, weir_span line)
{
    weir_span text = wr_signal_without_frame(wr_span_trim(line));
    if (wr_span_starts(text, WR_LIT("Warning: truncated output (original token count")))
        return; /* the client's word about its own cut */
    if (!text.len || add_lone_place(scanner, text) || add_panic(scanner, text) ||
        add_pytest_message(scanner, text) || add_klog(scanner, text) || add_elixir(scanner, text))
        return;
    if (add_row(scanner, text) || add_exception(scanner, text) || add_placed(scanner, text))
        return;
    if (wr_span_starts(text, WR_LIT("on ")))
        add_spelt_place(scanner, text);
    weir_span message = wr_signal_without_prefix(text);
    if (message.ptr != text.ptr && message.len &&
        (add_exception(scanner, message) || add_placed(scanner, message)))
        return;
    add_message(scanner, message);
}
