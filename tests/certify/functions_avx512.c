/* functions_avx512.c - functions_many.h for AVX-512. */
#ifdef FAST_FOR_AVX512
#include "tests/certify/functions_many.h"
#else
typedef int functions_no_avx512; /* ISO C has no empty file */
#endif
