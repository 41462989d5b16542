/* Reads the addresses that a user's own settings name: variables, and the files of agents.
 *
 * `weir run` must ask the servers that the user's agent would have asked, so it has to know them.
 * All of this is best effort on files of other programs: what is not understood adds nothing, and
 * no file is ever written. Files are read in the order in which the agents let one override
 * another.
 */
#include "launch/own_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/clouds.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/words.h"
#include "json/json.h"

enum { PATH_BYTES_MAX = 4096, VARIABLE_BYTES_MAX = 64, ADDRESS_BYTES_MAX = 512 };

/* ---- what was found ---- */

static bool is_provider_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!wr_is_word(name.ptr[i]) && name.ptr[i] != '-')
            return false;
    }
    return name.len;
}

/* What `weir serve` takes for an upstream. A placeholder is for the agent to fill in. */
static bool is_address(weir_span url)
{
    static const char *const fronts[] = {"http://", "https://"};
    size_t host_at = 0;

    for (size_t i = 0; i < 2; i++)
        if (wr_span_starts(url, wr_span_of(fronts[i])))
            host_at = strlen(fronts[i]);
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || strchr("?#@{}$", url.ptr[i]))
            return false;
    return host_at && url.len > host_at && url.ptr[host_at] != '/';
}

static const char *copy_setting(struct wr_arena *arena, weir_span text)
{
    char *copy = wr_arena_zalloc(arena, text.len + 1);
    return copy ? memcpy(copy, text.ptr, text.len) : NULL;
}

/* The newest of a name counts. */
static void set_provider(struct wr_provider *list, size_t *count, struct wr_provider provider)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(list[i].name, provider.name)) {
            list[i] = provider;
            return;
        }
    if (*count < WR_PROVIDERS_MAX)
        list[(*count)++] = provider;
}

/* One more upstream; the newest of a name counts. False: the name or the address is none. */
static bool own_add_upstream(struct wr_own *own, struct wr_arena *arena, weir_span name,
                             weir_span url)
{
    struct wr_provider provider = {copy_setting(arena, name), copy_setting(arena, url)};
    if (!is_provider_name(name) || !is_address(url) || !provider.name || !provider.url)
        return false;
    set_provider(own->upstreams, &own->upstreams_count, provider);
    return true;
}

static void add_upstream(struct wr_own *own, struct wr_arena *arena, weir_span name, weir_span url)
{
    (void)own_add_upstream(own, arena, name, url);
}

static void add_provider(struct wr_own *own, struct wr_arena *arena, weir_span name, weir_span url)
{
    struct wr_provider provider = {copy_setting(arena, name), copy_setting(arena, url)};
    if (!is_provider_name(name) || !is_address(url) || !provider.name || !provider.url)
        return;
    set_provider(own->providers, &own->providers_count, provider);
    set_provider(own->upstreams, &own->upstreams_count, provider);
}

/* ---- JSON, as people write it: with comments and a comma too many ---- */

static size_t skip_string(weir_span text, size_t at)
{
    for (at++; at < text.len && text.ptr[at] != '"'; at++)
        at += text.ptr[at] == '\\';
    return at;
}

static size_t comment_bytes(weir_span text, size_t at)
{
    weir_span rest = wr_span_cut(text, at, text.len);
    if (wr_span_starts(rest, WR_LIT("//"))) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        return end ? (size_t)(end - rest.ptr) : rest.len;
    }
    if (!wr_span_starts(rest, WR_LIT("/*")))
        return 0;
    size_t end = wr_span_find(rest, WR_LIT("*/"), 2);
    return end == SIZE_MAX ? rest.len : end + 2;
}

/* Blanks out what strict JSON does not have. */
static void make_strict(char *bytes, size_t len)
{
    weir_span text = {bytes, len};
    size_t comma = SIZE_MAX;

    for (size_t at = 0; at < len; at++) {
        size_t comment = comment_bytes(text, at);
        if (comment) {
            memset(bytes + at, ' ', comment);
            at += comment - 1;
        } else if (bytes[at] == ',') {
            comma = at;
        } else if (!wr_is_white(bytes[at])) {
            if (comma != SIZE_MAX && (bytes[at] == '}' || bytes[at] == ']'))
                bytes[comma] = ' ';
            comma = SIZE_MAX;
            if (bytes[at] == '"')
                at = skip_string(text, at);
        }
    }
}

