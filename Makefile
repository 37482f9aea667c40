# attest: one flat Makefile, all output under $(BUILD).  `make help` lists the targets.
# config.mk (not committed; see config.mk.dist) is for the user: CC, CFLAGS, NVCC, JOBS, ...
-include config.mk

BUILD  ?= build
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
CFLAGS ?= -O2 -g1
CXX    := $(if $(filter default,$(origin CXX)),g++,$(CXX))
NVCC   ?= $(firstword $(wildcard $(shell command -v nvcc 2>/dev/null) /usr/local/cuda/bin/nvcc))
GENCODE ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
SUBMAKE = $(MAKE) --no-print-directory -j$(JOBS)

# ---- make deps, make deps-long: first, alone, then make calls itself for the other goals (their probes need the packages)
PACKAGES = build-essential pkg-config libflint-dev libflint-arb-dev libmpfr-dev libgmp-dev libgsl-dev check \
           libsubunit-dev libjansson-dev librandom123-dev gnuplot-nox python3-numpy python3-mpmath python3-venv \
           valgrind clang clang-format
PACKAGES_LONG = libomp-dev libclang-rt-dev gcovr gdb mandoc chromium tidy parallel slurm-wlm munge qemu-user
FIRST = $(filter deps deps-long,$(MAKECMDGOALS))
ifneq ($(FIRST),)
GOALS_AFTER = $(filter-out $(FIRST),$(MAKECMDGOALS))
.PHONY: $(FIRST) $(GOALS_AFTER)
$(lastword $(FIRST)):
	@sh tests/lint/deps.sh $(PACKAGES) $(if $(filter deps-long,$(FIRST)),$(PACKAGES_LONG))
	$(if $(GOALS_AFTER),@$(SUBMAKE) $(GOALS_AFTER))
$(GOALS_AFTER) $(filter-out $(lastword $(FIRST)),$(FIRST)): $(lastword $(FIRST)) ; @:
else

