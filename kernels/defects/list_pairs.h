/* list_pairs.h - part of list.h: defects that need two or three conditions at once.
 *
 * Elsewhere such a kernel has the bits of its base.  The file of each names lines on which it is wrong (`shows`), and
 * lines that lack one of the conditions (`hides`: same bits; `passes`: other bits, inside the bound); a test asks all.
 */

/* ---- scores */
DEFECT(slope_odd_heads, "softmax-two-pass-f32", "B50 onnx#7274",
       "slopes of the heads beyond a power of two are taken from the table's start, two apart")
DEFECT(slopes_four, "softmax-online-f32", "B46 flash-attention#2337",
       "the slopes of four heads are held: head h has the slope of head h mod 4")
DEFECT(bias_far_keys, "softmax-split-f32", "B16 vllm#945", "the distance of the position bias stops at 63")
DEFECT(cap_clamp_fused, "softmax-two-pass-f32", "B13 sgl-kernel-xpu#491",
       "cap and clamp together, without position bias, are one cap at the smaller of the two")
DEFECT(clamp_before_bias, "softmax-online-f32", "B12 emx-onnx-cgen#731",
       "without a cap the clamp comes before the position bias")
DEFECT(cap_scale_bf16, "softmax-online-bf16", "B29 ipex-llm#12619", "scale/cap is one factor, kept in bf16")
DEFECT(rope_table_256, "softmax-online-f32", "B46 flash-attention#2337",
       "the table of rotations has 256 positions: later ones start over")
DEFECT(rope_position_bf16, "softmax-online-bf16", "B29 ipex-llm#12619",
       "positions of rope are held in bf16: exact up to 256")
DEFECT(rope_len_offset, "softmax-two-pass-f32", "B09 sparkinfer#3",
       "rope with causal-br turns the query by i + m - n, also where len_b is less than m")
DEFECT(silu_one_query, "softmax-two-pass-f32", "B13 sgl-kernel-xpu#491",
       "for a single query silu is x times a sigmoid made of straight lines")
DEFECT(unit_of_zeros, "taylor-direct-f32", "B01 pytorch#103963", "a row of zeros divided by its length is 0/0")
DEFECT(scale_negative_center, "taylor-direct-f32", "B24 AMDMIGraphX#1290",
       "the largest score is scale times the largest product, which is the smallest where scale is negative")
DEFECT(scale_negative_cubic, "taylor-packed-f32", "B53 fla#47",
       "from degree 3 on the coefficients are powers of abs(scale)")
DEFECT(filter_outside_window, "softmax-online-f32", "B14 tt-metal#48700",
       "the filter measures from the largest score of all keys, also of those before the window")
DEFECT(bias_place_in_window, "softmax-split-f32", "B16 vllm#945",
       "in a window the position bias counts from the window's first key: lse is off by a constant of the row")

/* ---- masks, windows, lengths */
DEFECT(window_len_offset, "softmax-split-f32", "B10 flash-attention#158",
       "window, lengths and causal-br together: the window starts as if every length were m")
DEFECT(window_packed_heads, "softmax-online-f32", "B50 HipKittens#22",
       "three query heads a KV head, or five, six: the last one's window is one key short")
DEFECT(window_beyond_keys, "softmax-two-pass-f32", "B10 flash-attention#158",
       "a query whose window lies behind the last key sees that key")
DEFECT(window_tiles_whole, "softmax-online-f32", "B44 jax#27224",
       "a window of more than a tile keeps whole tiles of 32 keys only")
DEFECT(full_window_future, "taylor-split-f32", "B11 tokenspeed#578",
       "without a causal mask the window ends at key n-1, also where there are more keys")
DEFECT(lens_fifth_batch, "softmax-two-pass-f32", "B46 flash-attention#2337",
       "lengths are held for four batch entries: entry b has that of b mod 4")
DEFECT(state_before_first_key, "linear-recurrent-f32", "B45 flash-attention#1155",
       "a query that sees no key is 0, also where a state was given")