static weir_span text_at(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_text(doc, arena, id) : (weir_span){"", 0};
}

/* What its settings set goes before the variables that it is given: a cloud that is switched on
 * there would be asked at an address that Weir has not given it. */
static void read_claude_cloud(struct wr_own *own, struct wr_arena *arena, const struct wr_json *doc,
                              wr_json_id env)
{
    static const char *const switches[] = {"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
                                           "CLAUDE_CODE_USE_FOUNDRY"};

    for (size_t i = 0; i < WR_COUNT_OF(switches); i++) {
        weir_span value = text_at(doc, arena, wr_json_find(doc, env, switches[i]));
        if (value.len && !wr_is_any_of_folded(value, "0|false|no|off"))
            own->refusal = "its settings.json switches a cloud on (CLAUDE_CODE_USE_...); set that, "
                           "and what belongs to it, as variables instead";
    }
}

static void read_claude(struct wr_own *own, struct wr_arena *arena, const struct wr_json *doc)
{
    wr_json_id env = wr_json_find(doc, 0, "env");
    weir_span url = text_at(doc, arena, wr_json_find(doc, env, "ANTHROPIC_BASE_URL"));

    read_claude_cloud(own, arena, doc, env);
    if (!is_address(url))
        return;
    add_upstream(own, arena, WR_LIT("anthropic"), url);
    own->is_redirected = true;
}

weir_status wr_own_parse(struct wr_json *doc, struct wr_arena *arena, weir_span text,
                         struct weir_err *err)
{
    weir_span copy = wr_arena_copy(arena, text);

    if (!copy.ptr)
        return WEIR_NOMEM;
    make_strict((char *)(uintptr_t)copy.ptr, copy.len);
    return wr_json_parse(doc, arena, copy, NULL, err);
}

void wr_own_read_json(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                      weir_span text)
{
    struct wr_json doc;

    if (wr_own_parse(&doc, arena, text, NULL))
        return;
    if (format == WR_OWN_CLAUDE) {
        read_claude(own, arena, &doc);
        return;
    }
    wr_json_id list = wr_json_find(&doc, 0, format == WR_OWN_PI ? "providers" : "provider");
    WR_JSON_EACH(at, &doc, list) {
        wr_json_id value = wr_json_value(at);
        wr_json_id url = format == WR_OWN_PI
                             ? wr_json_find(&doc, value, "baseUrl")
                             : wr_json_find(&doc, wr_json_find(&doc, value, "options"), "baseURL");
        add_provider(own, arena, wr_json_text(&doc, arena, at), text_at(&doc, arena, url));
    }
}

/* ---- Codex's TOML ----
 *
 * No reader of TOML: sections, and keys with a text on one line, are all that is looked for. A name
 * may stand in the section, in the key or in both, [a.b] c = 1 being a.b.c = 1. */

static weir_span unquote(weir_span text)
{
    text = wr_span_trim(text);
    if (text.len < 2 || (text.ptr[0] != '"' && text.ptr[0] != '\''))
        return text;
    const char *end = memchr(text.ptr + 1, text.ptr[0], text.len - 1);
    return end ? wr_span_cut(text, 1, (size_t)(end - text.ptr)) : (weir_span){"", 0};
}

/* Takes the first part of `name`, up to a dot. */
static weir_span take_part(weir_span *name)
{
    size_t skip = 0;
    if (name->len && (name->ptr[0] == '"' || name->ptr[0] == '\'')) {
        const char *quote = memchr(name->ptr + 1, name->ptr[0], name->len - 1);
        skip = quote ? (size_t)(quote - name->ptr) : 0;
    }
    size_t dot = wr_span_find(*name, WR_LIT("."), skip);
    weir_span part = unquote(wr_span_cut(*name, 0, dot == SIZE_MAX ? name->len : dot));
    *name = wr_span_trim(wr_span_cut(*name, dot == SIZE_MAX ? name->len : dot + 1, name->len));
    return part;
}

