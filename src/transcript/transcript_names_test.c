#include "base/span.h"
#include "weir/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* The words are a contract: `weir inspect --json` prints them. */
static void names_are_what_is_documented(void **state)
{
    static const char *const dialects[] = {"chat",   "responses", "messages",
                                           "gemini", "ollama",    "converse"};
    static const char *const roles[] = {"none", "system", "developer", "user", "assistant", "tool"};
    static const char *const kinds[] = {"text", "tool_call", "tool_result", "reasoning",  "image",
                                        "file", "system",    "tools",       "compaction", "other"};
    static const char *const classes[] = {
        "protocol exact",         "continuation exact", "critical exact",     "rehydratable exact",
        "lossless transformable", "condensable",        "droppable duplicate"};
    (void)state;
    for (int i = 0; i < (int)(WR_COUNT_OF(dialects)); i++)
        assert_string_equal(weir_dialect_name((weir_dialect)i), dialects[i]);
    for (int i = 0; i < (int)(WR_COUNT_OF(roles)); i++)
        assert_string_equal(weir_role_name((weir_role)i), roles[i]);
    for (int i = 0; i < (int)(WR_COUNT_OF(kinds)); i++)
        assert_string_equal(weir_kind_name((weir_kind)i), kinds[i]);
    for (int i = 0; i < (int)(WR_COUNT_OF(classes)); i++)
        assert_string_equal(weir_class_name((weir_class)i), classes[i]);
}

static void a_number_that_is_none_of_them_has_a_name_too(void **state)
{
    (void)state;
    assert_string_equal(weir_dialect_name((weir_dialect)7), "unknown");
    assert_string_equal(weir_role_name((weir_role)7), "unknown");
    assert_string_equal(weir_kind_name((weir_kind)15), "unknown");
    assert_string_equal(weir_class_name((weir_class)7), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_what_is_documented),
        cmocka_unit_test(a_number_that_is_none_of_them_has_a_name_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
