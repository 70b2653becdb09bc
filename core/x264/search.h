/* What x264's motion search calls in place of its tables' functions: compile.sh changes the calls. */
#ifndef CORE_X264_SEARCH_H
#define CORE_X264_SEARCH_H

#include "common/common.h"
#include "encoder/me.h"

/* Like get_ref, which it calls only where samples have to be computed. */
static inline __attribute__((always_inline)) pixel *
simd_get_ref(x264_t *h, pixel *dst, intptr_t *dst_stride, pixel *planes[4], intptr_t stride, int mvx, int mvy,
             int width, int height, const x264_weight_t *weight) {
    int fraction = (mvy & 3) << 2 | (mvx & 3);
    if (fraction & 5 || weight->weightfn)
        return h->mc.get_ref(dst, dst_stride, planes, stride, mvx, mvy, width, height, weight);
    *dst_stride = stride;
    return planes[x264_hpel_ref0[fraction]] + (mvy >> 2) * stride + (mvx >> 2);
}

/* Compares the block of a search with its prediction by a vector: get_ref and an entry of pixf in one. */
int simd_compare_prediction(x264_t *h, x264_me_t *m, int mvx, int mvy, x264_pixel_cmp_t compare);

#endif
