/* The extractor of lab/evidence.c against three other judges: a second extractor that shares
 * nothing with it, what the makers of sessions wrote down, and a sample that was read by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "lab/evidence.h"
#include "lab/session.h"
#include "tests/made_sessions.h"
#include "tests/traces.h"
#include "api/api.h"

enum {
    ITEMS_MAX = 4096,
    SESSIONS_MADE = 30,
    TRACES_EVERY = 7,        /* recorded sessions: every so many of them */
    TRACES_ANSWERS_MAX = 60, /* of each, its first so many answers */
    SAMPLE_ROWS = 200,
};

/* What either extractor claims: this string of this answer is from that result. Both are messages
 * of the session. */
struct claim {
    uint32_t answer, source;
    weir_span text;
    enum wr_evidence_kind kind;
};

struct claims {
    struct claim *items;
    size_t count, cap;
};

static void add_claim(struct claims *claims, struct claim claim)
{
    if (claims->count == claims->cap) {
        claims->cap = claims->cap ? claims->cap * 2 : ITEMS_MAX;
        claims->items = realloc(claims->items, claims->cap * sizeof(*claims->items));
        if (!claims->items)
            abort();
    }
    claims->items[claims->count++] = claim;
}

/* ---- the first extractor, run as it will be ---- */

/* The message a segment is part of. */
static uint32_t message_of(const struct wr_transcript *t, uint32_t segment)
{
    uint32_t index = 0;
    for (wr_json_id m = wr_json_first(t->doc, t->list); m != t->segments[segment].message;
         m = wr_json_next(t->doc, t->list, m))
        index++;
    return index;
}

static void first_extractor(const struct wr_session *session, uint32_t answers_max,
                            struct wr_arena *arena, struct claims *claims)
{
    struct wr_session_request request = {.dialect = WEIR_DIALECT_CHAT, .model = "gpt-5"};
    struct wr_api_options options = {.dialect = "chat", .structure_only = true};
    struct wr_evidence evidence;
    struct wr_buf body;
    assert_int_equal(wr_evidence_init(&evidence, arena), WEIR_OK);
    for (uint32_t n = 0; n < session->requests_count && n < answers_max; n++) {
        struct wr_transcript t;
        struct wr_json doc;
        struct wr_evidence_at at;
        struct wr_evidence_items found;
        uint32_t answer = session->requests[n];
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        request.messages_count = answer;
        wr_session_write(session, &request, &body);
        weir_span text = wr_arena_copy(arena, wr_buf_view(&body));
        wr_buf_release(&body);
        assert_int_equal(wr_json_parse(&doc, arena, text, NULL, NULL), WEIR_OK);
        assert_int_equal(wr_api_read(&t, arena, &doc, &options, NULL), WEIR_OK);
        assert_int_equal(wr_evidence_note(&evidence, &t, &at), WEIR_OK);
        assert_int_equal(
            wr_evidence_find(&evidence, &at, &session->messages[answer], arena, &found), WEIR_OK);
        for (uint32_t i = 0; i < found.count; i++)
            if (!found.items[i].is_repeated)
                add_claim(claims,
                          (struct claim){.answer = answer,
                                         .source = message_of(&t, found.items[i].source - at.base),
                                         .text = found.items[i].text,
                                         .kind = found.items[i].kind});
    }
    wr_evidence_release(&evidence);
}

/* ---- the second: every text in memory, every candidate sought in all of them ---- */

struct plain_message {
    char *text; /* content and arguments, escapes taken out by hand */
    bool is_result;
    uint32_t call; /* the message that asked for it */
};

