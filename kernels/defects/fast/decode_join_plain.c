/* decode_join_plain - the parts of a row are added up as they are, without the difference of their maxima. */
#include "fast/simd.h"

static inline float add_plainly(float m, float most) { return m == -INFINITY ? 0 : m == most ? 1 : 1; }

#define decode_share add_plainly
#define FAST_PLANTED attest_defect_decode_join_plain_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_join_plain
#include "fast/softmax/decode.c"
