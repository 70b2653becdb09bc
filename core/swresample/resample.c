/* Resamples 16-bit integer audio: replaces swresample's resample_common. */
#include "libswresample/resample.h"
#include "libavutil/common.h"
#include "libavutil/attributes.h"
#include <wasm_simd128.h>

#define INLINE static av_always_inline

void __real_swri_resample_dsp_init(ResampleContext *c);

/* Position of an output sample: the first input sample under its filter, the index of the filter, and
 * the fractional remainder. */
typedef struct {
    int sample, index, frac;
} position;

INLINE void wrap_index(const ResampleContext *c, position *p) {
    while (p->index >= c->phase_count) {
        p->sample++;
        p->index -= c->phase_count;
    }
}

INLINE position first_position(const ResampleContext *c) {
    position p = {0, c->index, c->frac};
    wrap_index(c, &p);
    return p;
}

INLINE void advance(const ResampleContext *c, position *p) {
    p->frac += c->dst_incr_mod;
    p->index += c->dst_incr_div;
    if (p->frac >= c->src_incr) {
        p->frac -= c->src_incr;
        p->index++;
    }
    wrap_index(c, p);
}

INLINE int finish(ResampleContext *c, const position *p, int update) {
    if (update) {
        c->frac = p->frac;
        c->index = p->index;
    }
    return p->sample;
}

INLINE v128_t add_products(v128_t sums, v128_t a, v128_t b) {
    return wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(a, b));
}

/* Returns the dot product of an even number of samples and taps. */
INLINE int64_t dot_int16(const int16_t *src, const int16_t *filter, int length) {
    v128_t sums = wasm_i32x4_const_splat(0);
    int i = 0;
    for (; i + 8 <= length; i += 8)
        sums = add_products(sums, wasm_v128_load(src + i), wasm_v128_load(filter + i));
    for (; i < length; i += 2)
        sums = add_products(sums, wasm_v128_load32_zero(src + i), wasm_v128_load32_zero(filter + i));
    v128_t wide = wasm_i64x2_add(wasm_i64x2_extend_low_i32x4(sums), wasm_i64x2_extend_high_i32x4(sums));
    return wasm_i64x2_extract_lane(wide, 0) + wasm_i64x2_extract_lane(wide, 1);
}

static int resample_int16(ResampleContext *c, void *dst, const void *src, int count, int update) {
    position p = first_position(c);
    for (int i = 0; i < count; i++, advance(c, &p)) {
        const int16_t *filter = (int16_t *)c->filter_bank + c->filter_alloc * p.index;
        int64_t sum = dot_int16((const int16_t *)src + p.sample, filter, c->filter_length) + (1 << 14);
        ((int16_t *)dst)[i] = av_clip_int16(sum >> 15);
    }
    return finish(c, &p, update);
}

/* Filters have one tap or an even number of taps; the kernel takes only the latter. */
void __wrap_swri_resample_dsp_init(ResampleContext *c) {
    __real_swri_resample_dsp_init(c);
    if (c->format == AV_SAMPLE_FMT_S16P && c->filter_length % 2 == 0)
        c->dsp.resample_common = resample_int16;
}