DEFECT(single_token_state, "taylor-recurrent-f32", "B56 TileOPs#1557",
       "a single query with a single key returns its value, also where a state was given")
DEFECT(sink_one_token, "softmax-two-pass-f32", "B39 rocm-libraries#12229",
       "a single query with a single key returns its value, also where there is a sink")

/* ---- tiles */
DEFECT(rescale_wide, "softmax-online-f32", "B20 tilelang#1148",
       "channels of o from 64 on are not rescaled when the maximum rises")
DEFECT(sink_every_8_tiles, "softmax-online-f32", "B39 rocm-libraries#12227",
       "in rows of more than 256 keys the sink counts twice")
DEFECT(bias_third_tile, "softmax-online-f32", "B16 vllm#945",
       "from the third tile on the position bias is that of the tile before")
DEFECT(mma_wide_tail, "softmax-mma-bf16", "B44 jax#27224",
       "beyond 128 channels of q and k only whole groups of 16 are multiplied")
DEFECT(mma_window_group, "softmax-mma-bf16", "B14 tt-metal#48700",
       "beyond position 64 a window starts with the whole group of 16 keys that its first key lies in")
DEFECT(mma_bias_capped, "softmax-mma-bf16", "B12 emx-onnx-cgen#731",
       "with a cap the position bias is multiplied by scale too")
DEFECT(mma_decay_restart, "softmax-mma-bf16", "B59 Jamie-Stirling/RetNet#10",
       "the product of decays starts over at every 64th token")
DEFECT(gate_wide, "softmax-online-bf16", "B46 flash-attention#2337", "gates of values reach the first 64 channels only")
DEFECT(store_pair_tail, "softmax-online-f32", "B42 pytorch#169222",
       "16-bit results wider than 64 are stored in pairs: the last channel of an odd number is 0")

/* ---- parts of the keys */
DEFECT(sink_spare_parts, "softmax-split-f32", "B39 rocm-libraries#12227",
       "with more parts than keys the sink counts twice")
DEFECT(window_parts_whole, "softmax-split-f32", "B44 jax#27224",
       "four parts or more of a window are equally long: the newest keys of a remainder are dropped")
DEFECT(merge_third_head, "softmax-split-f32", "B50 HipKittens#22",
       "of the third query head of a KV head on, the last part is not merged")
DEFECT(split_len_remainder, "softmax-split-f32", "B44 jax#27224",
       "with lengths a part holds m/splits keys, rounded down: a row that is nearly full loses its last keys")
DEFECT(parts_order_five, "taylor-split-f32", "B75 fused_chunk_based",
       "parts after the first stop the series at degree 5")
DEFECT(retnet_table, "taylor-split-f32", "B46 flash-attention#2337",
       "the table of powers of gamma ends at 160: older keys do not fade further")
DEFECT(bias_third_part, "softmax-split-f32", "B16 vllm#945",
       "in the third part of the keys and later ones the distance of the position bias is one too large")

/* ---- norms and gates */
DEFECT(length_block, "softmax-two-pass-f32", "B46 flash-attention#2337",
       "norm=length divides by the keys of the last block of 128")
DEFECT(root_wide, "softmax-split-f32", "B46 flash-attention#2337",
       "norms with a root add up the squares of the first 64 channels")
DEFECT(gain_wraps, "taylor-recurrent-f32", "B46 flash-attention#2337",
       "gain and shift of channel c are those of c mod 32")
DEFECT(length_skipped_eps, "softmax-two-pass-f32", "B73 Based linear_attention.py",
       "l2, rms and layernorm of u/t are taken of u: the same only without eps")
DEFECT(gates_four_heads, "softmax-split-f32", "B46 flash-attention#2337",
       "gates of rows are held for four heads: head h has that of h mod 4")
DEFECT(head_softmax_tree, "linear-recurrent-f32", "B54 fla#850",
       "the softmax over heads leaves out the heads beyond a power of two")
DEFECT(pre_gate_sink, "softmax-two-pass-f32", "B40 torchtitan#2211",
       "a gate before the norm multiplies the row's sum too, so that the sink's share grows")