static void read_codex_line(struct wr_own *own, struct wr_arena *arena, weir_span section,
                            weir_span key, weir_span value)
{
    weir_span parts[3];

    for (size_t i = 0; i < 3; i++)
        parts[i] = section.len ? take_part(&section) : take_part(&key);
    if (wr_span_is(parts[0], "mcp_servers") && wr_span_is(parts[1], "weir"))
        own->has_recall = true;
    if (wr_span_is(parts[0], "openai_base_url") && !parts[1].len)
        add_upstream(own, arena, WR_LIT("openai"), unquote(value));
    else if (wr_span_is(parts[0], "model_providers") && wr_span_is(parts[2], "base_url"))
        add_provider(own, arena, parts[1], unquote(value));
}

void wr_own_read_codex(struct wr_own *own, struct wr_arena *arena, weir_span text)
{
    weir_span line, section = WR_LIT("");

    while (wr_span_line(&text, &line)) {
        line = wr_span_trim(line);
        size_t equals = wr_span_find(line, WR_LIT("="), 0);
        if (wr_span_starts(line, WR_LIT("["))) {
            const char *end = memchr(line.ptr, ']', line.len);
            section = end ? wr_span_cut(line, 1, (size_t)(end - line.ptr)) : WR_LIT("?");
            read_codex_line(own, arena, section, WR_LIT(""), WR_LIT(""));
        } else if (equals != SIZE_MAX) {
            read_codex_line(own, arena, section, wr_span_trim(wr_span_cut(line, 0, equals)),
                            wr_span_cut(line, equals + 1, line.len));
        }
    }
}

/* ---- the places ---- */

/* Only a file is read: whoever wrote the project that is worked in may have put a link to a
 * terminal or a pipe there, which would be waited for. */
static bool is_readable(int fd, size_t bytes_max, size_t *bytes)
{
    struct stat status;

    if (fstat(fd, &status))
        return false;
    *bytes = (size_t)status.st_size;
    if (S_ISREG(status.st_mode) && *bytes <= bytes_max)
        return true;
    errno = S_ISREG(status.st_mode) ? EFBIG : S_ISDIR(status.st_mode) ? EISDIR : ENOTSUP;
    return false;
}

bool wr_own_file(struct wr_arena *arena, const char *path, weir_span *text)
{
    return wr_own_file_up_to(arena, path, WR_LAUNCH_SETTINGS_BYTES_MAX, text);
}

bool wr_own_file_up_to(struct wr_arena *arena, const char *path, size_t bytes_max, weir_span *text)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    size_t bytes = 0;
    bool ok = fd >= 0 && is_readable(fd, bytes_max, &bytes);
    char *copy = ok ? wr_arena_alloc(arena, bytes + 1) : NULL;
    ssize_t got = copy ? read(fd, copy, bytes) : -1;
    int why = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = why;
    *text = (weir_span){copy, got > 0 ? (size_t)got : 0};
    return got >= 0;
}

static void read_settings(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                          const char *path)
{
    weir_span text;

    if (!wr_own_file(arena, path, &text))
        return;
    if (format == WR_OWN_CODEX)
        wr_own_read_codex(own, arena, text);
    else if (format == WR_OWN_CLINE || format == WR_OWN_DROID)
        wr_own_copy(own, arena, format, text);
    else
        wr_own_read_json(own, arena, format, text);
}

/* The file `name` in the folder that a variable names, or else in `below` of the home. */
static void read_in(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                    char **environment, const char *variable, const char *below, const char *name)
{
    const char *dir = wr_environment_find(environment, variable);
    const char *home = wr_environment_find(environment, "HOME");
    char path[PATH_BYTES_MAX];

    if (!dir && !home)
        return;
    int bytes = dir ? snprintf(path, sizeof(path), "%s/%s", dir, name)
                    : snprintf(path, sizeof(path), "%s/%s/%s", home, below, name);
    if (bytes > 0 && (size_t)bytes < sizeof(path))
        read_settings(own, arena, format, path);
}

/* Where opencode and its child look. */
static const struct opencode_files {
    const char *variable, *in_home[4], *in_project[2];
} opencode_files = {"OPENCODE_CONFIG",
                    {"opencode/config.json", "opencode/opencode.json", "opencode/opencode.jsonc"},
                    {"opencode.json", "opencode.jsonc"}},
  kilo_files = {"KILO_CONFIG",
                {"kilo/config.json", "kilo/kilo.json", "kilo/kilo.jsonc"},
                {"kilo.json", "kilo.jsonc"}};

