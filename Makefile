# attest: one flat Makefile, all output under $(BUILD).  `make help` lists the targets.
# config.mk (not committed; see config.mk.dist) is for the user: CC, CFLAGS, NVCC, JOBS, ...
-include config.mk

BUILD  ?= build
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
CFLAGS ?= -O2 -g
NVCC   ?= $(firstword $(wildcard $(shell command -v nvcc 2>/dev/null) /usr/local/cuda/bin/nvcc))
GENCODE ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
SUBMAKE = $(MAKE) --no-print-directory -j$(JOBS)

# ---- make deps: first, alone, then make calls itself for the other goals (their probes need the packages)
PACKAGES = build-essential pkg-config libflint-dev libflint-arb-dev libmpfr-dev libgmp-dev libgsl-dev check \
           libsubunit-dev libjansson-dev librandom123-dev gnuplot-nox python3-numpy python3-mpmath valgrind clang
ifneq ($(filter deps,$(MAKECMDGOALS)),)
GOALS_AFTER = $(filter-out deps,$(MAKECMDGOALS))
.PHONY: deps $(GOALS_AFTER)
deps:
	@sh tests/lint/deps.sh $(PACKAGES)
	$(if $(GOALS_AFTER),@$(SUBMAKE) $(GOALS_AFTER))
$(GOALS_AFTER): deps ; @:
else

# ---- flags
WARN = -std=c11 -Wall -Wextra -Wconversion -Wshadow $(if $(WERROR),-Werror)
OPENMP ?= -fopenmp
EXACT = -ffp-contract=off -fno-fast-math
KERNEL_FLAGS = -O3 -ffp-contract=off
BASE = $(CPPFLAGS) -I. -D_GNU_SOURCE -MMD -MP $(WARN) $(CFLAGS) $(SANITIZE)
# FLINT 3 is one library; Debian 12 has Arb beside FLINT 2.9.
ARB = $(if $(wildcard /usr/include/flint/arb.h /usr/local/include/flint/arb.h),,-lflint-arb)
LIBS = $(ARB) -lflint -lmpfr -lgmp -lgsl -lgslcblas -ljansson -lm -ldl -lpthread
CHECK_LIBS = $(shell pkg-config --libs check 2>/dev/null)
# One line, stated in every row of a built-in kernel.
BUILD_FLAGS = $(strip $(shell $(CC) --version 2>/dev/null | head -n 1) $(KERNEL_FLAGS) $(SANITIZE))

# Short lines unless V=1.
say = $(if $(V),,@echo "  $(1)	$(patsubst $(BUILD)/%,%,$@)";)

# ---- sources
KERNEL_SRC = $(wildcard kernels/*.c $(addprefix kernels/,$(addsuffix /*.c,problem tensor library cpu model yardstick)))
LIB_SRC = $(filter-out reference/tables/% verify/worker/worker_main.c,\
          $(wildcard reference/*/*.c props/*/*.c reports/*.c verify/*/*.c))
