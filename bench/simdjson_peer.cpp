// The speed anchor: what simdjson's DOM does with the same bytes. Bench only, never linked into
// Weir.
#include <cstddef>
#include <simdjson.h>
#include <string>

extern "C" {
bool peer_parse(const char *text, size_t len);
size_t peer_parse_minify(const char *text, size_t len);
const char *peer_name(void);
}

static simdjson::dom::parser parser;
static simdjson::padded_string padded;

static const simdjson::padded_string &pad(const char *text, size_t len)
{
    // Padding is part of what simdjson asks of its caller; the copy is made once, outside the
    // timing.
    if (padded.size() != len)
        padded = simdjson::padded_string(text, len);
    return padded;
}

bool peer_parse(const char *text, size_t len)
{
    simdjson::dom::element root;
    return parser.parse(pad(text, len)).get(root) == simdjson::SUCCESS;
}

size_t peer_parse_minify(const char *text, size_t len)
{
    simdjson::dom::element root;
    if (parser.parse(pad(text, len)).get(root) != simdjson::SUCCESS)
        return 0;
    std::string out = simdjson::minify(root);
    return out.size();
}

const char *peer_name(void)
{
    static std::string name = "simdjson " SIMDJSON_STRINGIFY(SIMDJSON_VERSION) " DOM (" +
                              simdjson::get_active_implementation()->name() + ")";
    return name.c_str();
}
