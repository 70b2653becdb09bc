/* Checks swscale's kernels. */
#include "check/check.h"
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
static uint8_t samples[4 * WIDEST];
static int16_t lines[ROWS][ARENA / ROWS];

/* Coefficients as filters have them, or extreme ones. */
static void fill_filter(int16_t *filter, int count) {
    int kind = between(0, 3);
    for (int i = 0; i < count; i++)
        filter[i] = kind == 0   ? ONE_OF(-32768, 32767, 0, 16384)
                    : kind == 1 ? between(-32768, 32767)
                                : between(-1500, 9000);
}

/* Rises as in scaling by a constant ratio, with a little irregularity. */
static void fill_positions(int32_t *positions, int width, int last) {
    int ratio = between(0, 1) ? between(0, 1 << 9) : between(0, 7 << 8), irregular = between(0, 3) == 0;
    int start = between(0, FFMAX(last, 0));
    for (int x = 0; x < width; x++)
        positions[x] = av_clip(start + (x * ratio >> 8) + (irregular ? between(-2, 2) : 0), 0, last);
}

/* A copy of the filter for each context, as a kernel may keep it in another form. */
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

static void compare_scaled_rows(const subject *s, int is_chroma) {
    int replaced = 0;
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        fill_pixels(samples, sizeof(samples));
        fill_arenas();
        any_filter();
        if (is_chroma) {
            scalar.hcScale(&scalar, (int16_t *)scalar_arena + 99, scalar.chrDstW, samples, scalar.hChrFilter,
                           scalar.hChrFilterPos, scalar.hChrFilterSize);
            simd.hcScale(&simd, (int16_t *)simd_arena + 99, simd.chrDstW, samples, simd.hChrFilter,
                         simd.hChrFilterPos, simd.hChrFilterSize);
            replaced += (any_function)simd.hcScale == s->simd;
        } else {
            scalar.hyScale(&scalar, (int16_t *)scalar_arena + 99, scalar.dstW, samples, scalar.hLumFilter,
                           scalar.hLumFilterPos, scalar.hLumFilterSize);
            simd.hyScale(&simd, (int16_t *)simd_arena + 99, simd.dstW, samples, simd.hLumFilter,
                         simd.hLumFilterPos, simd.hLumFilterSize);
            replaced += (any_function)simd.hyScale == s->simd;
        }
        compare_arenas("row");
        free_filter(&scalar);
        free_filter(&simd);
    }
    if (replaced < ROUNDS / 3 && !has_failed())
        differs("only %d of %d filters taken", replaced, ROUNDS);
}

static void compare_luma_rows(const subject *s) {
    compare_scaled_rows(s, 0);
}

static void compare_chroma_rows(const subject *s) {
    compare_scaled_rows(s, 1);
}

static void compare_blended_rows(const subject *s) {
    const int16_t *rows[ROWS];
    int16_t filter[ROWS];
    uint8_t dither[8];
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int taps = between(1, ROWS), width = between(1, WIDEST), offset = between(0, 7), at = between(0, 99);
        if (IS_NEW_INPUT(i)) {
            for (int k = 0; k < ROWS; k++)
                fill_pixels((uint8_t *)lines[k], sizeof(lines[k]));
            fill_arenas();
        }
        for (int k = 0; k < taps; k++)
            rows[k] = lines[between(0, ROWS - 1)] + between(0, 20);
        fill_filter(filter, taps);
        fill_pixels(dither, sizeof(dither));
        ((yuv2planarX_fn)s->scalar)(filter, taps, rows, scalar_arena + at, width, dither, offset);
        ((yuv2planarX_fn)s->simd)(filter, taps, rows, simd_arena + at, width, dither, offset);
        compare_arenas("row");
    }
}

/* Between these two members, a context has pointers to functions alone. */
#define SLOTS                                                                                                \
    ((offsetof(SwsContext, needs_hcscale) - offsetof(SwsContext, yuv2plane1)) / sizeof(any_function))

static tables table = {
    "swscale", (any_function *)&scalar.yuv2plane1, (any_function *)&simd.yuv2plane1, SLOTS, {0}};

static void set_formats(SwsContext *c, enum AVPixelFormat from, enum AVPixelFormat to, int flags) {
    static const int16_t filter[32];
    static const int32_t positions[32];
    *c = (SwsContext){.srcFormat = from, .dstFormat = to, .flags = flags, .srcRange = 1};
    c->srcBpc = av_pix_fmt_desc_get(from)->comp[0].depth;
    c->dstBpc = av_pix_fmt_desc_get(to)->comp[0].depth;
    copy_filter(c, filter, positions, 1, 32, 32);
}

/* Fills both tables for these formats. swscale's own function calls one that is wrapped. */
static void fill_tables(enum AVPixelFormat from, enum AVPixelFormat to, int flags) {
    SwsContext *c = &scalar;
    set_formats(&scalar, from, to, flags);
    set_formats(&simd, from, to, flags);
    __real_ff_sws_init_scale(c);
    __real_ff_sws_init_output_funcs(c, &c->yuv2plane1, &c->yuv2planeX, &c->yuv2nv12cX, &c->yuv2packed1,
                                    &c->yuv2packed2, &c->yuv2packedX, &c->yuv2anyX);
    ff_sws_init_scale(&simd);
    free_filter(&scalar);
    free_filter(&simd);
}

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUVA420P,  AV_PIX_FMT_NV12,    AV_PIX_FMT_GRAY8,
    AV_PIX_FMT_RGB24,   AV_PIX_FMT_RGBA,      AV_PIX_FMT_GBRP,      AV_PIX_FMT_UYVY422, AV_PIX_FMT_YUV420P10,
    AV_PIX_FMT_P010,    AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_GRAYF32, AV_PIX_FMT_RGB565};

/* For these formats, a table has no kernel but those that were checked. */
static void check_formats(enum AVPixelFormat from, enum AVPixelFormat to, const any_function *known) {
    for (int fast = 0; fast < 2; fast++) {
        fill_tables(from, to, fast ? SWS_FAST_BILINEAR : SWS_BICUBIC);
        for (int i = 0; i < table.slots; i++)
            table.checked[i] = table.simd[i] == known[i];
        finish(&table);
    }
}

/* A check leaves its own filters' functions in the contexts. */
static void check_kernel(const char *name, const void *slot, test run) {
    fill_tables(AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, SWS_BICUBIC);
    check(&table, name, slot, 0, 0, run);
}

void check_swscale(void) {
    static any_function known[SLOTS];
    check_kernel("swscale yuv2planeX", &scalar.yuv2planeX, compare_blended_rows);
    check_kernel("swscale hyScale", &scalar.hyScale, compare_luma_rows);
    check_kernel("swscale hcScale", &scalar.hcScale, compare_chroma_rows);
    fill_tables(AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, SWS_BICUBIC);
    memcpy(known, table.simd, sizeof(known));
    finish(&table);
    for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++)
        for (int k = 0; k < FF_ARRAY_ELEMS(formats); k++)
            check_formats(formats[i], formats[k], known);
}
