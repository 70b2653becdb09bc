/* Checks swscale's kernels. */
#include "check/check.h"
#include "check_swscale.h"
#include "swscale/common.h"
#include "libswscale/swscale.h"

void __real_ff_sws_init_scale(SwsContext *c);
void __real_ff_sws_init_output_funcs(SwsContext *c, yuv2planar1_fn *, yuv2planarX_fn *, yuv2interleavedX_fn *,
                                     yuv2packed1_fn *, yuv2packed2_fn *, yuv2packedX_fn *, yuv2anyX_fn *);
void ff_sws_init_scale(SwsContext *c);
void ff_sws_init_output_funcs(SwsContext *c, yuv2planar1_fn *, yuv2planarX_fn *, yuv2interleavedX_fn *,
                              yuv2packed1_fn *, yuv2packed2_fn *, yuv2packedX_fn *, yuv2anyX_fn *);

#define ROWS 24
#define WIDEST 400

static SwsContext scalar, simd;
static uint16_t samples[4 * WIDEST];
static int16_t lines[ROWS][ARENA / ROWS];

/* Fills in coefficients as filters have them, random ones or extremes. */
static void fill_filter(int16_t *filter, int count) {
    int kind = between(0, 3);
    for (int i = 0; i < count; i++)
        filter[i] = kind == 0   ? ONE_OF(-32768, 32767, 0, 16384)
                    : kind == 1 ? between(-32768, 32767)
                                : between(-1500, 9000);
}

/* Fills in positions that rise as in scaling by a constant ratio, sometimes with small irregularities. */
static void fill_positions(int32_t *positions, int width, int last) {
    int ratio = between(0, 1) ? between(0, 1 << 9) : between(0, 7 << 8), irregular = between(0, 3) == 0;
    int start = between(0, FFMAX(last, 0));
    for (int x = 0; x < width; x++)
        positions[x] = av_clip(start + (x * ratio >> 8) + (irregular ? between(-2, 2) : 0), 0, last);
}

/* Gives a context its own copy of the filter, as a kernel may repack it. */
static void copy_filter(SwsContext *c, const int16_t *filter, const int32_t *positions, int taps, int width,
                        int src_width) {
    c->dstW = c->chrDstW = width;
    c->srcW = c->chrSrcW = src_width;
    c->hLumFilterSize = c->hChrFilterSize = taps;
    c->hLumFilter = av_memdup(filter, taps * width * sizeof(*filter));
    c->hChrFilter = av_memdup(filter, taps * width * sizeof(*filter));
    c->hLumFilterPos = av_memdup(positions, width * sizeof(*positions));
    c->hChrFilterPos = av_memdup(positions, width * sizeof(*positions));
}

static void free_filter(SwsContext *c) {
    av_freep(&c->hLumFilter);
    av_freep(&c->hChrFilter);
    av_freep(&c->hLumFilterPos);
    av_freep(&c->hChrFilterPos);
}

static void any_filter(void) {
    static int16_t filter[64 * WIDEST];
    static int32_t positions[WIDEST];
    int taps = between(0, 3) ? between(1, 12) : between(1, 60);
    int width = between(1, WIDEST), src_width = between(taps, 4 * WIDEST);
    fill_filter(filter, taps * width);
    fill_positions(positions, width, src_width - taps);
    copy_filter(&scalar, filter, positions, taps, width, src_width);
    copy_filter(&simd, filter, positions, taps, width, src_width);
    __real_ff_sws_init_scale(&scalar);
    ff_sws_init_scale(&simd);
}

static void scale_luma(SwsContext *c, uint8_t *dst) {
    c->hyScale(c, (int16_t *)dst, c->dstW, (uint8_t *)samples, c->hLumFilter, c->hLumFilterPos,
               c->hLumFilterSize);
}

static void scale_chroma(SwsContext *c, uint8_t *dst) {
    c->hcScale(c, (int16_t *)dst, c->chrDstW, (uint8_t *)samples, c->hChrFilter, c->hChrFilterPos,
               c->hChrFilterSize);
}

static void compare_scaled_rows(void (*scale)(SwsContext *, uint8_t *), const scale_function *slot) {
    int taken = 0;
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        if (IS_NEW_INPUT(i)) {
            fill_pixels((uint8_t *)samples, sizeof(samples));
            fill_arenas();
        }
        any_filter();
        taken += *slot != scalar.hyScale;
        scale(&scalar, scalar_arena + 198);
        scale(&simd, simd_arena + 198);
        compare_arenas("row");
        free_filter(&scalar);
        free_filter(&simd);
    }
    if (taken < ROUNDS / 3)
        differs("takes only %d of %d filters", taken, ROUNDS);
}

static void compare_luma_rows(const subject *s) {
    compare_scaled_rows(scale_luma, &simd.hyScale);
}

static void compare_chroma_rows(const subject *s) {
    compare_scaled_rows(scale_chroma, &simd.hcScale);
}

static const int16_t *rows[ROWS];
static uint8_t dither[8];

static void any_rows(int round) {
    if (IS_NEW_INPUT(round)) {
        for (int i = 0; i < ROWS; i++)
            fill_pixels((uint8_t *)lines[i], sizeof(lines[i]));
        fill_arenas();
    }
    for (int i = 0; i < ROWS; i++)
        rows[i] = lines[between(0, ROWS - 1)] + between(0, 20);
    fill_pixels(dither, sizeof(dither));
}

