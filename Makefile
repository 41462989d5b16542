# Weir. `make run` serves, `make demo` shows it at work, `make test` proves it; all three install
# what is missing.
#
# Sources are found by their names: src/FOLDER/x.c is in the library (src/cli in the program),
# lab/x.c in the laboratory, x_test.c beside it is a test, fuzz/fuzz_x.c a fuzzer, bench/x.c a
# benchmark. One set of rules builds them all; a variant (another compiler, sanitizers) is the same
# rules with other values for BUILD, CC and CFLAGS. pkg-config is asked only inside recipes, so this
# file works without it.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

# The version stands in the header, for programs that are compiled with it.
VERSION := $(shell awk '/^\#define WEIR_VERSION_(MAJOR|MINOR|PATCH) / { v = v sep $$3; sep = "." } \
                        END { print v }' include/weir/version.h)
SOVERSION := 0
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
CFLAGS ?= -O2 -g
LDFLAGS ?=
WERROR ?= -Werror
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?=
FUZZER ?=
BOOTSTRAP ?= tools/bootstrap

ifeq ($(origin CC),default)
CC := gcc
endif
CXX_OF_CC = $(if $(findstring clang,$(CC)),clang++,g++)

# Asked once, when first used.
once = $(eval $(1) := $(2))$($(1))
PKGS := libxxhash libcrypto yaml-0.1 sqlite3 libzstd libpcre2-8 zlib
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(shell pkg-config --cflags $(PKGS)))
PKG_LIBS = $(call once,PKG_LIBS,$(shell pkg-config --libs $(PKGS)))
# What only the program needs: the library links none of it.
SERVE_PKGS := libuv libssl libcurl libbrotlidec zlib md4c
SERVE_CFLAGS = $(call once,SERVE_CFLAGS,$(shell pkg-config --cflags $(SERVE_PKGS)))
SERVE_LIBS = $(call once,SERVE_LIBS,$(shell pkg-config --libs $(SERVE_PKGS)))
# llhttp comes as source in Debian, where it is built strict; elsewhere as a library.
LLHTTP_DIR := $(wildcard /usr/share/llhttp)
LLHTTP_CFLAGS = $(if $(LLHTTP_DIR),-isystem /usr/share/include/llhttp -DLLHTTP_STRICT_MODE=1)
LLHTTP_LIBS = $(if $(LLHTTP_DIR),,-lllhttp)

# What makes a fault in memory a crash and not a way in. A build with sanitizers has finer checks of
# its own, which _FORTIFY_SOURCE would hide; without optimisation that one is not to be had. A
# compiler that lacks an option goes without it, and `make check-hardening` says so.
takes = $(shell $(CC) -Werror $(1) -x c -S -o /dev/null /dev/null 2>/dev/null && echo '$(1)')
HARDEN_ALL = -fstack-protector-strong $(call takes,-fstack-clash-protection) \
             $(or $(call takes,-fcf-protection=full),$(call takes,-mbranch-protection=standard)) \
             $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDEN_LD_ALL := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
IS_SANITIZED = $(findstring -fsanitize,$(CFLAGS))
HARDEN = $(if $(IS_SANITIZED),,$(call once,HARDEN,$(HARDEN_ALL)))
HARDEN_LD = $(if $(IS_SANITIZED),,$(HARDEN_LD_ALL))
PIE = $(if $(IS_SANITIZED),,-pie)
LINK_FLAGS = $(CFLAGS) $(PIE) $(HARDEN_LD) $(LDFLAGS)

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
C_WARN := $(WARN) -Wstrict-prototypes -Wmissing-prototypes
COMMON = $(WERROR) -Iinclude -Isrc -I. -fPIC -fvisibility=hidden $(PKG_CFLAGS) $(SERVE_CFLAGS) \
         $(LLHTTP_CFLAGS) $(HARDEN) $(CFLAGS)
C_FLAGS = -std=c11 $(C_WARN) -include src/base/banned.h $(COMMON)
CXX_FLAGS = -std=c++17 $(WARN) $(COMMON)
LIBS = -Wl,--as-needed $(PKG_LIBS) -lpthread -lm
PROGRAM_LIBS = $(LIBS) $(SERVE_LIBS) $(LLHTTP_LIBS)