/* Quotes that are JSON's own end a line. */
static char *unescaped(const char *from, size_t len)
{
    char *out = malloc(len + 1);
    size_t n = 0;
    if (!out)
        abort();
    for (size_t i = 0; i < len; i++) {
        bool is_escape = from[i] == '\\' && i + 1 < len && strchr("nt\"\\", from[i + 1]);
        char next = is_escape ? from[i + 1] : 0;
        bool is_end = next == 'n' || (!is_escape && from[i] == '"');
        out[n++] = is_end ? '\n' : next == 't' ? '\t' : is_escape ? next : from[i];
        i += is_escape;
    }
    out[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (!out[i])
            out[i] = ' ';
    return out;
}

/* All of a message but its ids: the content, and of calls the arguments. */
static char *plain_text(const struct wr_json *m, struct wr_arena *arena)
{
    struct wr_buf all;
    wr_json_id content = wr_json_find(m, 0, "content"), calls = wr_json_find(m, 0, "tool_calls");
    wr_buf_init(&all, WR_OUTPUT_BYTES_MAX);
    if (wr_json_is(m, content, WR_JSON_STRING))
        wr_buf_append(&all, wr_json_text(m, arena, content));
    for (wr_json_id c = wr_json_is(m, calls, WR_JSON_ARRAY) ? wr_json_first(m, calls)
                                                            : WR_JSON_NONE;
         c != WR_JSON_NONE; c = wr_json_next(m, calls, c)) {
        wr_json_id arguments = wr_json_find(m, wr_json_find(m, c, "function"), "arguments");
        if (!wr_json_is(m, arguments, WR_JSON_STRING))
            continue;
        weir_span json = wr_json_text(m, arena, arguments);
        char *plain = unescaped(json.ptr, json.len);
        wr_buf_byte(&all, '\n');
        wr_buf_text(&all, plain);
        free(plain);
    }
    wr_buf_byte(&all, '\0');
    char *text = malloc(all.len);
    if (!text)
        abort();
    for (size_t i = 0; i < all.len; i++)
        text[i] = all.bytes[i] || i + 1 == all.len ? all.bytes[i] : ' ';
    wr_buf_release(&all);
    return text;
}

static uint32_t call_of(const struct wr_session *s, uint32_t result)
{
    weir_span id =
        wr_json_raw(&s->messages[result], wr_json_find(&s->messages[result], 0, "tool_call_id"));
    for (uint32_t i = result; i-- > 0;)
        if (wr_json_text_is(&s->messages[i], wr_json_find(&s->messages[i], 0, "role"),
                            "assistant") &&
            wr_span_find(wr_json_raw(&s->messages[i], 0), id, 0) != SIZE_MAX)
            return i;
    return result;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool stands_alone(const char *hay, const char *at, size_t len)
{
    return (at == hay || !is_name(at[-1])) && !is_name(at[len]);
}

static bool contains(const char *hay, const char *needle, bool alone)
{
    size_t len = strlen(needle);
    for (const char *at = strstr(hay, needle); at; at = strstr(at + 1, needle))
        if (!alone || stands_alone(hay, at, len))
            return true;
    return false;
}

/* The newest result before `answer` that holds the string, if nobody else said it since its call.
 */
static bool find_source(const struct plain_message *messages, uint32_t answer, const char *string,
                        bool alone, uint32_t *source)
{
    for (uint32_t i = answer; i-- > 0;) {
        if (!messages[i].is_result || !contains(messages[i].text, string, alone))
            continue;
        for (uint32_t k = messages[i].call; k < answer; k++)
            if (!messages[k].is_result && contains(messages[k].text, string, alone))
                return false;
        *source = i;
        return true;
    }
    return false;
}

static bool try_string(const struct plain_message *messages, uint32_t answer, const char *from,
                       size_t len, bool alone, struct wr_arena *arena, struct claims *claims)
{
    uint32_t source;
    char *copy = wr_arena_zalloc(arena, len + 1);
    if (!copy)
        abort();
    memcpy(copy, from, len);
    if (!find_source(messages, answer, copy, alone, &source))
        return false;
    for (size_t i = claims->count; i-- > 0 && claims->items[i].answer == answer;)
        if (wr_span_eq(claims->items[i].text, (weir_span){copy, len}))
            return true;
    add_claim(claims, (struct claim){.answer = answer, .source = source, .text = {copy, len}});
    return true;
}

static bool looks_made(const char *word, size_t len)
{
    bool under = false, digit = false, letter = false, hump = false;
    for (size_t i = 0; i < len; i++) {
        under |= word[i] == '_' && i && i + 1 < len;
        digit |= word[i] >= '0' && word[i] <= '9';
        letter |= (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z');
        hump |= i && word[i] >= 'A' && word[i] <= 'Z' && word[i - 1] >= 'a' && word[i - 1] <= 'z';
    }
    return len >= 8 && letter && (under || digit || hump);
}

static void second_words(const struct plain_message *messages, uint32_t answer, const char *line,
                         size_t len, struct wr_arena *arena, struct claims *claims)
{
    for (size_t i = 0; i < len;) {
        size_t end = i;
        while (end < len && (is_name(line[end]) || strchr("/.-", line[end])))
            end++;
        size_t stop = end;
        while (stop > i && line[stop - 1] == '.')
            stop--;
        bool is_path = memchr(line + i, '/', stop - i) && memchr(line + i, '.', stop - i);
        size_t from = i;
        while (is_path && from < stop &&
               !try_string(messages, answer, line + from, stop - from, true, arena, claims)) {
            while (from < stop && line[from] != '/')
                from++;
            from++;
        }
        for (size_t w = i; !is_path && w < stop;) {
            size_t word = w;
            while (word < stop && is_name(line[word]))
                word++;
            if (looks_made(line + w, word - w))
                (void)try_string(messages, answer, line + w, word - w, true, arena, claims);
            w = word + 1;
        }
        i = end + 1;
    }
}

static void second_answer(const struct plain_message *messages, uint32_t answer,
                          struct wr_arena *arena, struct claims *claims)
{
    const char *text = messages[answer].text;
    while (*text) {
        size_t len = strcspn(text, "\n"), from = 0, to = len;
        while (from < len && strchr(" \t+-", text[from]))
            from++;
        while (to > from && strchr(" \t\r", text[to - 1]))
            to--;
        bool is_line = to - from >= 16 && memchr(text + from, ' ', to - from);
        if (!is_line || !try_string(messages, answer, text + from, to - from, false, arena, claims))
            second_words(messages, answer, text, len, arena, claims);
        text += len + (text[len] == '\n');
    }
}

static void second_extractor(const struct wr_session *session, uint32_t answers_max,
                             struct wr_arena *arena, struct claims *claims)
{
    uint32_t count = session->messages_count;
    struct plain_message *messages = calloc(count, sizeof(*messages));
    if (!messages)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        const struct wr_json *m = &session->messages[i];
        messages[i].text = plain_text(m, arena);
        messages[i].is_result = wr_json_text_is(m, wr_json_find(m, 0, "role"), "tool");
        if (messages[i].is_result)
            messages[i].call = call_of(session, i);
    }
    for (uint32_t n = 0; n < session->requests_count && n < answers_max; n++)
        second_answer(messages, session->requests[n], arena, claims);
    for (uint32_t i = 0; i < count; i++)
        free(messages[i].text);
    free(messages);
}

/* ---- comparing ---- */

static bool overlap(weir_span a, weir_span b)
{
    return wr_span_find(a, b, 0) != SIZE_MAX || wr_span_find(b, a, 0) != SIZE_MAX;
}

static bool is_confirmed(const struct claim *claim, const struct claims *by)
{
    for (size_t i = 0; i < by->count; i++)
        if (by->items[i].answer == claim->answer && by->items[i].source == claim->source &&
            overlap(by->items[i].text, claim->text))
            return true;
    return false;
}

struct score {
    uint64_t claimed, confirmed; /* precision */
    uint64_t there, found;       /* recall */
};

static double share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 1.0;
}

static void print_score(const char *what, const struct score *s)
{
    printf("%s: precision %.3f (%llu of %llu), recall %.3f (%llu of %llu)\n", what,
           share(s->confirmed, s->claimed), (unsigned long long)s->confirmed,
           (unsigned long long)s->claimed, share(s->found, s->there), (unsigned long long)s->found,
           (unsigned long long)s->there);
}

static void score_claims(const struct claims *first, const struct claims *second,
                         struct score *score)
{
    for (size_t i = 0; i < first->count; i++)
        score->confirmed += is_confirmed(&first->items[i], second);
    for (size_t i = 0; i < second->count; i++)
        score->found += is_confirmed(&second->items[i], first);
    score->claimed += first->count;
    score->there += second->count;
    if (!getenv("WEIR_SHOW"))
        return;
    for (size_t i = 0; i < first->count; i++)
        if (!is_confirmed(&first->items[i], second))
            printf("ONLY FIRST %u<-%u %.*s\n", first->items[i].answer, first->items[i].source,
                   (int)first->items[i].text.len, first->items[i].text.ptr);
    for (size_t i = 0; i < second->count; i++)
        if (!is_confirmed(&second->items[i], first))
            printf("ONLY SECOND %u<-%u %.*s\n", second->items[i].answer, second->items[i].source,
                   (int)second->items[i].text.len, second->items[i].text.ptr);
}

static void compare_extractors(const struct wr_session *session, uint32_t answers_max,
                               struct score *score)
{
    struct claims first = {0}, second = {0};
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    first_extractor(session, answers_max, &arena, &first);
    second_extractor(session, answers_max, &arena, &second);
    score_claims(&first, &second, score);
    free(first.items);
    free(second.items);
    wr_arena_release(&arena);
}

static void read_made(struct made_session *made, uint64_t seed, struct wr_arena *arena,
                      struct wr_session *session)
{
    struct weir_err err;
    made_session_new(made, seed);
    wr_arena_init(arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_session_read(session, arena, wr_buf_view(&made->lines), &err), WEIR_OK);
}

static void two_extractors_agree_on_made_sessions(void **state)
{
    struct score score = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= SESSIONS_MADE; seed++) {
        struct made_session made;
        struct wr_session session;
        struct wr_arena arena;
        read_made(&made, seed, &arena, &session);
        compare_extractors(&session, UINT32_MAX, &score);
        wr_arena_release(&arena);
        made_session_free(&made);
    }
    print_score("against the second extractor, made sessions", &score);
    assert_true(share(score.confirmed, score.claimed) >= 0.97);
    assert_true(share(score.found, score.there) >= 0.97);
}