# ---- flags
WARN = -std=c11 -Wall -Wextra -Wconversion -Wshadow $(if $(WERROR),-Werror)
OPENMP ?= -fopenmp
EXACT = -ffp-contract=off -fno-fast-math
KERNEL_FLAGS = -O3 -ffp-contract=off
# many files: compiled quickly; without contraction and fast-math the bits are those of -O3
DEFECT_FLAGS = -O0 -g0 $(filter-out -O%,$(KERNEL_FLAGS))
DD_FLAGS = -O3
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
KERNEL_SRC = $(wildcard kernels/*.c $(addprefix kernels/,$(addsuffix /*.c,problem tensor npy safetensors library door cpu fast fast/softmax fast/amx fast/taylor fast/linear model yardstick redrawn)))
WORKER_SRC = $(wildcard verify/worker/program/*.c)
LIB_SRC = $(filter-out reference/tables/% $(WORKER_SRC),\
          $(wildcard reference/*/*.c props/*/*.c reports/*.c reports/*/*.c verify/*/*.c verify/*/*/*.c)) \
          kernels/cuda/host/order.c # the reader of a setting, which is refused before anything runs
TEST_DIRS = tests/kernels tests/props tests/reference tests/reports tests/verify tests/runner tests/simulators tests/fuzz \
            tests/alloc
TEST_SRC = $(wildcard $(foreach dir,$(TEST_DIRS),$(dir)/test_*.c $(dir)/*/test_*.c $(dir)/*/*/test_*.c))
SIMULATE_SRC = $(filter-out tests/simulators/main.c tests/simulators/test_%,$(wildcard tests/simulators/*.c))
CERTIFY_SRC = $(wildcard tests/kernels/fast/*_wide.c) $(filter-out tests/certify/main.c tests/certify/functions_main.c,$(wildcard tests/certify/*.c))
FUZZ_SRC = $(filter-out tests/fuzz/entry.c tests/fuzz/test_%,$(wildcard tests/fuzz/*.c))
READERS = $(patsubst tests/fuzz/%.c,%,$(filter-out tests/fuzz/fuzz.c,$(FUZZ_SRC)))
SUITES = $(wildcard verify/suites/*.suite)
TEMPLATES = kernels/attest.h kernels/cuda/library.h kernels/template/ci.yml $(addprefix kernels/template/my_kernel.,c cpp cu py rs)
obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
KERNEL_LIB = $(BUILD)/libkernels.a
LIB = $(BUILD)/libattest.a
CERTIFY_LIB = $(BUILD)/libcertify.a
SIMULATE_LIB = $(BUILD)/libsimulate.a
FUZZ_LIB = $(BUILD)/libfuzz.a
DEFECT_OBJ = $(call obj,$(wildcard kernels/defects/*.c kernels/defects/*/*.c))
CUDA_SRC = $(wildcard kernels/cuda/*.cu)
CUDA_HOST_SRC = $(wildcard kernels/cuda/host/*.c)
# The CUDA kernels twice: by nvcc, where there is one, for a GPU; by a C++ compiler alone, for the CPU.
CUDA_PLUGINS = $(if $(NVCC),$(patsubst kernels/cuda/%.cu,$(BUILD)/kernels/cuda-%.so,$(CUDA_SRC))) \
               $(patsubst kernels/cuda/%.cu,$(BUILD)/kernels/cuda-%-host.so,$(CUDA_SRC))
# Yardsticks of `attest bench`, built where the library is installed; never required, and not under a sanitizer, which
# would have to know what they are made of.
HAS_OPENBLAS = $(shell pkg-config --exists openblas 2>/dev/null && echo yes)
HAS_ONEDNN_2 = $(shell grep -s 'DNNL_VERSION_MAJOR 2$$' /usr/include/oneapi/dnnl/dnnl_version.h)
VENDOR_PLUGINS = $(if $(SANITIZE),,$(if $(HAS_OPENBLAS),$(BUILD)/kernels/vendor-openblas.so) \
                 $(if $(HAS_ONEDNN_2),$(BUILD)/kernels/vendor-onednn.so))
PLUGIN_SRC = $(wildcard tests/plugins/*.c tests/plugins/worker/*.c tests/plugins/classify/*.c \
             tests/verify/typical/plugins/*.c tests/verify/contest/cheats/*.c) tests/plugins/versions/version1.c
TEST_PLUGINS = $(patsubst %.c,$(BUILD)/plugins/%.so,$(notdir $(PLUGIN_SRC))) \
               $(patsubst %,$(BUILD)/plugins/year-%.so,old new odd-flag odd-output odd-need) $(BUILD)/plugins/hollow.so $(BUILD)/plugins/misread.so

.PHONY: kills killers page-seen ends cpus scale deb uninstall install-tried all test one no-such-test gate report audit bench defects claims certify certify-functions check check-long lint objects shipped format \
        format-check smoke smoked asan ubsan sanitized tsan threads clang coverage mutate simulate slack pairs golden fuzz alloc-faults install clean help
.DEFAULT_GOAL := all
all: $(BUILD)/attest $(BUILD)/attest-worker $(CUDA_PLUGINS) $(VENDOR_PLUGINS)

$(BUILD)/attest: $(call obj,verify/main.c) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
# Each command reads the file's bytes, for its hash: what debuggers need stands in a file beside it, where gdb looks.
$(BUILD)/attest-worker: $(call obj,$(WORKER_SRC)) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ -lm -ldl
	@$(if $(SANITIZE),,objcopy --only-keep-debug $@ $@.debug && objcopy --strip-debug --add-gnu-debuglink=$@.debug $@)
$(LIB): $(call obj,$(LIB_SRC)) $(BUILD)/suites_data.o $(BUILD)/reference/dd_table.o $(BUILD)/reference/lemmas.o
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(CERTIFY_LIB): $(call obj,$(CERTIFY_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(FUZZ_LIB): $(call obj,$(FUZZ_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(SIMULATE_LIB): $(call obj,$(SIMULATE_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(KERNEL_LIB): $(call obj,$(KERNEL_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^

# ---- rules
# OWN: what the compiler is told about one folder or file beside BASE; the most specific pattern wins.  It is not part of
# CFLAGS or CPPFLAGS, which a user may set on the command line: that would drop what is added to them here.
OWN =
$(BUILD)/kernels/cpu/%.o $(BUILD)/kernels/model/%.o $(BUILD)/kernels/yardstick/%.o $(BUILD)/kernels/redrawn/%.o: OWN = $(KERNEL_FLAGS) -Ikernels
# the fast kernels: one source a family, one file an instruction set, which is stated here (kernels/fast/simd.h); threads
FOR_AVX2 = -mavx2 -mfma -DFAST_FOR_AVX2
# gcc's address sanitizer puts vectors of 64 bytes on a stack of its own that is not aligned to them (bug 110027).
OWN_STACK = $(if $(findstring address,$(SANITIZE)),$(if $(findstring clang,$(CC)),,--param asan-use-after-return=0))
FOR_AVX512 = -mavx512f -mfma -DFAST_FOR_AVX512 $(OWN_STACK)
FOR_AVX512BF16 = -mavx512f -mavx512bf16 -mfma -DFAST_FOR_AVX512BF16 $(OWN_STACK)
FOR_AMX = -mamx-tile -mamx-bf16 -mavx512f -mavx512bf16 -mfma -DFAST_FOR_AMX $(OWN_STACK)
FAST_FLAGS = $(KERNEL_FLAGS) $(OPENMP) -Ikernels $(FAST_ISA)
$(BUILD)/kernels/fast/%.o: OWN = $(FAST_FLAGS)
$(BUILD)/kernels/fast/%_avx2.o: OWN = $(FAST_FLAGS) $(FOR_AVX2)
$(BUILD)/kernels/fast/%_avx512.o: OWN = $(FAST_FLAGS) $(FOR_AVX512)
$(BUILD)/kernels/fast/%_avx512bf16.o: OWN = $(FAST_FLAGS) $(FOR_AVX512BF16)
$(BUILD)/kernels/fast/%_amx.o: OWN = $(FAST_FLAGS) $(FOR_AMX)
$(BUILD)/kernels/library/registry.o: OWN = -DATTEST_BUILD_FLAGS='"$(BUILD_FLAGS)"'
$(BUILD)/verify/commands/cli.o: OWN = -DATTEST_BUILD_FLAGS='"$(strip $(shell $(CC) --version 2>/dev/null | head -n 1) $(strip $(CFLAGS) $(SANITIZE)); kernels: $(KERNEL_FLAGS))"'
$(BUILD)/kernels/defects/%.o: OWN = $(DEFECT_FLAGS) -fPIC -fvisibility=hidden -Ikernels -DATTEST_BUILD_FLAGS='"$(DEFECT_FLAGS)"'
# the machine that runs CUDA kernels on the CPU: not the sanitizers' business
$(BUILD)/kernels/cuda/host/%.o: OWN = $(KERNEL_FLAGS) -fPIC -fvisibility=hidden -Ikernels
$(BUILD)/kernels/cuda/host/%.o: override SANITIZE =
$(BUILD)/reference/%.o: OWN = $(EXACT)
$(BUILD)/reference/truth/trust.o: OWN = $(EXACT) -DATTEST_REFERENCE_FLAGS='"$(strip $(CFLAGS) $(EXACT) $(SANITIZE))"'
# the dd engine: vector loops, one file a vector unit; threads
$(BUILD)/reference/dd/%.o: OWN = $(EXACT) $(DD_FLAGS)
$(BUILD)/reference/dd/dd_avx512.o: OWN = $(EXACT) $(DD_FLAGS) -mavx512f -mavx512dq -mfma $(OWN_STACK)
$(BUILD)/reference/dd/dd_avx2.o: OWN = $(EXACT) $(DD_FLAGS) -mavx2 -mfma
$(BUILD)/reference/dd/dd_engine.o: OWN = $(EXACT) $(DD_FLAGS) $(OPENMP)
$(BUILD)/verify/%.o: OWN = $(OPENMP)
$(BUILD)/tests/%.o: OWN = -DATTEST_TEST_BUILD='"$(abspath $(BUILD))"' -DATTEST_TEST_ROOT='"$(CURDIR)"'
# the functions of the fast kernels as these are compiled, and their loops once more
FAST_TEST = -DATTEST_TEST_BUILD='"$(abspath $(BUILD))"' $(FAST_FLAGS) -Wno-psabi
$(BUILD)/tests/certify/functions.o $(BUILD)/tests/certify/functions_%.o $(BUILD)/tests/kernels/fast/%.o: OWN = $(FAST_TEST)
$(BUILD)/tests/kernels/fast/%_wide.o: OWN = $(FAST_TEST) -O1
$(BUILD)/tests/certify/functions_avx2.o: OWN = $(FAST_TEST) $(FOR_AVX2)
$(BUILD)/tests/certify/functions_avx512.o: OWN = $(FAST_TEST) $(FOR_AVX512)
COMPILE = $(CC) $(BASE) $(OWN) -c -o $@ $<
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE)
$(BUILD)/%.o: $(BUILD)/%.c
	$(call say,CC)$(COMPILE)
# sources made at build time: the texts of suites and templates, the dd engine's constants (by MPFR), the table of the lemmas
$(BUILD)/suites_data.c: $(SUITES) $(TEMPLATES) verify/suites/embed.sh
	@mkdir -p $(@D)
	$(call say,GEN)sh verify/suites/embed.sh $(SUITES) $(TEMPLATES) > $@.tmp && mv $@.tmp $@

# The covering array that suites ci and full include: made anew after a new axis value, family, size class or kernel.
pairs: all $(BUILD)/plugins/hollow.so
	python3 verify/suites/pairs.py $(BUILD)/attest $(BUILD)/plugins/hollow.so verify/suites/ci.suite > $(BUILD)/pairs.suite
	mv $(BUILD)/pairs.suite verify/suites/pairs.suite
# The cases that `attest defects` begins with: after a change of suite ci or of the planted defects.
killers: all $(BUILD)/defects/defects.so
	-$(BUILD)/attest defects --quiet --out $(BUILD)/defects > $(BUILD)/defects/defects.txt
	python3 verify/suites/killers.py $(BUILD)/defects/defects.json > $(BUILD)/killers.suite
	mv $(BUILD)/killers.suite verify/suites/killers.suite
# The golden pack of tests/verify/exchange: made anew after a change of its suite, of a bound, of the keys of a case.
golden: all
	rm -rf $(BUILD)/golden
	$(BUILD)/attest export --golden --quiet --suite tests/verify/exchange/golden.suite --out $(BUILD)/golden
	rm -rf tests/verify/exchange/golden && mv $(BUILD)/golden tests/verify/exchange/golden
$(BUILD)/reference/exp_table: reference/tables/exp_table.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< -lmpfr -lgmp
$(BUILD)/reference/dd_table.c: $(BUILD)/reference/exp_table
	$(call say,GEN)$< > $@.tmp && mv $@.tmp $@
$(BUILD)/reference/lemmas.c: reference/derivations.md reference/tables/lemmas.awk
	@mkdir -p $(@D)
	$(call say,GEN)awk -f reference/tables/lemmas.awk $< > $@.tmp && mv $@.tmp $@
# plugins: CUDA kernels; the planted defects, in a folder that the gate does not search; what vendors ship; the tests' own
$(BUILD)/kernels/cuda-%.so: kernels/cuda/%.cu $(wildcard kernels/cuda/*.h) kernels/attest.h
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) -std=c++17 -O2 $(GENCODE) -shared -Xcompiler -fPIC,-fvisibility=hidden -Ikernels -o $@ $<
vpath %.cu kernels/cuda tests/kernels/cuda tests/kernels/cuda/day
$(BUILD)/cuda/%-host.cpp: %.cu kernels/cuda/host/translate.sed
	@mkdir -p $(@D)
	$(call say,GEN)(echo '#line 1 "$<"' && sed -E -f kernels/cuda/host/translate.sed $<) > $@.tmp && mv $@.tmp $@
CUDA_HOST_CXX = $(CXX) $(CPPFLAGS) -std=c++17 $(CFLAGS) $(KERNEL_FLAGS) -fPIC -fvisibility=hidden $(SANITIZE) \
                -Ikernels/cuda/host -Ikernels/cuda -Ikernels
$(BUILD)/kernels/cuda-%-host.so: $(BUILD)/cuda/%-host.cpp $(call obj,$(CUDA_HOST_SRC)) $(wildcard kernels/cuda/*.h kernels/cuda/host/*.h) kernels/attest.h
	@mkdir -p $(@D)
	$(call say,CXX)$(CUDA_HOST_CXX) -shared -o $@ $< $(call obj,$(CUDA_HOST_SRC)) -lm -lpthread
.SECONDARY: $(foreach end,host.cpp asan.o tsan.o,$(patsubst kernels/cuda/%.cu,$(BUILD)/cuda/%-$(end),$(CUDA_SRC))) \
            $(call obj,tests/kernels/cuda/run.c)
# CUDA kernels without the gate (tests/kernels/cuda/run.c): of a library that is loaded; linked with a kernel and compiled
# under two sanitizers at once, or with CUDA threads as threads of ThreadSanitizer, whose fibres only clang makes quickly.
# A sanitizer looks at accesses, not at their speed: -O1 takes the compiler a third of the time.
CUDA_RUN_OBJ = $(call obj,tests/kernels/cuda/run.c $(CUDA_HOST_SRC)) $(LIB) $(KERNEL_LIB)
CUDA_RUN_CXX = -std=c++17 -g1 -O1 $(filter-out -O%,$(KERNEL_FLAGS)) -Ikernels/cuda/host -Ikernels/cuda -Ikernels -c -o $@ $<
CUDA_ASAN = $(CXX) $(CPPFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all
CUDA_TSAN_CXX = clang++ $(CPPFLAGS) -fsanitize=thread
$(BUILD)/cuda/run: $(CUDA_RUN_OBJ)
	$(call say,LINK)$(CC) $(SANITIZE) -o $@ $^ $(LIBS) -lgomp
$(BUILD)/cuda/%-asan.o: $(BUILD)/cuda/%-host.cpp $(wildcard kernels/cuda/*.h kernels/cuda/host/*.h) kernels/attest.h
	$(call say,CXX)$(CUDA_ASAN) $(CUDA_RUN_CXX)
$(BUILD)/cuda/%-tsan.o: $(BUILD)/cuda/%-host.cpp $(wildcard kernels/cuda/*.h kernels/cuda/host/*.h) kernels/attest.h
	$(call say,CXX)$(CUDA_TSAN_CXX) $(CUDA_RUN_CXX)
$(BUILD)/cuda/%-asan: $(BUILD)/cuda/%-asan.o $(CUDA_RUN_OBJ)
	$(call say,LINK)$(CUDA_ASAN) -o $@ $^ $(LIBS) -lgomp
$(BUILD)/cuda/%-tsan: $(BUILD)/cuda/%-tsan.o $(CUDA_RUN_OBJ)
	$(call say,LINK)$(CUDA_TSAN_CXX) -o $@ $^ $(LIBS) -lgomp
$(BUILD)/cuda/%.so: $(BUILD)/cuda/%-host.cpp $(call obj,$(CUDA_HOST_SRC)) $(wildcard kernels/cuda/*.h kernels/cuda/host/*.h)
	$(call say,CXX)$(CUDA_HOST_CXX) -shared -o $@ $< $(call obj,$(CUDA_HOST_SRC)) -lm -lpthread
# The programs of a day with a GPU (tests/kernels/cuda/day): by nvcc, and those that have a meaning there for the CPU.
DAY = tests/kernels/cuda/day
$(BUILD)/cuda/mma: $(BUILD)/cuda/mma-host.cpp $(call obj,$(CUDA_HOST_SRC)) $(wildcard kernels/cuda/*.h kernels/cuda/host/*.h)
	$(call say,CXX)$(CUDA_HOST_CXX) -o $@ $< $(call obj,$(CUDA_HOST_SRC)) -lm -lpthread
$(BUILD)/gpu/mma $(BUILD)/gpu/ex2: $(BUILD)/gpu/%: $(DAY)/%.cu $(wildcard kernels/cuda/*.h)
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) -std=c++17 -O2 $(GENCODE) -Ikernels/cuda -Ikernels -o $@ $<
$(BUILD)/gpu/events.so: $(DAY)/events.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) -std=c++17 -O2 $(GENCODE) -shared -Xcompiler -fPIC -o $@ $<
DAY_HOST = $(addprefix $(BUILD)/,attest attest-worker mma-compare ex2-fit cuda/run cuda/mma cuda/events.so) $(CUDA_PLUGINS)
DAY_GPU = $(if $(NVCC),$(addprefix $(BUILD)/gpu/,mma ex2 events.so))
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
vpath %.c tests/plugins tests/plugins/worker tests/plugins/classify tests/plugins/versions tests/verify/typical/plugins tests/verify/contest/cheats
$(filter-out $(BUILD)/plugins/year-% $(BUILD)/plugins/hollow.so $(BUILD)/plugins/misread.so,$(TEST_PLUGINS)): $(BUILD)/plugins/%.so: %.c $(wildcard tests/plugins/*.h tests/verify/typical/plugins/* tests/verify/contest/cheats/* kernels/cpu/*.c kernels/cpu/steps/*.h) kernels/attest.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g -Wall -shared -fPIC -Ikernels -o $@ $< -lm -lpthread

# The built-in kernels again, with something taken away.  The same numbers, compiled in a third of the time.
QUICK_FLAGS = -O1 $(filter-out -O%,$(KERNEL_FLAGS))
HOLLOW_SRC = tests/verify/gate/plugins/hollow.c kernels/library/registry.c $(filter-out %/ex2_table.c,$(wildcard kernels/cpu/*.c kernels/model/*.c kernels/fast/*.c kernels/fast/*/*.c))
$(BUILD)/plugins/hollow.so: $(HOLLOW_SRC) $(wildcard kernels/cpu/steps/*.h kernels/model/*.h kernels/fast/*.h kernels/fast/*/*.h) kernels/attest.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -D_GNU_SOURCE $(QUICK_FLAGS) -Wall -shared -fPIC -DFAST_ONE_ISA -I. -Ikernels -o $@ $(HOLLOW_SRC) -lm

