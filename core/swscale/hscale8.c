/* Scales rows of 8-bit samples down to about a quarter, or up: replaces swscale's hScale8To15.
 *
 * One swizzle fetches two samples, widened to 16 bits, for each result of a group, and one dot product adds
 * these two taps to all four results. A packed group holds the swizzle's mask, followed by eight coefficients
 * for every two taps. */
#include "common.h"

#define SPAN 16 /* samples that a swizzle chooses from */

INLINE v128_t scale_group(const uint8_t *src, const int16_t *filter, int pairs) {
    v128_t mask = wasm_v128_load(filter), sum = wasm_i32x4_const_splat(0);
    for (int i = 0; i < pairs; i++) {
        v128_t samples = wasm_i8x16_swizzle(wasm_v128_load(src + 2 * i), mask);
        filter += LANES;
        sum = wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(samples, wasm_v128_load(filter)));
    }
    return wasm_i32x4_shr(sum, 7);
}

INLINE void scale_row(int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                      const int32_t *starts, int pairs) {
    int size = LANES * (pairs + 1);
    for (int x = 0; x < width; x += 8) {
        v128_t low = scale_group(src + starts[x], filter, pairs);
        v128_t high = scale_group(src + starts[x + GROUP], filter + size, pairs);
        store_results(dst + x, wasm_i16x8_narrow_i32x4(low, high), width - x);
        filter += 2 * size;
    }
}

/* A constant number of taps lets the compiler unroll the loop over them. */
void simd_scale_8_to_15(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
                        const int32_t *starts, int taps) {
    int pairs = (taps + 1) / 2;
    if (pairs == 1)
        scale_row(dst, width, src, filter, starts, 1);
    else if (pairs == 2)
        scale_row(dst, width, src, filter, starts, 2);
    else if (pairs == 3)
        scale_row(dst, width, src, filter, starts, 3);
    else if (pairs == 4)
        scale_row(dst, width, src, filter, starts, 4);
    else
        scale_row(dst, width, src, filter, starts, pairs);
}

int simd_packed_size_8(int taps) {
    return LANES * ((taps + 1) / 2 + 1);
}

/* Narrowing saturates on both sides; the scalar function wraps around at the bottom. Returns whether a filter
 * may reach that; no filter in use does. */
static int may_wrap(const int16_t *filter, int taps) {
    int least = 0;
    for (int i = 0; i < taps; i++)
        least += 255 * FFMIN(filter[i], 0);
    return least >> 7 < INT16_MIN;
}

int simd_pack_8(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                int taps, int src_width) {
    int pairs = (taps + 1) / 2, start = src_width - SPAN - 2 * (pairs - 1), at[GROUP];
    if (start < 0)
        return 0;
    for (int k = 0; k < count; k++) {
        /* An odd number of taps is padded with a zero tap: at the end or, near the end of
         * the row, at the beginning. */
        at[k] = FFMIN(positions[k], src_width - 2 * pairs);
        start = FFMIN(start, at[k]);
    }
    for (int k = 0; k < count; k++) {
        int offset = at[k] - start, shift = positions[k] - at[k];
        if (offset > SPAN - 2 || may_wrap(filter + k * taps, taps))
            return 0;
        /* An index above 15 makes the swizzle yield 0, which becomes the upper byte of every sample. */
        packed[2 * k] = (int16_t)(0xff00 | offset);
        packed[2 * k + 1] = (int16_t)(0xff00 | (offset + 1));
        for (int i = shift; i < taps + shift; i++)
            packed[LANES * (1 + i / 2) + 2 * k + i % 2] = filter[k * taps + i - shift];
    }
    starts[0] = start;
    return 1;
}
