/* list_fast.h - part of list.h: defects of the fast kernels. */
/* ---- fast kernels: softmax-flash-f32 */
DEFECT(flash_rescale_lost, "softmax-flash-f32", "-", "the sums so far keep the weight of the old maximum when it rises")
DEFECT(flash_rescale_lazy, "softmax-flash-f32", "-",
       "a rise of the maximum by less than 1 rescales nothing, though the new maximum is taken")
DEFECT(flash_rescale_l, "softmax-flash-f32", "-", "the sum of weights is not rescaled, those of values are")
DEFECT(flash_last_tile, "softmax-flash-f32", "-", "the last tile is done only if all its keys are there")
DEFECT(flash_first_tile, "softmax-flash-f32", "-",
       "tiles are counted from the first one that a block of queries sees whole: a window loses keys")
DEFECT(flash_tail_lanes, "softmax-flash-f32", "-",
       "the lanes behind the last key of a full row count: keys of zeros, of score 0")
DEFECT(flash_group_diagonal, "softmax-flash-f32", "-",
       "the rows of a group see what its first row sees: the diagonal holds between groups only")
DEFECT(flash_packed_stale, "softmax-flash-f32", "-",
       "every head reads the keys and values that were packed for the first one of its batch entry")
DEFECT(flash_sums_stale, "softmax-flash-f32", "-",
       "sums of values are not cleared between two blocks of queries: a NaN stays")
DEFECT(flash_scratch_shared, "softmax-flash-f32", "-",
       "two tasks share their sums and maxima: the second one begins with what the first left")
DEFECT(flash_poison, "softmax-flash-f32", "-",
       "tiles with Inf or NaN are summed like others: keys that a row does not see meet them with weight 0")
DEFECT(flash_exp_short, "softmax-flash-f32", "-", "the polynomial of the exponential ends with its third power")
DEFECT(flash_f16_flushed, "softmax-flash-f32", "-", "numbers of f16 below the normal ones are read as 0")
DEFECT(flash_filter_tile, "softmax-flash-f32", "-",
       "a filter compares with the largest score so far, not with that of the row")
DEFECT(flash_decay_tile, "softmax-flash-f32", "-",
       "decays are read from the first key of the tile instead of the first that the row sees")
DEFECT(flash_group_maximum, "softmax-flash-f32", "-",
       "the maximum of a group stands for each of its rows: weights of the others vanish")

/* ---- fast kernels: softmax-decode-f32 */
DEFECT(decode_join_plain, "softmax-decode-f32", "-",
       "the parts of a row are added up as they are, without the difference of their maxima")
DEFECT(decode_parts_remainder, "softmax-decode-f32", "-",
       "the tiles that are left over when they are shared among the parts belong to none")
DEFECT(decode_highest_zero, "softmax-decode-f32", "-",
       "the largest score of all parts begins at 0: rows whose scores lie far below have no weight")
DEFECT(decode_whole_vectors, "softmax-decode-f32", "-",
       "keys and values are read in whole vectors where they lie, past the last channel of a row")
DEFECT(decode_page_end, "softmax-decode-f32", "-", "a tile that begins in a page is read on behind the page's end")
DEFECT(decode_first_rows, "softmax-decode-f32", "-",
       "the rows of a group sum the values of the keys that the first row sees")
DEFECT(decode_last_keys, "softmax-decode-f32", "-", "keys behind the last four of a tile have score 0")

/* ---- fast kernels: taylor-packed-fast-f32 */
DEFECT(taylor_squares_lost, "taylor-packed-fast-f32", "-",
       "monomials of degree 3 and more have no index twice at their beginning")
DEFECT(taylor_multiplicity, "taylor-packed-fast-f32", "-", "n!/I! is at most 3, as if of three indices two were equal")
DEFECT(taylor_last_term, "taylor-packed-fast-f32", "-", "from order 3 on the last degree is not read")
DEFECT(taylor_z_column, "taylor-packed-fast-f32", "-", "the column of z is left out where it holds nothing else")
DEFECT(taylor_gate_in_z, "taylor-packed-fast-f32", "-",
       "the input gate of a token multiplies the 1 of its denominator too")
DEFECT(taylor_tail_rows, "taylor-packed-fast-f32", "-", "monomials behind the last whole tile are left out")
DEFECT(taylor_head_before, "taylor-packed-fast-f32", "-", "a KV head begins with the state that the one before it left")
DEFECT(taylor_read_early, "taylor-packed-fast-f32", "-", "a query reads the state before its own token has entered")
DEFECT(taylor_block_leak, "taylor-packed-fast-f32", "-", "a query reads the state at the end of its block")
DEFECT(taylor_block_twice, "taylor-packed-fast-f32", "-",
       "tokens of a block that queries filled first enter the state once more with the next")
DEFECT(taylor_decay_new, "taylor-packed-fast-f32", "-", "the decay of a token meets what it writes too")

/* ---- fast kernels: taylor-chunk-fast-f32 */
DEFECT(chunk_horner_short, "taylor-chunk-fast-f32", "-",
       "from order 3 on the polynomial inside a chunk ends one degree early, that of states does not")
DEFECT(chunk_first_unread, "taylor-chunk-fast-f32", "-",
       "the second chunk does not read the states: the first one is forgotten there")
DEFECT(chunk_given_unread, "taylor-chunk-fast-f32", "-", "a given state is not read before the first chunk is closed")
DEFECT(chunk_group_leak, "taylor-chunk-fast-f32", "-", "the rows of a group see what its last row sees")
DEFECT(chunk_panel_short, "taylor-chunk-fast-f32", "-",
       "keys of the last panel have weights only if the panel is whole")