TEST_DIRS = tests/kernels tests/props tests/reference tests/reports tests/verify tests/runner
TEST_SRC = $(wildcard $(foreach dir,$(TEST_DIRS),$(dir)/test_*.c $(dir)/*/test_*.c))
CERTIFY_SRC = $(filter-out tests/certify/main.c,$(wildcard tests/certify/*.c))
SUITES = $(wildcard verify/suites/*.suite)
obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
KERNEL_LIB = $(BUILD)/libkernels.a
LIB = $(BUILD)/libattest.a
CERTIFY_LIB = $(BUILD)/libcertify.a
CUDA_PLUGINS = $(if $(NVCC),$(patsubst kernels/cuda/%.cu,$(BUILD)/kernels/cuda-%.so,$(wildcard kernels/cuda/*.cu)))
# Yardsticks of `attest bench`, built where the library is installed; never required, and not under a sanitizer, which
# would have to know what they are made of.
HAS_OPENBLAS = $(shell pkg-config --exists openblas 2>/dev/null && echo yes)
HAS_ONEDNN_2 = $(shell grep -s 'DNNL_VERSION_MAJOR 2$$' /usr/include/oneapi/dnnl/dnnl_version.h)
VENDOR_PLUGINS = $(if $(SANITIZE),,$(if $(HAS_OPENBLAS),$(BUILD)/kernels/vendor-openblas.so) \
                 $(if $(HAS_ONEDNN_2),$(BUILD)/kernels/vendor-onednn.so))
TEST_PLUGINS = $(patsubst tests/plugins/%.c,$(BUILD)/plugins/%.so,$(wildcard tests/plugins/*.c)) \
               $(patsubst %,$(BUILD)/plugins/year-%.so,old new odd-flag odd-output odd-need)

.PHONY: all test gate report audit bench defects claims asan ubsan tsan fuzz coverage lint format mutate install clean help
.DEFAULT_GOAL := all
all: $(BUILD)/attest $(BUILD)/attest-worker $(CUDA_PLUGINS) $(VENDOR_PLUGINS)

$(BUILD)/attest: $(call obj,verify/main.c) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/attest-worker: $(call obj,verify/worker/worker_main.c) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lm -ldl
$(LIB): $(call obj,$(LIB_SRC)) $(BUILD)/suites_data.o $(BUILD)/reference/dd_table.o $(BUILD)/reference/lemmas.o
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(CERTIFY_LIB): $(call obj,$(CERTIFY_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(KERNEL_LIB): $(call obj,$(KERNEL_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^

# ---- rules
$(BUILD)/kernels/cpu/%.o: kernels/cpu/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(KERNEL_FLAGS) -Ikernels -c -o $@ $<
$(BUILD)/kernels/model/%.o: kernels/model/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(KERNEL_FLAGS) -Ikernels -c -o $@ $<
$(BUILD)/kernels/yardstick/%.o: kernels/yardstick/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(KERNEL_FLAGS) -Ikernels -c -o $@ $<
$(BUILD)/kernels/library/registry.o: CPPFLAGS += -DATTEST_BUILD_FLAGS='"$(BUILD_FLAGS)"'
$(BUILD)/reference/%.o: reference/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(EXACT) -c -o $@ $<
# the dd engine: loops at -O3, one file a vector unit; constants made by MPFR; threads
DD_FLAGS = -O3
$(BUILD)/reference/dd/dd_avx512.o: DD_FLAGS = -O3 -mavx512f -mavx512dq -mfma
$(BUILD)/reference/dd/dd_avx2.o: DD_FLAGS = -O3 -mavx2 -mfma
$(BUILD)/reference/dd/%.o: reference/dd/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(EXACT) $(DD_FLAGS) -c -o $@ $<
$(BUILD)/reference/dd/dd_engine.o: CFLAGS += $(OPENMP)
$(BUILD)/reference/exp_table: reference/tables/exp_table.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< -lmpfr -lgmp
$(BUILD)/reference/dd_table.c: $(BUILD)/reference/exp_table
	$(call say,GEN)$< > $@.tmp && mv $@.tmp $@
$(BUILD)/reference/dd_table.o: $(BUILD)/reference/dd_table.c
	$(call say,CC)$(CC) $(BASE) -c -o $@ $<
# what the document of the lemmas states, as a table
$(BUILD)/reference/lemmas.c: reference/derivations.md reference/tables/lemmas.awk
	@mkdir -p $(@D)
	$(call say,GEN)awk -f reference/tables/lemmas.awk $< > $@.tmp && mv $@.tmp $@
$(BUILD)/reference/lemmas.o: $(BUILD)/reference/lemmas.c
	$(call say,CC)$(CC) $(BASE) -c -o $@ $<
$(BUILD)/reference/truth/trust.o: CPPFLAGS += -DATTEST_REFERENCE_FLAGS='"$(strip $(CFLAGS) $(EXACT) $(SANITIZE))"'
$(BUILD)/verify/%.o: verify/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(OPENMP) -c -o $@ $<
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) -c -o $@ $<
$(BUILD)/suites_data.o: $(BUILD)/suites_data.c
	$(call say,CC)$(CC) $(BASE) -c -o $@ $<
$(BUILD)/suites_data.c: $(SUITES) tests/lint/embed.sh
	@mkdir -p $(@D)
	$(call say,GEN)sh tests/lint/embed.sh $(SUITES) > $@.tmp && mv $@.tmp $@
$(BUILD)/kernels/cuda-%.so: kernels/cuda/%.cu kernels/attest.h
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) -std=c++17 -O2 $(GENCODE) -shared -Xcompiler -fPIC,-fvisibility=hidden -Ikernels -o $@ $<
# the planted defects: kernels with one step replaced, a plugin in a folder that the gate does not search
# (many files: compiled quickly; without contraction and fast-math the bits are those of -O3)
DEFECT_FLAGS = -O1 -g0 $(filter-out -O%,$(KERNEL_FLAGS))
DEFECT_OBJ = $(call obj,$(wildcard kernels/defects/*.c kernels/defects/*/*.c))
$(BUILD)/kernels/defects/%.o: kernels/defects/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BASE) $(DEFECT_FLAGS) -fPIC -fvisibility=hidden -Ikernels -DATTEST_BUILD_FLAGS='"$(DEFECT_FLAGS)"' -c -o $@ $<
$(BUILD)/defects/defects.so: $(DEFECT_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) -shared -o $@ $^ -lm
VENDOR_CC = $(CC) $(CPPFLAGS) -D_GNU_SOURCE -MMD -MP $(WARN) $(KERNEL_FLAGS) -shared -fPIC -fvisibility=hidden -Ikernels \
            -DATTEST_BUILD_FLAGS='"$(shell $(CC) --version 2>/dev/null | head -n 1) $(KERNEL_FLAGS)"'
