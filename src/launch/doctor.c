/* The doctor's findings, and those of its questions that this machine alone can answer: versions,
 * open files, the store, folders of runs that were killed, the clock. doctor_net.c asks others,
 * doctor_settings.c looks at what agents are told.
 *
 * Every question ends in findings: a level, a text and, if something is wrong, what to do about
 * it. Nothing is changed in order to find something out. That is why a store that does not exist
 * is not opened, which would make it: the doctor looks for the nearest folder above it and asks
 * whether one could be made there. A store is read whole only while that takes about a second.
 */
#include "launch/doctor.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <uv.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "launch/run_dir.h"
#include "weir/weir.h"

enum {
    FILES_MIN = 1024,       /* two for every open request, and some */
    CLOCK_SKEW_S_MAX = 300, /* what a cache that lives five minutes can bear */
    TEXT_BYTES_MAX = 4096,
};

static const uint64_t free_bytes_min = 64ULL << 20, free_bytes_low = 1ULL << 30;
static const uint64_t verified_bytes_max = 256ULL << 20; /* what is read whole in a second or so */

void wr_doctor_init(struct wr_doctor *doctor)
{
    *doctor = (struct wr_doctor){.store = NULL};
    wr_arena_init(&doctor->arena, WR_LAUNCH_MEMORY_BYTES_MAX);
}

void wr_doctor_release(struct wr_doctor *doctor)
{
    wr_arena_release(&doctor->arena);
}

const char *wr_finding_level_name(enum wr_finding_level level)
{
    static const char *const names[] = {"ok", "warn", "fail"};
    return names[level];
}

void wr_doctor_add(struct wr_doctor *doctor, enum wr_finding_level level, const char *name,
                   const char *advice, const char *format, ...)
{
    char *text = wr_arena_alloc(&doctor->arena, TEXT_BYTES_MAX);
    va_list args;

    doctor->has_failed = doctor->has_failed || level == WR_FINDING_FAIL;
    if (!text || doctor->findings_count == WR_FINDINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, TEXT_BYTES_MAX, format, args);
    va_end(args);
    doctor->findings[doctor->findings_count++] =
        (struct wr_finding){.level = level, .name = name, .text = text, .advice = advice};
}

void wr_doctor_versions(struct wr_doctor *doctor)
{
    wr_doctor_add(doctor, WR_FINDING_OK, "version", "",
                  "weir %s; sqlite %s, curl %s, openssl %s, libuv %s, zlib %s, zstd %s",
                  weir_version(), sqlite3_libversion(), curl_version_info(CURLVERSION_NOW)->version,
                  OpenSSL_version(OPENSSL_VERSION_STRING), uv_version_string(), zlibVersion(),
                  ZSTD_versionString());
}

void wr_doctor_limits(struct wr_doctor *doctor)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    bool is_low = limit.rlim_max < FILES_MIN;
    wr_doctor_add(doctor, is_low ? WR_FINDING_WARN : WR_FINDING_OK, "limits",
                  is_low ? "raise it: ulimit -Hn 65536, or LimitNOFILE= of the service" : "",
                  "%s files may be open at a time", WR_GROUPED(limit.rlim_max));
}

/* ---- the store ---- */

static void look_at_room(struct wr_doctor *doctor)
{
    struct statvfs disk;

    if (statvfs(doctor->store, &disk))
        return;
    uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    enum wr_finding_level level = bytes < free_bytes_min   ? WR_FINDING_FAIL
                                  : bytes < free_bytes_low ? WR_FINDING_WARN
                                                           : WR_FINDING_OK;
    wr_doctor_add(doctor, level, "disk",
                  level ? "make room, or `weir store gc`: a full disk stops what is taken out" : "",
                  "%s MiB free", WR_GROUPED(bytes >> 20));
}

static void look_at_owner(struct wr_doctor *doctor)
{
    struct stat status;

    if (stat(doctor->store, &status))
        return;
    unsigned others = status.st_mode & (S_IRWXG | S_IRWXO);
    wr_doctor_add(doctor, others ? WR_FINDING_WARN : WR_FINDING_OK, "permissions",
                  others ? "it holds what your agents read: chmod 700 the directory" : "",
                  "%s has mode %04o", doctor->store, (unsigned)status.st_mode & 07777);
}

