/* list.h - every planted defect, one row each: what the gate must catch (attest defects, attest list defects).
 *
 *     DEFECT(id, "base kernel", "the real bugs it models", "what is wrong")
 *
 * id is the name (its kernel's has `-` for `_`), and kernels/defects/SECTION/ID.c is the file: it includes the base
 * kernel's source with one step replaced (cpu/steps/step.h says how), and nothing else.  The kernel keeps the numerics
 * and flags that its base declares.  Bugs are cited as Bnn PROJECT#NUMBER (what was reported there) or as arXiv:NUMBER;
 * `-` where the step is a classic slip without a report.  Those that need conditions to meet are in list_pairs.h.
 */
#ifndef DEFECT
#error "define DEFECT(id, base, bugs, what) before including this"
#endif

/* ---- softmax and precision */
DEFECT(exp2_for_exp, "softmax-two-pass-f32", "B25 flash-attention#2316", "weights are 2^(s-m) instead of e^(s-m)")
DEFECT(max_zero, "softmax-online-f32", "B18 flash-attention#2082", "the running maximum starts at 0, not -inf")

/* ---- masks and conventions */
DEFECT(causal_topleft, "softmax-two-pass-f32", "B06 cutlass#2336",
       "causal-br is aligned at the top left when m differs from n")
DEFECT(causal_align, "softmax-online-f32", "B07 flash-attention#282",
       "causal is aligned at the bottom right when m differs from n")
DEFECT(causal_align_flip, "softmax-split-f32", "B08 mlx#2967", "the bottom-right diagonal turns top-left when n > m")
DEFECT(prefix_padded, "softmax-online-f32", "B09 sparkinfer#3",
       "the diagonal's offset is that of the padded keys, not of the row's length")
DEFECT(block_causal, "softmax-online-bf16", "B14 tt-metal#48700", "causality holds between tiles of 32 only")
DEFECT(strict_diag, "softmax-two-pass-f64", "B17 accelerated-model-architectures#480",
       "causal is j < i: a query does not see itself")
DEFECT(causal_leak, "softmax-two-pass-f32", "-", "causal is j <= i+1: a query sees the next key")
DEFECT(window_long, "softmax-online-f32", "B11 transformers#39408", "window W keeps W+1 keys")
DEFECT(window_short, "softmax-split-f32", "B11 zml#763", "window W keeps W-1 keys, and W=1 none")
DEFECT(window_tiles, "softmax-online-f32", "B14 tt-metal#48700",
       "a window starts with the whole tile that its first key lies in")
DEFECT(window_decode, "softmax-two-pass-f32", "B10 flash-attention#158",
       "window + causal-br: the window is measured from i, not from i+off")
DEFECT(window_from_end, "softmax-split-f32", "B11 tokenspeed#578",
       "the window is counted from the last key, as if every query were the newest")
DEFECT(window_one_sided, "softmax-split-f32", "-", "without a mask the window bounds the past only")
DEFECT(length_ignored, "softmax-two-pass-f32", "B13 sgl-kernel-xpu#491",
       "len is accepted and ignored: padding keys count")
DEFECT(length_of_first, "softmax-online-f32", "B41 sgl-flash-attn#43", "every batch entry has the length of the first")
DEFECT(length_rounded, "softmax-split-f32", "B44 jax#27224",
       "len is rounded up to a multiple of 4: right only for whole blocks")
DEFECT(attn_mask_kv_head, "softmax-online-f32", "-", "the mask tensor is read by KV head instead of query head")
DEFECT(attn_mask_first_batch, "taylor-direct-f32", "-", "all batch entries read the mask tensor of the first")
DEFECT(attn_mask_empty_nan, "softmax-split-f32", "-", "a row whose keys the mask tensor hides is 0/0")
DEFECT(attn_mask_by_tile, "softmax-two-pass-f32", "-", "8 keys are hidden where the first of them is")
DEFECT(attn_mask_zero_weight, "softmax-two-pass-f32", "-", "hidden values are multiplied by 0, so that a NaN stays one")
DEFECT(attn_mask_counted, "softmax-two-pass-f32", "-", "hidden keys count in the length of norm=length")
DEFECT(dropout_denominator, "softmax-online-f32", "-", "the denominator adds kept weights only")
DEFECT(dropout_unscaled, "softmax-two-pass-f32", "-", "kept weights are not divided by 1-R")
DEFECT(dropout_by_rate, "softmax-split-f32", "-", "kept weights are divided by R instead of 1-R")
DEFECT(dropout_kv_head, "taylor-direct-f32", "-", "keep is read by KV head instead of query head")
DEFECT(dropout_tail, "softmax-two-pass-f32", "-", "the last keys, fewer than 8, have keep of the first of them")
DEFECT(mask_row_nan, "softmax-two-pass-f32", "B01 pytorch#103963", "a row without visible key is 0/0")
DEFECT(mask_row_mean, "softmax-online-f32", "B04 mlx#2608", "a row without visible key is the mean of all values")
DEFECT(empty_row_unset, "softmax-online-f32", "B45 flash-attention#1155",
       "o and lse of a row without visible key are never written")
DEFECT(empty_row_lse, "softmax-split-f32", "B43 tilelang#2461", "lse of a row without visible key is 0 instead of -inf")

/* ---- scores: cap, position bias, clamp, filter */
DEFECT(masked_poison, "softmax-online-f32", "B03 pytorch#101967",
       "keys after the diagonal or outside the window meet v with weight 0: 0 NaN = NaN")
DEFECT(diagonal_block, "softmax-two-pass-f32", "B43 flash-attention#1395",
       "all keys of the diagonal's block of 8 meet v, those after the diagonal with weight 0")