/* A project's own, here or in a folder above: the nearest counts, and so is read last. */
static void read_opencode_project(struct wr_own *own, struct wr_arena *arena,
                                  const struct opencode_files *files, const char *folder)
{
    char path[PATH_BYTES_MAX];
    size_t whole = strlen(folder);

    for (size_t bytes = 1; bytes <= whole && bytes < PATH_BYTES_MAX / 2; bytes++)
        for (size_t i = 0; i < 2 && (bytes == whole || folder[bytes] == '/'); i++) {
            (void)snprintf(path, sizeof(path), "%.*s/%s", (int)bytes, folder, files->in_project[i]);
            read_settings(own, arena, WR_OWN_OPENCODE, path);
        }
}

/* The user's, then the project's, then the user's for this project: the last one counts. */
static void read_claude_files(struct wr_own *own, struct wr_arena *arena, char **environment,
                              const char *folder)
{
    static const char *const names[] = {"settings.json", "settings.local.json"};
    char path[PATH_BYTES_MAX];

    read_in(own, arena, WR_OWN_CLAUDE, environment, "CLAUDE_CONFIG_DIR", ".claude", names[0]);
    for (size_t i = 0; i < 2 && folder[0]; i++) {
        int bytes = snprintf(path, sizeof(path), "%s/.claude/%s", folder, names[i]);
        if (bytes > 0 && (size_t)bytes < sizeof(path))
            read_settings(own, arena, WR_OWN_CLAUDE, path);
    }
}

static void read_opencode(struct wr_own *own, struct wr_arena *arena,
                          const struct opencode_files *files, char **environment,
                          const char *folder)
{
    const char *file = wr_environment_find(environment, files->variable);

    for (size_t i = 0; files->in_home[i]; i++)
        read_in(own, arena, WR_OWN_OPENCODE, environment, "XDG_CONFIG_HOME", ".config",
                files->in_home[i]);
    if (file)
        read_settings(own, arena, WR_OWN_OPENCODE, file);
    read_opencode_project(own, arena, files, folder);
}

/* What stands for the word in capitals in a service's address; empty: nothing says so. */
static weir_span find_place(const struct wr_service *service, char **environment)
{
    const char *words = service->place;
    weir_span word;

    while (wr_list_next(&words, &word)) {
        char name[VARIABLE_BYTES_MAX];
        if (word.ptr[0] >= 'a' && word.ptr[0] <= 'z')
            return word;
        (void)snprintf(name, sizeof(name), "%.*s", (int)word.len, word.ptr);
        const char *value = wr_environment_find(environment, name);
        if (value)
            return wr_span_of(value);
    }
    return (weir_span){"", 0};
}

static void add_place(struct wr_own *own, struct wr_arena *arena, const struct wr_service *service,
                      char **environment)
{
    const struct wr_cloud *cloud = wr_cloud_named(wr_span_of(service->name));
    weir_span place = find_place(service, environment);
    struct wr_buf url;

    if (!is_provider_name(place)) /* it becomes a part of a host's name */
        return;
    wr_buf_init(&url, ADDRESS_BYTES_MAX);
    if (service->url)
        wr_cloud_fill_address(service->url, place, &url);
    else if (cloud)
        wr_cloud_write_address(cloud, place, &url);
    if (url.len && !wr_buf_status(&url))
        add_upstream(own, arena, wr_span_of(service->name), wr_buf_view(&url));
    wr_buf_release(&url);
}

/* Services of the agent's maker, and clouds: by the user's address where there is one. */
static void read_services(struct wr_own *own, struct wr_arena *arena, const struct wr_agent *agent,
                          char **environment)
{
    for (size_t i = 0; i < WR_COUNT_OF(agent->services) && agent->services[i].name; i++) {
        const struct wr_service *service = &agent->services[i];
        const char *url = wr_environment_find(environment, service->variable);
        if (service->if_env && !wr_environment_is_on(environment, service->if_env))
            continue;
        if (!url && !service->place)
            url = service->url;
        if (url)
            add_upstream(own, arena, wr_span_of(service->name), wr_span_of(url));
        else if (service->place)
            add_place(own, arena, service, environment);
    }
}