static void verify_store(struct wr_doctor *doctor, struct weir_store *store,
                         const struct weir_store_stats *stats)
{
    struct weir_verify_report report = {0};
    struct weir_err err = {0};

    if (stats->text_bytes > verified_bytes_max) {
        wr_doctor_add(doctor, WR_FINDING_OK, "store", "",
                      "%llu originals; not read whole here, `weir store verify` does",
                      (unsigned long long)stats->artifacts_count);
        return;
    }
    if (weir_store_verify(store, NULL, NULL, &report, &err)) {
        wr_doctor_add(doctor, WR_FINDING_FAIL, "store", "try again when no server is busy", "%s",
                      err.text);
        return;
    }
    bool is_damaged = report.corrupt_count || report.has_damage;
    wr_doctor_add(doctor, is_damaged ? WR_FINDING_FAIL : WR_FINDING_OK, "store",
                  is_damaged ? "`weir store verify` names what is lost; move the store away for a "
                               "new one"
                             : "",
                  "%s: %llu originals, %llu sessions, %llu damaged%s%s", doctor->store,
                  (unsigned long long)stats->artifacts_count,
                  (unsigned long long)stats->sessions_count,
                  (unsigned long long)report.corrupt_count, report.has_damage ? "; " : "",
                  report.has_damage ? report.damage : "");
}

/* The nearest folder above that is there. */
static void find_folder(char *path)
{
    struct stat status;

    while (stat(path, &status) && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (!slash) {
            (void)snprintf(path, 2, ".");
            return;
        }
        slash[slash == path] = '\0';
    }
}

/* A store that does not exist yet is fine if it can be made; it is not made to find that out. */
static void look_at_place(struct wr_doctor *doctor)
{
    char folder[TEXT_BYTES_MAX];
    struct stat status;
    struct statvfs disk;
    const char *why = NULL;

    (void)snprintf(folder, sizeof(folder), "%s", doctor->store);
    find_folder(folder);
    if (stat(folder, &status) || access(folder, W_OK | X_OK))
        why = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        why = "it is no folder";
    else if (statvfs(folder, &disk) || !disk.f_blocks)
        why = "it keeps no files";
    else if (disk.f_flag & ST_RDONLY)
        why = "it can only be read";
    if (why)
        wr_doctor_add(doctor, WR_FINDING_FAIL, "store",
                      "without it nothing is taken out; --store DIR names another",
                      "%s: there is none, and in %s none can be made: %s", doctor->store, folder,
                      why);
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "store", "",
                      "%s: none yet, made when it is needed, which %s allows", doctor->store,
                      folder);
}

void wr_doctor_store(struct wr_doctor *doctor)
{
    struct weir_store_options options = {.must_exist = true};
    struct weir_store_stats stats = {0};
    struct weir_store *store = NULL;
    weir_trouble trouble = WEIR_TROUBLE_NONE;
    struct weir_err err = {0};

    weir_status status = weir_store_open(doctor->store, &options, &store, &trouble, &err);
    if (status && trouble == WEIR_TROUBLE_MISSING) {
        look_at_place(doctor);
        return;
    }
    if (!status)
        status = weir_store_stats(store, &stats, &err);
    if (status)
        wr_doctor_add(doctor, WR_FINDING_FAIL, "store",
                      "without it nothing is taken out; --store DIR names another", "%s: %s",
                      doctor->store, err.text);
    else
        verify_store(doctor, store, &stats);
    weir_store_close(store);
    look_at_owner(doctor);
    look_at_room(doctor);
}

/* ---- runs ---- */

void wr_doctor_runs(struct wr_doctor *doctor)
{
    const char *parent = wr_run_dir_parent();
    unsigned count = wr_run_dirs_stale(parent, false);
    char text[16];

    (void)snprintf(text, sizeof(text), "%u", count);
    wr_doctor_add(doctor, count ? WR_FINDING_WARN : WR_FINDING_OK, "runs",
                  count ? "the next `weir run` takes them away" : "",
                  "%s has %s folder%s of a run that was killed", parent, count ? text : "no",
                  count > 1 ? "s" : "");
}

/* ---- the clock ---- */

/* A file cannot have been written later than now. */
void wr_doctor_clock(struct wr_doctor *doctor)
{
    static const char *const names[] = {"", "/store.db", "/requests.jsonl"};
    char path[TEXT_BYTES_MAX];
    int64_t newest_s = 0;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        struct stat status;
        (void)snprintf(path, sizeof(path), "%s%s", doctor->store, names[i]);
        if (!stat(path, &status) && status.st_mtime > newest_s)
            newest_s = status.st_mtime;
    }
    int64_t ahead_s = newest_s - doctor->now_s;
    bool is_wrong = ahead_s > CLOCK_SKEW_S_MAX;
    if (is_wrong)
        wr_doctor_add(doctor, WR_FINDING_WARN, "clock",
                      "set the clock: what is cold and what may be collected goes by it",
                      "the store was written %lld s in the future: the clock went back",
                      (long long)ahead_s);
    else
        wr_doctor_add(doctor, WR_FINDING_OK, "clock", "",
                      "no file of the store is from the future");
}