DEFECT(mask_additive, "softmax-online-f32", "B15 ocannl#548", "masked scores get -10000 added instead of becoming -inf")
DEFECT(softcap_after_mask, "softmax-online-f32", "B12 onnx#7865",
       "the cap turns the -inf of masked keys into -cap: they leak in")
DEFECT(softcap_ignored, "softmax-two-pass-f32", "B13 sgl-kernel-xpu#491", "the cap is accepted and ignored")
DEFECT(softcap_hard, "softmax-split-f32", "-", "the cap cuts at +-cap instead of bending the score")
DEFECT(softcap_unscaled, "softmax-two-pass-f32", "-",
       "the cap is taken of <q,k>, and scale is multiplied to what it left")
DEFECT(alibi_before_cap, "softmax-online-f32", "B12 emx-onnx-cgen#731",
       "the position bias is added before the cap, which bends it")
DEFECT(alibi_pm1, "softmax-online-f32", "B16 vllm#945", "the distance to a key is one too large")
DEFECT(alibi_sign, "softmax-two-pass-f32", "B16 attention-gym#86", "the position bias is added: far keys gain")
DEFECT(alibi_signed, "softmax-split-f32", "-", "without a mask the position bias of later keys is a gain")
DEFECT(alibi_slope_head, "softmax-online-f32", "B50 onnx#7274", "slopes are read by KV head instead of query head")
DEFECT(alibi_slope_assumed, "softmax-two-pass-f32", "B13 sgl-kernel-xpu#491",
       "slopes are made by the usual formula, those given are ignored")
DEFECT(usual_all_heads, "softmax-online-f32", "B50 onnx#7274",
       "usual slopes are 2^(-8(h+1)/Hq), also where Hq is no power of two")
DEFECT(usual_from_0, "softmax-two-pass-f32", "-", "powers of usual slopes begin at 0: the first head has the slope 1")
DEFECT(usual_in_a_row, "softmax-split-f32", "B50 onnx#7274",
       "usual slopes of the heads beyond a power of two go on in a row, not every second one from the start")
DEFECT(usual_kv_head, "taylor-direct-f32", "B50 onnx#7274",
       "usual slopes go by the KV head's number instead of the query head's")
DEFECT(usual_slope_bf16, "softmax-online-bf16", "B29 ipex-llm#12619", "usual slopes are kept in bf16")
DEFECT(alibi_no_offset, "softmax-split-f32", "B09 sparkinfer#3",
       "with causal-br the distance is i-j instead of i+off-j")
DEFECT(bias_kv_head, "softmax-online-f32", "-", "the bias is read by KV head instead of query head")
DEFECT(bias_before_scale, "softmax-two-pass-f32", "-", "the bias is added before the scale, which multiplies it")
DEFECT(bias_transposed, "softmax-split-f32", "-", "the bias is read with query and key changed over")
DEFECT(bias_first_batch, "taylor-direct-f32", "-", "all batch entries read the bias of the first")
DEFECT(clamp_two_sided, "softmax-two-pass-f32", "-", "the clamp bounds scores from below too")
DEFECT(filter_first_tile, "softmax-online-f32", "-", "the filter measures from the largest score of the first tile")
DEFECT(filter_two_sided, "softmax-two-pass-f32", "-",
       "the filter keeps scores above max - TAU/2: a band of width TAU around the maximum")
DEFECT(filter_ge, "softmax-two-pass-f32", "-", "the filter keeps a key exactly TAU below the maximum")

/* ---- maxima, exponentials, precision */
DEFECT(no_max, "softmax-two-pass-f32", "B24 xFasterTransformer#326", "no maximum is subtracted: e^100 overflows")
DEFECT(first_not_max, "softmax-split-f32", "B24 AMDMIGraphX#1290",
       "the first score is subtracted instead of the largest")
DEFECT(max_tail, "softmax-two-pass-f32", "B24 DeepLearningExamples#169",
       "the maximum is taken over whole vectors of 8 scores, without the last few")
DEFECT(max_not_carried, "softmax-online-f32", "B20 tilelang#1148", "the running maximum is that of the last tile alone")
DEFECT(stale_max, "softmax-online-f32", "B21 flash-attention#2694",
       "the maximum of the first tile is kept for the whole row")
DEFECT(finite_sentinel, "softmax-online-f32", "B19 flashinfer#4267", "the running maximum starts at -5e4, not -inf")
DEFECT(max_not_reset, "softmax-online-f32", "B38 aiter#4350", "the running maximum is that of the row before")
DEFECT(rescale_u_forgotten, "softmax-online-f32", "-", "u is not rescaled when the maximum rises, l is")
DEFECT(rescale_l_forgotten, "softmax-online-bf16", "-", "l is not rescaled when the maximum rises, u is")
DEFECT(rescale_late, "softmax-online-f32", "B20 tilelang#1148",
       "a tile is added first and then rescaled with the sums before it")
DEFECT(rescale_inverse, "softmax-online-f32", "-", "sums are rescaled by e^(m'-m) instead of e^(m-m')")
DEFECT(rescale_threshold, "softmax-online-f32", "B21 flash-attention#2713",
       "the maximum moves, but small moves do not rescale")
DEFECT(rescale_half, "softmax-online-f32", "-", "the rescaling factor is kept in f16")
DEFECT(poly_exp2_2, "softmax-online-f32", "B25 flash-attention#2316",
       "exp2 by a polynomial of degree 2 between powers of two")
DEFECT(poly_exp2_3, "softmax-online-bf16", "B25 flash-attention#2454",
       "exp2 by a polynomial of degree 3 between powers of two")
