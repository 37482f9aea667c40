/* dd_avx512.c - the dd engine's loops for AVX-512: compiled with -mavx512f -mavx512dq. */
#if defined(__x86_64__)
#include "reference/dd/dd_vector_avx512.h"

#include "reference/dd/dd_path.h"
#else
typedef int dd_no_avx512; /* ISO C has no empty file */
#endif