# Built-in kernels that are asked for one function and compute another.
MISREAD_SRC = tests/verify/gate/diagnosis/plugins/misread.c $(addprefix kernels/cpu/,softmax_two_pass_f32.c softmax_online_bf16.c softmax_split_f32.c taylor_direct_f32.c linear_recurrent_f32.c delta_recurrent_f32.c)
$(BUILD)/plugins/misread.so: $(MISREAD_SRC) $(wildcard tests/verify/gate/diagnosis/plugins/*.h kernels/cpu/steps/*.h) kernels/attest.h kernels/attest_float.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -D_GNU_SOURCE $(QUICK_FLAGS) -Wall -shared -fPIC -Ikernels -o $@ $(MISREAD_SRC) -lm

# A library that does its host harm: tests/faults/table.py.
HOSTILE = $(BUILD)/faults/hostile.so
$(HOSTILE): $(wildcard tests/faults/plugins/*) tests/plugins/good.h kernels/attest.h verify/worker/worker_protocol.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wno-infinite-recursion -shared -fPIC -I. -Ikernels -o $@ tests/faults/plugins/hostile.c -lm -ldl -lpthread
.PHONY: plugins faults
plugins: $(TEST_PLUGINS) $(HOSTILE)
faults: all $(HOSTILE)
	python3 tests/faults/table.py $(BUILD)
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

# ---- tests: one Check runner; build/t/test_X is one suite alone, `make one TEST=X` builds and runs it with its needs
$(BUILD)/test_suites.h: $(TEST_SRC)
	@mkdir -p $(@D)
	$(call say,GEN)printf '%s\n' $(patsubst test_%.c,'SUITE(suite_%)',$(sort $(notdir $(TEST_SRC)))) > $@
$(BUILD)/attest-tests: tests/main.c $(BUILD)/test_suites.h $(call obj,$(TEST_SRC)) $(CERTIFY_LIB) $(SIMULATE_LIB) $(FUZZ_LIB) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(BASE) $(OPENMP) $(LDFLAGS) -I$(BUILD) -o $@ tests/main.c $(call obj,$(TEST_SRC)) $(CERTIFY_LIB) $(SIMULATE_LIB) $(FUZZ_LIB) $(LIB) $(KERNEL_LIB) $(CHECK_LIBS) $(LIBS)
# those of `make smoke` need nothing but the product
SMOKE_TESTS = npy safetensors tensor problem variant suite repro
define ONE_SUITE
$(BUILD)/t/$(basename $(notdir $(1))): tests/main.c $(call obj,$(1)) $(if $(filter $(SMOKE_TESTS:%=test_%.c),$(notdir $(1))),,$(CERTIFY_LIB) $(SIMULATE_LIB) $(FUZZ_LIB)) $(LIB) $(KERNEL_LIB)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(BASE) $$(OPENMP) $$(LDFLAGS) -DONLY_SUITE=$$(patsubst test_%,suite_%,$$(@F)) -o $$@ $$^ $$(CHECK_LIBS) $$(LIBS)
endef
$(foreach source,$(TEST_SRC),$(eval $(call ONE_SUITE,$(source))))
.SECONDARY: $(call obj,$(TEST_SRC))

# The drawing sources alone, by every compiler at hand, with and without optimisation: all must draw the same.
STREAM_SRC = tests/stream/main.c $(wildcard props/draw/*.c props/generate/generate*.c kernels/problem/*.c kernels/tensor/*.c kernels/npy/*.c) \
             kernels/input.c kernels/status.c kernels/text.c
STREAM_CC = $(foreach cc,gcc clang,$(if $(shell command -v $(cc) 2>/dev/null),$(cc)))
STREAM = $(foreach cc,$(STREAM_CC),$(BUILD)/stream/$(cc)-O0 $(BUILD)/stream/$(cc)-O2)
$(BUILD)/stream/%: $(STREAM_SRC) $(wildcard tests/stream/*.h props/*/*.h kernels/*.h kernels/*/*.h)
	@mkdir -p $(@D)
	$(call say,CC)$(firstword $(subst -, ,$*)) $(CPPFLAGS) -I. -D_GNU_SOURCE $(WARN) -$(lastword $(subst -, ,$*)) -o $@ $(STREAM_SRC) -lm -lpthread