DEFECT(exp_bits, "softmax-online-bf16", "B25 openvino#37857", "e^x by a line in the bits of a float (degree 1)")
DEFECT(exp_limit, "softmax-two-pass-f32", "B25 flash-attention#2488", "e^x as (1 + x/1024)^1024, ten squarings")
DEFECT(exp_taylor_8, "softmax-two-pass-f32", "B25 openvino#37857",
       "e^x by 8 Taylor terms of x/4, raised to the fourth power")
DEFECT(exp_wobble, "softmax-two-pass-f32", "-",
       "e^x errs by 2^-16 relative, up for half of the arguments and down for the others")
DEFECT(exp_biased, "softmax-split-f32", "-", "every weight is 2^-16 too large: quotients cannot show it, lse does")
DEFECT(exp_half, "softmax-online-f32", "B23 ik_llama.cpp#1196", "the exponential is evaluated in f16")
DEFECT(log2e_short, "softmax-online-f32", "B25 flash-attention#2488", "e^x as 2^(1.4427 x): log2(e) cut to five digits")
DEFECT(exp_cutoff, "softmax-two-pass-f32", "B22 FlyDSL#1020", "weights below e^-12 are taken for 0")
DEFECT(ftz_weights, "softmax-two-pass-f32", "-", "weights below 2^-126 are flushed to 0, which is not declared")
DEFECT(ftz_f16_inputs, "softmax-online-f32", "-", "subnormal f16 inputs are read as 0")
DEFECT(inputs_through_f16, "softmax-online-bf16", "B23 ik_llama.cpp#1196",
       "bf16 inputs are converted to f16 on the way in")
DEFECT(score_f16, "softmax-two-pass-f32", "B23 llama.cpp#6646", "scores are stored in f16")
DEFECT(score_bf16, "softmax-online-bf16", "B30 flash-attention#2151", "scores are stored in bf16 before the softmax")
DEFECT(q_scaled_bf16, "softmax-online-bf16", "B29 ipex-llm#12619",
       "q is multiplied by scale first and rounded to bf16 again")
DEFECT(dot_f16, "softmax-online-f32", "B23 ik_llama.cpp#1196", "products of q and k are summed in f16")
DEFECT(dot_float, "softmax-two-pass-f64", "-", "products of q and k are summed in float")
DEFECT(exp_float, "softmax-two-pass-f64", "-", "the double kernel calls expf")
DEFECT(l_float, "softmax-two-pass-f64", "-", "the denominator adds weights rounded to float")
DEFECT(scale_float, "softmax-two-pass-f64", "-", "scale is a float argument of the double kernel")
DEFECT(acc_f16, "softmax-online-f32", "B23 llama.cpp#13975", "the sums of a tile's values are kept in f16")
DEFECT(acc_bf16, "softmax-online-bf16", "B23 llama.cpp#13975", "the sums of a tile's values are kept in bf16")
DEFECT(acc_between_tiles, "softmax-online-bf16", "B23 llama.cpp#13975", "u goes through memory in bf16 between tiles")
DEFECT(l_bf16, "softmax-online-bf16", "B23 llama.cpp#13975", "the denominator is kept in bf16 between tiles")
DEFECT(p_bf16, "softmax-online-f32", "B30 flash-attention#1071",
       "weights are cast to bf16 before they meet v, declared is f32")
DEFECT(p_truncated, "softmax-online-bf16", "B28 flash-attention#78", "weights are cut off to bf16, not rounded")
DEFECT(p_upward, "softmax-online-bf16", "B28 arXiv:2510.04212", "weights are rounded to the next larger bf16 number")
DEFECT(o_truncated, "softmax-online-bf16", "B28 flash-attention#78", "o is cut off to bf16, not rounded")
DEFECT(cast_in_sum, "softmax-online-bf16", "B22 FlyDSL#1020",
       "the denominator adds the cast weights; uncast is declared")
DEFECT(mass_lost, "softmax-online-bf16", "B22 FlyDSL#1020", "the cast loses weights below 2^-10, l keeps them")
DEFECT(sum_twice, "softmax-two-pass-f32", "B27 CUDATutorial#69", "the largest weight is counted twice in the row sum")
DEFECT(scale_missing, "softmax-two-pass-f32", "B29 mlc-llm#3426", "scale is not multiplied")
DEFECT(scale_padded, "softmax-online-f32", "B29 ipex-llm#12619", "scale is that of d padded to a multiple of 8")
DEFECT(scale_inverse, "softmax-split-f32", "B29 maxtext#1370", "scores are divided by scale")
DEFECT(scale_twice, "softmax-online-bf16", "B29 sglang#485", "scale is multiplied to q and again to the product")
DEFECT(scale_assumed, "softmax-two-pass-f32", "B13 sgl-kernel-xpu#491", "scale is 1/sqrt(d) whatever was asked for")
DEFECT(rcp_approx, "softmax-split-f32", "-", "the quotient is a product with a reciprocal of 12 bits")
DEFECT(eps_always, "softmax-two-pass-f32", "-", "1e-6 is added to every denominator, asked for or not")
DEFECT(eps_unshifted, "softmax-split-f32", "-", "eps is added to e^-m z as if it were z")
DEFECT(norm_discarded, "softmax-two-pass-f32", "B71 paper repository",
       "weights are normalised, and the unnormalised ones meet v")

/* ---- lse, parts, sinks */
DEFECT(lse_ln2, "softmax-two-pass-f32", "B31 pytorch#181645", "lse is off by ln 2")
DEFECT(lse_base2, "softmax-online-f32", "B33 flashinfer#4485", "lse is in base 2, which is not declared")
DEFECT(lse_mixed_base, "softmax-two-pass-f32", "B32 vllm#28840",
       "lse = m + log2(l): the maximum natural, the log in base 2")
