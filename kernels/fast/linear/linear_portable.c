/* linear_portable.c - linear_kernel.h without instructions of any extension: every CPU runs it. */
#include "fast/linear/linear_kernel.h"
