/* `weir doctor`: what could keep Weir from working here, and what to do about it. */
#include "cli/cmd.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/open.h"
#include "launch/doctor.h"

struct doctor_options {
    const char *store, *config, *upstream;
    bool is_offline, as_json;
};

#define VALUES struct doctor_options

static const struct wr_option options[] = {
    WR_ROW_STORE(store),
    {"config", WR_FILE(config),
     "asks the upstreams of this weir.yaml instead of OpenAI and Anthropic"},
    {"upstream", WR_TEXT("URL", upstream), "asks this one"},
    {"offline", WR_FLAG(is_offline), "asks no upstream"},
    {"json", WR_FLAG(as_json), "one JSON object: ok, and findings of level, name, text, advice"},
};

static struct wr_config *make_config(const struct doctor_options *o)
{
    struct wr_config *config = wr_config_new();
    struct weir_err err = {0};
    struct wr_buf yaml = {0};
    const char *ca_file = getenv("SSL_CERT_FILE"); /* as `weir serve` does */
    weir_status status = config ? WEIR_OK : WEIR_NOMEM;
    bool is_read = !o->config || wr_cli_read(o->config, &yaml);

    if (!status && o->config && is_read && wr_config_read(config, wr_buf_view(&yaml), &err)) {
        wr_cli_fail("%s: %s", o->config, err.text);
        is_read = false;
    }
    if (!status && is_read && o->upstream)
        status = wr_config_set_upstream(config, o->upstream, &err);
    if (!status && is_read && ca_file && *ca_file && !config->ca_file)
        status = wr_config_set_text(config, &config->ca_file, ca_file, &err);
    wr_buf_release(&yaml);
    if (status)
        wr_cli_fail_status(status, &err);
    if (!status && is_read)
        return config;
    wr_config_free(config);
    return NULL;
}

static int print_findings(const struct wr_doctor *doctor, int code)
{
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
    bool colour = wr_cli_colours();
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < doctor->findings_count; i++) {
        const struct wr_finding *f = &doctor->findings[i];
        wr_buf_printf(&out, "%s%-4s%s %-12s%s%s%s\n", colour ? colours[f->level] : "",
                      wr_finding_level_name(f->level), colour ? "\033[0m" : "", f->name, f->text,
                      *f->advice ? "; " : "", f->advice);
    }
    return wr_cli_end_fitted(&out, code);
}

static int print_json(const struct wr_doctor *doctor, int code)
{
    struct wr_json_writer w;
    struct wr_buf out;

    wr_buf_init(&out, 1024 * 1024);
    wr_json_write_init(&w, &out);
    wr_json_write_object(&w);
    wr_json_member_bool(&w, "ok", !doctor->has_failed);
    wr_json_member_array(&w, "findings");
    for (size_t i = 0; i < doctor->findings_count; i++) {
        const struct wr_finding *f = &doctor->findings[i];
        wr_json_write_newline(&w);
        wr_json_write_object(&w);
        wr_json_member_word(&w, "level", wr_finding_level_name(f->level));
        wr_json_member_word(&w, "name", f->name);
        wr_json_member_word(&w, "text", f->text);
        wr_json_member_word(&w, "advice", f->advice);
        wr_json_write_object_end(&w);
    }
    wr_json_write_newline(&w);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(&out, '\n');
    return wr_cli_end(&out, code);
}

static int examine_all(const struct doctor_options *o, struct wr_config *config)
{
    struct wr_buf path;
    struct wr_doctor doctor;
    int code = WR_EXIT_USAGE;

    wr_doctor_init(&doctor);
    doctor.config = config;
    doctor.asks_all_upstreams = !o->config && !o->upstream;
    doctor.is_offline = o->is_offline;
    doctor.now_s = wr_clock_ms() / 1000;
    if (!wr_cli_store_path(o->store ? o->store : config->store_dir, &path))
        goto out;
    doctor.store = path.bytes;
    wr_doctor_versions(&doctor);
    wr_doctor_limits(&doctor);
    wr_doctor_store(&doctor);
    wr_doctor_clock(&doctor);
    wr_doctor_runs(&doctor);
    wr_doctor_server(&doctor);
    wr_doctor_upstreams(&doctor);
    wr_doctor_agents(&doctor);
    wr_doctor_settings(&doctor, environ);
    wr_doctor_recall(&doctor, environ);
    wr_doctor_hooks(&doctor, environ);
    code = doctor.has_failed ? WR_EXIT_CHECK : WR_EXIT_OK;
    if (o->as_json)
        code = print_json(&doctor, code);
    else
        code = print_findings(&doctor, code);
out:
    wr_doctor_release(&doctor);
    wr_buf_release(&path);
    return code;
}

static int run_doctor(void *values, const struct wr_words *words)
{
    struct wr_config *config = make_config(values);
    int code = config ? examine_all(values, config) : WR_EXIT_USAGE;

    (void)words;
    wr_config_free(config);
    return code;
}

const struct wr_command wr_cmd_doctor = {
    .name = "doctor",
    .purpose = "what could keep Weir from working here, and what to do",
    .usage = "[OPTIONS]",
    .about = "Looks at versions, limits, the store, disk, clock, what killed runs have left, "
             "server, port, upstreams, agents, their settings, recall servers and hooks. Each line "
             "says ok, warn or fail, and what to do. Changes nothing; upstreams are asked without "
             "a key, recall servers are started as the agent would.",
    WR_OPTIONS(options),
    .exits = "Exit 1: something fails.",
    .example = "weir doctor --offline",
    .run = run_doctor,
};