DEFECT(lse_no_max, "softmax-online-bf16", "B31 pytorch#181645", "lse = log l: the maximum is not added back")
DEFECT(lse_bf16, "softmax-online-bf16", "B30 flash-attention#1071", "lse is rounded to bf16")
DEFECT(lse_with_sink, "softmax-two-pass-f32", "B39 rocm-libraries#12229",
       "lse includes the sink, which is not declared")
DEFECT(merge_base, "softmax-split-f32", "B32 sglang#35045", "parts give lse in base 2, the merge takes it for natural")
DEFECT(merge_mean, "softmax-split-f32", "-", "the parts' quotients are averaged, not weighted by their lse")
DEFECT(merge_no_max, "softmax-split-f32", "B24 xFasterTransformer#326",
       "parts are weighted by e^lse, without a maximum")
DEFECT(merge_u_old, "softmax-split-f32", "-",
       "u of the parts before is not rescaled when a part with a larger lse comes")
DEFECT(merge_undivided, "softmax-split-f32", "-", "the merge takes a part's sums for its quotient")
DEFECT(merge_max_only, "softmax-split-f32", "B32 sglang#40903", "parts are weighted by e^max instead of e^lse")
DEFECT(merge_lse_f16, "softmax-split-f32", "B32 vllm#28840", "the parts' lse go through memory in f16")
DEFECT(empty_split, "softmax-split-f32", "B37 tilelang#328", "a part without key is merged: -inf - -inf")
DEFECT(empty_split_zero, "softmax-split-f32", "B37 aiter#4420", "a part without key has lse 0 instead of -inf")
DEFECT(split_remainder, "softmax-split-f32", "B44 jax#27224", "keys that do not divide into equal parts are dropped")
DEFECT(split_last_short, "softmax-split-f32", "B46 flash-attention#2337",
       "parts are rounded up, and the last ones run over the row's end")
DEFECT(lse_null, "softmax-split-f32", "B35 flashinfer#50",
       "parts have no lse when the caller wants none, and the merge needs it")
DEFECT(lse_null_sum, "softmax-online-f32", "B35 flashinfer#50",
       "rows are divided by their sum only where the caller wants lse")
DEFECT(sink_split_twice, "softmax-split-f32", "B39 rocm-libraries#12227", "the sink is counted once in every part")
DEFECT(sink_split_none, "softmax-split-f32", "B39 rocm-libraries#12229",
       "with more than one part the sink is not counted")
DEFECT(sink_scaled, "softmax-online-f32", "B39 rocm-libraries#12227", "the sink is multiplied by scale like a product")
DEFECT(sink_sign, "softmax-two-pass-f32", "B40 torchtitan#2211", "the sink counts e^-sink")
DEFECT(sink_unshifted, "softmax-online-f32", "B40 torchtitan#2211",
       "the sink is added without the maximum taken from it")
DEFECT(sink_clamped, "softmax-split-f32", "B40 torchtitan#2211",
       "the sink acts as sigmoid(lse - sink) of a difference clamped to 10")
DEFECT(sink_kv_head, "softmax-two-pass-f32", "B50 axlearn#842", "sinks are read by KV head instead of query head")
DEFECT(sink_zero, "softmax-online-f32", "B13 sgl-kernel-xpu#491", "the sink's value is ignored: every sink is 0")
DEFECT(batch_variant, "softmax-online-f32", "B41 vllm#53257",
       "the tile is shorter in large batches: a row's bits depend on the others")
DEFECT(splits_by_batch, "softmax-split-f32", "B41 aiter#4378", "the number of parts is chosen by the size of the batch")

/* ---- keys and values in pages */
DEFECT(pages_in_order, "softmax-two-pass-f32", "-",
       "the block table is not read: the pages of an entry are taken to lie one behind the other")
DEFECT(pages_of_first, "softmax-split-f32", "-", "all batch entries read the first one's row of the block table")
DEFECT(pages_last_short, "taylor-direct-f32", "-", "the last page is lost where the keys fill it to its end")

/* ---- sequences of different lengths, packed */
DEFECT(queries_align_n, "softmax-two-pass-f32", "-",
       "a bottom-right diagonal ends at the last row of the padded tensor, not at the entry's last query")
DEFECT(queries_state_padded, "linear-recurrent-f32", "-",
       "the final state is that after the padding: len_q is not read")
DEFECT(packed_starts_k, "softmax-split-f32", "-", "cu_seqlens_k says where queries begin, too")
DEFECT(packed_last_key, "taylor-direct-f32", "-",
       "the end of a packed sequence is taken for its last token, which is lost")
DEFECT(packed_empty_one, "softmax-online-f32", "-",
       "a packed sequence without keys reads one, of the sequence behind it")
DEFECT(packed_start_32, "softmax-split-f32", "-",
       "the start of a packed sequence is counted in 32 bits, in elements: tokens lie far apart")
DEFECT(packed_longest, "taylor-split-f32", "-",
       "as many rows as the longest packed sequence has are written for each, and past the end")
DEFECT(packed_equal, "delta-recurrent-f32", "-", "packed sequences are taken to have n tokens each")
DEFECT(packed_reset_n, "linear-recurrent-f32", "-",
       "the state is reset every n packed tokens: that of a shorter sequence runs on into the next one")
DEFECT(chunk_across_starts, "delta-chunk-f32", "-",
       "chunks are counted from the packed tensor's start: one holds tokens of two sequences")

