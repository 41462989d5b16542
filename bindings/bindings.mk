# Packages for Python and Node, made from the same objects as the program (docs/embed.md).
#
# A package brings all that its library needs but the C library: Debian's static archives are linked
# in, so that nothing in the process can be mistaken for it (Python has an OpenSSL and an SQLite of
# its own). The program beside it is a process of its own and finds the shared libraries that it was
# built with in its own folder: an old-style run path holds for them and for what they need in turn.

DIST ?= dist
PORTABLE := $(BUILD)/portable
# Archives of the C library itself are not for shared objects.
OF_LIBC := -lm -ldl -lrt -lpthread -pthread
STATIC_LIBS = $(call once,STATIC_LIBS,$(filter-out $(OF_LIBC), \
                $(shell pkg-config --libs --static $(PKGS))))
STATIC_LINK = -static-libgcc -Wl,-Bstatic -Wl,--start-group $(STATIC_LIBS) -Wl,--end-group \
              -Wl,-Bdynamic -Wl,--as-needed -lpthread -lm -ldl

$(PORTABLE)/libweir.so: $(LIB_OBJ) src/libweir.map
	@mkdir -p $(@D)
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-soname,libweir.so.$(SOVERSION) \
	    -Wl,-s -Wl,-z,defs -Wl,--version-script=src/libweir.map -Wl,--exclude-libs,ALL \
	    $(filter %.o,$^) $(STATIC_LINK) -o $@

$(PORTABLE)/weir: $(call objects,$(CLI_SRC)) $(PROGRAM_ARCHIVES)
	@mkdir -p $(@D)
	$(call say,ld)
	$(Q)$(CC) $(LINK_FLAGS) -Wl,-s -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN/lib' $^ $(PROGRAM_LIBS) \
	    -o $@

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

$(PORTABLE)/weir.node: $(BUILD)/bindings/node/addon.o $(LIB_OBJ) bindings/node/addon.map
	@mkdir -p $(@D)
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-s -Wl,--exclude-libs,ALL \
	    -Wl,--version-script=bindings/node/addon.map $(filter %.o,$^) $(STATIC_LINK) -o $@

# The same over the system's libraries, for builds under sanitizers.
$(BUILD)/bindings/weir.node: $(BUILD)/bindings/node/addon.o $(LIB_OBJ)
	$(call say,ld)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared \
	    -Wl,--version-script=bindings/node/addon.map $(filter %.o,$^) $(LIBS) -o $@

-include $(BUILD)/bindings/node/addon.d

# The packages as they stand in the tree, over the libraries that go into them.
PACKAGES = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(CURDIR)/bindings/python \
           WEIR_LIBRARY=$(CURDIR)/$(PORTABLE)/libweir.so WEIR_PACKAGE=$(CURDIR)/bindings/node \
           WEIR_ADDON=$(CURDIR)/$(PORTABLE)/weir.node

.PHONY: wheel npm test-bindings bench-bindings
wheel: $(PORTABLE)/libweir.so $(PORTABLE)/weir ## dist/weir_context-V-...whl: Python, library, program
	bindings/python/make_wheel.py --version $(VERSION) --library $(PORTABLE)/libweir.so \
	    --program $(PORTABLE)/weir --out $(DIST)

npm: $(PORTABLE)/weir.node $(PORTABLE)/weir ## dist/weir-context-V.tgz: Node, library, program
	bindings/node/make_package.py --version $(VERSION) --addon $(PORTABLE)/weir.node \
	    --program $(PORTABLE)/weir --out $(DIST)

test-bindings: wheel npm ## packages as strangers have them, and real frameworks (needs pip, npm)
	tests/bindings/wheel_test.sh $(BUILD)
	tests/bindings/npm_test.sh $(BUILD)
	$(PACKAGES) tests/bindings/embed_page.py $(BUILD)
	+$(MAKE) --no-print-directory $(ASAN_GCC) $(BUILD)/asan-gcc/libweir.so \
	    $(BUILD)/asan-gcc/bindings/weir.node
	tests/bindings/asan_test.sh $(BUILD)/asan-gcc
	$(PACKAGES) tests/bindings/play_frameworks.py $(BUILD)/frameworks

bench-bindings: $(PORTABLE)/libweir.so $(PORTABLE)/weir.node $(BUILD)/bench/bench_call
bench-bindings: ## what Python and Node add to a call, beside C
	$(PACKAGES) bench/bindings.py $(BUILD)/bench/bench_call
