/* Checks the kernels of the H.264 decoder. */
#include "check/check.h"
#include "h264/common.h"
#include "libavcodec/h264dec.h"
#include <string.h>

void __real_ff_h264qpel_init(H264QpelContext *c, int bit_depth);
void __real_ff_h264chroma_init(H264ChromaContext *c, int bit_depth);
void __real_ff_h264dsp_init(H264DSPContext *c, int bit_depth, int chroma_format);

#define TABLE(name, scalar, simd)                                                                            \
    {name, (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}}
#define MIDDLE (ARENA / 2)

static H264QpelContext scalar_qpel, simd_qpel;
static H264ChromaContext scalar_chroma, simd_chroma;
static H264DSPContext scalar, simd;
static uint8_t source[64 * 96];

static void new_input(int round) {
    if (!IS_NEW_INPUT(round))
        return;
    fill_pixels(source, sizeof(source));
    fill_arenas();
}

static int any_stride(void) {
    return ONE_OF(24, 32, 48, 64, 96);
}

static void compare_qpel(const subject *s) {
    for (int i = 0; i < ROUNDS / 4 && !has_failed(); i++) {
        int stride = any_stride(), at = 4 * between(0, 3);
        const uint8_t *src = source + 3 * stride + between(2, 5);
        new_input(i);
        ((qpel_mc_func)s->scalar)(scalar_arena + at, src, stride);
        ((qpel_mc_func)s->simd)(simd_arena + at, src, stride);
        compare_arenas("block");
    }
}

static void compare_chroma(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int stride = any_stride(), height = ONE_OF(2, 4, 8, 16), x = i & 7, y = i >> 3 & 7;
        uint8_t *src = source + between(0, 7);
        new_input(i);
        ((h264_chroma_mc_func)s->scalar)(scalar_arena, src, stride, height, x, y);
        ((h264_chroma_mc_func)s->simd)(simd_arena, src, stride, height, x, y);
        compare_arenas("block");
    }
}

static void compare_weight(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int stride = any_stride(), height = ONE_OF(2, 4, 8, 16), denominator = between(0, 7);
        int weight = between(0, 3) ? between(-128, 128) : ONE_OF(-128, 127, 128), offset = between(-128, 127);
        new_input(i);
        ((h264_weight_func)s->scalar)(scalar_arena, stride, height, denominator, weight, offset);
        ((h264_weight_func)s->simd)(simd_arena, stride, height, denominator, weight, offset);
        compare_arenas("block");
    }
}

static void compare_biweight(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int stride = any_stride(), height = ONE_OF(2, 4, 8, 16), denominator = between(0, 7);
        int a = between(-128, 128), b = between(-128, 128), offset = between(-256, 254);
        new_input(i);
        ((h264_biweight_func)s->scalar)(scalar_arena, source, stride, height, denominator, a, b, offset);
        ((h264_biweight_func)s->simd)(simd_arena, source, stride, height, denominator, a, b, offset);
        compare_arenas("block");
    }
}

/* Fills in pixels whose steps at edges are, in most rounds, small enough to be filtered. */
static void fill_surface(void) {
    fill_pixels(scalar_arena + MIDDLE - 2048, 4096);
    if (between(0, 3)) {
        int base = between(0, 255), slope = between(0, 6), noise = between(0, 5);
        for (int i = -2048; i < 2048; i++) {
            int step = (i >> 2 & 7) * slope + (i >> 6 & 3) * slope;
            scalar_arena[MIDDLE + i] = av_clip_uint8(base + step + between(-noise, noise));
        }
    }
    memcpy(simd_arena, scalar_arena, ARENA);
}

typedef void (*inter_filter)(uint8_t *pix, ptrdiff_t stride, int alpha, int beta, int8_t *strength);
typedef void (*intra_filter)(uint8_t *pix, ptrdiff_t stride, int alpha, int beta);

static void compare_inter(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int alpha = i & 255, beta = between(0, 36), stride = any_stride();
        int8_t strength[4];
        for (int k = 0; k < 4; k++)
            strength[k] = between(0, 1) ? between(-1, 3) : between(-1, 26);
        fill_surface();
        ((inter_filter)s->scalar)(scalar_arena + MIDDLE, stride, alpha, beta, strength);
        ((inter_filter)s->simd)(simd_arena + MIDDLE, stride, alpha, beta, strength);
        compare_arenas("edge");
    }
}

static void compare_intra(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int alpha = i & 255, beta = between(0, 36), stride = any_stride();
        fill_surface();
        ((intra_filter)s->scalar)(scalar_arena + MIDDLE, stride, alpha, beta);
        ((intra_filter)s->simd)(simd_arena + MIDDLE, stride, alpha, beta);
        compare_arenas("edge");
    }
}

/* Fills in coefficients as in a valid stream or as in a damaged one. */
static void fill_coefficients(int16_t *block, int count) {
    int spread = ONE_OF(64, 2000, 32767), density = between(1, 8);
    for (int i = 0; i < count; i++)
        block[i] = between(1, 8) > density ? 0 : spread == 32767 ? between(-32768, 32767) : between(-spread, spread);
}

typedef void (*transform)(uint8_t *dst, int16_t *block, int stride);