/* ---- keys and values of another type than queries */
DEFECT(kv_q_cast, "softmax-online-f32", "-", "a query is rounded to the type of its keys, and no numerics say so")
DEFECT(kv_weights_cast, "softmax-two-pass-f32", "-", "weights are rounded to the type of the values, though p is f32")
DEFECT(kv_bf16_as_f16, "softmax-split-f32", "-", "keys of bf16 beside queries of f32 are read as f16")
DEFECT(kv_scale_head_zero, "softmax-two-pass-f32", "-", "k_scale of KV head 0 is taken for all heads")
DEFECT(kv_scale_near_one, "softmax-online-f32", "-", "a v_scale that is within a quarter of 1 is left out")
DEFECT(kv_e5m2_as_e4m3, "softmax-split-f32", "-", "keys and values of e5m2 are read as e4m3")
DEFECT(kv_e4m3_ieee, "softmax-online-f32", "-", "e4m3 is read as IEEE types are: exponent 15 is infinity or NaN")
DEFECT(kv_flush_subnormal_k, "softmax-online-f32", "-", "subnormal keys of 8 bits are read as 0")
DEFECT(kv_flush_subnormal_v, "softmax-split-f32", "-", "subnormal values of 8 bits are read as 0")
DEFECT(kv_e5m2_flush_k, "softmax-online-f32", "-", "subnormal keys of e5m2 are read as 0")
DEFECT(kv_e5m2_flush_v, "softmax-split-f32", "-", "subnormal values of e5m2 are read as 0")
DEFECT(kv_e4m3_nan_480, "softmax-two-pass-f32", "-", "e4m3's NaN is read by the rule of its neighbours, as 480")
DEFECT(kv_e5m2_top_finite, "softmax-split-f32", "-", "e5m2's infinity is read as 65536")

/* ---- decays given by their logarithms */
DEFECT(decay_log_base2, "linear-recurrent-f32", "B25 flash-attention#2316",
       "a stored logarithm of a decay is taken for one of base 2")
DEFECT(decay_log_bf16, "delta-recurrent-f32", "-",
       "a stored logarithm of a decay is rounded to bf16 before its exponential")
DEFECT(decay_log_quotient, "taylor-direct-f32", "B60 executorch#21417",
       "D_ij is e^(sum up to i) times e^-(sum up to j), which overflows where the sums are large")

/* ---- memory, layout, indices */
DEFECT(assume_contig, "softmax-two-pass-f32", "B49 pytorch#181133",
       "strides are ignored: every tensor is read and written as if contiguous")
DEFECT(lse_contig, "softmax-online-bf16", "B49 pytorch#181133", "the strides of lse are ignored, those of o are not")
DEFECT(head_stride_assumed, "taylor-direct-f32", "B49 torch-spyre#4331",
       "heads are taken to lie n rows apart, whatever their stride")
DEFECT(heads_inside, "softmax-split-f32", "B55 fla#547", "tensors are taken for [B,N,H,d] where they are [B,H,N,d]")
DEFECT(lse_layout, "softmax-online-f32", "B43 tilelang#2461", "lse is written as [B,N,H] where it is [B,H,N]")
DEFECT(gqa_tile, "softmax-online-f32", "B50 HipKittens#22", "query head h reads KV head h mod Hkv")
DEFECT(gqa_chance, "softmax-two-pass-f32", "B50 jax-js#180", "query head h reads KV head h / Hkv")
DEFECT(kv_head_zero, "softmax-split-f32", "B50 onnx#7274", "every query head reads KV head 0")
DEFECT(value_batch_zero, "softmax-online-bf16", "B49 FlagGems#5896",
       "values of all batch entries are those of the first")
DEFECT(value_width, "softmax-two-pass-f32", "B49 pytorch#187506", "rows of v are d apart, not e")
DEFECT(value_strides, "softmax-two-pass-f32", "-", "v is read by the strides of k where d = e")
DEFECT(tail_oob, "softmax-online-f32", "B42 pytorch#169222",
       "the last tile reads k and v past their end and weights that by 0")
DEFECT(tail_not_cleared, "softmax-online-f32", "B43 flash-attention#1395",
       "keys after len meet v with weight 0: padding that is not finite spoils the row")
DEFECT(tail_zero_keys, "softmax-online-f32", "B44 jax#27224",
       "zeros that fill the last tile up count as keys with score 0")
DEFECT(tail_dropped, "softmax-two-pass-f32", "B44 jax#27224",
       "the last keys are dropped where their number is no multiple of 4")
DEFECT(keys_capped, "softmax-two-pass-f32", "B46 flash-attention#2337",
       "a row sees 512 keys at most: the size of the score buffer")
DEFECT(d_capped, "softmax-online-f32", "B46 flash-attention#2337", "products use the first 64 channels at most")
DEFECT(d_tail_dropped, "softmax-online-bf16", "B44 jax#27224",
       "the last channels of q and k are dropped where d is no multiple of 4")
DEFECT(d_tail_over, "softmax-split-f32", "B42 pytorch#169222", "products read channels up to the next multiple of 4")
DEFECT(e_tail_dropped, "softmax-split-f32", "B44 jax#27224",
       "the last channels of v are not summed where e is no multiple of 4")
DEFECT(store_tail_over, "softmax-split-f32", "B42 pytorch#169222",
       "the last store of a row of o writes up to the next multiple of 4 channels")
DEFECT(uninit_acc, "softmax-two-pass-f32", "B38 torchtitan#3235", "sums start with what the workspace holds")
DEFECT(workspace_d_for_e, "softmax-online-f32", "B46 flash-attention#2337",
       "the workspace is sized for values of d channels, not e")
DEFECT(rows_tail_unwritten, "softmax-online-f32", "B45 flash-attention#2862",
       "rows after the last whole block of 8 queries are never written")
