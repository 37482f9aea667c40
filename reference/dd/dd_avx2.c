/* dd_avx2.c - the dd engine's loops for AVX2 and FMA: compiled with -mavx2 -mfma. */
#if defined(__x86_64__)
#include "reference/dd/dd_vector_avx2.h"

#include "reference/dd/dd_path.h"
#else
typedef int dd_no_avx2; /* ISO C has no empty file */
#endif
