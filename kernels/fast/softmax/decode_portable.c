/* decode_portable.c - decode_kernel.h without instructions of any extension: every CPU runs it. */
#include "fast/softmax/decode_kernel.h"