$(BUILD)/attest-tests $(BUILD)/t/test_stream: | $(STREAM)

# The CUDA kernels on the CPU, with and without sanitizers; ThreadSanitizer where clang++ has it (make deps-long) and
# the rest is not built for another sanitizer with a memory of its own.
CUDA_TSAN := $(if $(findstring address,$(SANITIZE)),,$(wildcard $(shell clang++ -print-file-name=libclang_rt.tsan-x86_64.a 2>/dev/null)))
CUDA_TESTS = $(BUILD)/cuda/run $(foreach name,$(notdir $(CUDA_SRC:.cu=)),$(BUILD)/kernels/cuda-$(name)-host.so $(addprefix $(BUILD)/cuda/$(name)-,asan $(if $(CUDA_TSAN),tsan)))
$(BUILD)/tests/kernels/cuda/%.o: OWN = -DATTEST_TEST_BUILD='"$(abspath $(BUILD))"' -DATTEST_TEST_ROOT='"$(CURDIR)"' $(if $(CUDA_TSAN),-DATTEST_TEST_TSAN)
$(BUILD)/attest-tests $(BUILD)/t/test_cuda_host: | $(BUILD)/cuda/probe.so $(CUDA_TESTS)
$(BUILD)/attest-tests $(BUILD)/t/test_cuda_launch: | $(BUILD)/cuda/probe.so
$(BUILD)/attest-tests $(BUILD)/t/test_device_settings: | $(BUILD)/cuda/probe.so
$(BUILD)/attest-tests $(BUILD)/t/test_worker_run: | $(BUILD)/cuda/racy.so $(BUILD)/attest $(BUILD)/attest-worker
$(BUILD)/attest-tests $(BUILD)/t/test_gpu_day: | $(DAY_HOST)