DEFECT(row_zeroed, "softmax-split-f32", "B51 ThunderKittens#123", "one row in 128 is written as zeros")
DEFECT(row_stale_tile, "softmax-online-bf16", "B51 ThunderKittens#33",
       "the last row of a block of 128 reads the value tile before")
DEFECT(row_neighbour, "softmax-two-pass-f32", "B49 pytorch#187506",
       "rows of o are written one down, the last one to the top")
DEFECT(scaled_in_place, "softmax-two-pass-f32", "-", "q is multiplied by scale in the caller's tensor")
DEFECT(short_offset, "softmax-two-pass-f32", "B47 fla#1080", "offsets of rows are kept in 16 bits")
DEFECT(int32_offset, "softmax-split-f32", "B47 flash-attention#2260", "offsets of rows are kept in 32 bits")
DEFECT(nan_hidden, "softmax-two-pass-f32", "B27 CUDATutorial#69", "a score that is NaN counts as weight 0")
DEFECT(nan_row_zero, "softmax-online-bf16", "B27 CUDATutorial#69", "a row whose sum is not above 0 is empty: NaN too")

/* ---- Taylor and states */
DEFECT(factorial_missing, "taylor-direct-f32", "-", "degree n of T_P has weight 1 instead of 1/n!")

/* ---- Taylor series: coefficients, degrees, centers */
DEFECT(factorial_reciprocal, "taylor-direct-f32", "-", "degree n of T_P has weight 1/n instead of 1/n!")
DEFECT(factorial_int32, "taylor-direct-f32", "-", "n! is kept in 32 bits: wrong from 13! on")
DEFECT(sixth_rounded, "taylor-split-f32", "-", "1/3! is written 0.1667")
DEFECT(order_low, "taylor-direct-f32", "-", "T_(P-1) instead of T_P")
DEFECT(order_high, "taylor-split-f32", "-", "T_(P+1) instead of T_P")
DEFECT(odd_degrees_dropped, "taylor-direct-f32", "-", "only the even degrees of T_P are summed")
DEFECT(constant_dropped, "taylor-split-f32", "-", "the sum of T_P starts at degree 1")
DEFECT(power_abs, "taylor-split-f32", "-", "x^P is taken of abs(x): odd orders lose the sign")
DEFECT(term_factorial_missing, "taylor-direct-f32", "-",
       "x^P instead of x^P/P!: only u and z tell where a norm follows")
DEFECT(negative_weight_cut, "taylor-direct-f32", "-", "weights below 0 are set to 0 (odd orders)")
DEFECT(weight_bf16, "taylor-direct-f32", "-", "weights are rounded to bf16 before they are summed")
DEFECT(center_max_for_zero, "taylor-direct-f32", "-", "the row's maximum is subtracted also with center=zero")
DEFECT(center_zero_for_max, "taylor-direct-f32", "B24 xFasterTransformer#326", "the center is always 0")
DEFECT(center_first_key, "taylor-direct-f32", "B24 AMDMIGraphX#1290",
       "center=max takes the first score, not the largest")
DEFECT(center_mid_is_mean, "taylor-direct-f32", "-",
       "center=mid is the mean of the scores, not the middle of their range")
DEFECT(center_unclamped, "taylor-direct-f32", "-", "the center is that of the scores before cap, alibi and clamp")
DEFECT(padding_weight_one, "taylor-direct-f32", "B44 jax#27224",
       "keys are padded with zeros to a multiple of 4, and each counts W(0) in z")
DEFECT(lens_zeroed_keys, "taylor-split-f32", "B44 jax#27224",
       "keys beyond len_b are zeroed, not skipped: each adds W(0) to z")
DEFECT(parts_remainder, "taylor-split-f32", "B44 jax#27224", "parts are N/splits keys long: the remainder is dropped")
DEFECT(decay_exponent_high, "taylor-split-f32", "B59 Jamie-Stirling/RetNet#10",
       "D_ij has the factor a_j too: gamma^(i-j+1)")
DEFECT(decay_exponent_low, "taylor-direct-f32", "B59 Jamie-Stirling/RetNet#10",
       "D_ij lacks the factor a_(j+1): gamma^(i-j-1)")
DEFECT(decay_of_logs, "taylor-direct-f32", "B61 vllm#37501", "D_ij = e^(c_i - c_j) with c the cumulative sum of log a")
DEFECT(decay_divided, "taylor-split-f32", "B60 executorch#21417", "D_ij is a quotient of cumulative products")

/* ---- states of degrees, full and packed */
DEFECT(scale_once, "taylor-recurrent-f32", "B53 fla#47", "c_n = scale/n!: the scale enters every degree with power 1")
DEFECT(state_factorial_missing, "taylor-chunk-f32", "-",
       "c_n = scale^n: the readout of the states lacks 1/n!, the pairs have it")
DEFECT(highest_degree_unread, "taylor-recurrent-f32", "B78 ThunderKittens based",
       "the readout stops at degree P-1; the states are right")
DEFECT(constant_degree_unread, "taylor-packed-f32", "-",
       "the readout starts at degree 1: the state of degree 0 is kept and not used")
DEFECT(z_of_lower_order, "taylor-recurrent-f32", "-", "the denominator lacks degree P, which the numerator has")
DEFECT(multiplicity_missing, "taylor-packed-f32", "-", "packed monomials are read without n!/I!")
DEFECT(multiplicity_two, "taylor-packed-f32", "-", "packed monomials off the diagonal are read twice, in every degree")
DEFECT(multiplicity_slip, "taylor-packed-f32", "-", "the multiplicity of the next packed row is taken")
DEFECT(packed_rows_reversed, "taylor-packed-f32", "B58 sparkinfer#615",
       "packed rows are in the order of the last entry, not of the first")