$(BUILD)/kernels/vendor-openblas.so: kernels/vendor/openblas.c
	@mkdir -p $(@D)
	$(call say,CC)$(VENDOR_CC) $(shell pkg-config --cflags openblas) -o $@ $< $(shell pkg-config --libs openblas) -lm
$(BUILD)/kernels/vendor-onednn.so: kernels/vendor/onednn.c
	@mkdir -p $(@D)
	$(call say,CC)$(VENDOR_CC) -o $@ $< -ldnnl -l:libgomp.so.1 -lm
$(BUILD)/plugins/%.so: tests/plugins/%.c $(wildcard tests/plugins/*.h) kernels/attest.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -O1 -g -Wall -shared -fPIC -Ikernels -o $@ $< -lm

# Libraries that were made with an attest.h of another year.
YEARS = tests/plugins/versions
$(BUILD)/plugins/%/attest.h: $(YEARS)/headers.py kernels/attest.h
	@mkdir -p $(@D)
	$(call say,GEN)python3 $(YEARS)/headers.py $* kernels/attest.h > $@.tmp && mv $@.tmp $@
.SECONDARY: $(BUILD)/plugins/old/attest.h $(BUILD)/plugins/new/attest.h
year = $(if $(filter old,$(1)),old,new)
odd = $(if $(filter odd-%,$(1)),-D$(subst -,_,$(shell echo $(1) | tr a-z A-Z)))
$(BUILD)/plugins/year-%.so: $(YEARS)/library.c tests/plugins/good.h $(BUILD)/plugins/old/attest.h $(BUILD)/plugins/new/attest.h
	$(call say,CC)$(CC) -std=c11 -O1 -g -Wall -shared -fPIC -I$(BUILD)/plugins/$(call year,$*) -Itests/plugins $(call odd,$*) -o $@ $< -lm

# ---- tests: one Check runner; build/t/test_X is one suite alone
$(BUILD)/test_suites.h: $(TEST_SRC)
	@mkdir -p $(@D)
	$(call say,GEN)printf '%s\n' $(patsubst test_%.c,'SUITE(suite_%)',$(sort $(notdir $(TEST_SRC)))) > $@
$(BUILD)/attest-tests: tests/main.c $(BUILD)/test_suites.h $(call obj,$(TEST_SRC)) $(CERTIFY_LIB) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(BASE) $(OPENMP) $(LDFLAGS) -I$(BUILD) -o $@ tests/main.c $(call obj,$(TEST_SRC)) $(CERTIFY_LIB) $(LIB) $(KERNEL_LIB) $(CHECK_LIBS) $(LIBS)
define ONE_SUITE
$(BUILD)/t/$(basename $(notdir $(1))): tests/main.c $(call obj,$(1)) $(CERTIFY_LIB) $(LIB) $(KERNEL_LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(BASE) $$(OPENMP) $$(LDFLAGS) -DONLY_SUITE=$$(patsubst test_%,suite_%,$$(@F)) -o $$@ $$^ $$(CHECK_LIBS) $$(LIBS)
endef
$(foreach source,$(TEST_SRC),$(eval $(call ONE_SUITE,$(source))))
$(BUILD)/tests/%.o: CPPFLAGS += -DATTEST_TEST_BUILD='"$(abspath $(BUILD))"' -DATTEST_TEST_ROOT='"$(CURDIR)"'
.SECONDARY: $(call obj,$(TEST_SRC))

# The drawing sources alone, by every compiler at hand, with and without optimisation: all must draw the same.
STREAM_SRC = tests/stream/main.c $(wildcard props/draw/*.c props/generate/generate*.c kernels/problem/*.c kernels/tensor/*.c) \
             kernels/status.c
STREAM_CC = $(foreach cc,gcc clang,$(if $(shell command -v $(cc) 2>/dev/null),$(cc)))
STREAM = $(foreach cc,$(STREAM_CC),$(BUILD)/stream/$(cc)-O0 $(BUILD)/stream/$(cc)-O2)
$(BUILD)/stream/%: $(STREAM_SRC) $(wildcard tests/stream/*.h props/*/*.h kernels/*.h kernels/*/*.h)
	@mkdir -p $(@D)
	$(call say,CC)$(firstword $(subst -, ,$*)) $(CPPFLAGS) -I. -D_GNU_SOURCE $(WARN) -$(lastword $(subst -, ,$*)) -o $@ $(STREAM_SRC) -lm -lpthread
