/* Checks swscale's kernel for pictures that keep their size. */
#include "check/check.h"
#include "check_swscale.h"
#include "swscale/common.h"

void __real_ff_get_unscaled_swscale(SwsContext *c);

#define STRIDE 100
#define ROWS 40

static SwsContext scalar, simd;
#define PLANE (ROWS * STRIDE)
static uint16_t samples[3 * PLANE];

static tables table = {"swscale unscaled",
                       (any_function *)&scalar.convert_unscaled,
                       (any_function *)&simd.convert_unscaled,
                       1,
                       {0}};

static void fill_tables(enum AVPixelFormat from, enum AVPixelFormat to) {
    scalar = (SwsContext){.srcFormat = from, .dstFormat = to, .dither = SWS_DITHER_BAYER};
    av_pix_fmt_get_chroma_sub_sample(from, &scalar.chrSrcHSubSample, &scalar.chrSrcVSubSample);
    av_pix_fmt_get_chroma_sub_sample(to, &scalar.chrDstHSubSample, &scalar.chrDstVSubSample);
    simd = scalar;
    __real_ff_get_unscaled_swscale(&scalar);
    ff_get_unscaled_swscale(&simd);
}

static void copy(SwsFunc function, uint8_t *arena, int slice_y, int slice_height) {
    const uint8_t *src[4] = {(uint8_t *)samples, (uint8_t *)(samples + PLANE),
                             (uint8_t *)(samples + 2 * PLANE)};
    uint8_t *dst[4] = {arena + 9, arena + 9009, arena + 18018};
    int src_strides[4] = {2 * STRIDE, 2 * STRIDE, 2 * STRIDE}, dst_strides[4] = {130, 111, 100};
    int rows = function(&scalar, src, src_strides, slice_y, slice_height, dst, dst_strides);
    compare_numbers("rows", slice_height, rows);
}

/* Fills in samples: of 10 bits in most rounds, with upper bits set in the others. */
static void fill_samples(void) {
    int mask = between(0, 3) ? 1023 : 65535;
    fill_pixels((uint8_t *)samples, sizeof(samples));
    for (int i = 0; i < 3 * PLANE; i++)
        samples[i] &= mask;
    fill_arenas();
}

static void compare_copies(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int slice_y = 2 * between(0, 10), slice_height = between(1, ROWS - slice_y);
        if (IS_NEW_INPUT(i))
            fill_samples();
        scalar.srcW = between(1, STRIDE);
        scalar.srcRange = between(0, 1);
        scalar.dither = ONE_OF(SWS_DITHER_BAYER, SWS_DITHER_AUTO, SWS_DITHER_NONE);
        copy((SwsFunc)s->scalar, scalar_arena, slice_y, slice_height);
        copy((SwsFunc)s->simd, simd_arena, slice_y, slice_height);
        compare_arenas("picture");
    }
}

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,     AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV420P10,
    AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10,   AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV420P16,
    AV_PIX_FMT_GRAY8,     AV_PIX_FMT_YUV420P10BE, AV_PIX_FMT_YUVA420P10};

/* Checks every pair of formats that has a kernel. */
void check_unscaled(void) {
    for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++)
        for (int k = 0; k < FF_ARRAY_ELEMS(formats); k++) {
            fill_tables(formats[i], formats[k]);
            check(&table, "swscale convert_unscaled", &scalar.convert_unscaled, 0, 0, compare_copies);
        }
}
