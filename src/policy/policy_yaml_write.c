/* A policy as the YAML it could have been read from: every value is said, so that it stays the same
 * when a default changes. */
#include "policy/policy_yaml.h"

#include "base/span.h"
#include "base/utf8.h"

static uint32_t read_character(weir_span text, size_t *at)
{
    unsigned char first = (unsigned char)text.ptr[(*at)++];
    uint32_t character = first < 0x80   ? first
                         : first < 0xE0 ? first & 0x1F
                         : first < 0xF0 ? first & 0x0F
                                        : first & 0x07;
    while (*at < text.len && wr_utf8_is_tail(text.ptr[*at]))
        character = character << 6 | ((unsigned char)text.ptr[(*at)++] & 0x3F);
    return character;
}

/* YAML breaks lines at U+0085, U+2028 and U+2029, and refuses what cannot be seen. */
static bool is_plain(uint32_t character)
{
    return (character >= 0xA0 && character < 0x2028) ||
           (character > 0x2029 && character < 0xD800) ||
           (character >= 0xE000 && character < 0xFEFF);
}

static void write_quoted(struct wr_buf *out, const char *string)
{
    weir_span text = wr_span_of(string);
    wr_buf_byte(out, '"');
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        uint32_t character = read_character(text, &at);
        if (character == '"' || character == '\\')
            wr_buf_printf(out, "\\%c", (int)character);
        else if ((character >= 0x20 && character < 0x7F) || is_plain(character))
            wr_buf_append(out, wr_span_cut(text, start, at));
        else
            wr_buf_printf(out, "\\U%08X", (unsigned)character);
    }
    wr_buf_byte(out, '"');
}

static void write_value(struct wr_buf *out, const struct wr_param_def *param, int64_t value)
{
    wr_buf_printf(out, "%s: ", param->name);
    if (param->words)
        wr_buf_text(out, param->words[value]);
    else
        wr_buf_printf(out, "%lld", (long long)value);
}

static void write_rule(struct wr_buf *out, const struct wr_stage_def *def,
                       const struct wr_tool_rule *rule)
{
    bool is_first = true;
    write_quoted(out, rule->tool);
    if (rule->is_exact) {
        wr_buf_text(out, ": exact");
        return;
    }
    wr_buf_text(out, ": {");
    for (uint32_t i = 0; i < def->params_count; i++) {
        if (!(rule->set >> i & 1))
            continue;
        wr_buf_text(out, is_first ? "" : ", ");
        write_value(out, &def->params[i], rule->params[i]);
        is_first = false;
    }
    wr_buf_byte(out, '}');
}

static void write_stage(struct wr_buf *out, const struct wr_stage *stage)
{
    wr_buf_printf(out, "      - stage: %s\n", stage->def->name);
    for (uint32_t i = 0; i < stage->def->params_count; i++) {
        wr_buf_text(out, "        ");
        write_value(out, &stage->def->params[i], stage->params[i]);
        wr_buf_byte(out, '\n');
    }
    if (stage->tools_count)
        wr_buf_text(out, "        tools:\n");
    for (uint32_t i = 0; i < stage->tools_count; i++) {
        wr_buf_text(out, "          ");
        write_rule(out, stage->def, &stage->tools[i]);
        wr_buf_byte(out, '\n');
    }
}

void wr_policy_yaml_begin(struct wr_buf *out)
{
    wr_buf_text(out, "policies:\n");
}

void wr_policy_yaml_write(struct wr_buf *out, const struct wr_policy *policy, const char *name)
{
    wr_buf_printf(out, "  %s:\n    what: ", name);
    write_quoted(out, policy->what);
    wr_buf_text(out, policy->stages_count ? "\n    stages:\n" : "\n    stages: []\n");
    for (uint32_t i = 0; i < policy->stages_count; i++)
        write_stage(out, &policy->stages[i]);
}
