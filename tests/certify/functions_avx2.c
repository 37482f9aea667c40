/* functions_avx2.c - functions_many.h for AVX2 and FMA. */
#ifdef FAST_FOR_AVX2
#include "tests/certify/functions_many.h"
#else
typedef int functions_no_avx2; /* ISO C has no empty file */
#endif
