/* Pictures of a session: kept as files, read again for each request.
 *
 * A picture could stand in the journal itself, in base64. But the journal is read whole at every
 * start, copied into memory by every cut, and looked at by people; a picture of some megabytes
 * in it would cost all of them, and the same picture shown twice would cost it twice. So it is a
 * file named by its hash, and the journal has the name. */
#include "session/images.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "session/disk.h"

#define FOLDER "images"

enum { NAME_BYTES_MAX = 80, HEAD_BYTES = WR_IMAGE_HEADER_BYTES_MAX + 64 };

static const char *const types[] = {"png", "jpeg", "gif", "webp"};

const char *wr_images_type(weir_span bytes)
{
    if (wr_span_starts(bytes, WR_LIT("\x89PNG\r\n\x1a\n")))
        return types[0];
    if (wr_span_starts(bytes, WR_LIT("\xff\xd8\xff")))
        return types[1];
    if (wr_span_starts(bytes, WR_LIT("GIF87a")) || wr_span_starts(bytes, WR_LIT("GIF89a")))
        return types[2];
    if (wr_span_starts(bytes, WR_LIT("RIFF")) &&
        wr_span_starts(wr_span_cut(bytes, 8, bytes.len), WR_LIT("WEBP")))
        return types[3];
    return NULL;
}

static struct wr_image_size size_of(weir_span bytes)
{
    struct wr_image_size size = {0};
    struct wr_buf head;

    wr_buf_init(&head, HEAD_BYTES * 2);
    wr_base64_encode(wr_span_cut(bytes, 0, bytes.len < HEAD_BYTES ? bytes.len : HEAD_BYTES), &head);
    if (!wr_buf_status(&head))
        size = wr_image_size_read(wr_buf_view(&head));
    wr_buf_release(&head);
    return size;
}

static weir_status name_file(char name[NAME_BYTES_MAX], weir_span bytes, const char *type)
{
    unsigned char digest[WR_SHA256_BYTES];
    weir_status status = wr_sha256(bytes, digest);

    for (size_t i = 0; i < WR_SHA256_BYTES && !status; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", digest[i]);
    if (!status)
        (void)snprintf(name + WR_SHA256_HEX_BYTES, NAME_BYTES_MAX - WR_SHA256_HEX_BYTES, ".%s",
                       type);
    return status;
}

static weir_status join_path(char *path, const char *dir, const char *name, struct weir_err *err)
{
    char folder[WR_SESSION_PATH_BYTES_MAX];
    weir_status status = wr_disk_join(folder, dir, FOLDER, err);
    return status ? status : wr_disk_join(path, folder, name, err);
}

/* ---- keeping ---- */

static weir_status keep_file(const char *dir, const char *name, weir_span bytes,
                             struct weir_err *err)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    weir_status status = wr_disk_join(path, dir, FOLDER, err);

    if (!status)
        status = wr_disk_make_dir(path, err);
    if (!status)
        status = join_path(path, dir, name, err);
    return status ? status : wr_disk_replace(path, bytes, err);
}

weir_status wr_images_keep(const char *dir, weir_span bytes, struct wr_buf *names,
                           struct wr_image_size *size, struct weir_err *err)
{
    const char *type = wr_images_type(bytes);
    char name[NAME_BYTES_MAX];

    if (!type)
        return wr_fail(err, WEIR_INVALID, 0, "not an image: png, jpeg, gif and webp are");
    if (bytes.len > WR_SESSION_IMAGE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "an image has at most %d MB",
                       WR_SESSION_IMAGE_BYTES_MAX / 1024 / 1024);
    weir_status status = name_file(name, bytes, type);
    if (!status)
        status = keep_file(dir, name, bytes, err);
    if (status)
        return status;
    *size = size_of(bytes);
    if (wr_span_has(wr_buf_view(names), wr_span_of(name)))
        return WEIR_OK; /* shown twice, sent once */
    wr_buf_printf(names, "%s%s:%ux%u", names->len ? " " : "", name, size->width_px,
                  size->height_px);
    return wr_buf_status(names);
}

/* ---- names ---- */

static uint32_t take_number(weir_span *text)
{
    uint32_t number = 0;
    while (text->len && wr_is_digit(text->ptr[0]) && number < 1000 * 1000) {
        number = number * 10 + (uint32_t)(text->ptr[0] - '0');
        *text = wr_span_from(*text, 1);
    }
    return number;
}