DEFECT(monomial_bf16, "taylor-packed-f32", "B75 fused_chunk_based", "monomials are rounded to bf16")
DEFECT(power_with_factorial, "taylor-packed-f32", "-", "power:P is read with 1/P!: only u, z and norm=none tell")

/* ---- recurrences: what a state keeps from token to token */
DEFECT(state_bf16, "taylor-recurrent-f32", "B63 fla#37", "the states are rounded to bf16 after every token")
DEFECT(state_f16, "linear-recurrent-f32", "B63 fla#37", "the state is rounded to f16 after every token")
DEFECT(key_sum_f16, "linear-recurrent-f32", "B67 fast-transformers#32",
       "the sum of the keys is kept in f16, the sums of values in float")
DEFECT(state_cast_read, "taylor-chunk-f32", "B75 fused_chunk_based",
       "the states are cast to f16 before every product with the query")
DEFECT(reset_once_a_batch, "taylor-recurrent-f32", "B41 vllm#53257",
       "the states are cleared for the first KV head of a batch entry only")
DEFECT(reset_once_a_run, "linear-recurrent-f32", "B41 vllm#53257",
       "the state is cleared for the first batch entry only")
DEFECT(h0_ignored, "taylor-recurrent-f32", "B56 TileOPs#1557", "the given states h0 and z0 are not read")
DEFECT(z0_ignored, "taylor-chunk-f32", "B69 fla#351", "h0 is read, z0 is not")
DEFECT(h0_decayed_twice, "linear-recurrent-f32", "B69 fla#351", "a_0 meets the given state twice")
DEFECT(h0_not_decayed, "taylor-packed-f32", "B69 fla#351", "a_0 does not meet the given state")
DEFECT(h0_transposed, "linear-recurrent-f32", "B58 sparkinfer#615", "h0 is read as [e,dim]")
DEFECT(ht_highest_unwritten, "taylor-packed-f32", "B56 fla#285", "the final state of the highest degree is not written")
DEFECT(new_token_decayed, "linear-recurrent-f32", "B59 Jamie-Stirling/RetNet#10",
       "the decay of token t meets its own key too")
DEFECT(decay_of_previous, "linear-recurrent-f32", "B59 syncdoth/RetNet#10", "the state is decayed by a_(t-1), not a_t")
DEFECT(decay_of_head_zero, "taylor-recurrent-f32", "B54 fla#850", "all KV heads have the decay of head 0")
DEFECT(decay_time_first, "linear-recurrent-f32", "B55 fla#547",
       "a scalar decay tensor [head,time] is read as [time,head]")
DEFECT(late_query_undecayed, "taylor-recurrent-f32", "-",
       "a query beyond the last key it sees is not decayed up to its own token")
DEFECT(key_not_mapped, "linear-recurrent-f32", "B73 Based linear_attention.py",
       "the feature map is applied to q, not to k")

/* ---- chunks */
DEFECT(chunk_scale, "taylor-chunk-f32", "B53 fla#47",
       "the scale is missing where the state is read, not in the pairs of the chunk")
DEFECT(chunk_z_forgotten, "taylor-chunk-f32", "-", "the denominator counts the open chunk only")
DEFECT(chunk_decay_lost, "taylor-chunk-f32", "B59 Jamie-Stirling/RetNet#10",
       "the state is not decayed when a chunk enters it")
DEFECT(chunk_share_undecayed, "taylor-chunk-f32", "B59 syncdoth/RetNet#10",
       "tokens enter the state without their decay to the chunk's end")
DEFECT(chunk_first_decay_lost, "taylor-chunk-f32", "B59 Jamie-Stirling/RetNet#10",
       "the decay of a chunk's first token is lost")
DEFECT(chunk_sum_kept, "taylor-chunk-f32", "B38 torchtitan#3235",
       "the sum of a chunk is not cleared before the next chunk")
DEFECT(chunk_first_token_lost, "taylor-chunk-f32", "B65 fla#640",
       "the pairs leave out the first token of the open chunk")
DEFECT(chunk_padding_counted, "taylor-chunk-f32", "B44 jax#27224",
       "the empty places of the open chunk count W(0) each in z")
DEFECT(chunk_tail_dropped, "taylor-chunk-f32", "B44 jax#27224",
       "the final state lacks the last chunk where it is not full")

/* ---- features, gates and norms of the recurrent and polynomial kernels */
DEFECT(elu_without_one, "linear-recurrent-f32", "-", "elu instead of elu + 1")
DEFECT(relu_of_product, "taylor-direct-f32", "-", "relu of the product instead of relu of q and of k")
DEFECT(cosformer_length_n, "taylor-recurrent-f32", "-", "cosformer's length is n, not max(n,m)")
DEFECT(cosformer_half_missing, "linear-recurrent-f32", "-", "cosformer's angle is pi j/M, not pi j/(2M)")
DEFECT(rope_half_width, "taylor-recurrent-f32", "-", "rope's exponent is -2c/(d/2)")
DEFECT(rope_interleaved, "linear-recurrent-f32", "-", "rope rotates the pairs (2c,2c+1), not (c,c+d/2)")
DEFECT(rope_sign, "delta-recurrent-f32", "-", "rope turns by the negative angle")
DEFECT(rope_query_index, "linear-recurrent-f32", "B09 sparkinfer#3",
       "rope turns the query by i, not by i + off (causal-br)")
DEFECT(gates_swapped, "taylor-split-f32", "-", "gates=inout: the gate of values is applied to rows and the reverse")
DEFECT(gate_in_denominator, "linear-recurrent-f32", "-",
       "the gate of a value is folded into its key: the denominator gets it too")
