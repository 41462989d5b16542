/* Reads HOST[:PORT] strictly, and tells whether a name is loopback or private.
 *
 * The door (proxy/door.h) trusts a client by these answers, so the reading is all or nothing: a
 * text that is not wholly an address is none. Nothing is looked up, since whoever owns a name can
 * make it point anywhere.
 *
 * The two questions differ on purpose. Loopback is asked to trust something, so only the plain
 * spellings count: localhost and names below it, 127/8 in full, ::1, and IPv4 inside IPv6. Private
 * is asked to find out whether a server is near by, so every spelling counts that libcurl would
 * take for an address, such as "127.1" or "0x7f000001".
 */
#include "net/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/span.h"

enum { NAME_BYTES_MAX = 255 };

static bool is_name_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return wr_is_word(c) || c == '.' || c == '-' || byte >= 0x80; /* a name of another script */
}

static bool to_text(weir_span name, char text[NAME_BYTES_MAX + 1])
{
    if (!name.len || name.len > NAME_BYTES_MAX || memchr(name.ptr, '\0', name.len))
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    return true;
}

/* With or without a zone ("fe80::1%eth0"). */
static bool to_ipv6(weir_span name, struct in6_addr *address)
{
    char text[NAME_BYTES_MAX + 1];

    if (!to_text(name, text))
        return false;
    size_t bytes = strcspn(text, "%");
    for (size_t i = bytes + 1; i < name.len; i++)
        if (!is_name_byte(text[i]))
            return false;
    if (bytes + 1 == name.len)
        return false;
    text[bytes] = '\0';
    return inet_pton(AF_INET6, text, address) == 1;
}

static bool parse_port(weir_span text, int *port)
{
    uint64_t number;

    if (!wr_span_u64(text, &number) || number > WR_PORT_MAX)
        return false;
    *port = (int)number;
    return true;
}

static bool is_host_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_name_byte(name.ptr[i]))
            return false;
    return name.len && name.len <= NAME_BYTES_MAX;
}

bool wr_host_parse(weir_span text, struct wr_host *host)
{
    struct in6_addr address;
    size_t end = 0, name_at = 0;

    *host = (struct wr_host){.port = WR_PORT_NONE};
    if (text.len && text.ptr[0] == '[') {
        const char *close = memchr(text.ptr, ']', text.len);
        if (!close)
            return false;
        name_at = 1;
        end = (size_t)(close - text.ptr);
        host->name = wr_span_cut(text, name_at, end++);
        if (!to_ipv6(host->name, &address))
            return false;
    } else {
        const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
        end = colon ? (size_t)(colon - text.ptr) : text.len;
        host->name = wr_span_cut(text, name_at, end);
        if (!is_host_name(host->name))
            return false;
    }
    if (end == text.len)
        return true;
    return text.ptr[end] == ':' && parse_port(wr_span_cut(text, end + 1, text.len), &host->port);
}

bool wr_host_of_url(weir_span url, struct wr_host *host)
{
    size_t from = wr_span_find(url, WR_LIT("://"), 0);

    if (from == SIZE_MAX)
        return false;
    weir_span rest = wr_span_cut(url, from + 3, url.len);
    for (size_t i = 0; i < rest.len; i++)
        if (strchr("/?#", rest.ptr[i])) {
            rest.len = i;
            break;
        }
    return wr_host_parse(rest, host);
}

static bool is_same_name(weir_span name, const char *other)
{
    return name.len == strlen(other) && !strncasecmp(name.ptr, other, name.len);
}

static bool ends_in(weir_span name, const char *end)
{
    size_t bytes = strlen(end);
    return name.len > bytes && is_same_name(wr_span_cut(name, name.len - bytes, name.len), end);
}

static bool is_loopback_ipv4(uint32_t address)
{
    return address >> 24 == 127;
}

static bool is_private_ipv4(uint32_t address)
{
    static const struct {
        uint32_t network, bits;
    } networks[] = {{0x00000000, 8},  {0x7f000000, 8},  {0x0a000000, 8},
                    {0xac100000, 12}, {0xc0a80000, 16}, {0xa9fe0000, 16}};

    for (size_t i = 0; i < WR_COUNT_OF(networks); i++)
        if ((address ^ networks[i].network) >> (32 - networks[i].bits) == 0)
            return true;
    return false;
}

static uint32_t mapped_ipv4(const struct in6_addr *address)
{
    const unsigned char *b = address->s6_addr;
    return (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 | (uint32_t)b[14] << 8 | b[15];
}

/* "localhost." is the same name, written to its root. */
static weir_span without_root(weir_span name)
{
    return name.len && name.ptr[name.len - 1] == '.' ? wr_span_cut(name, 0, name.len - 1) : name;
}

bool wr_host_is_same(weir_span a, weir_span b)
{
    a = without_root(a);
    b = without_root(b);
    return a.len == b.len && a.len && !strncasecmp(a.ptr, b.ptr, a.len);
}

bool wr_host_is_below(weir_span name, const char *parent)
{
    size_t bytes = strlen(parent);

    name = without_root(name);
    return is_same_name(name, parent) ||
           (ends_in(name, parent) && name.len > bytes + 1 && name.ptr[name.len - bytes - 1] == '.');
}

bool wr_host_is_loopback(weir_span name)
{
    char text[NAME_BYTES_MAX + 1];
    struct in6_addr six;
    struct in_addr four;

    if (wr_host_is_below(name, "localhost"))
        return true;
    if (to_text(without_root(name), text) && inet_pton(AF_INET, text, &four) == 1)
        return is_loopback_ipv4(ntohl(four.s_addr));
    if (!to_ipv6(name, &six))
        return false;
    return IN6_IS_ADDR_V4MAPPED(&six) ? is_loopback_ipv4(mapped_ipv4(&six))
                                      : IN6_IS_ADDR_LOOPBACK(&six);
}

bool wr_host_is_private(weir_span name)
{
    char text[NAME_BYTES_MAX + 1];
    struct in6_addr six;
    struct in_addr four;

    if (wr_host_is_loopback(name))
        return true;
    /* inet_aton() also reads what libcurl takes for an address: "127.1", "0x7f000001". */
    if (to_text(without_root(name), text) && inet_aton(text, &four))
        return is_private_ipv4(ntohl(four.s_addr));
    if (!to_ipv6(name, &six))
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&six))
        return is_private_ipv4(mapped_ipv4(&six));
    return IN6_IS_ADDR_UNSPECIFIED(&six) || IN6_IS_ADDR_LINKLOCAL(&six) ||
           (six.s6_addr[0] & 0xfe) == 0xfc;
}