$(BUILD)/attest-tests $(BUILD)/t/test_stream: | $(STREAM)

# The runner over suites with planted faults.
PLANTED = tests/main.c tests/runner/planted.c
$(BUILD)/runner/planted: $(PLANTED) tests/runner/test_suites.h
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CPPFLAGS) -I. -D_GNU_SOURCE $(WARN) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -Itests/runner -o $@ $(PLANTED) $(CHECK_LIBS)
$(BUILD)/attest-tests $(BUILD)/t/test_runner: | $(BUILD)/runner/planted

# The dd engine's enclosures against a truth of their own, 10^7 of them; minutes.
$(BUILD)/certify: $(call obj,tests/certify/main.c) $(CERTIFY_LIB) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
.PHONY: certify
certify: $(BUILD)/certify
	OMP_WAIT_POLICY=passive $<

# attest with one more row in the table of presets (tests/made_up): what else a preset costs is nothing.
MADE_UP = $(BUILD)/made-up/attest $(BUILD)/made-up/attest-worker
$(BUILD)/made-up/variant_presets.c: kernels/problem/variant_presets.c tests/made_up/preset.row
	@mkdir -p $(@D)
	$(call say,GEN)sed '/^const attest_preset attest_presets/r tests/made_up/preset.row' $< > $@
$(BUILD)/made-up/variant_presets.o: $(BUILD)/made-up/variant_presets.c
	$(call say,CC)$(CC) $(BASE) -c -o $@ $<
$(BUILD)/made-up/attest: $(call obj,verify/main.c) $(BUILD)/made-up/variant_presets.o $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/made-up/attest-worker: $(call obj,verify/worker/worker_main.c) $(BUILD)/made-up/variant_presets.o $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lm -ldl

# A copy of the sources with one more value of an axis: what it costs stands in axis.txt.  Compiled quickly.
.PHONY: made-up-axis
made-up-axis: $(MADE_UP)
	@python3 tests/made_up/axis.py . $(BUILD)/made-up/axis > $(BUILD)/made-up/axis.txt
	@$(MAKE) --no-print-directory -C $(BUILD)/made-up/axis BUILD=build CFLAGS=-O0 KERNEL_FLAGS="-O1 -ffp-contract=off" SANITIZE= NVCC= all

