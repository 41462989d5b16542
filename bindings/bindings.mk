# Packages for Python and Node (docs/embed.md). `make dist` makes them too, of what
# packaging/dist/portable builds; tests and benches here use the library of this system's build.

DIST ?= dist

# Headers of Node-API: beside the node that is run, or Debian's libnode-dev.
NODE_INCLUDE = $(call once,NODE_INCLUDE,$(firstword $(wildcard \
                 $(shell node -p 'path.resolve(process.execPath, "../../include/node")' \
                     2>/dev/null) /usr/include/node /usr/include/nodejs/src)))

$(BUILD)/bindings/node/addon.o: bindings/node/addon.c $(BUILD)/flags
	@[ -n "$(NODE_INCLUDE)" ] || \
	    { echo 'the addon needs node and node_api.h: Debian has them in libnode-dev' >&2; exit 1; }
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) -std=c11 $(C_WARN) $(COMMON) -isystem $(NODE_INCLUDE) -MMD -MP -c $< -o $@

$(BUILD)/bindings/weir.node: $(BUILD)/bindings/node/addon.o $(LIB_OBJ) bindings/node/addon.map
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared \
	    -Wl,--version-script=bindings/node/addon.map $(filter %.o,$^) $(LIBS) -o $@

-include $(BUILD)/bindings/node/addon.d

# The packages as they stand in the tree, over the libraries of this build.
PACKAGES = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(CURDIR)/bindings/python \
           WEIR_LIBRARY=$(CURDIR)/$(BUILD)/libweir.so WEIR_PACKAGE=$(CURDIR)/bindings/node \
           WEIR_ADDON=$(CURDIR)/$(BUILD)/bindings/weir.node

.PHONY: wheel npm test-bindings bench-bindings
wheel: portable ## dist/weir_context-V-...whl: Python, library, program
	bindings/python/make_wheel.py --version $(VERSION) --build $(BUILD)/portable --out $(DIST)

npm: portable ## dist/weir-context-V.tgz: Node, library, program
	bindings/node/make_package.py --version $(VERSION) --out $(DIST) $(BUILD)/portable

test-bindings: portable $(BUILD)/libweir.so $(BUILD)/bindings/weir.node
test-bindings: ## packages as strangers have them, and real frameworks (needs pip, npm)
	tests/bindings/wheel_test.sh $(BUILD)
	tests/bindings/npm_test.sh $(BUILD)
	$(PACKAGES) tests/bindings/embed_page.py $(BUILD)
	+$(MAKE) --no-print-directory $(ASAN_GCC) $(BUILD)/asan-gcc/libweir.so \
	    $(BUILD)/asan-gcc/bindings/weir.node
	tests/bindings/asan_test.sh $(BUILD)/asan-gcc
	$(PACKAGES) tests/bindings/play_frameworks.py $(BUILD)/frameworks

bench-bindings: $(BUILD)/libweir.so $(BUILD)/bindings/weir.node $(BUILD)/bench/bench_call
bench-bindings: ## what Python and Node add to a call, beside C
	$(PACKAGES) bench/bindings.py $(BUILD)/bench/bench_call
