/* Scales rows of 8-bit samples: stands in for swscale's hScale8To15.
 *
 * Results are made in groups of four neighbours. One swizzle brings two samples to each of the four, already
 * widened to 16 bits, and one dot product adds these two taps to all four. The filters are packed for that
 * when a context is set up: a group has its mask, then eight coefficients for every two taps. */
#include "common.h"

#define LANES 8 /* 16-bit numbers in a vector */
#define SPAN 16 /* samples that a swizzle chooses from */

void __real_ff_sws_init_scale(SwsContext *c);

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
        v128_t low = scale_group(src + starts[0], filter, pairs);
        v128_t high = scale_group(src + starts[1], filter + size, pairs);
        v128_t row = wasm_i16x8_narrow_i32x4(low, high);
        if (x + 8 <= width)
            wasm_v128_store(dst + x, row);
        else
            memcpy(dst + x, &row, (width - x) * sizeof(*dst));
        filter += 2 * size;
        starts += 2;
    }
}

/* With the number of taps known, the loop over them is unrolled. */
static void scale_8_to_15(SwsContext *c, int16_t *dst, int width, const uint8_t *src, const int16_t *filter,
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

/* Narrowing saturates on both sides; the scalar function wraps around below, which no filter in use reaches.
 */
static int may_wrap(const int16_t *filter, int taps) {
    int least = 0;
    for (int i = 0; i < taps; i++)
        least += 255 * FFMIN(filter[i], 0);
    return least >> 7 < INT16_MIN;
}

/* Packs the filters of one group, those of `count` results; returns the position from which it loads samples,
 * -1 where they are too far apart. */
static int pack_group(int16_t *packed, const int16_t *filter, const int32_t *positions, int count, int taps,
                      int src_width) {
    int pairs = (taps + 1) / 2, start = src_width - SPAN - 2 * (pairs - 1), at[4];
    for (int k = 0; k < count; k++) {
        /* An odd filter has a tap to spare, at its end or, where the row ends, at its beginning. */
        at[k] = FFMIN(positions[k], src_width - 2 * pairs);
        start = FFMIN(start, at[k]);
    }
    for (int k = 0; k < count; k++) {
        int offset = at[k] - start, shift = positions[k] - at[k];
        if (offset > SPAN - 2 || may_wrap(filter + k * taps, taps))
            return -1;
        /* Beyond 15 a swizzle yields 0: the upper half of every sample. */
        packed[2 * k] = (int16_t)(0xff00 | offset);
        packed[2 * k + 1] = (int16_t)(0xff00 | (offset + 1));
        for (int i = shift; i < taps + shift; i++)
            packed[LANES * (1 + i / 2) + 2 * k + i % 2] = filter[k * taps + i - shift];
    }
    return start;
}

/* Replaces the filters of a context by packed ones, and a position for each result by one for each group;
 * returns 0 and leaves them as they are where the kernel cannot take them. */
static int pack_filters(int16_t **filter, int32_t **positions, int taps, int width, int src_width) {
    int groups = (width + 7) / 8 * 2, size = LANES * ((taps + 1) / 2 + 1);
    if (src_width < SPAN + taps)
        return 0;
    int16_t *packed = av_calloc(groups, size * sizeof(*packed));
    int32_t *starts = av_calloc(groups, sizeof(*starts));
    int fits = packed && starts;
    for (int g = 0; fits && 4 * g < width; g++) {
        int x = 4 * g, count = FFMIN(4, width - x);
        starts[g] = pack_group(packed + g * size, *filter + x * taps, *positions + x, count, taps, src_width);
        fits = starts[g] >= 0;
    }
    if (fits) {
        FFSWAP(int16_t *, *filter, packed);
        FFSWAP(int32_t *, *positions, starts);
    }
    av_free(packed);
    av_free(starts);
    return fits;
}

void __wrap_ff_sws_init_scale(SwsContext *c) {
    __real_ff_sws_init_scale(c);
    if (c->srcBpc != 8 || c->dstBpc > 14 || c->hyscale_fast)
        return;
    if (pack_filters(&c->hLumFilter, &c->hLumFilterPos, c->hLumFilterSize, c->dstW, c->srcW))
        c->hyScale = scale_8_to_15;
    if (pack_filters(&c->hChrFilter, &c->hChrFilterPos, c->hChrFilterSize, c->chrDstW, c->chrSrcW))
        c->hcScale = scale_8_to_15;
}
