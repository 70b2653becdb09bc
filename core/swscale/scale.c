/* Takes over from ff_sws_init_scale: fills a context as swscale does, then packs the filters of its rows for
 * the kernels and puts these in. */
#include "common.h"

void __real_ff_sws_init_scale(SwsContext *c);

typedef struct {
    int (*packed_size)(int taps);
    int (*pack)(int16_t *packed, int32_t *starts, const int16_t *filter, const int32_t *positions, int count,
                int taps, int src_width);
} packing;

static const packing packing_8 = {simd_packed_size_8, simd_pack_8};
static const packing packing_16 = {simd_packed_size_16, simd_pack_16};

/* Replaces the filters by packed ones, and the positions; leaves both as they are where it returns 0. The
 * context frees either. */
static int pack_filters(const packing *p, int16_t **filter, int32_t **positions, int taps, int width,
                        int src_width) {
    int groups = (width + 7) / 8 * 2, size = p->packed_size(taps);
    int16_t *packed = av_calloc(groups, size * sizeof(*packed));
    int32_t *starts = av_calloc(groups, GROUP * sizeof(*starts));
    int fits = packed && starts;
    for (int x = 0; fits && x < width; x += GROUP)
        fits = p->pack(packed + x / GROUP * size, starts + x, *filter + x * taps, *positions + x,
                       FFMIN(GROUP, width - x), taps, src_width);
    if (fits) {
        FFSWAP(int16_t *, *filter, packed);
        FFSWAP(int32_t *, *positions, starts);
    }
    av_free(packed);
    av_free(starts);
    return fits;
}

void __wrap_ff_sws_init_scale(SwsContext *c) {
    const packing *p = c->srcBpc == 8 ? &packing_8 : &packing_16;
    scale_function kernel = c->srcBpc == 8 ? simd_scale_8_to_15 : simd_scale_16_to_15;
    __real_ff_sws_init_scale(c);
    if (c->dstBpc > 14 || c->hyscale_fast)
        return;
    if (pack_filters(p, &c->hLumFilter, &c->hLumFilterPos, c->hLumFilterSize, c->dstW, c->srcW))
        c->hyScale = kernel;
    if (pack_filters(p, &c->hChrFilter, &c->hChrFilterPos, c->hChrFilterSize, c->chrDstW, c->chrSrcW))
        c->hcScale = kernel;
}
