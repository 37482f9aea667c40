/* packed_portable.c - packed_kernel.h without instructions of any extension: every CPU runs it. */
#include "fast/taylor/packed_kernel.h"
