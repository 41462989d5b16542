#include "lab/import_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wr_import_place places[] = {
    {"claude-code", "CLAUDE_CONFIG_DIR", ".claude", "projects"},
    {"codex", "CODEX_HOME", ".codex", "sessions"},
    {"copilot-cli", NULL, ".copilot", "session-state"},
    {"gemini-cli", NULL, ".gemini", "tmp"},
    {"pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions"},
};

const struct wr_import_place *wr_import_places(size_t *count)
{
    *count = sizeof(places) / sizeof(places[0]);
    return places;
}

static const char *set_variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;
    return value && value[0] ? value : NULL;
}

char *wr_import_place_path(const struct wr_import_place *place, const char *home,
                           struct wr_arena *arena)
{
    const char *own = set_variable(place->variable);
    if (!own && (!home || !home[0]))
        return NULL;
    size_t bytes = strlen(own ? own : home) + strlen(place->folder) + strlen(place->logs) + 3;
    char *path = wr_arena_alloc(arena, bytes);
    if (path && own)
        (void)snprintf(path, bytes, "%s/%s", own, place->logs);
    else if (path)
        (void)snprintf(path, bytes, "%s/%s/%s", home, place->folder, place->logs);
    return path;
}
