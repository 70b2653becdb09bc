/* Wraps ff_sws_init_scale at link time: fills a context as swscale does, then packs its horizontal filters
 * for the kernels and installs these. */
#include "common.h"

void __real_ff_sws_init_scale(SwsContext *c);

typedef struct scaler {
    const struct scaler *next; /* takes the filters that this one cannot */
    scale_function kernel;
    int (*packed_size)(int taps);
    int (*pack)(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                int taps, int src_width);
} scaler;

static const scaler scaler_8_by_any = {NULL, simd_scale_8_by_any, simd_packed_size, simd_pack_8_by_any};
static const scaler scaler_8 = {&scaler_8_by_any, simd_scale_8_to_15, simd_packed_size_8, simd_pack_8};
static const scaler scaler_16 = {NULL, simd_scale_16_to_15, simd_packed_size, simd_pack_16};

/* Replaces the filters and positions by packed ones, which the context frees in their place. Returns 0 and
 * leaves both unchanged if the scaler cannot take them. */
static int pack_filters(const scaler *s, int16_t **filter, int32_t **positions, int taps, int width,
                        int src_width) {
    int groups = (width + 7) / 8 * 2, size = s->packed_size(taps);
    int16_t *packed = av_calloc(groups, size * sizeof(*packed));
    int32_t *starts = av_calloc(groups, GROUP * sizeof(*starts));
    int fits = packed && starts;
    for (int x = 0; fits && x < width; x += GROUP)
        fits = s->pack(packed + x / GROUP * size, starts + x, *filter + x * taps, *positions + x,
                       FFMIN(GROUP, width - x), taps, src_width);
    if (fits) {
        FFSWAP(int16_t *, *filter, packed);
        FFSWAP(int32_t *, *positions, starts);
    }
    av_free(packed);
    av_free(starts);
    return fits;
}

/* Installs the first kernel that takes the filters; if none does, the scalar function stays. */
static void replace(scale_function *function, const scaler *s, int16_t **filter, int32_t **positions,
                    int taps, int width, int src_width) {
    for (; s; s = s->next)
        if (pack_filters(s, filter, positions, taps, width, src_width)) {
            *function = s->kernel;
            return;
        }
}

void __wrap_ff_sws_init_scale(SwsContext *c) {
    const scaler *first = c->srcBpc == 8 ? &scaler_8 : &scaler_16;
    __real_ff_sws_init_scale(c);
    if (c->dstBpc > 14 || c->hyscale_fast)
        return;
    replace(&c->hyScale, first, &c->hLumFilter, &c->hLumFilterPos, c->hLumFilterSize, c->dstW, c->srcW);
    replace(&c->hcScale, first, &c->hChrFilter, &c->hChrFilterPos, c->hChrFilterSize, c->chrDstW, c->chrSrcW);
}