# The runner over suites with planted faults.
PLANTED = tests/main.c tests/runner/planted.c
$(BUILD)/runner/planted: $(PLANTED) tests/runner/test_suites.h
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CPPFLAGS) -I. -D_GNU_SOURCE $(WARN) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -Itests/runner -o $@ $(PLANTED) $(CHECK_LIBS)
$(BUILD)/attest-tests $(BUILD)/t/test_runner: | $(BUILD)/runner/planted

# The dd engine's enclosures against a truth of their own, 10^7 of them; minutes.
$(BUILD)/certify: $(call obj,tests/certify/main.c) $(CERTIFY_LIB) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
certify: $(BUILD)/certify
	OMP_WAIT_POLICY=passive $<

# Every function that a fast kernel makes for itself, on all floats of its domain; a minute.
$(BUILD)/certify-functions: $(call obj,tests/certify/functions_main.c) $(CERTIFY_LIB) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
certify-functions: $(BUILD)/certify-functions
	@$<

# The worst errors of modelled kernels against their bounds: tests/simulators/README.md.
$(BUILD)/simulate: $(call obj,tests/simulators/main.c) $(SIMULATE_LIB) $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
simulate: $(BUILD)/simulate
	@$< --kept tests/simulators/table.txt $(SIMULATE)

# How tight the bounds are: bound/error by kernel, variant and n.  SLACK = kernels, default the float ones of the CPU.
slack: all
	@python3 tests/slack/slack.py $(BUILD)/attest $(BUILD)/slack $(SLACK)

# attest with one more row in the table of presets (tests/made_up): what else a preset costs is nothing.
MADE_UP = $(BUILD)/made-up/attest $(BUILD)/made-up/attest-worker
$(BUILD)/made-up/variant_presets.c: kernels/problem/variant_presets.c tests/made_up/preset.row
	@mkdir -p $(@D)
	$(call say,GEN)sed '/^const attest_preset attest_presets/r tests/made_up/preset.row' $< > $@.tmp && mv $@.tmp $@
$(BUILD)/made-up/attest: $(call obj,verify/main.c) $(BUILD)/made-up/variant_presets.o $(LIB) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/made-up/attest-worker: $(call obj,$(WORKER_SRC)) $(BUILD)/made-up/variant_presets.o $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(SANITIZE) $(OPENMP) $(LDFLAGS) -o $@ $^ -lm -ldl

# A copy of the sources with one more value of an axis: what it costs stands in axis.txt.  What reads it is compiled.
.PHONY: made-up-axis
made-up-axis: $(MADE_UP)
	@python3 tests/made_up/axis.py . $(BUILD) $(BUILD)/made-up/axis > $(BUILD)/made-up/axis.txt
	@$(MAKE) --no-print-directory -C $(BUILD)/made-up/axis BUILD=build CC="$(CC)" CFLAGS="-O0 -w" WERROR= \
	    KERNEL_FLAGS=-ffp-contract=off DD_FLAGS= SANITIZE="$(SANITIZE)" OPENMP="$(OPENMP)" build/attest build/attest-worker

# PART=quick (tests/main.c), slow, or empty: both.
PART ?= $(if $(LONG),,quick)
test: all $(BUILD)/attest-tests $(BUILD)/defects/defects.so $(TEST_PLUGINS) $(HOSTILE) $(if $(filter quick,$(PART)),,made-up-axis)
	$(if $(LONG),ATTEST_TEST_LONG=1) ATTEST_TEST_PART=$(PART) ATTEST_WORKER=$(BUILD)/attest-worker $(BUILD)/attest-tests

# TEST=ulp; CK_RUN_CASE=... in the environment picks one case of it.
ONE = $(BUILD)/t/test_$(TEST)
one: $(if $(filter %/test_$(TEST).c,$(TEST_SRC)),all $(ONE) $(BUILD)/defects/defects.so $(TEST_PLUGINS) $(HOSTILE) \
     $(if $(filter made_up,$(TEST)),made-up-axis),no-such-test)
	$(if $(LONG),ATTEST_TEST_LONG=1) ATTEST_WORKER=$(BUILD)/attest-worker $(ONE)
no-such-test:
	@echo "make one TEST=NAME, where NAME is one of: $(sort $(patsubst test_%.c,%,$(notdir $(TEST_SRC))))" >&2; exit 2

# The model of tensor cores against a folder of published vectors (tests/vectors/published.py), and its cost.
.PHONY: mma-vectors
$(BUILD)/mma-compare: tests/vectors/compare.c tests/vectors/mma_rows.h $(wildcard kernels/model/mma*.h) kernels/attest_float.h
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CPPFLAGS) -I. -Ikernels -D_GNU_SOURCE $(WARN) $(KERNEL_FLAGS) -o $@ $< -lm
mma-vectors: $(BUILD)/mma-compare
	@$(if $(VECTORS),python3 tests/vectors/published.py $(VECTORS) --compare $<,echo "make mma-vectors VECTORS=FOLDER" >&2; exit 2)
	@$< --time

# A table of ex2.approx.f32 from a GPU's outputs: tests/vectors/ex2_fit.c.
EX2_FIT = tests/vectors/ex2_fit.c $(addprefix kernels/,model/ex2_table.c input.c status.c text.c)
$(BUILD)/ex2-fit: $(EX2_FIT) tests/vectors/ex2_fit.h kernels/model/ex2.h kernels/model/ex2_table.h
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CPPFLAGS) -I. -Ikernels -D_GNU_SOURCE $(WARN) $(KERNEL_FLAGS) -o $@ $(EX2_FIT) -lm

# Which cheats `attest judge` and the checks of public benchmarks let pass: the table of reports/docs/judge.md.
.PHONY: judge-table
$(BUILD)/public: $(call obj,tests/verify/contest/public.c) $(KERNEL_LIB)
	$(call say,LINK)$(CC) $(CFLAGS) $(OPENMP) $(LDFLAGS) -o $@ $^ -lm -ldl -lpthread