DEFECT(gate_of_next_token, "linear-recurrent-f32", "-", "gates are taken from the token after")
DEFECT(gate_of_kv_head, "taylor-recurrent-f32", "B50 HipKittens#22",
       "gout is that of the first query head of the KV head")
DEFECT(gate_sigmoid_twice, "taylor-packed-f32", "-", "a gate that is given as 0..1 passes through a sigmoid")
DEFECT(gate_before_norm, "taylor-direct-f32", "-", "gout multiplies u before the norm, not o after it")
DEFECT(head_softmax_over_time, "taylor-split-f32", "B54 fla#850",
       "gates=heads: the softmax runs over the tokens, not over the heads")
DEFECT(head_softmax_no_max, "linear-recurrent-f32", "B24 xFasterTransformer#326",
       "gates=heads: e^x / sum e^x without the maximum")
DEFECT(denominator_abs, "taylor-direct-f32", "-", "the denominator is abs(z)")
DEFECT(denominator_inverse, "linear-recurrent-f32", "B68 performer-pytorch#40",
       "u is multiplied by z: the reciprocal is missing")
DEFECT(denominator_unused, "taylor-packed-f32", "B71 LlamaDecoderLayer.py",
       "the weights are normalised and the unnormalised ones are used")
DEFECT(eps_missing, "taylor-recurrent-f32", "B73 Based linear_attention.py", "the eps of the sum is not added")
DEFECT(eps_fixed, "taylor-chunk-f32", "B73 Based linear_attention.py",
       "the eps of the sum is 1e-12, whatever was asked for")
DEFECT(floor_of_abs, "linear-recurrent-f32", "-", "norm=floor divides by max(abs z, F)")
DEFECT(root_eps_missing, "linear-recurrent-f32", "-", "the eps under the root of a norm is not added")
DEFECT(root_eps_outside, "taylor-split-f32", "-", "eps is added after the root")
DEFECT(rms_without_mean, "taylor-split-f32", "-", "norm=rms divides by the root of the sum of squares")
DEFECT(mean_over_d, "taylor-recurrent-f32", "-", "the mean of squares is over d, not e")
DEFECT(layernorm_unbiased, "linear-recurrent-f32", "-", "layernorm divides by the standard deviation with e-1")
DEFECT(length_of_all_keys, "taylor-direct-f32", "-", "norm=length divides by m, not by the visible keys")

/* ---- the delta rule */
DEFECT(beta_only_written, "delta-recurrent-f32", "-",
       "w = b v - k S: the rate is missing where the old value is erased")
DEFECT(beta_only_erased, "delta-parallel-f32", "-", "w = v - b k S: the rate is missing where the new value is written")
DEFECT(beta_squared, "delta-chunk-f32", "-", "the rate multiplies twice")
DEFECT(erase_after_write, "delta-recurrent-f32", "-", "the old value is read after the new one was added")
DEFECT(erase_missing, "delta-recurrent-f32", "-", "the old value is not erased: plain linear attention")
DEFECT(erase_without_decay, "delta-parallel-f32", "B64 shainet#170",
       "the old value is read from the state before its decay")
DEFECT(erase_decayed_twice, "delta-chunk-f32", "B64 shainet#170", "the old value is read from the state decayed twice")
DEFECT(wy_sign, "delta-parallel-f32", "B64 shainet#170", "the triangular system has the wrong sign")
DEFECT(wy_not_inverted, "delta-parallel-f32", "B70 cudnn-frontend#1051",
       "(I - A) b v instead of the inverse (I + A)^-1 b v")
DEFECT(wy_blocks_apart, "delta-parallel-f32", "B65 fla#640",
       "the triangular system is solved in blocks of 4 that do not see each other")
DEFECT(gram_scaled, "delta-parallel-f32", "B53 fla#47", "the scale of the queries multiplies the products of keys too")
DEFECT(delta_read_before_write, "delta-chunk-f32", "B17 accelerated-model-architectures#480",
       "the query reads the state before its own token is written")
DEFECT(delta_h0_chunk_zero, "delta-chunk-f32", "B56 TileOPs#1557", "the first chunk does not read the given state")
DEFECT(delta_ht_early, "delta-chunk-f32", "B63 onnxruntime#32166", "the final state is that before the last token")
DEFECT(delta_ht_transposed, "delta-recurrent-f32", "B58 attention-gym#402", "the final state is written [e,dim]")
DEFECT(delta_decay_of_values, "delta-recurrent-f32", "B58 sparkinfer#615",
       "decay=vector multiplies the value channels, not the key rows")
DEFECT(delta_state_bf16, "delta-recurrent-f32", "B63 fla#37", "the state is rounded to bf16 after every token")
DEFECT(gamma_assumed, "delta-recurrent-f32", "B13 sgl-kernel-xpu#491",
       "decay=retnet is 1 - 2^(-5-h), the gammas given are ignored")
DEFECT(key_not_unit, "delta-recurrent-f32", "-", "keys are not brought to length 1, queries are")
DEFECT(unit_eps, "delta-chunk-f32", "-", "features of length 1 are x/sqrt(sum x^2 + 1e-6)")
DEFECT(efla_norm_missing, "delta-recurrent-f32", "-", "efla: (1 - e^-b)/r: the norm is missing in the exponent")
DEFECT(efla_cancelled, "delta-chunk-f32", "-",
       "efla: 1 - e^-x is formed as it stands and loses the digits of a small x")
DEFECT(efla_as_delta, "delta-chunk-f32", "B13 sgl-kernel-xpu#491", "update=efla is taken and the plain rate b is used")

#include "fast/list_fast.h"
#include "list_pairs.h"