SERVE_DIRS := quality traffic net otel proxy mcp agent hook launch compare
SERVE_SRC := $(filter-out %_test.c,$(sort $(wildcard $(SERVE_DIRS:%=src/%/*.c))))
LIB_SRC := $(filter-out %_test.c src/cli/% $(SERVE_DIRS:%=src/%/%),$(sort $(wildcard src/*/*.c)))
LAB_SRC := $(filter-out %_test.c,$(sort $(wildcard lab/*.c)))
CLI_SRC := $(filter-out %_test.c,$(sort $(wildcard src/cli/*.c)))
TEST_SRC := $(sort $(wildcard src/*/*_test.c lab/*_test.c tests/*_test.c))
LONG_SRC := $(sort $(wildcard tests/*_long.c))
TEST_HELP_SRC := $(filter-out $(TEST_SRC) $(LONG_SRC),$(sort $(wildcard tests/*.c)))
TORTURE_SRC := $(sort $(wildcard tests/torture/*.c))
CHAOS_SRC := $(sort $(wildcard tests/chaos/*.c))
GOLDEN_SRC := tests/golden/golden.c
FUZZ_HELP_SRC := $(filter-out fuzz/fuzz_%,$(sort $(wildcard fuzz/*.c)))
# simdjson is a yardstick, not a need: without it what compares with it is left out.
HAVE_SIMDJSON := $(wildcard /usr/include/simdjson.h /usr/local/include/simdjson.h)
FUZZ_SRC := $(sort $(wildcard fuzz/fuzz_*.c) $(if $(HAVE_SIMDJSON),$(wildcard fuzz/fuzz_*.cpp)))
SIMDJSON_BENCHES := bench/bench_json.c
BENCH_SRC := $(filter-out $(if $(HAVE_SIMDJSON),,$(SIMDJSON_BENCHES)),$(sort $(wildcard bench/*.c)))

objects = $(patsubst %,$(BUILD)/%.o,$(basename $(1)))
LIB_OBJ = $(call objects,$(LIB_SRC)) $(BUILD)/src/policy/presets.o
programs = $(patsubst %,$(BUILD)/%,$(basename $(1)))
LLHTTP_OBJ = $(patsubst $(LLHTTP_DIR)/%.c,$(BUILD)/llhttp/%.o,$(wildcard $(LLHTTP_DIR)/*.c))
ALL_OBJ = $(call objects,$(LIB_SRC) $(SERVE_SRC) $(LAB_SRC) $(CLI_SRC) $(TEST_SRC) \
            $(LONG_SRC) $(TEST_HELP_SRC) \
            $(TORTURE_SRC) $(CHAOS_SRC) $(GOLDEN_SRC) $(FUZZ_HELP_SRC) $(FUZZ_SRC) $(BENCH_SRC) \
            bench/simdjson_peer.cpp tools/presets-table.c tools/policies-page.c) \
          $(BUILD)/src/policy/presets.o

Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1) $(patsubst $(BUILD)/%,%,$@)')

.PHONY: all
all: $(BUILD)/weir $(BUILD)/libweir.a $(BUILD)/libweir.so ## build the program and the library

## -- what people type ---------------------------------------------------------------------------

.PHONY: agents-page test-page bench-page unit
.PHONY: pty-fuzz test-mcp-servers
.PHONY: run demo test test-long test-sessions test-clients test-mcp chaos oracle-tokens check-style
.PHONY: test-gateway
.PHONY: check-links check-hardening chaos-fixed chaos-hour fuzz bench bench-peer soak odds install
.PHONY: format clean help
run: ## build, then serve on LISTEN (127.0.0.1:4141) and say what to set for each agent
	@$(BOOTSTRAP) build
	@+tools/build $(BUILD)/weir $(MAKE) --no-print-directory -j$(JOBS) all
	@exec tools/serve $(BUILD)/weir $(LISTEN)

demo: ## build, then show Weir at work on an example request
	@$(BOOTSTRAP) build
	@+tools/build $(BUILD)/weir $(MAKE) --no-print-directory -j$(JOBS) all
	@tools/demo $(BUILD)/weir

# The runner calls this Makefile again, with nothing but what it says itself.
RUN_TESTS = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL MAKE=$(MAKE) BUILD=$(BUILD) JOBS=$(JOBS) \
            FUZZER=$(FUZZER) $(if $(FUZZ_SECONDS),FUZZ_SECONDS=$(FUZZ_SECONDS)) tests/run

test: ## prove it: style, builds, tests under sanitizers, fuzzers, torture
	@$(BOOTSTRAP) test
	@$(RUN_TESTS) style build tests fuzz

unit: ## the tests of one folder under sanitizers, in seconds: FOLDER=json (lab, tests)
	@$(BOOTSTRAP) test
	@FOLDER=$(FOLDER) $(RUN_TESTS) folder

.PHONY: newcomer
newcomer: ## README and tour on a bare Debian 12 that is made here (needs root and debootstrap)
	@tests/newcomer_bare $(BUILD)/bare

test-long: ## the same with the long tests, and each fuzzer for a minute
	@$(BOOTSTRAP) test
	@WEIR_LONG=1 FUZZ_SECONDS=60 $(RUN_TESTS) style build tests long fuzz

.PHONY: test-kill test-hours
test-kill: ## `weir agent` killed with -9 at every point where it changes something (half an hour)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/weir
	WEIR=$(BUILD)/weir python3 tests/upstream/kill_cases.py all

test-hours: ## sessions of 8 hours, 4,000 turns by a clock that is moved: sidecar and agent
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/weir $(BUILD)/tests/session_hours_test
	WEIR_LONG=1 $(BUILD)/tests/session_hours_test
	WEIR=$(BUILD)/weir python3 tests/upstream/hours_cases.py

test-sessions: ## the laws of presets and of own recall on every recorded session
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) \
	    $(addprefix $(BUILD)/tests/,presets_test own_sessions_test)
	WEIR_SESSIONS=100000 WEIR_REQUESTS=20 $(BUILD)/tests/presets_test
	WEIR_SESSIONS=100000 $(BUILD)/tests/own_sessions_test

FLEET_SESSIONS ?= 8

.PHONY: test-fleet
test-fleet: ## the laws over three nodes on one PostgreSQL, on FLEET_SESSIONS (8) recorded sessions
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all \
	    $(addprefix $(BUILD)/tests/,engine_laws_test own_sessions_test orders_laws_test)
	for laws in engine_laws own_sessions orders_laws; do \
	    WEIR_FLEET=1 WEIR_SESSIONS=$(FLEET_SESSIONS) $(BUILD)/tests/$${laws}_test || exit 1; done
	for script in fleet fleet_play fleet_steer; do WEIR_LONG=1 WEIR=$(BUILD)/weir \
	    BUILD=$(BUILD) bash tests/$${script}_test.sh || exit 1; done

test-clients: ## real clients in tool loops through the proxy (needs npm, downloads 300 MB)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir tests/clients/run.py $(BUILD)/clients
	WEIR=$(BUILD)/weir tests/clients/own.py $(BUILD)/clients
	WEIR=$(BUILD)/weir tests/clients/run_agents.py $(BUILD)/clients
	WEIR=$(BUILD)/weir tests/clients/run_hooks.py $(BUILD)/clients
	WEIR=$(BUILD)/weir tests/clients/run_google.py $(BUILD)/clients
	WEIR=$(BUILD)/weir tests/clients/run_clouds.py $(BUILD)/clients-clouds
	WEIR=$(BUILD)/weir tests/clients/run_ollama.py $(BUILD)/clients

agents-page: ## docs/agents.md, from real agents and SDKs (needs npm, downloads 2 GB)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir tests/clients/agents_page.py $(BUILD)/clients

test-gateway: ## LiteLLM's gateway with Weir as its compressor (needs PyPI, downloads 150 MB)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir tests/clients/run_gateway.py $(BUILD)/clients

pty-fuzz: ## hands at random on the agent's terminal: ROUNDS=50 conversations from SEED=1 on
	@$(MAKE) build-asan-gcc >/dev/null
	WEIR=$(BUILD)/asan-gcc/weir python3 tests/upstream/pty_fuzz.py $(or $(ROUNDS),50) $(or $(SEED),1)

test-mcp-servers: ## the agent with the official MCP server, over stdio and HTTP (needs npm)
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	npm install --silent --no-audit --no-fund --prefix $(BUILD)/mcp-servers \
	    @modelcontextprotocol/server-everything
	MCP_EVERYTHING=$(abspath $(BUILD))/mcp-servers/node_modules/.bin/mcp-server-everything \
	    WEIR=$(BUILD)/weir python3 tests/upstream/agent_mcp_cases.py official

test-mcp: ## official MCP clients against weir mcp and /mcp (needs npm, downloads 150 MB)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir tests/clients/mcp.py $(BUILD)/clients-mcp

.PHONY: test-packaging
test-packaging: ## the operator's files by their own tools (helm by Go, downloads 150 MB)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory $(BUILD)/weir
	@command -v helm >/dev/null || [ -x $(BUILD)/bin/helm ] || \
	    GOBIN=$(abspath $(BUILD))/bin go install helm.sh/helm/v3/cmd/helm@v3.22.0 || \
	    echo "note: skipped: helm is not installed, and Go cannot install it"
	WEIR=$(BUILD)/weir BUILD=$(BUILD) HELM=$$(command -v helm || ls $(BUILD)/bin/helm) \
	    tests/packaging_test.sh

.PHONY: test-image
test-image: ## the container image, built and run (buildah, runc, root; some minutes and a download)
	tests/image_test.sh

.PHONY: test-openapi
test-openapi: ## docs/openapi.json and a server by openapi-spec-validator, schemathesis (needs PyPI)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory $(BUILD)/weir
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 python3 tests/clients/openapi.py $(BUILD)/openapi

.PHONY: test-otel
test-otel: ## telemetry read by opentelemetry-proto (needs PyPI, downloads 1 MB)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 tests/clients/otel.sh $(BUILD)/clients-otel

# Needs Chromium, and for accessibility axe-core of npm; says aloud what is not there.
test-page: ## the page of `weir serve` in Chromium, every view; pictures go to build/page
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	@mkdir -p $(BUILD)/page/pictures
	@command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix $(BUILD)/page \
	    axe-core@4 >/dev/null 2>&1 || echo "SKIPPED in part: axe-core cannot be had from npm"
	@axe=$(BUILD)/page/node_modules/axe-core/axe.min.js; [ ! -f $$axe ] || export AXE=$$axe; \
	    WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 \
	    python3 tests/page/page_cases.py $(BUILD)/page/pictures

SEED ?= 1
RUNS ?= 20
FAMILIES ?= green
HARDER ?= 1
CHAOS = WEIR=$(BUILD)/weir BUILD=$(BUILD) PYTHONDONTWRITEBYTECODE=1 python3 tests/chaos/chaos.py

chaos: ## the proxy while system calls fail: SEED=1 RUNS=20, FAMILIES=green, OWN= (docs/chaos.md)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all $(BUILD)/tests/chaos/faults.so
	@$(CHAOS) --seed $(SEED) --runs $(RUNS) --families $(FAMILIES) --harder $(HARDER) \
	    $(if $(OWN),--own)

# About a minute on two idle cores; the number of runs is fixed, not the time.
chaos-fixed chaos-hour: all $(BUILD)/tests/chaos/faults.so
	@$(CHAOS) $(if $(filter %-hour,$@),--seed 1000 --seconds 3000,--seed 1 --runs 28)
	@$(CHAOS) --own $(if $(filter %-hour,$@),--seed 1000 --seconds 600,--seed 1 --runs 7)
	@[ $@ != chaos-hour ] || $(CHAOS) --families pg,kills,clock --seed 1000 --seconds 600

oracle-tokens: ## compare ids and counts with npm tiktoken on 200,000 texts (needs npm)
	@$(BOOTSTRAP) build
	@+$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/tests/oracle_tokens/encode
	tests/oracle_tokens/run $(BUILD)/tests/oracle_tokens/encode

check-style: ## include edges, shape of the code, formatting
	@$(BOOTSTRAP) test
	@$(RUN_TESTS) style

check-links: all ## which folder calls which, read from the objects (tools/layers)
	@tools/lint --links $(BUILD)

check-hardening: all ## what protects the program and the library against faults of memory is there
	@tools/check-hardening $(BUILD)/weir $(BUILD)/libweir.so

fuzz: ## run the fuzzers: FUZZ_SECONDS=60 each, or only FUZZER=name
	@$(BOOTSTRAP) test
	@FUZZ_SECONDS=60 $(RUN_TESTS) fuzz

bench: ## measure speed; the results also go to build/bench.txt
	@$(BOOTSTRAP) bench
	@+$(MAKE) --no-print-directory -j$(JOBS) benches
	@tools/run-benches $(BUILD) $(BENCH_SRC) | tee $(BUILD)/bench.txt

bench-peer: ## measure the proxy beside npm @portkey-ai/gateway (needs npm)
	@$(BOOTSTRAP) bench
	@+$(MAKE) --no-print-directory -j$(JOBS) all $(BUILD)/bench/bench_proxy
	@tools/bench-peer $(BUILD)

bench-page: ## what three open pages add to a request: blocks in turn, in one run
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 bench/page.py

.PHONY: bench-sizing
bench-sizing: ## what 1,000 sessions cost a server: processor, memory, disk (docs/operations.md)
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 bench/sizing.py 1000 12 originals
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 bench/sizing.py 1000 12 transcript

SOAK_SECONDS ?= 1200

soak: ## let the proxy serve for SOAK_SECONDS (1200): median time, memory, open files; does it grow?
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir bench/soak.py $(SOAK_SECONDS)

FLEET_SOAK_SECONDS ?= 3600

.PHONY: soak-fleet
soak-fleet: ## a fleet for FLEET_SOAK_SECONDS (3600); a node and the database die every minute
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 bench/soak_fleet.py $(FLEET_SOAK_SECONDS)

GATEWAY_SOAK_SECONDS ?= 1200

.PHONY: soak-gateway
soak-gateway: ## 50 users with budgets on two nodes for GATEWAY_SOAK_SECONDS (1200), and kills
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	WEIR=$(BUILD)/weir PYTHONDONTWRITEBYTECODE=1 bench/soak_gateway.py $(GATEWAY_SOAK_SECONDS)

.PHONY: golden golden-check
golden: ## freeze what every preset makes of made and recorded sessions, in build/golden
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all $(call programs,$(GOLDEN_SRC))
	@tools/golden freeze $(BUILD) $(JOBS)

golden-check: ## compare with what was frozen: a refactoring changes nothing
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all $(call programs,$(GOLDEN_SRC))
	@tools/golden check $(BUILD) $(JOBS)

N ?= 200

.PHONY: mutants
mutants: ## break the code in N=200 places (SEED=1, FOLDER=engine): do the unit tests notice?
	@$(BOOTSTRAP) test
	@tools/mutants --count $(N) --seed $(SEED) --jobs $(JOBS) $(FOLDER:%=--folder %)

WEIR_TRACES ?= ../shared/traces/raw

odds: ## print the rows of data/odds.tsv, measured on the logs of WEIR_TRACES (minutes)
	@$(BOOTSTRAP) test
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	@tools/fit-odds $(BUILD)/weir $(WEIR_TRACES)

format: docs/limits.md $(BUILD)/tools/policies-page ## format the sources, write generated pages
	$(BUILD)/tools/policies-page docs/policies.md
	clang-format -i $(shell tools/lint --list | grep -E '\.(c|h|cpp)$$')

docs/limits.md: src/base/limits.h tools/limits-page
	tools/limits-page > $@

install: all $(BUILD)/weir.1 ## install into PREFIX (/usr/local), below DESTDIR if given
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig \
	    $(DESTDIR)$(PREFIX)/include/weir $(DESTDIR)$(PREFIX)/share/doc/weir
	install -m 755 $(BUILD)/weir $(DESTDIR)$(PREFIX)/bin/weir
	install -m 644 $(BUILD)/libweir.a $(DESTDIR)$(PREFIX)/lib/libweir.a
	install -m 755 $(BUILD)/libweir.so $(DESTDIR)$(PREFIX)/lib/libweir.so.$(VERSION)
	ln -sf libweir.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libweir.so.$(SOVERSION)
	ln -sf libweir.so.$(SOVERSION) $(DESTDIR)$(PREFIX)/lib/libweir.so
	install -m 644 include/weir/*.h include/weir/*.hpp $(DESTDIR)$(PREFIX)/include/weir
	sed -e 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(VERSION),; s,@PKGS@,$(PKGS),' tools/weir.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/weir.pc
	install -m 644 LICENSE $(wildcard README.md CHANGELOG.md docs/*.md) \
	    $(DESTDIR)$(PREFIX)/share/doc/weir
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 $(COMPLETION_DIRS))
	install -m 644 $(BUILD)/weir.1 $(DESTDIR)$(PREFIX)/share/man/man1/weir.1
	for command in $$($(BUILD)/weir --complete '' | cut -f1); do \
	    $(BUILD)/weir help --man $$command \
	        > $(DESTDIR)$(PREFIX)/share/man/man1/weir-$$command.1 || exit 1; done
	$(BUILD)/weir completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/weir
	$(BUILD)/weir completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_weir
	$(BUILD)/weir completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/weir.fish

COMPLETION_DIRS := bash-completion/completions zsh/site-functions fish/vendor_completions.d

$(BUILD)/weir.1: $(BUILD)/weir
	$(BUILD)/weir help --man > $@

# What `make dist` has built from others' sources is kept for the next time.
DIST_CACHE ?= $(abspath $(BUILD))/dist-cache
.PHONY: dist dist-aarch64 test-dist dist-again check-portable bench-startup portable for-packages
dist: portable ## packages into dist/: tarball, Debian package, wheel, npm package, checksums
	@+$(MAKE) --no-print-directory -j$(JOBS) all
	@rm -rf dist
	@packaging/dist/tarball $(BUILD)/portable $(BUILD)/weir dist
	@packaging/dist/deb $(BUILD)/weir dist
	@packaging/dist/bindings dist $(BUILD)/portable
	@cd dist && sha256sum weir* > SHA256SUMS && cat SHA256SUMS

dist-aarch64: dist ## and for 64-bit ARM (needs gcc-aarch64-linux-gnu, qemu-user-static)
	@command -v aarch64-linux-gnu-gcc qemu-aarch64-static >/dev/null || \
	    { echo 'needs the packages gcc-aarch64-linux-gnu and qemu-user-static' >&2; exit 1; }
	@+DIST_CACHE=$(DIST_CACHE) packaging/dist/portable $(BUILD)/portable-aarch64 aarch64-linux-gnu
	@packaging/dist/tarball $(BUILD)/portable-aarch64 $(BUILD)/weir dist aarch64
	@packaging/dist/bindings dist $(BUILD)/portable $(BUILD)/portable-aarch64
	@cd dist && sha256sum weir* > SHA256SUMS && cat SHA256SUMS

portable:
	@$(BOOTSTRAP) dist
	@+DIST_CACHE=$(DIST_CACHE) packaging/dist/portable $(BUILD)/portable

# What packaging/dist/portable builds, with libraries and flags of its own. The names of Node's
# headers are asked for in the recipe only.
for-packages: $(BUILD)/weir $(BUILD)/libweir.so
	@+[ -z "$(NODE_INCLUDE)" ] || $(MAKE) --no-print-directory $(BUILD)/bindings/weir.node

test-dist: ## each package of dist/ on a bare system, and a real session through it (needs root)
	@packaging/dist/test.py dist $(DIST_CACHE)

dist-again: ## build it all once more, in another folder: the same bytes?
	@DIST_CACHE=$(DIST_CACHE) packaging/dist/again $(BUILD)/portable
	@[ ! -e $(BUILD)/portable-aarch64/weir ] || \
	    DIST_CACHE=$(DIST_CACHE) packaging/dist/again $(BUILD)/portable-aarch64 aarch64-linux-gnu

bench-startup: ## how long the program and the portable one take to start
	@bench/startup.py $(BUILD)/weir $(wildcard $(BUILD)/portable/weir)

check-portable: ## compile every source for aarch64-linux-musl and aarch64-macos (zig of PyPI)
	@+$(MAKE) --no-print-directory $(BUILD)/src/policy/presets.c
	@[ -x $(BUILD)/zig/bin/python ] || { python3 -m venv $(BUILD)/zig && \
	    $(BUILD)/zig/bin/pip install --quiet ziglang; } || \
	    { echo 'skipped: zig cannot be had from PyPI'; rm -rf $(BUILD)/zig; exit 77; }
	@BUILD=$(BUILD) tools/check-portable --zig '$(BUILD)/zig/bin/python -m ziglang'

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## -- what the test runner asks for --------------------------------------------------------------

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# A fast linker saves a minute where it is installed. What is released is linked by the system's.
FAST_LD = $(call once,FAST_LD,$(if $(shell command -v mold),-fuse-ld=mold))
# Three hundred test programs share one library with everything that they test (libtested.so), so
# that a change is linked once. Its names have to be visible for that; a release hides them.
SHARED_TESTS := -fvisibility=default -DWR_SHARED_TESTS
ASAN_GCC = BUILD=$(BUILD)/asan-gcc CC=gcc CFLAGS='-O1 -g1 $(SANITIZE) $(SHARED_TESTS)' \
           LDFLAGS='$(FAST_LD)'
ASAN_CLANG = BUILD=$(BUILD)/asan-clang CC=clang CFLAGS='-O1 -g1 $(SANITIZE) $(SHARED_TESTS)' \
             LDFLAGS='$(FAST_LD)'
FUZZING = BUILD=$(BUILD)/fuzz CC=clang CFLAGS='-O2 -g1 $(SANITIZE) -fsanitize=fuzzer-no-link' \
          LDFLAGS='$(FAST_LD)'

.PHONY: program tests long-tests torture fuzzers benches
program: $(BUILD)/weir
tests: $(call programs,$(TEST_SRC))
long-tests: $(call programs,$(LONG_SRC))
torture: $(BUILD)/tests/torture/torture
fuzzers: $(call programs,$(FUZZ_SRC))
benches: $(call programs,$(BENCH_SRC))

# Those that play recorded sessions for long (see tests/run).
LAW_TESTS := $(shell sed -n "s/^law_tests='\(.*\)'$$/\1/p" tests/run)
PAIR_TESTS := $(shell sed -n "s/^pair_tests='\(.*\)'$$/\1/p" tests/run)

.PHONY: build-gcc build-clang build-asan-gcc build-asan-clang build-laws build-long build-fuzz
.PHONY: build-folder
.PHONY: build-clang-fuzz
build-gcc:
	$(MAKE) BUILD=$(BUILD) CC=gcc all $(BUILD)/tools/policies-page
build-clang:
	$(MAKE) BUILD=$(BUILD)/clang CC=clang all
build-asan-gcc:
	$(MAKE) $(ASAN_GCC) program tests torture
build-folder:
	$(MAKE) $(ASAN_GCC) $(patsubst %.c,$(BUILD)/asan-gcc/%, \
	    $(filter $(FOLDER:%=src/%/%) $(FOLDER:%=%/%),$(TEST_SRC)))
build-asan-clang:
	$(MAKE) $(ASAN_CLANG) program tests
build-laws:
	$(MAKE) BUILD=$(BUILD) CC=gcc $(LAW_TESTS:%=$(BUILD)/tests/%_test) $(PAIR_TESTS:%=$(BUILD)/%)
build-long:
	$(MAKE) $(ASAN_GCC) long-tests
build-fuzz:
	$(MAKE) $(FUZZING) fuzzers
# Every source of the program and the library under clang's warnings, in one go with the fuzzers.
build-clang-fuzz:
	$(MAKE) $(FUZZING) program fuzzers

## -- how things are built -----------------------------------------------------------------------

# Changes when the compiler or its flags do, and everything is then built anew.
$(BUILD)/flags: FORCE
	@pkg-config --exists $(PKGS) $(SERVE_PKGS) || \
	    { echo 'weir needs $(PKGS) $(SERVE_PKGS): run tools/bootstrap build' >&2; exit 1; }
	@mkdir -p $(@D)
	@echo '$(CC) $(C_FLAGS) $(HARDEN_LD) $(LDFLAGS)' | cmp -s - $@ || \
	    echo '$(CC) $(C_FLAGS) $(HARDEN_LD) $(LDFLAGS)' > $@
.PHONY: FORCE
FORCE:

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/%.o: %.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,c++)
	$(Q)$(CXX_OF_CC) $(CXX_FLAGS) -MMD -MP -c $< -o $@

# Sources that embed files (base/embed.h): the compiler does not report those as dependencies.
EMBEDDING_SRC := $(shell grep -lsw 'WR_EMBED' $(LIB_SRC) $(SERVE_SRC) $(LAB_SRC) $(CLI_SRC) \
    /dev/null)
$(call objects,$(EMBEDDING_SRC)): $(wildcard data/* data/*/* web/* web/*/*)

# The presets become a constant table: a program of all that the library has but that table reads
# data/policies.yaml as it would a user's. A sanitizer's program dies now and then where addresses
# are more random than it expects (see tests/run).
NO_ASLR = $(if $(IS_SANITIZED),$(shell setarch -R true 2>/dev/null && echo setarch -R))

$(BUILD)/tools/presets-table: $(BUILD)/tools/presets-table.o $(call objects,$(LIB_SRC))
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(LIBS) -o $@

$(BUILD)/src/policy/presets.c: data/policies.yaml $(BUILD)/tools/presets-table
	$(call say,make)
	$(Q)$(NO_ASLR) $(BUILD)/tools/presets-table $< > $@.new
	$(Q)mv $@.new $@

$(BUILD)/src/policy/presets.o: $(BUILD)/src/policy/presets.c
	$(call say,cc)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@

# Two folders may hold files of one name; `r` would let the second replace the first, `q` does not.
define archive
	@rm -f $@
	$(call say,ar)
	$(Q)$(AR) qcs $@ $^
endef

$(BUILD)/libweir.a: $(LIB_OBJ)
	$(archive)

# Debian's llhttp is generated code that is not held to our warnings.
$(BUILD)/llhttp/%.o: $(LLHTTP_DIR)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) -std=gnu11 -w -fPIC -fvisibility=hidden $(LLHTTP_CFLAGS) $(HARDEN) $(CFLAGS) \
	    -c $< -o $@

# The proxy: what the program has beyond the library.
$(BUILD)/libserve.a: $(call objects,$(SERVE_SRC)) $(LLHTTP_OBJ)
	$(archive)

# The laboratory: what judges the engine. The program has it, the library and the proxy do not.
$(BUILD)/liblab.a: $(call objects,$(LAB_SRC))
	$(archive)

# What tests may use beyond the library: helpers in tests/, and the program without its main().
$(BUILD)/libtests.a: $(call objects,$(TEST_HELP_SRC) $(filter-out src/cli/main.c,$(CLI_SRC)))
	$(archive)

$(BUILD)/libweir.so: $(LIB_OBJ) src/libweir.map
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-soname,libweir.so.$(SOVERSION) \
	    -Wl,-z,defs -Wl,--version-script=src/libweir.map -Wl,--no-undefined-version \
	    $(filter %.o,$^) $(LIBS) -o $@
	@ln -sf libweir.so $@.$(SOVERSION)

# In the order in which one calls the next; the linker takes from each what is wanted by then.
PROGRAM_ARCHIVES = $(addprefix $(BUILD)/,liblab.a libserve.a libweir.a)

$(BUILD)/weir: $(call objects,$(CLI_SRC)) $(PROGRAM_ARCHIVES)
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(PROGRAM_LIBS) -o $@

# Where names are visible a test is linked against one library of all that it may call.
TESTED = $(if $(findstring -DWR_SHARED_TESTS,$(CFLAGS)),$(BUILD)/libtested.so, \
           $(BUILD)/libtests.a $(PROGRAM_ARCHIVES))

$(BUILD)/libtested.so: $(call objects,$(TEST_HELP_SRC) $(filter-out src/cli/main.c,$(CLI_SRC)) \
                         $(LAB_SRC) $(SERVE_SRC)) $(LLHTTP_OBJ) $(LIB_OBJ)
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared $^ $(PROGRAM_LIBS) -o $@

$(call programs,$(TEST_SRC) $(LONG_SRC)): %: %.o $(TESTED)
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) -Wl,-rpath,$(abspath $(BUILD)) $^ $(PROGRAM_LIBS) \
	    $(shell pkg-config --libs cmocka) -o $@

$(call programs,$(GOLDEN_SRC)): %: %.o $(BUILD)/libtests.a $(PROGRAM_ARCHIVES)
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(PROGRAM_LIBS) -o $@

# Every way the library asks for memory, so that the harness can refuse.
WRAPPED := malloc calloc realloc aligned_alloc strdup strndup \
           wr_arena_alloc wr_arena_zalloc wr_arena_grow wr_arena_copy
comma := ,
$(BUILD)/tests/torture/torture: $(call objects,$(TORTURE_SRC)) $(BUILD)/liblab.a $(BUILD)/libweir.a
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) $(WRAPPED:%=-Wl$(comma)--wrap=%) $^ $(LIBS) \
	    $(shell pkg-config --libs cmocka) -o $@

