/* The variables that a command of the model gets: those on this list and no others.
 *
 * A list of what to leave out would have to know every key that somebody keeps in the environment
 * (GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY, the one of the company), and what it forgets is printed by
 * the first `env` and sent to the provider. So this one says what programs need to work: where
 * things are, which language people speak, how compilers and interpreters are set up. Sockets that
 * stand for keys (SSH_AUTH_SOCK) are not on it, and neither is a proxy whose address has a
 * password.
 */
#include "agent/process_env.h"

#include <stdlib.h>
#include <string.h>

#include "base/span.h"

/* A name that ends in '*' stands for all that begin so. */
static const char *const allowed[] = {
    /* where and who */
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "OLDPWD",
    "HOSTNAME",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "MANPATH",
    "INFOPATH",
    /* how things are shown */
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "LS_COLORS",
    /* building */
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKE",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CCACHE_DIR",
    "CMAKE_PREFIX_PATH",
    "SOURCE_DATE_EPOCH",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "LSAN_OPTIONS",
    "TSAN_OPTIONS",
    /* languages */
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_ROOT",
    "NODE_PATH",
    "NODE_ENV",
    "NVM_DIR",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOFLAGS",
    "GOPROXY",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "M2_HOME",
    "GEM_HOME",
    "GEM_PATH",
    "RBENV_ROOT",
    "PERL5LIB",
    "JULIA_DEPOT_PATH",
    "JULIA_PROJECT",
    /* the network, and who commits */
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "CI",
    "DEBIAN_FRONTEND",
};

static bool is_named(weir_span name, const char *pattern)
{
    size_t bytes = strlen(pattern);

    if (pattern[bytes - 1] == '*')
        return wr_span_starts(name, (weir_span){pattern, bytes - 1});
    return wr_span_is(name, pattern);
}

bool wr_process_env_allows(const char *entry)
{
    const char *value = strchr(entry, '=');

    if (!value)
        return false;
    /* http://user:password@host, or without the scheme: of all that is on the list only an address
     * can hold one. */
    weir_span name = {entry, (size_t)(value - entry)};
    bool is_proxy = wr_span_ends(name, WR_LIT("_proxy")) || wr_span_ends(name, WR_LIT("_PROXY"));
    const char *scheme = is_proxy ? value : strstr(value, "://");
    if (scheme && strchr(scheme, '@'))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(allowed); i++)
        if (is_named((weir_span){entry, (size_t)(value - entry)}, allowed[i]))
            return true;
    return false;
}

void wr_process_env_filter(char **entries)
{
    char **to = entries;

    for (char **from = entries; *from; from++)
        if (wr_process_env_allows(*from))
            *to++ = *from;
    *to = NULL;
}

static bool is_address_of_provider(const char *entry)
{
    weir_span name = {entry, strcspn(entry, "=")};
    return wr_span_ends(name, WR_LIT("_BASE_URL")) && !strchr(entry, '@');
}

void wr_process_env_hide(char **entries)
{
    for (; *entries; entries++) {
        if (wr_process_env_allows(*entries) || is_address_of_provider(*entries))
            continue;
        char *copy = strdup(*entries);
        size_t bytes = strlen(*entries);
        if (!copy)
            continue; /* /proc shows it, as it would have without us */
        memset(*entries, 0, bytes);
        *entries = copy;
    }
}