static void compare_transform(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        _Alignas(16) int16_t expected[64], result[64];
        int stride = any_stride();
        new_input(i);
        fill_coefficients(expected, 64);
        memcpy(result, expected, sizeof(result));
        ((transform)s->scalar)(scalar_arena, expected, stride);
        ((transform)s->simd)(simd_arena, result, stride);
        compare_arenas("pixels");
        if (memcmp(expected, result, sizeof(result)))
            differs("coefficients left");
    }
}

typedef void (*transforms)(void *dst, const int *offsets, int16_t *block, int stride, const uint8_t *coded);

/* Runs a function on the blocks of a macroblock: luma has one destination, chroma two. */
static void run_blocks(any_function f, uint8_t *arena, int16_t *block, int stride, const uint8_t *coded,
                       int is_chroma) {
    int offsets[48];
    uint8_t *planes[2] = {arena + 8192, arena + 16384};
    for (int i = 0; i < 48; i++)
        offsets[i] = (i & 1) * 4 + (i >> 1 & 1) * 4 * stride + (i >> 2 & 1) * 8 + (i >> 3 & 1) * 8 * stride;
    ((transforms)f)(is_chroma ? (void *)planes : arena, offsets, block, stride, coded);
}

static void compare_blocks(const subject *s) {
    for (int i = 0; i < ROUNDS / 4 && !has_failed(); i++) {
        _Alignas(16) int16_t expected[48 * 16], result[48 * 16];
        uint8_t coded[15 * 8];
        int stride = any_stride();
        new_input(i);
        fill_coefficients(expected, 48 * 16);
        memcpy(result, expected, sizeof(result));
        for (int k = 0; k < sizeof(coded); k++)
            coded[k] = ONE_OF(0, 0, 1, 2, 16);
        run_blocks(s->scalar, scalar_arena, expected, stride, coded, s->width);
        run_blocks(s->simd, simd_arena, result, stride, coded, s->width);
        compare_arenas("pixels");
        if (memcmp(expected, result, sizeof(result)))
            differs("coefficients left");
    }
}

static tables qpel = TABLE("h264qpel", scalar_qpel, simd_qpel);
static tables chroma = TABLE("h264chroma", scalar_chroma, simd_chroma);
static tables dsp = TABLE("h264dsp", scalar, simd);

#define ENTRY(field, is_chroma, run) check(&dsp, #field, &scalar.field, is_chroma, 0, run)

static void check_dsp(void) {
    for (int i = 0; i < 4; i++) {
        ENTRY(weight_h264_pixels_tab[i], 0, compare_weight);
        ENTRY(biweight_h264_pixels_tab[i], 0, compare_biweight);
    }
    ENTRY(h264_v_loop_filter_luma, 0, compare_inter);
    ENTRY(h264_h_loop_filter_luma, 0, compare_inter);
    ENTRY(h264_v_loop_filter_luma_intra, 0, compare_intra);
    ENTRY(h264_h_loop_filter_luma_intra, 0, compare_intra);
    ENTRY(h264_v_loop_filter_chroma, 0, compare_inter);
    ENTRY(h264_h_loop_filter_chroma, 0, compare_inter);
    ENTRY(h264_v_loop_filter_chroma_intra, 0, compare_intra);
    ENTRY(h264_h_loop_filter_chroma_intra, 0, compare_intra);
    ENTRY(h264_idct_add, 0, compare_transform);
    ENTRY(h264_idct8_add, 0, compare_transform);
    ENTRY(h264_idct_dc_add, 0, compare_transform);
    ENTRY(h264_idct8_dc_add, 0, compare_transform);
    ENTRY(h264_idct_add16, 0, compare_blocks);
    ENTRY(h264_idct8_add4, 0, compare_blocks);
    ENTRY(h264_idct_add16intra, 0, compare_blocks);
    ENTRY(h264_idct_add8, 1, compare_blocks);
}

/* For 10 bits, 4:2:2 and 4:4:4, every entry that no check covers must be the scalar function. */
static void check_other_formats(void) {
    static const int formats[3][2] = {{10, 1}, {8, 2}, {8, 3}};
    for (int i = 0; i < 3; i++) {
        __real_ff_h264dsp_init(&scalar, formats[i][0], formats[i][1]);
        ff_h264dsp_init(&simd, formats[i][0], formats[i][1]);
        finish(&dsp);
    }
    __real_ff_h264qpel_init(&scalar_qpel, 10);
    ff_h264qpel_init(&simd_qpel, 10);
    memset(qpel.checked, 0, sizeof(qpel.checked));
    finish(&qpel);
}

void check_h264(void) {
    __real_ff_h264qpel_init(&scalar_qpel, 8);
    ff_h264qpel_init(&simd_qpel, 8);
    for (int i = 0; i < qpel.slots; i++)
        check(&qpel, "h264qpel", qpel.scalar + i, 0, 0, compare_qpel);
    finish(&qpel);
    __real_ff_h264chroma_init(&scalar_chroma, 8);
    ff_h264chroma_init(&simd_chroma, 8);
    for (int i = 0; i < chroma.slots; i++)
        check(&chroma, "h264chroma", chroma.scalar + i, 0, 0, compare_chroma);
    finish(&chroma);
    __real_ff_h264dsp_init(&scalar, 8, 1);
    ff_h264dsp_init(&simd, 8, 1);
    check_dsp();
    finish(&dsp);
    check_other_formats();
}
