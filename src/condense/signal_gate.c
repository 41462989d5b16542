#include "condense/signal_gate.h"

#include "base/err.h"
#include "condense/letters.h"

/* Four bytes of each word or phrase the detectors look for, in lower case. Where a word's beginning
 * is common, four rarer bytes of it are taken. */
static const char grams[][5] = {
    "erro",  "err!",  "err:",  " err", "[err", "fail", "fata", "pani",  "exit",  "urnc",  "warn",
    "wrn ",  "exce",  "trac",  "deni", "t fo", "o su", "unde", "anno",  "n't ",  "ld n",  "nabl",
    "refu",  "segm",  "abor",  "asse", "nfli", "reje", "rbid", "auth",  "kill",  "d ou",  "imeo",
    "f me",  "oom ",  "oomk",  "oom:", "oom-", "crit", "seve", "emer",  "aler",  "caus",  "synt",
    "unhe",  "unha",  "unca",  "over", "dead", "dump", "corr", "enoe",  "eacc",  "econ",  "eadd",
    "eper",  "etim",  "eres",  "epip", "sigk", "sigs", "siga", "sigt",  "sani",  "spac",  "oken",
    "t ok",  "* [f",  "pass",  "  ex", "xamp", "prob", "issu", "leak",  "crea",  "race",  "hung",
    "loop",  "evic",  "pull",  "* er", "*** ", " not", "[bui", "oken",  "lici",  "unre",  "gnor",
    "unkn",  "ot r",  "olve",  "resp", "sed:", "trip", "miss", "\" 40", "\" 41", "\" 42", "\" 49",
    "\" 50", "\" 51", "\" 52", "us=4", "us=5", "us: ", "us 4", "us 5",  "p 40",  "p 41",  "p 42",
    "p 50",  ".1 4",  ".1 5",  "/2 4", "/2 5", "s co", "--> ", "diff",  "leve",  "exp ",  "inva",
    "viol",  "dupl",  "rspe",  "rn c", " lin", "xn c", "* fi", "*** ",  "pt a",  "succ",  "::: ",
    "bug:",  "null",  "runs",  "done", "halt", "down", "lost", "usag",  "\"lev", "** (",  "rc=-",
    "rc=0",  "rc=1",  "rc=2",  "rc=3", "rc=4", "rc=5", "rc=6", "rc=7",  "rc=8",  "rc=9",
};

static uint32_t four(const char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return value | 0x20202020u;
}

static uint32_t mix(uint32_t value)
{
    return value * 2654435761u;
}

void wr_signal_gate_init(struct wr_signal_gate *gate)
{
    _Static_assert(WR_COUNT_OF(grams) * 2 <= WR_GATE_KEYS_MAX, "the table is at most half full");
    *gate = (struct wr_signal_gate){0};
    for (size_t i = 0; i < WR_COUNT_OF(grams); i++) {
        uint32_t value = four(grams[i]), mixed = mix(value), bit = mixed >> 18;
        uint32_t at = mixed % WR_GATE_KEYS_MAX;
        gate->bits[bit / 64] |= (uint64_t)1 << bit % 64;
        while (gate->keys[at] && gate->keys[at] != value)
            at = (at + 1) % WR_GATE_KEYS_MAX;
        gate->keys[at] = value;
    }
}

static bool has_key(const struct wr_signal_gate *gate, uint32_t value)
{
    uint32_t at = mix(value) % WR_GATE_KEYS_MAX;
    while (gate->keys[at] && gate->keys[at] != value)
        at = (at + 1) % WR_GATE_KEYS_MAX;
    return gate->keys[at] == value;
}

static bool has_gram(const struct wr_signal_gate *gate, weir_span line)
{
    _Static_assert(WR_GATE_BITS == 1 << 14, "the shift below takes 14 bits");
    for (size_t i = 0; i + 4 <= line.len; i++) {
        uint32_t value = four(line.ptr + i), bit = mix(value) >> 18;
        if ((gate->bits[bit / 64] >> bit % 64 & 1) && has_key(gate, value))
            return true;
    }
    return false;
}

/* "name.ext:12", "dir/name:12" at the front: the ':' tells. */
static bool has_place(weir_span line)
{
    const char *colon = memchr(line.ptr, ':', line.len < 512 ? line.len : 512);
    if (!colon || colon + 1 >= line.ptr + line.len || !wr_is_digit(colon[1]) || colon == line.ptr)
        return false;
    const char *at = colon;
    while (at > line.ptr && wr_is_word(at[-1]))
        at--;
    return at > line.ptr ? at[-1] == '.' || at[-1] == '/' || at[-1] == '\\'
                         : wr_span_ends((weir_span){at, (size_t)(colon - at)}, WR_LIT("file"));
}

static bool has_shape(weir_span line, size_t indent)
{
    weir_span text = wr_span_cut(line, indent, line.len);
    char second = text.len > 1 ? text.ptr[1] : 0;
    switch (text.ptr[0]) {
    case 'a':
        return wr_span_starts(text, WR_LIT("at "));
    case 'f':
        return wr_span_starts(text, WR_LIT("from ")) || (second == ':' && text.len > 2);
    case 'e':
    case 'w':
        return second == ':';
    case 'F':
        return wr_span_starts(text, WR_LIT("File ")) || wr_is_digit(second);
    case 'E':
    case 'W':
        return second == ' ' || second == '/' || wr_is_digit(second);
    case '#':
    case '_':
    case '@':
    case '(':
    case '<':
    case '\xe2':
    case '\xc3':
        return true;
    case '{':
    case '"':
    case '}':
        return true;
    case '-':
        return second == '-';
    case '[': /* playwright's list of what failed */
        return indent && wr_span_ends(text, WR_LIT("\xe2\x94\x80"));
    default:
        return wr_is_digit(text.ptr[0]) && (indent || second == ')' || second == '/');
    }
}

bool wr_signal_gate_opens(const struct wr_signal_gate *gate, weir_span line)
{
    size_t indent = 0;
    while (indent < line.len && wr_is_blank(line.ptr[indent]))
        indent++;
    if (indent == line.len)
        return true; /* a blank line ends a record */
    if (has_shape(line, indent) || has_place(wr_span_cut(line, indent, line.len)))
        return true;
    if (!indent && !memchr(line.ptr, ' ', line.len))
        return true; /* may be a path that heads what follows */
    return has_gram(gate, line);
}