static void read_variables(struct wr_own *own, struct wr_arena *arena, char **environment)
{
    const char *variable, *upstream;

    for (size_t i = 0; (variable = wr_api_url_variable(i, &upstream)); i++) {
        const char *url = wr_environment_find(environment, variable);
        if (url)
            add_upstream(own, arena, wr_span_of(upstream), wr_span_of(url));
    }
}

void wr_own_read(struct wr_own *own, struct wr_arena *arena, const struct wr_agent *agent,
                 char **environment, const char *folder)
{
    *own = (struct wr_own){.upstreams_count = 0};
    read_variables(own, arena, environment);
    read_services(own, arena, agent, environment);
    switch (agent->own) {
    case WR_OWN_CLAUDE:
        read_claude_files(own, arena, environment, folder);
        break;
    case WR_OWN_CODEX:
        read_in(own, arena, agent->own, environment, "CODEX_HOME", ".codex", "config.toml");
        break;
    case WR_OWN_OPENCODE:
        read_opencode(own, arena, &opencode_files, environment, folder);
        break;
    case WR_OWN_KILO:
        read_opencode(own, arena, &kilo_files, environment, folder);
        break;
    case WR_OWN_CLINE:
        read_in(own, arena, agent->own, environment, "CLINE_DATA_DIR", ".cline/data",
                "settings/providers.json");
        break;
    case WR_OWN_DROID:
        read_in(own, arena, agent->own, environment, "FACTORY_HOME_OVERRIDE", ".",
                ".factory/settings.json");
        break;
    case WR_OWN_PI:
        read_in(own, arena, agent->own, environment, "PI_CODING_AGENT_DIR", ".pi/agent",
                "models.json");
        break;
    case WR_OWN_NONE:
        break;
    }
}

/* ---- copies led through Weir ----
 *
 * Copies of settings files in which every address leads through Weir, for agents that take an
 * address from nowhere else but let a run name another file.
 *
 *   droid   {"customModels": [{"baseUrl": URL, ...}, ...]}
 *           the copy has this member alone: droid merges it over the user's
 *   cline   {"lastUsedProvider": NAME, "providers": {NAME: {"settings": {"baseUrl": URL, ...}}}}
 *           the copy is whole: cline reads it in the place of the user's
 *
 * A copy is kept as pieces of the user's own bytes with addresses between them: the server's
 * address is not known yet while settings are read. It has the keys that stand in the user's file,
 * and goes into the run's folder, which only the user can read and which goes when the agent ends.
 *
 * A login that is renewed now and then is written back by the agent. In a copy the new one would be
 * lost and the old one no longer valid, so a file that has one is not copied (holds_login()).
 */

enum { NAME_BYTES_MAX = 128 };

/* The copy grows from the front: `at` is the first byte of the file that is in no piece yet. */
struct copying {
    struct wr_own *own;
    struct wr_arena *arena;
    const struct wr_json *doc;
    const char *at;
};

static bool add_piece(struct copying *c, const char *end, const char *address)
{
    if (c->own->pieces_count == WR_COUNT_OF(c->own->pieces) || (!address && end == c->at))
        return false;
    c->own->pieces[c->own->pieces_count++] =
        (struct wr_own_piece){{c->at, (size_t)(end - c->at)}, address};
    c->at = end;
    return true;
}

static bool add_words(struct copying *c, const char *words)
{
    const char *rest = c->at;
    c->at = words;
    bool ok = add_piece(c, words + strlen(words), NULL);
    c->at = rest;
    return ok;
}

/* In a copy that is cut short some would lead elsewhere. */
static void give_up(struct copying *c)
{
    c->own->is_redirected = false;
    c->own->refusal = "its settings name more addresses than can be redirected";
}

static const char *address_of(struct copying *c, const char *name)
{
    size_t bytes = strlen("/p/") + strlen(name) + 1;
    char *address = wr_arena_alloc(c->arena, bytes);
    if (address)
        (void)snprintf(address, bytes, "/p/%s", name);
    return address;
}