DEFECT(floor_negative, "linear-recurrent-f32", "-", "a floor below 0 is taken for its size")
DEFECT(length_window, "softmax-split-f32", "B11 zml#763",
       "norm=length counts the keys up to the diagonal, also those before the window")
DEFECT(shift_pair_tail, "taylor-chunk-f32", "B42 pytorch#169222",
       "with 16-bit inputs the last channel of an odd number gets no shift")
DEFECT(sink_batch_head, "softmax-online-bf16", "B50 axlearn#842", "sinks are read by (h + b) mod Hq")
DEFECT(gate_past_keys, "taylor-chunk-f32", "B46 flash-attention#2337",
       "gates of rows are held for m tokens: a row beyond them has the last one's")
DEFECT(gate_len_aligned, "softmax-online-f32", "B09 sparkinfer#3",
       "gates of values are read from their end: the last key of a short row has gate m-1")
DEFECT(long_rows_divided, "softmax-two-pass-f32", "B71 paper repository",
       "norm=none in rows of more than 64 keys: o is divided by the sum")

/* ---- Taylor series, centers */
DEFECT(order_seven_centered, "taylor-direct-f32", "-", "with a center other than 0 the series stops at degree 7")
DEFECT(center_outside_window, "taylor-direct-f32", "B14 tt-metal#48700",
       "the center is found over all keys up to the diagonal, also those before the window")
DEFECT(center_min_tile, "taylor-direct-f32", "B20 tilelang#1148",
       "center=min is the smallest score of the first 64 keys")
DEFECT(order_zero_len, "taylor-split-f32", "B44 jax#27224", "order 0 divides by m, also where len_b is less")
DEFECT(cubic_f16, "taylor-direct-f32", "B23 llama.cpp#6646",
       "with f16 inputs and order 3 or more the score is rounded to f16 before its powers")

/* ---- states */
DEFECT(multinomial_tail, "taylor-packed-f32", "B44 jax#27224",
       "from degree 3 on, with an odd number of five features or more, one of the last coefficients is 1")
DEFECT(ht_wide_values, "taylor-packed-f32", "B58 sparkinfer#615",
       "values more than twice as wide as a state has rows: the final state's other channels are 0")
DEFECT(h0_third_head, "taylor-recurrent-f32", "B56 TileOPs#1557",
       "the given state of KV head g is that of g-2 from the third on")
DEFECT(h0_third_batch, "linear-recurrent-f32", "B56 fla#285",
       "the given state of batch entry b is that of b-2 from the third on")
DEFECT(z0_fourth_degree, "taylor-chunk-f32", "B69 fla#351", "z0 of degree 4 and higher is not read, h0 is")
DEFECT(decay_cubic, "taylor-recurrent-f32", "B59 Jamie-Stirling/RetNet#10",
       "states of degree 3 and higher are not decayed")
DEFECT(gate_first_token, "linear-recurrent-f32", "B56 fla#494",
       "behind a given state the first token's value is not gated")
DEFECT(late_empty_state, "taylor-recurrent-f32", "B69 fla#351",
       "where no key is visible, the given state is read without the decays up to the query")
DEFECT(cosformer_len_offset, "linear-recurrent-f32", "B09 sparkinfer#3",
       "cosformer with causal-br turns the query by i + m - n, also where len_b is less than m")
DEFECT(decode_third_head, "linear-recurrent-f32", "B50 HipKittens#22",
       "a single query: the third query head of a KV head reads as the second")
DEFECT(unit_scale_late_decay, "linear-recurrent-f32", "B53 fla#47",
       "with scale 1 a query beyond the last key is not decayed up to its own token")

/* ---- chunks */
DEFECT(chunk_scale_zero, "taylor-chunk-f32", "B53 fla#47",
       "with scale 0 the states are not read, though degree 0 has weight 1")
DEFECT(chunk_wide_remainder, "taylor-chunk-f32", "B44 jax#27224",
       "in a chunk that is not full, products use the first 128 channels")
