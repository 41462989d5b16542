/* `weir doctor`: what could keep Weir from working here, and what to do about it. */
#include "cli/cmd.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/span.h"
#include "cli/store_dir.h"
#include "json/write.h"
#include "launch/doctor.h"

static const char help[] =
    "usage: weir doctor [--store DIR] [--config weir.yaml] [--upstream URL] [--offline] [--json]\n"
    "\n"
    "Looks at versions, limits, the store, disk, clock, what killed runs have left, server, port,\n"
    "upstreams, agents and their settings. Each line says ok, warn or fail, and what to do.\n"
    "Changes nothing; upstreams are asked without a key. Exit 1 when something fails.\n"
    "\n"
    "  --store DIR     the store (default: $XDG_DATA_HOME/weir, or ~/.local/share/weir)\n"
    "  --config FILE   asks the upstreams of this weir.yaml instead of OpenAI and Anthropic\n"
    "  --upstream URL  asks this one\n"
    "  --offline       asks no upstream\n"
    "  --json          one JSON object: ok, and findings of level, name, text, advice\n"
    "\n"
    "example: weir doctor --offline\n";

struct doctor_options {
    const char *store, *config, *upstream;
    bool is_offline, as_json;
};

static struct wr_config *make_config(const struct doctor_options *o)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    struct wr_buf yaml = {0};
    const char *ca_file = getenv("SSL_CERT_FILE"); /* as `weir serve` does */
    bool ok = config;

    if (ok && o->config) {
        ok = wr_cli_read("doctor", o->config, &yaml);
        if (ok && wr_config_read(config, wr_buf_view(&yaml), &err)) {
            wr_cli_fail("doctor", "%s: %s", o->config, err.text);
            ok = false;
        }
    }
    if (ok && o->upstream && wr_config_set_upstream(config, o->upstream, &err)) {
        wr_cli_fail("doctor", "%s", err.text);
        ok = false;
    }
    if (ok && ca_file && *ca_file && !config->ca_file &&
        wr_config_set_text(config, &config->ca_file, ca_file, &err)) {
        wr_cli_fail("doctor", "%s", err.text);
        ok = false;
    }
    wr_buf_release(&yaml);
    if (ok)
        return config;
    wr_config_free(config);
    return NULL;
}

static void print_findings(const struct wr_doctor *doctor)
{
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
    bool colour = wr_cli_colours();

    for (size_t i = 0; i < doctor->findings_count; i++) {
        const struct wr_finding *f = &doctor->findings[i];
        printf("%s%-4s%s %-12s%s%s%s\n", colour ? colours[f->level] : "",
               wr_finding_level_name(f->level), colour ? "\033[0m" : "", f->name, f->text,
               *f->advice ? "; " : "", f->advice);
    }
}

static void put(struct wr_json_writer *w, const char *key, const char *text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, wr_span_of(text));
}

static bool print_json(const struct wr_doctor *doctor)
{
    struct wr_json_writer w;
    struct wr_buf out;

    wr_buf_init(&out, 1024 * 1024);
    wr_json_write_init(&w, &out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "ok");
    wr_json_write_bool(&w, !doctor->has_failed);
    wr_json_write_key(&w, "findings");
    wr_json_write_array(&w);
    for (size_t i = 0; i < doctor->findings_count; i++) {
        const struct wr_finding *f = &doctor->findings[i];
        wr_json_write_newline(&w);
        wr_json_write_object(&w);
        put(&w, "level", wr_finding_level_name(f->level));
        put(&w, "name", f->name);
        put(&w, "text", f->text);
        put(&w, "advice", f->advice);
        wr_json_write_object_end(&w);
    }
    wr_json_write_newline(&w);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(&out, '\n');
    bool ok = !wr_buf_status(&out) && wr_cli_write("doctor", wr_buf_view(&out));
    wr_buf_release(&out);
    return ok;
}

static int examine(const struct doctor_options *o, struct wr_config *config)
{
    struct wr_buf path;
    struct wr_doctor doctor;
    int code = WR_EXIT_USAGE;

    wr_buf_init(&path, 4096);
    wr_doctor_init(&doctor);
    doctor.store = o->store ? o->store : config->store_dir;
    doctor.config = config;
    doctor.asks_all_upstreams = !o->config && !o->upstream;
    doctor.is_offline = o->is_offline;
    doctor.now_s = wr_clock_ms() / 1000;
    if (!doctor.store && wr_cli_store_path("doctor", &path))
        doctor.store = path.bytes;
    if (!doctor.store)
        goto out;
    wr_doctor_versions(&doctor);
    wr_doctor_limits(&doctor);
    wr_doctor_store(&doctor);
    wr_doctor_clock(&doctor);
    wr_doctor_runs(&doctor);
    wr_doctor_server(&doctor);
    wr_doctor_upstreams(&doctor);
    wr_doctor_agents(&doctor);
    wr_doctor_settings(&doctor, environ);
    code = doctor.has_failed ? WR_EXIT_CHECK : WR_EXIT_OK;
    if (!o->as_json)
        print_findings(&doctor);
    else if (!print_json(&doctor))
        code = WR_EXIT_USAGE;
out:
    wr_doctor_release(&doctor);
    wr_buf_release(&path);
    return code;
}

int wr_cmd_doctor(int argc, char **argv)
{
    struct doctor_options o = {0};
    struct wr_opt_list rest = {.count = 0};
    const struct wr_opt options[] = {{"store", WR_OPT_TEXT, &o.store},
                                     {"config", WR_OPT_TEXT, &o.config},
                                     {"upstream", WR_OPT_TEXT, &o.upstream},
                                     {"offline", WR_OPT_FLAG, &o.is_offline},
                                     {"json", WR_OPT_FLAG, &o.as_json}};
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count)
        return wr_cli_fail("doctor", "'%s' is one word too many", rest.items[0]);
    struct wr_config *config = make_config(&o);
    if (!config)
        return WR_EXIT_USAGE;
    int code = examine(&o, config);
    wr_config_free(config);
    return code;
}