# What makes system calls of the program fail, as a library to be loaded in front of the others.
$(BUILD)/tests/chaos/faults.so: $(call objects,$(CHAOS_SRC))
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared $^ -lpthread -o $@

$(call programs,$(FUZZ_SRC)): %: %.o $(call objects,$(FUZZ_HELP_SRC)) $(PROGRAM_ARCHIVES)
	$(call say,ld)
	$(Q)$(if $(wildcard $(@:$(BUILD)/%=%.cpp)),$(CXX_OF_CC),$(CC)) $(CFLAGS) $(LDFLAGS) \
	    -fsanitize=fuzzer $^ $(if $(wildcard $(@:$(BUILD)/%=%.cpp)),-lsimdjson) $(PROGRAM_LIBS) -o $@

$(call programs,$(filter-out $(SIMDJSON_BENCHES),$(BENCH_SRC))): %: %.o $(PROGRAM_ARCHIVES)
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(PROGRAM_LIBS) -o $@

$(BUILD)/tools/policies-page $(BUILD)/tests/oracle_tokens/encode: %: %.o $(BUILD)/libweir.a
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(LIBS) -o $@

$(call programs,$(SIMDJSON_BENCHES)): %: %.o $(BUILD)/bench/simdjson_peer.o $(BUILD)/libweir.a
	$(call say,ld)
	$(Q)$(CXX_OF_CC) $(LINK_FLAGS) $^ -lsimdjson $(LIBS) -o $@

include bindings/bindings.mk

# What only calls this file again needs no dependencies; reading them takes a quarter of a second.
ifneq ($(filter-out help test unit build-folder build-asan-gcc,$(or $(MAKECMDGOALS),all)),)
-include $(ALL_OBJ:.o=.d)
endif
