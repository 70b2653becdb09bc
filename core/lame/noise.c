/* Measures the noise of a quantized granule, band by band: replaces LAME's calc_noise. */
#include "common.h"

/* Dequantizes four lines. After the large values all lines are 0 or 1, so they need no table. */
INLINE v128_t decode_lines(const gr_info *granule, int at, int start, v128_t step) {
    v128_t ix = wasm_v128_load(granule->l3_enc + at);
    if (start > granule->big_values)
        return wasm_f32x4_mul(wasm_f32x4_convert_i32x4(ix), step);
    return wasm_f32x4_mul(gather(pow43, ix), step);
}

INLINE v128_t error_of(const gr_info *granule, int at, int start, v128_t step) {
    v128_t xr = wasm_f32x4_abs(wasm_v128_load(granule->xr + at));
    return start > granule->count1 ? xr : wasm_f32x4_sub(xr, decode_lines(granule, at, start, step));
}

/* Sums squared errors in the same order as LAME's compiled loop, eight lines at a time in four sums, so that
 * the rounding is the same. */
static FLOAT measure_lines(const gr_info *granule, int start, int count, FLOAT step) {
    v128_t steps = wasm_f32x4_splat(step), sums = wasm_f32x4_const_splat(0);
    int i = start, end = start + count;
    for (; i + 8 <= end; i += 8) {
        v128_t a = error_of(granule, i, start, steps), b = error_of(granule, i + 4, start, steps);
        v128_t even = wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), odd = wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
        sums = wasm_f32x4_add(wasm_f32x4_mul(even, even), sums);
        sums = wasm_f32x4_add(wasm_f32x4_mul(odd, odd), sums);
    }
    sums = wasm_f32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 1, 0, 3, 2));
    FLOAT noise = wasm_f32x4_extract_lane(sums, 0) + wasm_f32x4_extract_lane(sums, 2);
    for (; i < end; i++) {
        FLOAT decoded = start > granule->count1 ? 0 : pow43[granule->l3_enc[i]] * step;
        FLOAT error = fabsf(granule->xr[i]) - decoded;
        noise += error * error;
    }
    return noise;
}

INLINE int step_of(const gr_info *granule, int band) {
    int scalefac = granule->scalefac[band] + (granule->preflag ? pretab[band] : 0);
    return granule->global_gain - (scalefac << (granule->scalefac_scale + 1))
           - granule->subblock_gain[granule->window[band]] * 8;
}

/* Returns the number of lines of a band up to the last nonzero one, in whole pairs. */
INLINE int lines_of(const gr_info *granule, int band, int start) {
    int left = granule->max_nonzero_coeff - start + 1;
    return Max(0, Min(granule->width[band], left)) & ~1;
}

INLINE void add_band(calc_noise_result *result, FLOAT noise) {
    result->tot_noise += noise;
    result->max_noise = Max(result->max_noise, noise);
    if (noise > 0) {
        int tenths = Max((int)(noise * 10 + .5), 1);
        result->over_SSD += tenths * tenths;
        result->over_count++;
        result->over_noise += noise;
    }
}

/* Bands whose step equals the one in `known` keep the noise stored there. */
int __wrap_calc_noise(const gr_info *granule, const FLOAT *allowed, FLOAT *distort, calc_noise_result *result,
                      calc_noise_data *known) {
    calc_noise_result sum = {.max_noise = -20, .bits = result->bits};
    for (int band = 0, start = 0; band < granule->psymax; start += granule->width[band++]) {
        int step = step_of(granule, band), is_known = known && known->step[band] == step;
        FLOAT share = 1.0f / allowed[band], noise;
        if (is_known) {
            distort[band] = share * known->noise[band];
            add_band(&sum, known->noise_log[band]);
            continue;
        }
        noise = measure_lines(granule, start, lines_of(granule, band, start), POW20(step));
        distort[band] = share * noise;
        FLOAT decibels = FAST_LOG10(Max(distort[band], 1E-20f));
        add_band(&sum, decibels);
        if (known) {
            known->step[band] = step;
            known->noise[band] = noise;
            known->noise_log[band] = decibels;
        }
    }
    if (known && granule->psymax > 0)
        known->global_gain = granule->global_gain;
    *result = sum;
    return sum.over_count;
}
