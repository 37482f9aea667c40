/* variant.c - values of axes, names of presets, names of tensors.  The first byte says which: below 128 an
 * axis, below 192 a preset, else a tensor. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/tensor/tensor.h"

static int take_axis(uint32_t axis, const char *text)
{
    attest_setting setting, again;
    attest_error err;
    char printed[128];
    const attest_status status = attest_axis_parse(&setting, axis, text, &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    attest_axis_print(printed, sizeof printed, axis, &setting);
    FUZZ_CHECK(attest_axis_parse(&again, axis, printed, &err) == ATTEST_OK && attest_setting_equal(&setting, &again));
    return 1;
}

static int take_tensor(const char *text)
{
    attest_tensor_id id, again;
    attest_error err;
    char printed[64];
    const attest_status status = attest_tensor_id_parse(&id, text, &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    attest_tensor_id_print(printed, sizeof printed, id);
    FUZZ_CHECK(strcmp(printed, text) == 0);
    FUZZ_CHECK(attest_tensor_id_parse(&again, printed, &err) == ATTEST_OK && attest_tensor_id_equal(id, again));
    return 1;
}

static int take_preset(const char *text)
{
    attest_setting axis[ATTEST_AXIS_COUNT];
    attest_error err;
    char why[256];
    int lowest, highest;
    const attest_status status = attest_variant_from_preset(axis, text, &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    for (uint32_t form = 0; form < 8; form++)
        attest_variant_form_legal(axis, form, why, sizeof why);
    FUZZ_CHECK(!attest_variant_degrees(axis, &lowest, &highest) || (0 <= lowest && lowest <= highest && highest <= 64));
    return 1;
}

static int take(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    const int taken = data[0] < 128   ? take_axis(data[0] % ATTEST_AXIS_COUNT, text)
                      : data[0] < 192 ? take_preset(text)
                                      : take_tensor(text);
    free(text);
    return taken;
}

extern const fuzz_reader fuzz_variant;
const fuzz_reader fuzz_variant = { "variant", take, NULL };
