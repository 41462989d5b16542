#include "weir/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"

#define HANDLE_OF_ABC "wr_ba7816bf8f01cfea4141" /* SHA-256 of "abc" begins so */

static const struct {
    const char *behaviour, *text;
    bool is_handle;
} parse_cases[] = {
    {"prefix and 20 digits are a handle", HANDLE_OF_ABC, true},
    {"one digit less is none", "wr_ba7816bf8f01cfea414", false},
    {"one digit more is none", HANDLE_OF_ABC "0", false},
    {"upper-case digits are not ours", "wr_BA7816BF8F01CFEA4141", false},
    {"a letter past f is no digit", "wr_ga7816bf8f01cfea4141", false},
    {"the prefix is lower-case", "WR_ba7816bf8f01cfea4141", false},
    {"space is not ignored", " wr_ba7816bf8f01cfea414", false},
    {"nothing is no handle", "", false},
};

static void parses(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(parse_cases); i++) {
        weir_handle handle;
        if (weir_handle_parse(wr_span_of(parse_cases[i].text), &handle) != parse_cases[i].is_handle)
            fail_msg("not so: %s: %s", parse_cases[i].behaviour, parse_cases[i].text);
    }
}

static void a_handle_is_the_front_of_the_hash(void **state)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_handle handle, again;
    (void)state;

    assert_int_equal(weir_handle_of(WR_LIT("abc"), &handle), WEIR_OK);
    weir_handle_format(handle, text);
    assert_string_equal(text, HANDLE_OF_ABC);
    assert_true(weir_handle_parse(wr_span_of(text), &again));
    assert_memory_equal(&handle, &again, sizeof(handle));
}

static const struct {
    const char *behaviour, *text;
    int at[3]; /* of the handles found, -1 after the last */
} find_cases[] = {
    {"alone", HANDLE_OF_ABC, {0, -1}},
    {"in quotes and brackets", "x \"" HANDLE_OF_ABC "\" [" HANDLE_OF_ABC "]", {3, 29, -1}},
    {"at the end of a sentence", "see " HANDLE_OF_ABC ".", {4, -1}},
    {"not inside a longer word", "xwr_ba7816bf8f01cfea4141", {-1}},
    {"not with more digits behind", HANDLE_OF_ABC "00", {-1}},
    {"not with '_' around", "_" HANDLE_OF_ABC " " HANDLE_OF_ABC "_", {-1}},
    {"a cut one is none", "wr_ba7816bf8f01cfea41", {-1}},
    {"after a false start", "wr_wr_ " HANDLE_OF_ABC, {7, -1}},
    {"in nothing", "", {-1}},
};

static void finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(find_cases); i++) {
        weir_span text = wr_span_of(find_cases[i].text);
        size_t from = 0;
        for (const int *at = find_cases[i].at;; at++) {
            weir_handle handle;
            size_t found = weir_handle_find(text, from, &handle);
            if (found != (*at < 0 ? SIZE_MAX : (size_t)*at))
                fail_msg("not so: %s: found at %zu", find_cases[i].behaviour, found);
            if (found == SIZE_MAX)
                break;
            from = found + WEIR_HANDLE_TEXT_BYTES;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses),
        cmocka_unit_test(a_handle_is_the_front_of_the_hash),
        cmocka_unit_test(finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