judge-table: all $(BUILD)/plugins/cheats.so $(BUILD)/public
	@python3 tests/verify/contest/table.py $(BUILD) reports/docs/judge.md

# The planted CUDA defects, without a GPU: tests/kernels/cuda/defects.txt.
.PHONY: cuda-defects
cuda-defects: all $(BUILD)/cuda/run
	@CXX="$(CXX)" python3 tests/kernels/cuda/defects.py --build $(BUILD) --libs "$(LIBS)" $(CUDA_DEFECTS)

# What nvcc makes of the CUDA kernels, against tests/kernels/cuda/fingerprints.txt; exit code 77: nothing was compared.
.PHONY: fingerprints
fingerprints:
	@python3 tests/kernels/cuda/fingerprints.py --nvcc "$(NVCC)" $(FINGERPRINTS)

# Everything a GPU is needed for, into one folder; it goes on where it was ended (tests/kernels/cuda/day/README.md).
.PHONY: gpu-day
GPU_DAY = $(BUILD)/gpu-day
gpu-day: $(DAY_HOST) $(DAY_GPU)
	@python3 $(DAY)/day.py --build $(BUILD) --nvcc "$(NVCC)" --out $(GPU_DAY) $(if $(GPU),--gpu $(GPU))

# ---- the main job
gate: all $(BUILD)/defects/defects.so
	@rm -f $(BUILD)/report/passed; $(BUILD)/attest gate --suite ci --out $(BUILD)/report; code=$$?; \
	$(BUILD)/attest claims --quiet --out $(BUILD)/report || code=1; \
	$(BUILD)/attest defects --quiet --out $(BUILD)/report > $(BUILD)/report/defects.txt || \
		{ cat $(BUILD)/report/defects.txt; code=1; }; \
	$(BUILD)/attest study order --quiet --out $(BUILD)/report && \
	$(BUILD)/attest study range --quiet --out $(BUILD)/report && \
	$(BUILD)/attest report $(BUILD)/report && { [ $$code != 0 ] || touch $(BUILD)/report/passed; } && exit $$code
# There once these very binaries have passed: who has run `make gate` has no need to wait for it again in `make check`.
$(BUILD)/report/passed: $(BUILD)/attest $(BUILD)/attest-worker $(CUDA_PLUGINS) $(VENDOR_PLUGINS) $(BUILD)/defects/defects.so
	@$(SUBMAKE) gate
report: all
	$(BUILD)/attest report $(BUILD)/report
audit: all
	$(BUILD)/attest audit $(TARGET)

# ---- checking the checker.  `check` is what each change must pass, beside `make test`: 15 to 25 minutes on two cores
# from a fresh clone.  `check-long` is everything else.
check:
	@$(SUBMAKE) lint
	@$(SUBMAKE) WERROR=1 $(BUILD)/report/passed
	@$(SUBMAKE) WERROR=1 PART=slow test
	@$(SUBMAKE) smoke
	@echo "check: ok"
check-long: check
	@$(SUBMAKE) LONG=1 test
	@$(SUBMAKE) asan
	@$(SUBMAKE) ubsan
	@$(SUBMAKE) tsan
	sh tests/lint/leaks.sh
	@$(SUBMAKE) python-install
	@$(SUBMAKE) clang
	@$(SUBMAKE) fuzz
	@$(SUBMAKE) alloc-faults
	@$(SUBMAKE) certify
	@$(SUBMAKE) certify-functions
	@$(SUBMAKE) simulate SIMULATE=--more
	@$(SUBMAKE) cuda-defects
	@python3 tests/kernels/cuda/fingerprints.py --nvcc "$(NVCC)" || [ $$? = 77 ]
	@$(SUBMAKE) faults
	$(BUILD)/attest props --quiet --cases 2000 --out $(BUILD)/props
	@$(SUBMAKE) kills
	@$(SUBMAKE) page-seen
	@$(SUBMAKE) ends
	@$(SUBMAKE) cpus
	@$(SUBMAKE) scale
	@$(SUBMAKE) install-tried
	@$(SUBMAKE) mutate
	@echo "check-long: ok"

# kill -9 of workers and of the gate itself: no verdict changes, and a run that is resumed ends as one that was not; four
# gates at once.
KILLS = --suite ci
kills: all
	python3 tests/faults/gate/kills.py workers $(BUILD) $(KILLS)
	python3 tests/faults/gate/kills.py gate $(BUILD) --share 0.6
	python3 tests/faults/gate/kills.py four $(BUILD)

# The page of suite ci in a browser: HTML, accessibility, charts on narrow screens, print.
page-seen: $(BUILD)/report/passed
	python3 tests/reports/page/accessible.py $(BUILD)/report
# Runs that end badly, or lack what they like to have: what was judged stays, and the exit code tells the truth.
ends: all $(BUILD)/plugins/notices.so
	python3 tests/faults/gate/ends.py $(BUILD)
# The fast kernels on CPUs without AVX-512, without AVX2, without SSE4: no illegal instruction (qemu-user).
cpus: all
	sh tests/kernels/fast/cpus.sh $(BUILD)
# A suite in shards by Slurm (two nodes on this machine, one of them killed) and by GNU parallel (killed, called again).
scale: all
	sh tests/verify/shard/slurm.sh $(BUILD)
	sh tests/verify/shard/parallel.sh $(BUILD)

# Layers, style, layout, and no warning of gcc (with the flags of the build: what it compiles here is not compiled again)
# or, of what is shipped, of clang (which reads here and compiles nothing: its objects are empty; `make clang` has the rest).
SHIPPED = $(call obj,$(KERNEL_SRC) $(CUDA_HOST_SRC) $(LIB_SRC) verify/main.c $(WORKER_SRC)) $(BUILD)/suites_data.o $(BUILD)/reference/dd_table.o $(BUILD)/reference/lemmas.o
OBJECTS = $(SHIPPED) $(DEFECT_OBJ) $(call obj,$(TEST_SRC) $(CERTIFY_SRC) tests/certify/main.c tests/certify/functions_main.c \
          $(SIMULATE_SRC) tests/simulators/main.c $(FUZZ_SRC) tests/fuzz/entry.c)
objects: $(OBJECTS)
shipped: $(SHIPPED)
lint: format-check
	python3 tests/lint/mirror.py
	sh tests/lint/style.sh
	@$(SUBMAKE) WERROR=1 objects
	python3 tests/lint/layers.py --build $(BUILD)
	@CC="$(CC)" sh tests/lint/isa.sh $(MAKE) $(BUILD)
	@$(SUBMAKE) BUILD=$(BUILD)/clang-O0 CC=clang CFLAGS=-O0 KERNEL_FLAGS=-ffp-contract=off DEFECT_FLAGS= DD_FLAGS= OPENMP= \
	            WERROR=1 'COMPILE=$$(CC) $$(BASE) $$(OWN) -fsyntax-only -MF $$(@:.o=.d) -MT $$@ $$< && : > $$@' shipped