test: all $(BUILD)/attest-tests $(BUILD)/defects/defects.so $(TEST_PLUGINS) made-up-axis
	ATTEST_WORKER=$(BUILD)/attest-worker $(BUILD)/attest-tests

# ---- the main job
gate: all
	@$(BUILD)/attest gate --suite ci --out $(BUILD)/report; code=$$?; \
	$(BUILD)/attest study order --quiet --out $(BUILD)/report && \
	$(BUILD)/attest study range --quiet --out $(BUILD)/report && \
	$(BUILD)/attest report $(BUILD)/report && exit $$code
report: all
	$(BUILD)/attest report $(BUILD)/report
audit: all
	$(BUILD)/attest audit $(TARGET)

# ---- checking the checker
asan:
	ASAN_OPTIONS=detect_stack_use_after_return=1 $(SUBMAKE) BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fno-omit-frame-pointer" SANITIZE="-fsanitize=address" sanitized
ubsan:
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(SUBMAKE) BUILD=$(BUILD)/ubsan CFLAGS="-O1 -g" SANITIZE="-fsanitize=undefined -fno-sanitize-recover=all" sanitized
tsan:
	$(SUBMAKE) BUILD=$(BUILD)/tsan CFLAGS="-O1 -g" SANITIZE="-fsanitize=thread" OPENMP= sanitized
.PHONY: sanitized
sanitized: test
	$(BUILD)/attest gate --suite smoke --quiet
coverage:
	$(SUBMAKE) BUILD=$(BUILD)/coverage CFLAGS="-O0 -g --coverage" test && gcovr -r . $(BUILD)/coverage
lint:
	sh tests/lint/layers.sh
	sh tests/lint/style.sh
	$(SUBMAKE) BUILD=$(BUILD)/gcc CC=gcc WERROR=1 all $(BUILD)/gcc/attest-tests
	$(SUBMAKE) BUILD=$(BUILD)/clang CC=clang WERROR=1 OPENMP= all $(BUILD)/clang/attest-tests
mutate: all
	python3 tests/mutations/run.py
format:
	clang-format -i $(shell git ls-files '*.c' '*.h')
claims: all
	$(BUILD)/attest claims --out $(BUILD)/claims
# Threads that wait do not spin: on a busy machine they would wait for each other's processor.  A yardstick that is not
# honest is exit code 4.
bench: all
	$(BUILD)/attest bench reference
	$(BUILD)/attest bench kernels
defects: all $(BUILD)/defects/defects.so
	$(BUILD)/attest defects --out $(BUILD)/defects
fuzz:
	@echo "make $@: not in this version (see CHANGELOG.md)" >&2; exit 2
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/bin/kernels
	install $(BUILD)/attest $(BUILD)/attest-worker $(DESTDIR)$(PREFIX)/bin
	install -m 644 kernels/attest.h kernels/attest_float.h $(DESTDIR)$(PREFIX)/include
	$(if $(strip $(CUDA_PLUGINS) $(VENDOR_PLUGINS)),install $(CUDA_PLUGINS) $(VENDOR_PLUGINS) $(DESTDIR)$(PREFIX)/bin/kernels)
clean:
	rm -rf $(BUILD)
help:
	@echo "all      build/attest, build/attest-worker, CUDA plugins where nvcc is found"
	@echo "deps     install the packages (root or sudo); a no-op when they are there"
	@echo "test     all tests; prints Check's summary        gate    verify all kernels -> build/report/index.html"
	@echo "claims   the ledger of the papers' statements -> build/claims/claims.md"
	@echo "bench    engines and kernels timed side by side    fuzz: not in this version"
	@echo "defects  planted bugs against suite ci: the kill matrix -> build/defects/defects.md"
	@echo "certify  10^7 enclosures of the dd engine against a truth of their own"
	@echo "report   the page again from build/report         audit   TARGET=lib.so[:kernel]"
	@echo "asan ubsan tsan coverage   tests and gate under the tool, in build/TOOL"
	@echo "lint     layers, style, gcc and clang without a warning"
	@echo "mutate   break the code on purpose: every line of the table must be caught by its test"
	@echo "format install clean"

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
endif
