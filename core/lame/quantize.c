/* Raises the lines of a granule to the power of 3/4 and quantizes them: replaces LAME's init_xrpow_core and
 * count_bits. The search for a step size calls count_bits most. */
#include "common.h"

void __real_init_xrpow_core_init(lame_internal_flags *gfc);

/* Raises two lines to the power of 3/4 in double precision, as LAME does. */
INLINE v128_t power_of_two(v128_t lines) {
    v128_t x = wasm_f64x2_promote_low_f32x4(lines);
    return wasm_f32x4_demote_f64x2_zero(wasm_f64x2_sqrt(wasm_f64x2_mul(x, wasm_f64x2_sqrt(x))));
}

/* LAME only tests whether the sum is practically zero, so the order of the additions does not matter. */
static void init_xrpow(gr_info *granule, FLOAT xrpow[576], int last, FLOAT *sum) {
    v128_t sums = wasm_f32x4_const_splat(0), most = wasm_f32x4_splat(granule->xrpow_max);
    for (int i = 0; i <= last; i += 2) {
        int count = Min(2, last + 1 - i);
        const FLOAT *xr = granule->xr + i;
        v128_t x = wasm_f32x4_abs(count == 2 ? wasm_v128_load64_zero(xr) : wasm_v128_load32_zero(xr));
        v128_t power = power_of_two(x);
        sums = wasm_f32x4_add(sums, x);
        most = wasm_f32x4_pmax(most, power);
        if (count == 2)
            wasm_v128_store64_lane(xrpow + i, power, 0);
        else
            wasm_v128_store32_lane(xrpow + i, power, 0);
    }
    *sum = wasm_f32x4_extract_lane(sums, 0) + wasm_f32x4_extract_lane(sums, 1);
    granule->xrpow_max = Max(wasm_f32x4_extract_lane(most, 0), wasm_f32x4_extract_lane(most, 1));
}

/* Returns the integer part of numbers from 0 to less than 2^23. The conversion instructions also handle all
 * other numbers and take longer. */
INLINE v128_t whole_part(v128_t x) {
    v128_t shift = wasm_f32x4_const_splat(1 << 23);
    return wasm_v128_xor(wasm_f32x4_add(wasm_f32x4_trunc(x), shift), shift);
}

/* Rounds so that the 4/3 power has the least error: adj43, indexed by the integer part, is
 * added before truncating. */
INLINE v128_t quantize_four(v128_t lines, v128_t step) {
    v128_t x = wasm_f32x4_mul(lines, step);
    return whole_part(wasm_f32x4_add(x, gather(adj43, whole_part(x))));
}

static void quantize_lines(const FLOAT *xrpow, int *ix, int count, FLOAT step) {
    v128_t steps = wasm_f32x4_splat(step);
    int i = 0;
    for (; i + 4 <= count; i += 4)
        wasm_v128_store(ix + i, quantize_four(wasm_v128_load(xrpow + i), steps));
    if (i < count)
        wasm_v128_store64_lane(ix + i, quantize_four(wasm_v128_load64_zero(xrpow + i), steps), 0);
}

/* Quantizes lines to 0 or 1 by a threshold, for bands that were all 0 or 1 with
 * the same or a smaller step. */
static void quantize_ones(const FLOAT *xrpow, int *ix, int count, FLOAT step) {
    FLOAT least = (1.0f - 0.4054f) / step;
    v128_t limit = wasm_f32x4_splat(least), one = wasm_i32x4_const_splat(1);
    int i = 0;
    for (; i + 4 <= count; i += 4)
        wasm_v128_store(ix + i, wasm_v128_andnot(one, wasm_f32x4_gt(limit, wasm_v128_load(xrpow + i))));
    for (; i < count; i++)
        ix[i] = !(least > xrpow[i]);
}

/* Quantizes the bands whose step has changed since `noise` was computed. */
static void quantize_bands(const FLOAT *xrpow, gr_info *granule, const calc_noise_data *noise, FLOAT step) {
    int *ix = granule->l3_enc, last = granule->max_nonzero_coeff;
    int bands = granule->block_type == SHORT_TYPE ? 39 : 22;
    int is_same_gain = noise && granule->global_gain == noise->global_gain;
    int has_steps = is_same_gain || granule->block_type == NORM_TYPE;
    for (int band = 0, start = 0; band < bands; start += granule->width[band++]) {
        int scalefac = granule->scalefac[band] + (granule->preflag ? pretab[band] : 0);
        int band_step = granule->global_gain - (scalefac << (granule->scalefac_scale + 1))
                        - granule->subblock_gain[granule->window[band]] * 8;
        if (is_same_gain && noise->step[band] == band_step)
            continue;
        if (start + granule->width[band] > last) {
            memset(ix + last, 0, (576 - last) * sizeof(*ix));
            quantize_lines(xrpow + start, ix + start, last - start + 1, step);
            return;
        }
        int is_one = noise && noise->sfb_count1 > 0 && band >= noise->sfb_count1;
        if (is_one && has_steps && noise->step[band] > 0 && band_step >= noise->step[band])
            quantize_ones(xrpow + start, ix + start, granule->width[band], step);
        else
            quantize_lines(xrpow + start, ix + start, granule->width[band], step);
    }
}

/* Zeroes the small lines of the bands that LAME marks in pseudohalf. */
static void halve_bands(const lame_internal_flags *gfc, const FLOAT *xrpow, gr_info *granule) {
    FLOAT least = 0.634521682242439 / IPOW20(granule->global_gain + granule->scalefac_scale);
    for (int band = 0, start = 0; band < granule->sfbmax; start += granule->width[band++])
        for (int i = start; gfc->sv_qnt.pseudohalf[band] && i < start + granule->width[band]; i++)
            if (!(xrpow[i] >= least))
                granule->l3_enc[i] = 0;
}

int __wrap_count_bits(const lame_internal_flags *gfc, const FLOAT *xrpow, gr_info *granule,
                      calc_noise_data *noise) {
    FLOAT step = IPOW20(granule->global_gain);
    if (granule->xrpow_max > IXMAX_VAL / step)
        return LARGE_BITS;
    quantize_bands(xrpow, granule, noise, step);
    if (gfc->sv_qnt.substep_shaping & 2)
        halve_bands(gfc, xrpow, granule);
    return noquant_count_bits(gfc, granule, noise);
}

void __wrap_init_xrpow_core_init(lame_internal_flags *gfc) {
    __real_init_xrpow_core_init(gfc);
    gfc->init_xrpow_core = init_xrpow;
}
