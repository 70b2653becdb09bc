/* Checks the kernels that compare blocks: SAD, SATD, SSD, variances and the costs of intra modes. */
#include "check_x264.h"

void __real_x264_8_pixel_init(uint32_t cpu, x264_pixel_function_t *table);

static x264_pixel_function_t scalar, simd;
static pixel first[ARENA], second[ARENA];

static void fill_blocks(void) {
    fill_pixels(first, 4096);
    fill_pixels(second, 4096);
    if (between(0, 7) == 0) /* differences up to the largest */
        for (int i = 0; i < 4096; i++)
            second[i] = 255 - first[i];
}

static int any_stride(void) {
    return ONE_OF(16, 32, 40, 64, 100);
}

static void compare_blocks(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int stride_a = any_stride(), stride_b = any_stride(), a = between(0, 63), b = between(0, 63);
        fill_blocks();
        int expected = ((x264_pixel_cmp_t)s->scalar)(first + a, stride_a, second + b, stride_b);
        compare_numbers("result", expected,
                        ((x264_pixel_cmp_t)s->simd)(first + a, stride_a, second + b, stride_b));
    }
}

static void compare_scores(const int *expected, const int *scores, int count) {
    for (int i = 0; i < count; i++)
        compare_numbers("score", expected[i], scores[i]);
}

static void compare_three(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int expected[4] = {7, 7, 7, 7}, scores[4] = {7, 7, 7, 7}, stride = any_stride();
        pixel *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = second + between(0, 200);
        fill_blocks();
        ((x264_pixel_cmp_x3_t)s->scalar)(first, p[0], p[1], p[2], stride, expected);
        ((x264_pixel_cmp_x3_t)s->simd)(first, p[0], p[1], p[2], stride, scores);
        compare_scores(expected, scores, 4);
    }
}

static void compare_four(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int expected[5] = {7, 7, 7, 7, 7}, scores[5] = {7, 7, 7, 7, 7}, stride = any_stride();
        pixel *p[4];
        for (int k = 0; k < 4; k++)
            p[k] = second + between(0, 200);
        fill_blocks();
        ((x264_pixel_cmp_x4_t)s->scalar)(first, p[0], p[1], p[2], p[3], stride, expected);
        ((x264_pixel_cmp_x4_t)s->simd)(first, p[0], p[1], p[2], p[3], stride, scores);
        compare_scores(expected, scores, 5);
    }
}

typedef uint64_t (*energy_function)(pixel *, intptr_t);

static void compare_energy(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int stride = any_stride(), at = between(0, 63);
        fill_blocks();
        compare_numbers("result", ((energy_function)s->scalar)(first + at, stride),
                        ((energy_function)s->simd)(first + at, stride));
    }
}

typedef int (*variance_function)(pixel *, pixel *, int[2]);

static void compare_chroma_variance(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int expected[3] = {7, 7, 7}, squares[3] = {7, 7, 7};
        fill_blocks();
        int result = ((variance_function)s->scalar)(first, second, expected);
        compare_numbers("result", result, ((variance_function)s->simd)(first, second, squares));
        compare_scores(expected, squares, 3);
    }
}

typedef void (*intra_function)(pixel *, pixel *, int[3]);

/* The scalar function leaves its last prediction in the block; x264's assembly does not. So the block must be
 * as before or as the scalar function left it, and the pixels around it must not change. */
static void compare_intra(const subject *s) {
    static pixel before[4096];
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int expected[4] = {7, 7, 7, 7}, scores[4] = {7, 7, 7, 7}, at = 4 * FDEC_STRIDE + 16;
        fill_blocks();
        fill_pixels(scalar_arena, 4096);
        memcpy(simd_arena, scalar_arena, 4096);
        memcpy(before, scalar_arena, 4096);
        ((intra_function)s->scalar)(first, scalar_arena + at, expected);
        ((intra_function)s->simd)(first, simd_arena + at, scores);
        compare_scores(expected, scores, 4);
        if (memcmp(simd_arena, before, 4096) && memcmp(simd_arena, scalar_arena, 4096))
            differs("pixels around the block");
    }
}

static void compare_intra_8x8(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int expected[4] = {7, 7, 7, 7}, scores[4] = {7, 7, 7, 7};
        fill_blocks();
        ((intra_function)s->scalar)(first, second, expected);
        ((intra_function)s->simd)(first, second, scores);
        compare_scores(expected, scores, 4);
    }
}

static tables table = {
    "pixel", (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}};

#define SIZES(field, count, run)                                                                             \
    for (int i = 0; i < count; i++) {                                                                        \
        char name[64];                                                                                       \
        snprintf(name, sizeof(name), "pixel " #field " %dx%d", x264_pixel_size[i].w, x264_pixel_size[i].h);  \
        check(&table, name, &scalar.field[i], x264_pixel_size[i].w, x264_pixel_size[i].h, run);              \
    }

#define SINGLE(field, run) check(&table, "pixel " #field, &scalar.field, 0, 0, run)

void check_pixel(void) {
    __real_x264_8_pixel_init(0, &scalar);
    x264_pixel_init(0, &simd);
    SIZES(sad, 8, compare_blocks)
    SIZES(sad_aligned, 8, compare_blocks)
    SIZES(ssd, 8, compare_blocks)
    SIZES(satd, 8, compare_blocks)
    SIZES(sa8d, 4, compare_blocks)
    SIZES(sad_x3, 7, compare_three)
    SIZES(satd_x3, 7, compare_three)
    SIZES(sad_x4, 7, compare_four)
    SIZES(satd_x4, 7, compare_four)
    SIZES(var, 4, compare_energy)
    SIZES(hadamard_ac, 4, compare_energy)
    SIZES(var2, 4, compare_chroma_variance)
    SINGLE(intra_sad_x3_16x16, compare_intra);
    SINGLE(intra_satd_x3_16x16, compare_intra);
    SINGLE(intra_sad_x3_4x4, compare_intra);
    SINGLE(intra_satd_x3_4x4, compare_intra);
    SINGLE(intra_sad_x3_8x8c, compare_intra);
    SINGLE(intra_satd_x3_8x8c, compare_intra);
    SINGLE(intra_sad_x3_8x16c, compare_intra);
    SINGLE(intra_satd_x3_8x16c, compare_intra);
    SINGLE(intra_sad_x3_8x8, compare_intra_8x8);
    SINGLE(intra_sa8d_x3_8x8, compare_intra_8x8);
    finish(&table);
}