static void two_extractors_agree_on_recorded_sessions(void **state)
{
    struct score score = {0};
    struct traces traces;
    (void)state;
    traces_open(&traces);
    for (size_t i = 0; i < traces.count; i += TRACES_EVERY) {
        struct wr_buf text;
        struct wr_arena arena;
        struct wr_session session;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        traces_read(&traces, i, &text, &arena, &session);
        compare_extractors(&session, TRACES_ANSWERS_MAX, &score);
        wr_arena_release(&arena);
        wr_buf_release(&text);
    }
    traces_close(&traces);
    print_score("against the second extractor, recorded sessions", &score);
    assert_true(share(score.confirmed, score.claimed) >= 0.80);
    assert_true(share(score.found, score.there) >= 0.90);
}

/* ---- what the maker wrote down ---- */

static bool was_used(const struct made_session *made, const struct claim *claim)
{
    for (uint32_t i = 0; i < made->uses_count; i++)
        if (made->uses[i].answer == claim->answer && made->uses[i].is_used &&
            overlap(wr_span_of(made->uses[i].text), claim->text))
            return true;
    return false;
}

static bool is_claimed(const struct claims *claims, const struct made_use *use)
{
    for (size_t i = 0; i < claims->count; i++)
        if (claims->items[i].answer == use->answer &&
            overlap(wr_span_of(use->text), claims->items[i].text))
            return true;
    return false;
}

