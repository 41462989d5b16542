#include "launch/toml_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *text;
    size_t wrong_line;
} cases[] = {
    {"an empty file", "", 0},
    {"comments and blanks", "# a\n\n  # b = \n", 0},
    {"keys and sections", "a = 1\n[b.c]\n\"d e\" = 'f' # g\n[[h]]\ni.j = true\n", 0},
    {"a list over lines", "a = [\n  \"x\", # ]\n  'y',\n]\nb = 1\n", 0},
    {"a table on its line", "a = {b = \"}\", c = [1, 2]}\n", 0},
    {"a text over lines", "a = \"\"\"\nno = [\n\\\"\"\"\n\"\"\"\nb = 1\n", 0},
    {"a quote in a text", "a = \"x\\\"y\"\n", 0},
    {"Windows line ends", "a = 1\r\n[b]\r\n", 0},
    {"words", "a = 1\nthis is no TOML\n", 2},
    {"no value", "a =\n", 1},
    {"no key", "= 1\n", 1},
    {"a section that does not end", "a = 1\n[b\nc = 1\n", 2},
    {"a section without a name", "[]\n", 1},
    {"words behind a section", "[a] b\n", 1},
    {"a text that does not end", "a = \"b\n", 1},
    {"a list that does not end", "a = [1,\n", 1},
    {"a bracket too many", "a = 1]\n", 1},
    {"a long text that does not end", "a = '''b\nc\n", 2},
    {"JSON", "{\"a\": 1}\n", 1},
};

static void what_is_no_toml_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_toml_facts facts;
        wr_toml_check(wr_span_of(cases[i].text), &facts);
        if (facts.wrong_line != cases[i].wrong_line)
            fail_msg("%s: line %zu", cases[i].behaviour, facts.wrong_line);
    }
}

static const struct {
    const char *behaviour, *text, *provider;
    bool has_provider, has_mcp_weir;
} facts_cases[] = {
    {"none", "model = \"m\"\n", "", false, false},
    {"one that is built in", "model_provider = \"openai\"\n", "", false, false},
    {"one that is not there", "model_provider = \"weir\"\n[model_providers.other]\na = 1\n", "weir",
     false, false},
    {"one with its section", "model_provider = \"weir\"\n[model_providers.weir]\nname = \"w\"\n",
     "weir", true, false},
    {"one in quotes", "model_provider = 'my one'\n[model_providers.\"my one\"]\na = 1\n", "my one",
     true, false},
    {"a name inside a section is another's", "[profiles.x]\nmodel_provider = \"weir\"\n", "", false,
     false},
    {"recall by a section", "[mcp_servers.weir]\ncommand = \"weir\"\n", "", false, true},
    {"by a section below it", "[mcp_servers.weir.env]\nA = \"b\"\n", "", false, true},
    {"by a dotted key", "mcp_servers.weir.command = \"weir\"\n", "", false, true},
    {"by a key of the list", "[mcp_servers]\nweir = {command = \"weir\"}\n", "", false, true},
    {"another server", "[mcp_servers.weird]\ncommand = \"x\"\n", "", false, false},
};

static void the_facts_of_codex_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(facts_cases) / sizeof(facts_cases[0]); i++) {
        struct wr_toml_facts facts;
        wr_toml_check(wr_span_of(facts_cases[i].text), &facts);
        if (facts.wrong_line || !wr_span_is(facts.provider, facts_cases[i].provider) ||
            facts.has_provider != facts_cases[i].has_provider ||
            facts.has_mcp_weir != facts_cases[i].has_mcp_weir)
            fail_msg("%s: line %zu, '%.*s'", facts_cases[i].behaviour, facts.wrong_line,
                     (int)facts.provider.len, facts.provider.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_no_toml_is_named),
                                       cmocka_unit_test(the_facts_of_codex_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