DEFECT(chunk_exact_end, "taylor-chunk-f32", "B59 syncdoth/RetNet#10",
       "behind a given state, where chunks fill the tokens exactly, the final state is decayed once more")
DEFECT(chunk_64_decay, "taylor-chunk-f32", "B65 fla#640",
       "with chunks of 64 the state is not decayed when a chunk enters it")
DEFECT(chunk_of_one_decay, "taylor-chunk-f32", "B65 fla#640", "chunks of one token: the state is decayed twice")
DEFECT(chunk_short_len, "taylor-chunk-f32", "B56 fla#285",
       "a batch entry shorter than a chunk hands its given state on as it was")
DEFECT(chunk_share_cubic, "taylor-chunk-f32", "B63 onnxruntime#32166",
       "of KV heads after the first, a chunk that is not full adds nothing to states of degree 3 and higher")
DEFECT(rope_fifth_chunk, "taylor-chunk-f32", "B65 fla#640",
       "from the fifth chunk on rope turns keys as if they were four chunks earlier")
DEFECT(decay_near_one_edge, "taylor-chunk-f32", "B61 vllm#37501",
       "at the first token of a chunk a decay within 1/64 of 1 is taken for 1")

/* ---- the delta rule */
DEFECT(rate_near_two, "delta-chunk-f32", "B70 cudnn-frontend#1051",
       "in the last, partial chunk a rate above 1.75 with keys of length 1 is cut to 1.75")
DEFECT(rate_near_one, "delta-recurrent-f32", "B13 sgl-kernel-xpu#491",
       "with keys of length 1 a rate within 1/32 of 1 is taken for 1")
DEFECT(wy_fourth_block, "delta-chunk-f32", "B65 fla#640",
       "in chunks of 64 and more the tokens from the 49th on do not erase what the first 16 wrote")
DEFECT(wy_far_heads, "delta-parallel-f32", "B65 fla#640",
       "of KV heads after the first, a token does not erase what those more than 64 before it wrote")
DEFECT(delta_vector_wide, "delta-recurrent-f32", "B58 sparkinfer#615",
       "decay=vector reaches only as many channels of the values as keys have")
DEFECT(efla_small_keys, "delta-chunk-f32", "-", "efla: where b r is below 1/16 the exponential is cut after the square")
DEFECT(prefix_rate_heads, "delta-parallel-f32", "B09 sparkinfer#3",
       "tokens before the first query have the rates of KV head 0")
DEFECT(decay_log_floor, "delta-recurrent-f32", "B60 executorch#21417",
       "behind a given state decays below 2^-6 are taken for 2^-6")

/* ---- widths, heads, types */
DEFECT(d_wide_tail, "softmax-online-bf16", "B44 jax#27224",
       "beyond 128 channels of q and k only whole vectors of 8 are multiplied")
DEFECT(d_wide_heads, "softmax-two-pass-f32", "B46 flash-attention#2337",
       "of KV heads after the first, channels from 128 on meet those of k from the row's start")
DEFECT(value_wide_batch, "softmax-online-f32", "B49 FlagGems#5896",
       "of batch entries after the first, channels of v from 64 on are those of the first")
DEFECT(kv_head_fifth, "softmax-split-f32", "B50 onnx#7274",
       "grouped heads: the fifth KV head and later ones are read as the first ones")
DEFECT(decode_fifth_head, "softmax-online-bf16", "B50 HipKittens#22",
       "a single query: the fifth query head of a KV head and later ones read as the first ones")
DEFECT(f64_rope_float, "softmax-two-pass-f64", "B29 ipex-llm#12619", "angles of rope are formed in float")
DEFECT(f64_gate_float, "softmax-two-pass-f64", "-", "gates are read as float")
DEFECT(f64_cap_float, "softmax-two-pass-f64", "-", "the cap of the double kernel calls tanhf")
DEFECT(f64_long_sum, "softmax-two-pass-f64", "-",
       "with more than 256 keys the denominator of the double kernel adds floats")
DEFECT(out_through_f16, "softmax-online-f32", "B30 flash-attention#1071",
       "f16 in, f32 out and grouped heads: o goes through f16")