static void what_the_maker_took_is_found(void **state)
{
    struct score score = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= SESSIONS_MADE; seed++) {
        struct claims claims = {0};
        struct made_session made;
        struct wr_session session;
        struct wr_arena arena;
        read_made(&made, seed, &arena, &session);
        first_extractor(&session, UINT32_MAX, &arena, &claims);
        score.claimed += claims.count;
        for (size_t i = 0; i < claims.count; i++) {
            bool is_right = was_used(&made, &claims.items[i]);
            score.confirmed += is_right;
            if (!is_right && getenv("WEIR_SHOW"))
                printf("NOT TAKEN %u %u<-%u %.*s\n", (unsigned)seed, claims.items[i].answer,
                       claims.items[i].source, (int)claims.items[i].text.len,
                       claims.items[i].text.ptr);
        }
        for (uint32_t i = 0; i < made.uses_count; i++) {
            score.there += made.uses[i].is_used;
            if (getenv("WEIR_SHOW") && made.uses[i].is_used && !is_claimed(&claims, &made.uses[i]))
                printf("NOT FOUND %u %u %s\n", (unsigned)seed, made.uses[i].answer,
                       made.uses[i].text);
            score.found += made.uses[i].is_used && is_claimed(&claims, &made.uses[i]);
        }
        free(claims.items);
        wr_arena_release(&arena);
        made_session_free(&made);
    }
    print_score("against what the makers wrote down", &score);
    assert_true(share(score.confirmed, score.claimed) >= 0.88);
    assert_true(share(score.found, score.there) >= 0.88);
}