static void compare_blended_rows(const subject *s) {
    int16_t filter[ROWS];
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int taps = between(1, ROWS), width = between(1, WIDEST), offset = between(0, 7), at = between(0, 99);
        any_rows(i);
        fill_filter(filter, taps);
        ((yuv2planarX_fn)s->scalar)(filter, taps, rows, scalar_arena + at, width, dither, offset);
        ((yuv2planarX_fn)s->simd)(filter, taps, rows, simd_arena + at, width, dither, offset);
        compare_arenas("row");
    }
}

static void compare_rounded_rows(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int width = between(1, WIDEST), offset = between(0, 7), at = between(0, 99);
        any_rows(i);
        ((yuv2planar1_fn)s->scalar)(rows[0], scalar_arena + at, width, dither, offset);
        ((yuv2planar1_fn)s->simd)(rows[0], simd_arena + at, width, dither, offset);
        compare_arenas("row");
    }
}

/* Between these two members, a context has only function pointers. */
#define SLOTS                                                                                                \
    ((offsetof(SwsContext, needs_hcscale) - offsetof(SwsContext, yuv2plane1)) / sizeof(any_function))

static tables table = {
    "swscale", (any_function *)&scalar.yuv2plane1, (any_function *)&simd.yuv2plane1, SLOTS, {0}};

static void set_formats(SwsContext *c, enum AVPixelFormat from, enum AVPixelFormat to, int flags) {
    static const int16_t filter[32];
    static const int32_t positions[32];
    *c = (SwsContext){.srcFormat = from, .dstFormat = to, .flags = flags, .srcRange = 1};
    c->srcBpc = isAnyRGB(from) ? 16 : FFMAX(av_pix_fmt_desc_get(from)->comp[0].depth, 8);
    c->dstBpc = FFMAX(av_pix_fmt_desc_get(to)->comp[0].depth, 8);
    copy_filter(c, filter, positions, 1, 32, 32);
}

/* Fills both tables for these formats. swscale's own ff_sws_init_scale calls the wrapped
 * ff_sws_init_output_funcs, so the entries that it puts into the scalar table are
 * cleared and filled again. */
static void fill_tables(enum AVPixelFormat from, enum AVPixelFormat to, int flags) {
    SwsContext *c = &scalar;
    set_formats(&scalar, from, to, flags);
    set_formats(&simd, from, to, flags);
    __real_ff_sws_init_scale(c);
    memset(&c->yuv2plane1, 0, offsetof(SwsContext, lumToYV12) - offsetof(SwsContext, yuv2plane1));
    __real_ff_sws_init_output_funcs(c, &c->yuv2plane1, &c->yuv2planeX, &c->yuv2nv12cX, &c->yuv2packed1,
                                    &c->yuv2packed2, &c->yuv2packedX, &c->yuv2anyX);
    ff_sws_init_scale(&simd);
    free_filter(&scalar);
    free_filter(&simd);
}

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUVA420P,  AV_PIX_FMT_NV12,    AV_PIX_FMT_GRAY8,
    AV_PIX_FMT_RGB24,   AV_PIX_FMT_RGBA,      AV_PIX_FMT_GBRP,      AV_PIX_FMT_UYVY422, AV_PIX_FMT_YUV420P10,
    AV_PIX_FMT_P010,    AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_GRAYF32, AV_PIX_FMT_RGB565,
    AV_PIX_FMT_YUV444P10};

/* The tables for the formats of each kernel that was checked. */
static any_function known[4][SLOTS];

static int is_known(int slot) {
    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++)
        if (table.simd[slot] == known[i][slot])
            return 1;
    return 0;
}

/* Checks that the tables for these formats contain only kernels that were checked. */
static void check_formats(enum AVPixelFormat from, enum AVPixelFormat to) {
    for (int fast = 0; fast < 2; fast++) {
        fill_tables(from, to, fast ? SWS_FAST_BILINEAR : SWS_BICUBIC);
        for (int i = 0; i < table.slots; i++)
            table.checked[i] = is_known(i);
        finish(&table);
    }
}

/* Refills the tables first, as a check leaves the functions of its own filters in the contexts. */
static void check_kernel(const char *name, enum AVPixelFormat from, enum AVPixelFormat to, const void *slot,
                         test run) {
    fill_tables(from, to, SWS_BICUBIC);
    check(&table, name, slot, 0, 0, run);
}

/* Formats that shift their sums by different numbers of bits. */
static const enum AVPixelFormat scaled[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P10, AV_PIX_FMT_RGB24,
                                            AV_PIX_FMT_YUV420P16};

void check_swscale(void) {
    const enum AVPixelFormat plain = AV_PIX_FMT_YUV420P, deep = AV_PIX_FMT_YUV444P10;
    check_kernel("swscale yuv2planeX", plain, plain, &scalar.yuv2planeX, compare_blended_rows);
    check_kernel("swscale yuv2plane1", plain, plain, &scalar.yuv2plane1, compare_rounded_rows);
    check_kernel("swscale yuv2planeX to 10 bits", plain, deep, &scalar.yuv2planeX, compare_blended_rows);
    for (int i = 0; i < FF_ARRAY_ELEMS(scaled); i++) {
        check_kernel("swscale hyScale", scaled[i], plain, &scalar.hyScale, compare_luma_rows);
        check_kernel("swscale hcScale", scaled[i], plain, &scalar.hcScale, compare_chroma_rows);
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++) {
        fill_tables(i < 3 ? scaled[i] : plain, i < 3 ? plain : deep, SWS_BICUBIC);
        finish(&table);
        memcpy(known[i], table.simd, sizeof(known[i]));
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++)
        for (int k = 0; k < FF_ARRAY_ELEMS(formats); k++)
            check_formats(formats[i], formats[k]);
    check_unscaled();
}