# Another version of clang-format lays out otherwise: it neither checks nor changes anything.
LAYOUT_VERSION = 14
CLANG_FORMAT = $(firstword $(shell command -v clang-format-$(LAYOUT_VERSION) clang-format 2>/dev/null) clang-format)
LAYOUT = $(CLANG_FORMAT) --version | grep -q 'version $(LAYOUT_VERSION)\.' || { \
         echo "$@: not done: this needs clang-format $(LAYOUT_VERSION)" >&2; exit 0; }; \
         find kernels reference props verify reports tests examples -name '*.[ch]' | sort | xargs -P $(JOBS) -n 50 $(CLANG_FORMAT)
format-check:
	@$(LAYOUT) --dry-run -Werror --ferror-limit=1 && echo "format: ok"
format:
	@$(LAYOUT) -i

# Product and worker under two sanitizers at once: suite smoke, and the suites of tests that read bytes and text.  Of the
# fast kernels it has the portable build alone, with less optimisation, for the compiler's time: `make asan` has
# all instruction sets, each gate has guard pages, and test_cuda_host has those of CUDA under the same two sanitizers.
smoke:
	ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 $(SUBMAKE) BUILD=$(BUILD)/smoke \
	    CFLAGS="-O1 -g1 -fno-omit-frame-pointer" KERNEL_FLAGS="-O1 -ffp-contract=off" \
	    FAST_ISA=-DFAST_ONE_ISA FOR_AVX2= FOR_AVX512= FOR_AVX512BF16= FOR_AMX= \
	    SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" WERROR= smoked
smoked: $(BUILD)/attest $(BUILD)/attest-worker $(SMOKE_TESTS:%=$(BUILD)/t/test_%)
	$(BUILD)/attest gate --suite smoke --device cpu --quiet
	@for name in $(SMOKE_TESTS); do ATTEST_WORKER=$(BUILD)/attest-worker $(BUILD)/t/test_$$name || exit 1; done
asan:
	ASAN_OPTIONS=detect_stack_use_after_return=1 $(SUBMAKE) BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fno-omit-frame-pointer" SANITIZE="-fsanitize=address" WERROR= PART= sanitized
ubsan:
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(SUBMAKE) BUILD=$(BUILD)/ubsan CFLAGS="-O1 -g" SANITIZE="-fsanitize=undefined -fno-sanitize-recover=all" WERROR= PART= sanitized
sanitized: test
	$(BUILD)/attest gate --suite smoke --quiet
# Threads: clang, because gcc's libgomp tells the sanitizer nothing of its barriers; of libomp's, Archer does.  First two
# loops: one with a race, which must be reported, and one without.  io_sync=0: what threads read and write elsewhere does
# not order them.  clang 14 cannot compile AVX-512 loops for this sanitizer at -O2.
ARCHER = $(wildcard $(dir $(realpath $(shell command -v clang 2>/dev/null)))../lib/libarcher.so)
THREAD_TESTS = dd_engine props search_run
tsan:
	$(if $(ARCHER),,@echo "make tsan: no libarcher.so beside clang; it comes with make deps-long" >&2; exit 2)
	OMP_TOOL_LIBRARIES=$(ARCHER) TSAN_OPTIONS=ignore_noninstrumented_modules=1:io_sync=0 $(SUBMAKE) BUILD=$(BUILD)/tsan \
	    CC=clang CXX=clang++ CFLAGS="-O1 -g" KERNEL_FLAGS="-O1 -ffp-contract=off" SANITIZE=-fsanitize=thread OPENMP=-fopenmp WERROR= \
	    threads
$(BUILD)/race $(BUILD)/no-race: tests/lint/race.c
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(BASE) $(OPENMP) $(if $(filter %/race,$@),-DPLANTED) -o $@ $<
threads: all $(BUILD)/race $(BUILD)/no-race $(THREAD_TESTS:%=$(BUILD)/t/test_%) $(BUILD)/defects/defects.so $(TEST_PLUGINS)
	@if $(BUILD)/race 2>$(BUILD)/race.txt || ! grep -q 'data race.*race.c' $(BUILD)/race.txt; then \
	    cat $(BUILD)/race.txt; echo "make tsan: a planted race was not reported" >&2; exit 1; fi
	$(BUILD)/no-race
	$(BUILD)/attest gate --suite smoke --jobs 2 --quiet
	$(BUILD)/attest reference --engine dd --problem 'variant=softmax n=64 m=256 d=16 mask=causal' > $(BUILD)/dd.json
	$(BUILD)/attest props --cases 60 --jobs 2 --quiet --out $(BUILD)/props
	$(BUILD)/attest search --kernel softmax-online-f32 --cases 500 --jobs 2 --quiet
	@for name in $(THREAD_TESTS); do ATTEST_WORKER=$(BUILD)/attest-worker $(BUILD)/t/test_$$name || exit 1; done
clang:
	$(SUBMAKE) BUILD=$(BUILD)/clang CC=clang WERROR=1 OPENMP= PART= test
coverage:
	$(SUBMAKE) BUILD=$(BUILD)/coverage CFLAGS="-O0 -g --coverage" WERROR= PART= test && gcovr -r . $(BUILD)/coverage
# By hand what no operator says, and a sample of what operators say: tests/mutations/README.md.
MUTANTS = 60
SEED = 1
mutate:
	@python3 tests/mutations/run.py $(MUTATE); hand=$$?; \
	python3 tests/mutations/operators.py --sample $(MUTANTS) --seed $(SEED) && exit $$hand
claims: all
	$(BUILD)/attest claims --out $(BUILD)/claims
# Threads that wait do not spin: on a busy machine they would wait for each other's processor.  A yardstick that is not
# honest is exit code 4.
bench: all
	$(BUILD)/attest bench reference
	$(BUILD)/attest bench kernels
# Each planted defect until a part of suite ci kills it (minutes; `make gate` does it too); DEFECTS=--matrix: every case
# (hours).
defects: all $(BUILD)/defects/defects.so
	$(BUILD)/attest defects $(DEFECTS) --out $(BUILD)/defects
# Allocations that fail: the k-th of each command, for every k (four hours: most of them an audit and the gates), or
# every STEP-th.
STEP = 1
$(BUILD)/alloc/shim.so: tests/alloc/shim.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -O1 -g -Wall -Wextra -shared -fPIC -o $@ $< -ldl
alloc-faults: all $(TEST_PLUGINS) $(BUILD)/alloc/shim.so
	@python3 tests/alloc/alloc.py --step $(STEP) $(ALLOC) $(BUILD)/attest $(BUILD)/alloc/shim.so $(BUILD)/alloc/all
$(BUILD)/attest-tests $(BUILD)/t/test_alloc: | $(BUILD)/alloc/shim.so

