/* outline -- the definitions that the line scanner finds, for a comparison with a parser.
 *
 *   outline < LIST     LIST names one file a line; for each: "# PATH", then "LINE KIND NAME" a
 *                      definition, lines from 1
 */
#include "condense/outline.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"

enum { FILE_BYTES_MAX = 4 << 20 };

static void print_outline(const char *path)
{
    static const char *const kinds[] = {"type", "function", "value"};
    static char bytes[FILE_BYTES_MAX];
    struct wr_outline outline;
    struct wr_arena arena;
    FILE *file = fopen(path, "rb");
    printf("# %s\n", path);
    if (!file)
        return;
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_outline_read(&outline, &arena, (weir_span){bytes, len},
                         (weir_span){path, strlen(path)}))
        for (uint32_t i = 0; i < outline.count; i++)
            printf("%u %s %.*s\n", outline.items[i].line + 1, kinds[outline.items[i].kind],
                   (int)outline.items[i].name.len, outline.items[i].name.ptr);
    wr_arena_release(&arena);
}

int main(void)
{
    static char path[4096];
    while (fgets(path, sizeof(path), stdin)) {
        path[strcspn(path, "\n")] = 0;
        print_outline(path);
    }
    return 0;
}
