/* test_abi.c - the ABI is frozen: sizes, offsets and enum values of attest.h, version 2, on LP64.
 *
 * A number here never changes.  A new field is appended and gets a new line; a new enum value too.
 */
#include "kernels/attest.h"

#include <check.h>

Suite *suite_abi(void);

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, at) _Static_assert(offsetof(type, field) == (at), "offset of " #type "." #field)
#define VALUE(name, number) _Static_assert((int)(name) == (number), "value of " #name)

SIZE(void *, 8);
SIZE(size_t, 8);
SIZE(long, 8);
VALUE(ATTEST_ABI_VERSION, 2);
VALUE(ATTEST_AXIS_ROOM, 64);
VALUE(ATTEST_ROLE_ROOM, 64);
VALUE(ATTEST_RANK_ROOM, 8);
VALUE(ATTEST_MAX_ORDER, 64);
VALUE(ATTEST_STATE_SLOTS, 65);
VALUE(ATTEST_OK, 0);
VALUE(ATTEST_UNSUPPORTED, 1);
VALUE(ATTEST_BAD_INPUT, 2);
VALUE(ATTEST_NO_MEMORY, 3);
VALUE(ATTEST_IO, 4);
VALUE(ATTEST_NO_DEVICE, 5);
VALUE(ATTEST_KERNEL_ERROR, 6);
VALUE(ATTEST_INTERNAL, 70);
VALUE(ATTEST_UNKNOWN, 0);
VALUE(ATTEST_YES, 1);
VALUE(ATTEST_NO, 2);
VALUE(ATTEST_F32, 0);
VALUE(ATTEST_F64, 1);
VALUE(ATTEST_F16, 2);
VALUE(ATTEST_BF16, 3);
VALUE(ATTEST_I64, 4);
VALUE(ATTEST_F8_E4M3, 5);
VALUE(ATTEST_F8_E5M2, 6);
VALUE(ATTEST_I32, 7);
VALUE(ATTEST_BOOL, 8);
VALUE(ATTEST_DTYPE_COUNT, 9);
VALUE(ATTEST_CODE_INT, 0);
VALUE(ATTEST_CODE_FLOAT, 2);
VALUE(ATTEST_CODE_BFLOAT, 4);
VALUE(ATTEST_CODE_BOOL, 6);
VALUE(ATTEST_CODE_F8_E4M3, 10);
VALUE(ATTEST_CODE_F8_E5M2, 12);
VALUE(ATTEST_CPU, 1);
VALUE(ATTEST_CUDA, 2);
VALUE(ATTEST_CUDA_HOST, 1002);
VALUE(ATTEST_AXIS_WEIGHT, 0);
VALUE(ATTEST_AXIS_CENTER, 1);
VALUE(ATTEST_AXIS_FILTER, 2);
VALUE(ATTEST_AXIS_FEATURE, 3);
VALUE(ATTEST_AXIS_ROPE, 4);
VALUE(ATTEST_AXIS_MASK, 5);
VALUE(ATTEST_AXIS_WINDOW, 6);
VALUE(ATTEST_AXIS_LENS, 7);
VALUE(ATTEST_AXIS_DECAY, 8);
VALUE(ATTEST_AXIS_GATES, 9);
VALUE(ATTEST_AXIS_NORM, 10);
VALUE(ATTEST_AXIS_AFFINE, 11);
VALUE(ATTEST_AXIS_UPDATE, 12);
VALUE(ATTEST_AXIS_EPS, 13);
VALUE(ATTEST_AXIS_CLAMP, 14);
VALUE(ATTEST_AXIS_CAP, 15);
VALUE(ATTEST_AXIS_ALIBI, 16);
VALUE(ATTEST_AXIS_STATE, 17);
VALUE(ATTEST_AXIS_BIAS, 18);
VALUE(ATTEST_AXIS_ATTN_MASK, 19);
VALUE(ATTEST_AXIS_PAGES, 20);
VALUE(ATTEST_AXIS_KV, 21);
VALUE(ATTEST_AXIS_DECAY_INPUT, 22);
VALUE(ATTEST_AXIS_DROPOUT, 23);
VALUE(ATTEST_AXIS_LENS_Q, 24);
VALUE(ATTEST_AXIS_PACKED, 25);
VALUE(ATTEST_LENS_Q_NONE, 0);
VALUE(ATTEST_LENS_Q_DRAW, 1);
VALUE(ATTEST_LENS_Q_LEN, 2);
VALUE(ATTEST_PACKED_OFF, 0);
VALUE(ATTEST_PACKED_ON, 1);
VALUE(ATTEST_AXIS_COUNT, 26);
VALUE(ATTEST_WEIGHT_EXP, 0);
VALUE(ATTEST_WEIGHT_TAYLOR, 1);
VALUE(ATTEST_WEIGHT_TERM, 2);
VALUE(ATTEST_WEIGHT_POWER, 3);
VALUE(ATTEST_CENTER_ZERO, 0);
VALUE(ATTEST_CENTER_MAX, 1);
VALUE(ATTEST_CENTER_MIN, 2);
VALUE(ATTEST_CENTER_MID, 3);
VALUE(ATTEST_FILTER_NONE, 0);
VALUE(ATTEST_FILTER_TAU, 1);
VALUE(ATTEST_FEATURE_IDENTITY, 0);
VALUE(ATTEST_FEATURE_ELU1, 1);
VALUE(ATTEST_FEATURE_RELU, 2);
VALUE(ATTEST_FEATURE_UNIT, 3);
VALUE(ATTEST_FEATURE_SILU, 4);
VALUE(ATTEST_FEATURE_SILU_UNIT, 5);
VALUE(ATTEST_FEATURE_COSFORMER, 6);
VALUE(ATTEST_ROPE_NONE, 0);
VALUE(ATTEST_ROPE_BASE, 1);
VALUE(ATTEST_MASK_FULL, 0);
VALUE(ATTEST_MASK_CAUSAL, 1);
VALUE(ATTEST_MASK_CAUSAL_BR, 2);

VALUE(ATTEST_WINDOW_NONE, 0);
VALUE(ATTEST_WINDOW_W, 1);
VALUE(ATTEST_LENS_NONE, 0);
VALUE(ATTEST_LENS_DRAW, 1);
VALUE(ATTEST_DECAY_NONE, 0);
VALUE(ATTEST_DECAY_RETNET, 1);
VALUE(ATTEST_DECAY_SCALAR, 2);
VALUE(ATTEST_DECAY_VECTOR, 3);
VALUE(ATTEST_GATES_NONE, 0);
VALUE(ATTEST_GATES_IN, 1);
VALUE(ATTEST_GATES_OUT, 2);

VALUE(ATTEST_GATES_INOUT, 3);
VALUE(ATTEST_GATES_PRE_OUT, 4);
VALUE(ATTEST_GATES_HEADS, 5);

VALUE(ATTEST_NORM_SUM, 0);
VALUE(ATTEST_NORM_SINK, 1);
VALUE(ATTEST_NORM_FLOOR, 2);
VALUE(ATTEST_NORM_NONE, 3);
VALUE(ATTEST_NORM_LENGTH, 4);
VALUE(ATTEST_NORM_L2, 5);
VALUE(ATTEST_NORM_RMS, 6);
VALUE(ATTEST_NORM_LAYERNORM, 7);
VALUE(ATTEST_NORM_LENGTH_L2, 8);
VALUE(ATTEST_NORM_LENGTH_RMS, 9);
VALUE(ATTEST_NORM_LENGTH_LAYERNORM, 10);

VALUE(ATTEST_AFFINE_NONE, 0);
VALUE(ATTEST_AFFINE_DRAW, 1);

VALUE(ATTEST_UPDATE_ADD, 0);
VALUE(ATTEST_UPDATE_DELTA, 1);
VALUE(ATTEST_UPDATE_EFLA, 2);

VALUE(ATTEST_EPS_ZERO, 0);
VALUE(ATTEST_EPS_SET, 1);

VALUE(ATTEST_CLAMP_NONE, 0);
VALUE(ATTEST_CLAMP_SET, 1);
VALUE(ATTEST_CAP_NONE, 0);
VALUE(ATTEST_CAP_SET, 1);

VALUE(ATTEST_ALIBI_NONE, 0);
VALUE(ATTEST_ALIBI_DRAW, 1);
VALUE(ATTEST_ALIBI_USUAL, 2);

VALUE(ATTEST_STATE_NONE, 0);
VALUE(ATTEST_STATE_DRAW, 1);

VALUE(ATTEST_BIAS_NONE, 0);
VALUE(ATTEST_BIAS_FULL, 1);
VALUE(ATTEST_BIAS_HEAD, 2);
VALUE(ATTEST_BIAS_BATCH, 3);
VALUE(ATTEST_BIAS_SHARED, 4);
VALUE(ATTEST_ATTN_MASK_NONE, 0);
VALUE(ATTEST_ATTN_MASK_FULL, 1);
VALUE(ATTEST_ATTN_MASK_HEAD, 2);
VALUE(ATTEST_ATTN_MASK_BATCH, 3);
VALUE(ATTEST_ATTN_MASK_SHARED, 4);
VALUE(ATTEST_PAGES_T, 1);
VALUE(ATTEST_KV_F16, 1);
VALUE(ATTEST_KV_BF16, 2);
VALUE(ATTEST_KV_E4M3, 3);
VALUE(ATTEST_KV_E5M2, 4);
VALUE(ATTEST_DECAY_INPUT_LOG, 1);
VALUE(ATTEST_DROPOUT_NONE, 0);
VALUE(ATTEST_DROPOUT_R, 1);

VALUE(ATTEST_Q, 0);
VALUE(ATTEST_GOUT, 1);
VALUE(ATTEST_Q_HEAD_LOGITS, 2);
VALUE(ATTEST_K, 3);
VALUE(ATTEST_V, 4);
VALUE(ATTEST_GIN, 5);
VALUE(ATTEST_K_HEAD_LOGITS, 6);
VALUE(ATTEST_BETA, 7);
VALUE(ATTEST_DECAY, 8);
VALUE(ATTEST_SINK, 9);
VALUE(ATTEST_SLOPE, 10);
VALUE(ATTEST_GAMMA, 11);
VALUE(ATTEST_GAIN, 12);
VALUE(ATTEST_SHIFT, 13);
VALUE(ATTEST_KV_LENS, 14);
VALUE(ATTEST_O, 15);
VALUE(ATTEST_U, 16);
VALUE(ATTEST_Z, 17);
VALUE(ATTEST_LSE, 18);
VALUE(ATTEST_MASK, 19);
VALUE(ATTEST_BIAS, 20);
VALUE(ATTEST_CU_SEQLENS_Q, 21);
VALUE(ATTEST_CU_SEQLENS_K, 22);
VALUE(ATTEST_BLOCK_TABLE, 23);
VALUE(ATTEST_Q_SCALE, 24);
VALUE(ATTEST_K_SCALE, 25);
VALUE(ATTEST_V_SCALE, 26);
VALUE(ATTEST_KEEP, 27);
VALUE(ATTEST_Q_LENS, 28);
VALUE(ATTEST_ROLE_COUNT, 29);

VALUE(ATTEST_SCHEDULE_UNKNOWN, 0);
VALUE(ATTEST_SCHEDULE_TWO_PASS, 1);
VALUE(ATTEST_SCHEDULE_ONLINE, 2);
VALUE(ATTEST_SCHEDULE_SPLIT, 3);
VALUE(ATTEST_SCHEDULE_DIRECT, 4);
VALUE(ATTEST_SCHEDULE_RECURRENT, 5);
VALUE(ATTEST_SCHEDULE_CHUNK, 6);

VALUE(ATTEST_ROUNDING_UNKNOWN, 0);
VALUE(ATTEST_ROUNDING_NEAREST, 1);
VALUE(ATTEST_ROUNDING_TRUNCATE, 2);

VALUE(ATTEST_DIVISION_UNKNOWN, 0);
VALUE(ATTEST_DIVISION_AFTER_SUM, 1);
VALUE(ATTEST_DIVISION_THEN_CAST, 2);
VALUE(ATTEST_DIVISION_AFTER_CAST, 3);
VALUE(ATTEST_DIVISION_RUNNING, 4);

VALUE(ATTEST_EMPTY_ZERO, 0);
VALUE(ATTEST_EMPTY_NAN, 1);
VALUE(ATTEST_EMPTY_MEAN, 2);
VALUE(ATTEST_EMPTY_ANY, 3);

VALUE(ATTEST_PARALLEL, 1);
VALUE(ATTEST_TILED, 2);
VALUE(ATTEST_SPLIT, 3);
VALUE(ATTEST_RECURRENT, 4);
VALUE(ATTEST_CHUNK, 5);

VALUE(ATTEST_DETERMINISTIC, 1);
VALUE(ATTEST_BATCH_INVARIANT, 2);
VALUE(ATTEST_FTZ, 4);
VALUE(ATTEST_LSE_BASE2, 16);
VALUE(ATTEST_LSE_WITH_SINK, 32);
VALUE(ATTEST_PACKED_STATE, 64);
VALUE(ATTEST_MASKED_FINITE, 128);
VALUE(ATTEST_SERIAL_SUMS, 256);
VALUE(ATTEST_ALIBI_BY_KEY, 512);
VALUE(ATTEST_FLAGS_KNOWN, 1015);

VALUE(ATTEST_GIVES_O, 1);
VALUE(ATTEST_GIVES_U, 2);
VALUE(ATTEST_GIVES_Z, 4);
VALUE(ATTEST_GIVES_LSE, 8);
VALUE(ATTEST_GIVES_STATE, 16);
VALUE(ATTEST_TAKES_STATE, 32);
VALUE(ATTEST_GIVES_GRAD, 64);
VALUE(ATTEST_OUTPUTS_KNOWN, 127);

VALUE(ATTEST_NEEDS_C_ORDER, 1);
VALUE(ATTEST_NEEDS_KNOWN, 1);

SIZE(attest_setting, 16);
FIELD(attest_setting, value, 0);
FIELD(attest_setting, order, 4);
FIELD(attest_setting, number, 8);

SIZE(attest_problem, 1128);
FIELD(attest_problem, struct_size, 0);
FIELD(attest_problem, axis_count, 4);
FIELD(attest_problem, b, 8);
FIELD(attest_problem, hq, 16);
FIELD(attest_problem, hkv, 24);
FIELD(attest_problem, n, 32);
FIELD(attest_problem, m, 40);
FIELD(attest_problem, d, 48);
FIELD(attest_problem, e, 56);
FIELD(attest_problem, scale, 64);
FIELD(attest_problem, in, 72);
FIELD(attest_problem, acc, 76);
FIELD(attest_problem, p, 80);
FIELD(attest_problem, out, 84);
FIELD(attest_problem, axis, 88);
FIELD(attest_problem, chunk, 1112);
FIELD(attest_problem, splits, 1120);

SIZE(attest_tensor, 160);
FIELD(attest_tensor, struct_size, 0);
FIELD(attest_tensor, code, 4);
FIELD(attest_tensor, bits, 5);
FIELD(attest_tensor, lanes, 6);
FIELD(attest_tensor, dtype, 8);
FIELD(attest_tensor, rank, 12);
FIELD(attest_tensor, device, 16);
FIELD(attest_tensor, device_id, 20);
FIELD(attest_tensor, data, 24);
FIELD(attest_tensor, shape, 32);
FIELD(attest_tensor, stride, 96);

SIZE(attest_tensors, 96);
FIELD(attest_tensors, struct_size, 0);
FIELD(attest_tensors, role_count, 4);
FIELD(attest_tensors, state_slots, 8);
FIELD(attest_tensors, reserved, 12);
FIELD(attest_tensors, role, 16);
FIELD(attest_tensors, h0, 24);
FIELD(attest_tensors, z0, 32);
FIELD(attest_tensors, ht, 40);
FIELD(attest_tensors, zt, 48);
FIELD(attest_tensors, grad, 56);
FIELD(attest_tensors, grad_h0, 64);
FIELD(attest_tensors, grad_z0, 72);
FIELD(attest_tensors, grad_ht, 80);
FIELD(attest_tensors, grad_zt, 88);

SIZE(attest_numerics, 168);
FIELD(attest_numerics, struct_size, 0);
FIELD(attest_numerics, schedule, 4);
FIELD(attest_numerics, tile, 8);
FIELD(attest_numerics, splits, 16);
FIELD(attest_numerics, exp_error, 24);
FIELD(attest_numerics, log2_domain, 32);
FIELD(attest_numerics, cast_in_sum, 36);
FIELD(attest_numerics, p_rounding, 40);
FIELD(attest_numerics, acc_truncates, 44);
FIELD(attest_numerics, acc_unit, 48);
FIELD(attest_numerics, block, 56);
FIELD(attest_numerics, div_error, 64);
FIELD(attest_numerics, scale_dtype, 72);
FIELD(attest_numerics, state_dtype, 76);
FIELD(attest_numerics, empty_row, 80);
FIELD(attest_numerics, division, 84);
FIELD(attest_numerics, score_dtype, 88);
FIELD(attest_numerics, compensated, 92);
FIELD(attest_numerics, score_unit, 96);
FIELD(attest_numerics, value_unit, 104);
FIELD(attest_numerics, score_acc, 112);
FIELD(attest_numerics, value_acc, 116);
FIELD(attest_numerics, score_block, 120);
FIELD(attest_numerics, tanh_error, 128);
FIELD(attest_numerics, log_error, 136);
FIELD(attest_numerics, sigmoid_error, 144);
FIELD(attest_numerics, expm1_error, 152);
FIELD(attest_numerics, scaled_dtype, 160);
FIELD(attest_numerics, decay_products, 164);

SIZE(attest_claim, 24);
FIELD(attest_claim, struct_size, 0);
FIELD(attest_claim, reserved, 4);
FIELD(attest_claim, max_ulp, 8);
FIELD(attest_claim, domain, 16);

SIZE(attest_limit, 24);
FIELD(attest_limit, least, 0);
FIELD(attest_limit, most, 8);
FIELD(attest_limit, multiple, 16);

SIZE(attest_limits, 176);
FIELD(attest_limits, struct_size, 0);
FIELD(attest_limits, reserved, 4);
FIELD(attest_limits, b, 8);
FIELD(attest_limits, hq, 32);
FIELD(attest_limits, hkv, 56);
FIELD(attest_limits, n, 80);
FIELD(attest_limits, m, 104);
FIELD(attest_limits, d, 128);
FIELD(attest_limits, e, 152);

SIZE(attest_call, 88);
FIELD(attest_call, struct_size, 0);
FIELD(attest_call, outputs, 4);
FIELD(attest_call, self, 8);
FIELD(attest_call, context, 16);
FIELD(attest_call, problem, 24);
FIELD(attest_call, tensors, 32);
FIELD(attest_call, workspace, 40);
FIELD(attest_call, workspace_size, 48);
FIELD(attest_call, stream, 56);
FIELD(attest_call, why, 64);
FIELD(attest_call, why_size, 72);
FIELD(attest_call, axis, 80);

SIZE(attest_kernel, 128);
FIELD(attest_kernel, struct_size, 0);
FIELD(attest_kernel, form, 4);
FIELD(attest_kernel, device, 8);
FIELD(attest_kernel, flags, 12);
FIELD(attest_kernel, outputs, 16);
FIELD(attest_kernel, needs, 20);
FIELD(attest_kernel, name, 24);
FIELD(attest_kernel, version, 32);
FIELD(attest_kernel, source, 40);
FIELD(attest_kernel, summary, 48);
FIELD(attest_kernel, variants, 56);
FIELD(attest_kernel, numerics, 64);
FIELD(attest_kernel, claim, 72);
FIELD(attest_kernel, supports, 80);
FIELD(attest_kernel, workspace, 88);
FIELD(attest_kernel, run, 96);
FIELD(attest_kernel, limits, 104);
FIELD(attest_kernel, numerics_of, 112);
FIELD(attest_kernel, alignment, 120);
FIELD(attest_kernel, reserved, 124);

SIZE(attest_memory, 72);
FIELD(attest_memory, struct_size, 0);
FIELD(attest_memory, device, 4);
FIELD(attest_memory, alloc, 8);
FIELD(attest_memory, free, 16);
FIELD(attest_memory, to_device, 24);
FIELD(attest_memory, to_host, 32);
FIELD(attest_memory, fill, 40);
FIELD(attest_memory, sync, 48);
FIELD(attest_memory, describe, 56);
FIELD(attest_memory, copy_later, 64);

SIZE(attest_host, 16);
FIELD(attest_host, struct_size, 0);
FIELD(attest_host, abi_version, 4);
FIELD(attest_host, log, 8);

SIZE(attest_library, 64);
FIELD(attest_library, struct_size, 0);
FIELD(attest_library, abi_version, 4);
FIELD(attest_library, name, 8);
FIELD(attest_library, build_flags, 16);
FIELD(attest_library, kernels, 24);
FIELD(attest_library, kernel_count, 32);
FIELD(attest_library, reserved, 36);
FIELD(attest_library, memory, 40);
FIELD(attest_library, open, 48);
FIELD(attest_library, close, 56);

/* The compiler has checked the rest; a struct that starts with its size does so at runtime too. */
START_TEST(struct_size_first)
{
    const attest_problem problem = { .struct_size = 0x01020304 };
    uint32_t first;
    __builtin_memcpy(&first, &problem, sizeof first);
    ck_assert_uint_eq(first, 0x01020304);
}
END_TEST

/* The one rule for axes: those of the set and those at their default are fine, all others are found. */
START_TEST(axes)
{
    attest_problem p = attest_problem_init();
    ck_assert_uint_eq(p.struct_size, sizeof p);
    ck_assert_int_eq(attest_axis_unserved(&p, 0), -1);
    for (uint32_t axis = 0; axis < ATTEST_AXIS_ROOM; axis++) {
        p.axis[axis].value = 2;
        ck_assert_int_eq(attest_axis_unserved(&p, 0), (int)axis);
        ck_assert_int_eq(attest_axis_unserved(&p, ATTEST_BIT(axis)), -1);
        ck_assert_int_eq(attest_axis_unserved(&p, ~ATTEST_BIT(axis)), (int)axis);
        ck_assert_int_eq(attest_axis_unserved(&p, ATTEST_AXES_KNOWN), axis < ATTEST_AXIS_COUNT ? -1 : (int)axis);
        p.axis[axis].value = 0;
        p.axis[axis].number = 1; /* no value, no setting */
        ck_assert_int_eq(attest_axis_unserved(&p, 0), -1);
    }
}
END_TEST

START_TEST(helpers)
{
    char why[6] = "?????";
    attest_call call = attest_call_init();
    ck_assert_int_eq(attest_refuse(&call, "nowhere to write"), 0);
    call.why = why;
    call.why_size = sizeof why;
    ck_assert_int_eq(attest_refuse(&call, "no"), 0);
    ck_assert_str_eq(why, "no");
    ck_assert_int_eq(attest_refuse(&call, "only f32"), 0);
    ck_assert_str_eq(why, "only ");
    int32_t axis = -1;
    ck_assert_int_eq(attest_refuse_axis(&call, 3), 0);
    call.axis = &axis;
    ck_assert_int_eq(attest_refuse_axis(&call, 3), 0);
    ck_assert_int_eq(axis, 3);
    call.struct_size = offsetof(attest_call, axis); /* of a host that does not have the field */
    ck_assert_int_eq(attest_refuse_axis(&call, 4), 0);
    ck_assert_int_eq(axis, 3);
    const attest_numerics numerics = attest_numerics_init();
    ck_assert(numerics.struct_size == sizeof numerics && numerics.schedule == 0 && numerics.sigmoid_error == 0);
    attest_numerics shorter = numerics;
    shorter.struct_size = offsetof(attest_numerics, score_unit) + 8;
    ck_assert(ATTEST_HAS(attest_numerics, &shorter, score_unit));
    ck_assert(!ATTEST_HAS(attest_numerics, &shorter, value_unit));
    shorter.struct_size--;
    ck_assert(!ATTEST_HAS(attest_numerics, &shorter, score_unit));
}
END_TEST

Suite *suite_abi(void)
{
    Suite *suite = suite_create("abi");
    TCase *tcase = tcase_create("layout");
    tcase_add_test(tcase, struct_size_first);
    tcase_add_test(tcase, axes);
    tcase_add_test(tcase, helpers);
    suite_add_tcase(suite, tcase);
    return suite;
}