/* The address in `settings`, if it is one, becomes that of the upstream `name`. */
static void redirect(struct copying *c, wr_json_id settings, const char *name)
{
    wr_json_id url = wr_json_find(c->doc, settings, "baseUrl");

    if (!wr_json_is(c->doc, url, WR_JSON_STRING) ||
        !own_add_upstream(c->own, c->arena, wr_span_of(name), wr_json_text(c->doc, c->arena, url)))
        return;
    const char *address = address_of(c, name);
    weir_span inner = wr_json_inner(c->doc, url);
    if (address && add_piece(c, inner.ptr, address)) {
        c->at = inner.ptr + inner.len;
        c->own->is_redirected = true;
    }
}

/* ---- droid ---- */

static void copy_droid(struct copying *c)
{
    wr_json_id list = wr_json_find(c->doc, 0, "customModels");
    char name[NAME_BYTES_MAX];
    unsigned number = 0;

    if (!wr_json_is(c->doc, list, WR_JSON_ARRAY))
        return;
    weir_span all = wr_json_raw(c->doc, list);
    c->at = all.ptr;
    if (!add_words(c, "{\"customModels\":"))
        return;
    WR_JSON_EACH(at, c->doc, list) {
        (void)snprintf(name, sizeof(name), "custom-model-%u", ++number);
        redirect(c, at, name);
    }
    if (!add_piece(c, all.ptr + all.len, NULL) || !add_words(c, "}\n"))
        give_up(c);
}

/* ---- cline ---- */

static bool holds_login(const struct wr_json *doc)
{
    return wr_span_find(doc->text, WR_LIT("\"refreshToken\""), 0) != SIZE_MAX;
}

/* Providers that have an address without being told one; it ends as their SDKs want it. */
static bool is_usual(weir_span name)
{
    return wr_span_is(name, "anthropic") || wr_span_is(name, "openai-native");
}

static void redirect_provider(struct copying *c, weir_span name, wr_json_id settings)
{
    char text[NAME_BYTES_MAX];

    if (name.len >= sizeof(text) || !wr_json_is(c->doc, settings, WR_JSON_OBJECT))
        return;
    (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
    if (wr_json_find(c->doc, settings, "baseUrl") != WR_JSON_NONE) {
        redirect(c, settings, text);
    } else if (is_usual(name)) {
        /* Right behind the brace; an empty object has no provider's name and is not used. */
        if (wr_json_first(c->doc, settings) != WR_JSON_NONE &&
            add_piece(c, wr_json_raw(c->doc, settings).ptr + 1, NULL) &&
            add_words(c, "\"baseUrl\":\"")) {
            c->own->pieces[c->own->pieces_count - 1].address = "/v1";
            c->own->is_redirected = add_words(c, "\",");
        }
    }
}

static void copy_cline(struct copying *c)
{
    wr_json_id list = wr_json_find(c->doc, 0, "providers");
    wr_json_id last = wr_json_find(c->doc, 0, "lastUsedProvider");
    weir_span used = wr_json_is(c->doc, last, WR_JSON_STRING) ? wr_json_text(c->doc, c->arena, last)
                                                              : (weir_span){"", 0};
    bool is_reached = !used.len || wr_span_is(used, "cline");

    for (wr_json_id at = wr_json_first(c->doc, list); at != WR_JSON_NONE && !holds_login(c->doc);
         at = wr_json_next(c->doc, list, at)) {
        weir_span name = wr_json_text(c->doc, c->arena, at);
        size_t before = c->own->pieces_count;
        redirect_provider(c, name, wr_json_find(c->doc, wr_json_value(at), "settings"));
        if (c->own->pieces_count > before && wr_span_eq(name, used))
            is_reached = true;
    }
    if (c->own->is_redirected && !add_piece(c, c->doc->text.ptr + c->doc->text.len, NULL))
        give_up(c);
    else if (!is_reached)
        c->own->refusal = "the provider that its providers.json names last has an address that "
                          "cannot be redirected; `cline auth` with an API key makes one that can";
}

void wr_own_copy(struct wr_own *own, struct wr_arena *arena, enum wr_own_format format,
                 weir_span text)
{
    struct wr_json doc;
    struct copying c = {.own = own, .arena = arena, .doc = &doc};

    if (wr_own_parse(&doc, arena, text, NULL))
        return;
    c.at = doc.text.ptr;
    if (format == WR_OWN_DROID)
        copy_droid(&c);
    else
        copy_cline(&c);
}
