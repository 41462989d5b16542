#include "tests/raw_json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void *raw_must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

char *raw_copy(const char *text, size_t len)
{
    char *made = raw_must(malloc(len + 1));
    memcpy(made, text, len);
    made[len] = '\0';
    return made;
}

const char *raw_skip_value(const char *at)
{
    int depth = 0;
    bool in_text = false;
    for (; *at; at++) {
        if (in_text) {
            if (*at == '\\')
                at++;
            else if (*at == '"')
                in_text = false;
        } else if (*at == '"') {
            in_text = true;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && depth-- == 0) {
            return at;
        } else if (*at == ',' && depth == 0) {
            return at;
        }
    }
    return at;
}

const char *raw_skip_space(const char *at)
{
    while (*at && isspace((unsigned char)*at))
        at++;
    return at;
}

const char *raw_member(const char *object, const char *key)
{
    size_t len = strlen(key);
    if (!object || *(object = raw_skip_space(object)) != '{')
        return NULL;
    for (const char *at = raw_skip_space(object + 1); *at == '"'; at = raw_skip_space(at + 1)) {
        const char *name = at + 1;
        while (*++at && *at != '"')
            if (*at == '\\')
                at++;
        bool same = (size_t)(at - name) == len && !memcmp(name, key, len);
        at = raw_skip_space(at + 1);
        if (*at != ':')
            return NULL;
        at = raw_skip_space(at + 1);
        if (same)
            return at;
        at = raw_skip_value(at);
        if (*at != ',')
            return NULL;
    }
    return NULL;
}

static size_t put_code(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    out[0] = (char)(0xE0 | (code >> 12));
    out[1] = (char)(0x80 | ((code >> 6) & 63));
    out[2] = (char)(0x80 | (code & 63));
    return 3;
}

char *raw_string(const char *at)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    char *made, *out;
    if (!at || *at != '"')
        return raw_copy("", 0);
    made = out = raw_must(malloc(strlen(at) + 1));
    for (at++; *at && *at != '"'; at++) {
        if (*at != '\\') {
            *out++ = *at;
        } else if (*++at == 'u') {
            char digits[5] = {at[1], at[2], at[3], at[4], 0};
            out += put_code(out, (unsigned)strtoul(digits, NULL, 16));
            at += 4;
        } else {
            const char *found = strchr(from, *at);
            *out++ = found ? to[found - from] : *at;
        }
    }
    *out = '\0';
    return made;
}
