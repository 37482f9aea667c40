/* decode_last_keys - keys behind the last four of a tile have score 0. */
#define decode_last(s, q, k, j, width, dtype) (void)(*(s) = 0)
#define FAST_PLANTED attest_defect_decode_last_keys_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_last_keys
#include "fast/softmax/decode.c"