/* The next of an event's pictures, taken from the front of `names`. False: there is none. */
static bool images_next(weir_span *names, weir_span *file, struct wr_image_size *size)
{
    size_t space = wr_span_find(*names, WR_LIT(" "), 0);
    weir_span one = wr_span_cut(*names, 0, space == SIZE_MAX ? names->len : space);
    size_t colon = wr_span_find(one, WR_LIT(":"), 0);
    weir_span rest = wr_span_cut(one, colon == SIZE_MAX ? one.len : colon + 1, one.len);

    *names = wr_span_cut(*names, space == SIZE_MAX ? names->len : space + 1, names->len);
    *file = wr_span_cut(one, 0, colon == SIZE_MAX ? one.len : colon);
    size->width_px = take_number(&rest);
    rest = wr_span_cut(rest, rest.len ? 1 : 0, rest.len);
    size->height_px = take_number(&rest);
    return one.len > 0;
}

uint64_t wr_images_tokens(const struct wr_image_rule *rule, weir_span names)
{
    struct wr_image_size size;
    uint64_t tokens = 0;
    weir_span file;

    while (rule && images_next(&names, &file, &size))
        tokens += wr_image_tokens(rule, size, WR_DETAIL_AUTO);
    return tokens;
}

uint64_t wr_images_bytes(const char *dir, weir_span names)
{
    char path[WR_SESSION_PATH_BYTES_MAX], name[NAME_BYTES_MAX];
    struct wr_image_size size;
    struct stat info;
    uint64_t bytes = 0;
    weir_span file;

    while (images_next(&names, &file, &size)) {
        if (file.len >= sizeof(name) || !wr_disk_name_is_good(file))
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)file.len, file.ptr);
        if (!join_path(path, dir, name, NULL) && !stat(path, &info) && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
    }
    return bytes;
}

/* ---- reading ---- */

/* WEIR_NOTFOUND: it is gone, or is another. The name is of a journal that anybody may have
 * written: a path that it could lead out of the folder by is never opened. */
static weir_status load_file(const char *dir, weir_span file, struct wr_arena *arena,
                             struct wr_line_image *image)
{
    char path[WR_SESSION_PATH_BYTES_MAX], wanted[NAME_BYTES_MAX], name[NAME_BYTES_MAX];
    struct wr_buf bytes, url;

    if (file.len >= sizeof(wanted) || !wr_disk_name_is_good(file))
        return WEIR_NOTFOUND;
    (void)snprintf(wanted, sizeof(wanted), "%.*s", (int)file.len, file.ptr);
    wr_buf_init(&bytes, WR_SESSION_IMAGE_BYTES_MAX);
    wr_buf_init(&url, WR_SESSION_IMAGE_BYTES_MAX * 2);
    weir_status status = join_path(path, dir, wanted, NULL);
    if (!status)
        status = wr_disk_read(path, &bytes, NULL);
    image->type = wr_images_type(wr_buf_view(&bytes));
    if (!status)
        status = image->type ? name_file(name, wr_buf_view(&bytes), image->type) : WEIR_NOTFOUND;
    if (!status && strcmp(name, wanted) != 0)
        status = WEIR_NOTFOUND;
    if (!status) {
        wr_buf_printf(&url, "data:image/%s;base64,", image->type);
        size_t front = url.len;
        wr_base64_encode(wr_buf_view(&bytes), &url);
        status = wr_text_keep(arena, &url, &image->url);
        image->base64 = wr_span_cut(image->url, front, image->url.len);
    } else {
        wr_buf_release(&url);
    }
    wr_buf_release(&bytes);
    return status == WEIR_NOMEM ? status : status ? WEIR_NOTFOUND : WEIR_OK;
}

weir_status wr_images_load(const char *dir, weir_span names, struct wr_arena *arena,
                           struct wr_line *line, uint32_t *missing_count)
{
    struct wr_line_image *images =
        WR_ARENA_ARRAY(arena, struct wr_line_image, WR_SESSION_IMAGES_MAX);
    struct wr_image_size size;
    weir_status status = images ? WEIR_OK : wr_arena_status(arena);
    weir_span file;

    line->images = images;
    line->images_count = 0;
    *missing_count = 0;
    while (!status && line->images_count < WR_SESSION_IMAGES_MAX &&
           images_next(&names, &file, &size)) {
        status = load_file(dir, file, arena, &images[line->images_count]);
        line->images_count += !status;
        *missing_count += status == WEIR_NOTFOUND;
        status = status == WEIR_NOTFOUND ? WEIR_OK : status;
    }
    return status;
}
