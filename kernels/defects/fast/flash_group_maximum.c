/* flash_group_maximum - the maximum of a group stands for each of its rows: weights of the others vanish. */
#include "fast/softmax/flash_block.h"

static float group_maximum(float m, const float *s, const flash_part *part, int n)
{
    float highest = m;
    for (int r = -n; r < ROWS - n; r++)
        for (int j = part->low[r + n]; j < part->high[r + n]; j++)
            highest = s[r * FLASH_KEYS + j] > highest ? s[r * FLASH_KEYS + j] : highest;
    return highest;
}

#define flash_new_maximum group_maximum
#define FAST_PLANTED attest_defect_flash_group_maximum_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_group_maximum
#include "fast/softmax/flash.c"