# Readers of outside text under random input: tests/fuzz/README.md.  FUZZ = readers, SECONDS for each.  What a run finds
# beside tests/fuzz/corpus is kept in build/fuzz/found, a finding in build/fuzz/crash-*.
FUZZ = $(READERS)
SECONDS = 60
FUZZ_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz:
	@$(SUBMAKE) BUILD=$(BUILD)/fuzz CC=clang CFLAGS="-O1 -g1 -fno-omit-frame-pointer" KERNEL_FLAGS="-O1 -ffp-contract=off" \
	    DD_FLAGS= OPENMP= SANITIZE="$(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link" WERROR= $(FUZZ:%=$(BUILD)/fuzz/run/%)
	@for reader in $(FUZZ); do sh tests/fuzz/run.sh $(BUILD)/fuzz $$reader $(SECONDS) || exit 1; done
$(BUILD)/run/%: tests/fuzz/entry.c $(FUZZ_LIB) $(LIB) $(KERNEL_LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(filter-out -MMD -MP,$(BASE)) -fsanitize=fuzzer $(LDFLAGS) -DFUZZ_READER=fuzz_$* -o $@ $< $(FUZZ_LIB) $(LIB) $(KERNEL_LIB) $(LIBS)
# The package of verify/python installed in fresh virtual environments (needs a package index), PYTHONS = which; a wheel
# with the program inside, which needs the same libraries as the program.
PYTHONS = python3
.PHONY: python-install python-wheel
python-install: all
	sh tests/verify/python/install.sh $(BUILD)/attest $(PYTHONS)
python-wheel: all
	@rm -rf $(BUILD)/python && mkdir -p $(BUILD)/wheels && cp -r verify/python $(BUILD)/python
	@install -D -t $(BUILD)/python/attest/bin $(BUILD)/attest $(BUILD)/attest-worker
	$(firstword $(PYTHONS)) -m pip wheel --quiet --no-deps -w $(BUILD)/wheels $(BUILD)/python
VERSION = $(shell sed -n 's/^.define ATTEST_VERSION "\(.*\)"/\1/p' reports/result.h)
install uninstall: $(BUILD)/packaging/man1/attest.1
install: all
	@sh packaging/install.sh install $(BUILD) '$(DESTDIR)' '$(PREFIX)'
uninstall:
	@sh packaging/install.sh uninstall $(BUILD) '$(DESTDIR)' '$(PREFIX)'
deb:
	@JOBS=$(JOBS) sh packaging/deb.sh $(BUILD) $(VERSION)
install-tried: all
	@CC='$(CC)' sh packaging/test.sh $(BUILD)
# manual pages and shell completions, from --help
$(BUILD)/packaging/man1/attest.1: $(BUILD)/attest packaging/describe.py
	@python3 packaging/describe.py $< $(VERSION) $(BUILD)/packaging
clean:
	rm -rf $(BUILD)
help:
	@echo "all        build/attest, build/attest-worker, CUDA plugins where nvcc is found"
	@echo "deps       install the packages (root or sudo); deps-long: those of tsan, coverage and debugging too"
	@echo "gate       verify all kernels over suite ci, with claims and planted defects -> build/report/index.html"
	@echo "test       all tests but slow suites; prints Check's summary; PART=slow: these alone; LONG=1: all, and as many random problems as check-long draws"
	@echo "one        TEST=ulp: one suite of the tests; CK_RUN_CASE=NAME in the environment: one case of it"
	@echo "check      what each change must pass beside test: lint, gate, slow tests, smoke (a quarter of an hour)"
	@echo "check-long all the rest: test, asan, ubsan, tsan, leaks, clang, fuzz, alloc-faults, certify, cuda-defects, 2000 properties, kills, page-seen, ends, cpus, scale, install, mutate"
	@echo "lint       layout, layers, style; no warning of gcc, nor of clang in what is shipped"
	@echo "format     lay all sources out as .clang-format says; format-check: are they?"
	@echo "smoke      suite smoke and a few tests under the address and undefined-behaviour sanitizers"
	@echo "asan ubsan all tests and suite smoke under one sanitizer, in build/asan, build/ubsan"
	@echo "tsan       whatever runs on threads, under clang's thread sanitizer, in build/tsan"
	@echo "clang      all tests, built by clang             coverage  all tests, lines counted by gcovr"
	@echo "mutate     break the code on purpose: a test must fail each time; MUTATE='--only bench'"
	@echo "certify    10^7 enclosures of the dd engine against a truth of their own"
	@echo "certify-functions  what the fast kernels' own exp errs by, on every float of its domain"
	@echo "slack      how tight the bounds are: bound/error by kernel, variant and n (half an hour on one core)"
	@echo "mma-vectors  VECTORS=FOLDER: the model of tensor cores against published vectors; what a step of it costs"
	@echo "cpus       the fast kernels on CPUs without AVX-512, AVX2 or SSE4, by qemu-user"
	@echo "simulate   the worst errors of modelled kernels against their bounds (tests/simulators/README.md)"
	@echo "killers    write the cases that 'attest defects' begins with anew (verify/suites/killers.suite)"
	@echo "pairs      write the covering array of suite ci anew (verify/suites/pairs.suite)"
	@echo "gpu-day    all that a GPU is needed for, into GPU_DAY=DIR (GPU=NAME: predictions for it, without one)"
	@echo "fingerprints  compare what nvcc makes of the CUDA kernels with its reviewed table"
	@echo "golden     write the golden pack of tests/verify/exchange anew"
	@echo "defects    planted bugs against suite ci, each until it is killed -> build/defects/defects.md"
	@echo "faults     a library of hostile kernels under attest: one row a place and harm (minutes)"
	@echo "claims     the ledger of the papers' statements -> build/claims/claims.md"
	@echo "bench      engines and kernels timed side by side"
	@echo "report     the page again from build/report      audit     TARGET=lib.so[:kernel]"
	@echo "install    into PREFIX (/usr/local)              uninstall  what install put there"
	@echo "deb        a Debian package in build/deb         clean     remove build/"
	@echo "python-install  the Python package and its pytest plugin in fresh virtual environments: PYTHONS='python3.9 python3.12'"
	@echo "python-wheel    a wheel of the Python package with the program inside -> build/wheels"
	@echo "alloc-faults  each command with its k-th allocation failing, for every k, or every STEP-th"
	@echo "fuzz       readers of outside text under random input: FUZZ='suite npy' SECONDS=60 (each)"

# What each object was made of; builds of their own below $(BUILD) read theirs.
OTHER_BUILDS = haswell asan ubsan tsan smoke fuzz clang clang-O0 coverage debug mutate made-up/axis
-include $(shell find $(BUILD) $(OTHER_BUILDS:%=-path $(BUILD)/% -prune -o) -name '*.d' -print 2>/dev/null)
endif