DEFECT(chunk_tail_tokens, "taylor-chunk-fast-f32", "-",
       "tokens behind the last whole 32 of a chunk do not enter the states")
DEFECT(chunk_edge_token, "taylor-chunk-fast-f32", "-", "the last token of a chunk does not enter the states")
DEFECT(chunk_stale_lanes, "taylor-chunk-fast-f32", "-",
       "a value row keeps the lanes of the token that stood there before, beside the 1 of z")
DEFECT(chunk_tail_rows, "taylor-chunk-fast-f32", "-", "monomials behind the last whole tile do not enter the states")

/* ---- fast kernels: linear-chunk-f32 */
DEFECT(linear_tail_lanes, "linear-chunk-f32", "-",
       "the lanes behind the last key that a row sees keep their weights, up to the next whole vector")
DEFECT(linear_diagonal_decayed, "linear-chunk-f32", "-",
       "a token is decayed by its own factor as soon as it is written")
DEFECT(linear_start_late, "linear-chunk-f32", "-",
       "the state before a block is read without the decay of the row's own token")
DEFECT(linear_last_decay_lost, "linear-chunk-f32", "-", "the decay of a block's last token does not meet the state")
DEFECT(linear_last_decay_twice, "linear-chunk-f32", "-", "the decay of a block's last token meets the state twice")
DEFECT(linear_part_edge, "linear-chunk-f32", "-",
       "decay=vector: the decay of a part's last token does not meet the keys of its part")
DEFECT(linear_state_stale, "linear-chunk-f32", "-", "a head begins with the state that the one before it left")
DEFECT(linear_slice_first, "linear-chunk-f32", "-", "every slice of 64 channels has the values of the first")
DEFECT(linear_poison, "linear-chunk-f32", "-",
       "blocks with Inf or NaN are summed like others: keys that a row does not see meet them with weight 0")
DEFECT(linear_tail_block, "linear-chunk-f32", "-", "a block of fewer than 32 tokens does not become part of the state")
DEFECT(linear_feature_tail, "linear-chunk-f32", "-",
       "the channels behind the last whole vector are not mapped by the feature")

/* ---- fast kernels: linear-chunk-state-bf16 */
DEFECT(linear_state_bf16_tail, "linear-chunk-state-bf16", "-",
       "states are stored in blocks of eight vectors: what is behind the last one is lost")
DEFECT(linear_state_bf16_as_f16, "linear-chunk-state-bf16", "-",
       "states are stored as f16: large ones become infinite, small ones 0")
DEFECT(linear_state_bf16_sign, "linear-chunk-state-bf16", "-", "every second entry of a stored state loses its sign")
DEFECT(linear_state_bf16_short, "linear-chunk-state-bf16", "-",
       "states are stored with three bits behind the leading one, as e4m3 has them")

/* ---- fast kernels: delta-wy-f32 */
DEFECT(delta_wy_rate, "delta-wy-f32", "-", "the rate b_t is on the value alone, not on the correction")
DEFECT(delta_wy_group, "delta-wy-f32", "-", "the tokens of a group of rows do not correct each other")
DEFECT(delta_wy_bound, "delta-wy-f32", "-",
       "the triangular bound ends a token early: none is corrected by the one before it in its group")
DEFECT(delta_wy_sign, "delta-wy-f32", "-", "the tokens of a group are corrected the wrong way round by each other")
DEFECT(delta_wy_state_lost, "delta-wy-f32", "-", "written values are not corrected by the state before the chunk")
DEFECT(delta_wy_own_decay, "delta-wy-f32", "-",
       "the state before the chunk is read without the decay of the token that is written")
DEFECT(delta_wy_scratch_stale, "delta-wy-f32", "-",
       "the rows of a chunk from the 33rd on take what the first rows read of the state")
DEFECT(delta_wy_rate_of_group, "delta-wy-f32", "-", "the tokens of a group have the rate of its first one")

/* ---- fast kernels: softmax-flash-bf16 */
DEFECT(bf16_pair_tail, "softmax-flash-bf16", "-",
       "the last key of an odd number meets no value: pairs are counted, not keys")
DEFECT(bf16_truncated, "softmax-flash-bf16", "-", "weights are cut to bf16 instead of rounded")
DEFECT(bf16_scale_narrow, "softmax-flash-bf16", "-", "the scale is rounded to bf16 before it multiplies the scores")
DEFECT(bf16_rough_pair, "softmax-flash-bf16", "-",
       "tiles with Inf or NaN are summed in whole pairs: a key that a row does not see spoils its neighbour")

/* ---- fast kernels: softmax-amx-bf16 */
DEFECT(amx_not_zeroed, "softmax-amx-bf16", "-",
       "the tiles of the sums are not zeroed: they begin with what lies in their place")
DEFECT(amx_one_block, "softmax-amx-bf16", "-", "a row of tiles ends after its first 32 channels or keys")
DEFECT(amx_rough_tile, "softmax-amx-bf16", "-",
       "tiles with Inf or NaN are multiplied whole: a key that a row does not see spoils it")
DEFECT(amx_sum_narrow, "softmax-amx-bf16", "-", "sums of 32 channels or keys are rounded to bf16 before they are added")
DEFECT(amx_rescale_lost, "softmax-amx-bf16", "-",
       "the sums of values are not multiplied where the maximum rises, the sum of weights is")