/* ---- what was read by hand ---- */

struct row {
    uint64_t seed;
    struct claim claim;
    bool is_right;
};

static weir_span next_field(weir_span *rest)
{
    size_t tab = wr_span_find(*rest, WR_LIT("\t"), 0);
    size_t end = tab == SIZE_MAX ? rest->len : tab;
    weir_span field = wr_span_cut(*rest, 0, end);
    *rest = wr_span_cut(*rest, tab == SIZE_MAX ? rest->len : tab + 1, rest->len);
    return field;
}

static uint32_t read_sample(struct wr_buf *text, struct row *rows)
{
    uint32_t count = 0;
    weir_span rest, line;
    if (!wr_test_file("tests/cases/evidence_sample.tsv", text))
        return 0;
    rest = wr_buf_view(text);
    while (wr_span_line(&rest, &line) && count < SAMPLE_ROWS) {
        uint64_t numbers[3];
        if (line.ptr[0] == '#')
            continue;
        for (int i = 0; i < 3; i++)
            assert_true(wr_span_u64(next_field(&line), &numbers[i]));
        (void)next_field(&line);
        rows[count].is_right = wr_span_is(next_field(&line), "yes");
        rows[count].seed = numbers[0];
        rows[count++].claim = (struct claim){
            .answer = (uint32_t)numbers[1], .source = (uint32_t)numbers[2], .text = line};
    }
    return count;
}

static bool is_claim(const struct claims *claims, const struct claim *claim)
{
    for (size_t i = 0; i < claims->count; i++)
        if (claims->items[i].answer == claim->answer && claims->items[i].source == claim->source &&
            wr_span_eq(claims->items[i].text, claim->text))
            return true;
    return false;
}

static void the_sample_read_by_hand(void **state)
{
    struct row rows[SAMPLE_ROWS];
    uint32_t claimed = 0, right = 0, at = 0;
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    uint32_t count = read_sample(&text, rows);
    assert_int_equal(count, SAMPLE_ROWS);
    while (at < count) {
        struct claims claims = {0};
        struct made_session made;
        struct wr_session session;
        struct wr_arena arena;
        uint64_t seed = rows[at].seed;
        read_made(&made, seed, &arena, &session);
        first_extractor(&session, UINT32_MAX, &arena, &claims);
        for (; at < count && rows[at].seed == seed; at++) {
            bool is_claimed_still = is_claim(&claims, &rows[at].claim);
            claimed += is_claimed_still;
            right += is_claimed_still && rows[at].is_right;
        }
        free(claims.items);
        wr_arena_release(&arena);
        made_session_free(&made);
    }
    wr_buf_release(&text);
    printf("read by hand: %u rows, %u still claimed, precision %.3f\n", count, claimed,
           share(right, claimed));
    /* Where the maker of sessions changes, the sample is of other sessions: read it anew. */
    assert_true(claimed >= SAMPLE_ROWS * 9 / 10);
    assert_true(share(right, claimed) >= 0.78);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_extractors_agree_on_made_sessions),
        cmocka_unit_test(two_extractors_agree_on_recorded_sessions),
        cmocka_unit_test(what_the_maker_took_is_found),
        cmocka_unit_test(the_sample_read_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
