// Oracle: simdjson's DOM accepts what Weir's reader accepts and understands the same by it. Three
// things it refuses, and Weir by design does not: escapes of lone surrogates, numbers that 64 bits
// cannot hold, and (the other way round) it reads deeper than Weir does. The first two must be the
// reason whenever it alone refuses.
#include <simdjson.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "json_view.h"

using simdjson::dom::element;
using simdjson::dom::element_type;

static void view_string(std::string &out, char letter, std::string_view text)
{
    out += letter;
    out += std::to_string(text.size());
    out += ':';
    out += text;
}

static void view_element(std::string &out, element value);

static void view_array(std::string &out, simdjson::dom::array array)
{
    out += '[';
    for (element child : array)
        view_element(out, child);
    out += ']';
}

static void view_object(std::string &out, simdjson::dom::object object)
{
    out += '{';
    for (auto member : object) {
        view_string(out, 'k', member.key);
        view_element(out, member.value);
    }
    out += '}';
}

static void view_element(std::string &out, element value)
{
    char number[64];

    switch (value.type()) {
    case element_type::ARRAY:
        view_array(out, value);
        break;
    case element_type::OBJECT:
        view_object(out, value);
        break;
    case element_type::INT64:
        snprintf(number, sizeof(number), "i%" PRId64, int64_t(value));
        out += number;
        break;
    case element_type::UINT64:
        snprintf(number, sizeof(number), "u%" PRIu64, uint64_t(value));
        out += number;
        break;
    case element_type::DOUBLE:
        snprintf(number, sizeof(number), "d%a", double(value));
        out += number;
        break;
    case element_type::STRING:
        view_string(out, 's', value);
        break;
    case element_type::BOOL:
        out += bool(value) ? 't' : 'f';
        break;
    case element_type::NULL_VALUE:
        out += 'n';
        break;
    }
}

[[noreturn]] static void differ(const char *how, simdjson::error_code error)
{
    fprintf(stderr, "%s (simdjson: %s)\n", how, simdjson::error_message(error));
    abort();
}

static void check_refusal(const json_view &view, simdjson::error_code error)
{
    bool by_number = error == simdjson::NUMBER_ERROR && view.has_number_past_range;
    bool by_surrogate = error == simdjson::STRING_ERROR && view.has_lone_surrogate;
    if (!by_number && !by_surrogate)
        differ("only simdjson refuses", error);
}

static void check(const json_view &view, const char *bytes, size_t len)
{
    static simdjson::dom::parser parser;
    element root;
    auto error = parser.parse(bytes, len).get(root);

    if (view.is_too_deep)
        return;
    if (!view.is_json) {
        if (!error)
            differ("only simdjson accepts", error);
        return;
    }
    if (error) {
        check_refusal(view, error);
        return;
    }
    if (view.has_lone_surrogate || view.has_number_past_range)
        differ("simdjson accepts what it should refuse", error);
    std::string peer;
    view_element(peer, root);
    if (peer != std::string(view.text, view.len))
        differ("the two understand different things", error);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    json_view view;
    json_view_init(&view, reinterpret_cast<const char *>(bytes), len);
    check(view, reinterpret_cast<const char *>(bytes), len);
    json_view_release(&view);
    return 0;
}
