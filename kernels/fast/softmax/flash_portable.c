/* flash_portable.c - flash_kernel.h without instructions of any extension: every CPU runs it. */
#include "fast/softmax/flash_kernel.h"
