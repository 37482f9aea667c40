/* chunked_portable.c - chunked_kernel.h without instructions of any extension: every CPU runs it. */
#include "fast/taylor/chunked_kernel.h"
