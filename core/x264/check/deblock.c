/* Checks the deblocking filter. */
#include "check_x264.h"

void __real_x264_8_deblock_init(uint32_t cpu, x264_deblock_function_t *table, int mbaff);

static x264_deblock_function_t scalar, simd;

#define EDGE (ARENA / 2)

/* Fills in pixels whose steps at edges are, in most rounds, small enough to be filtered. */
static void fill_surface(void) {
    fill_pixels(scalar_arena + EDGE - 2048, 4096);
    if (between(0, 3)) {
        int base = between(0, 255), slope = between(0, 6), noise = between(0, 5);
        for (int i = 0; i < 4096; i++)
            scalar_arena[EDGE - 2048 + i] =
                x264_clip_pixel(base + (i >> 2 & 7) * slope + (i >> 6 & 3) * slope + between(-noise, noise));
    }
    memcpy(simd_arena, scalar_arena, ARENA);
}

/* Tests every alpha at least 15 times, with random betas up to twice x264's largest of 18. */
static void compare_inter(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int alpha = i & 255, beta = between(0, 36);
        intptr_t stride = ONE_OF(32, 48, 64, 96);
        int8_t strength[4];
        for (int k = 0; k < 4; k++)
            strength[k] = between(0, 1) ? between(-1, 3) : between(-1, 26);
        fill_surface();
        ((x264_deblock_inter_t)s->scalar)(scalar_arena + EDGE, stride, alpha, beta, strength);
        ((x264_deblock_inter_t)s->simd)(simd_arena + EDGE, stride, alpha, beta, strength);
        compare_arenas("edge");
    }
}

typedef void (*strength_function)(uint8_t *, int8_t (*)[X264_SCAN8_LUMA_SIZE],
                                  int16_t (*)[X264_SCAN8_LUMA_SIZE][2], uint8_t (*)[8][4], int, int);

static void compare_strength(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        uint8_t nonzero[X264_SCAN8_SIZE], expected[2][8][4], result[2][8][4];
        int8_t ref[2][X264_SCAN8_LUMA_SIZE];
        int16_t mv[2][X264_SCAN8_LUMA_SIZE][2];
        int density = between(0, 4), refs = between(0, 3), spread = between(0, 4), far = between(0, 7) == 0;
        for (int k = 0; k < X264_SCAN8_SIZE; k++)
            nonzero[k] = between(0, 5) < density ? ONE_OF(1, 2, 16, 0x80) : 0;
        for (int k = 0; k < 2 * X264_SCAN8_LUMA_SIZE; k++) {
            ref[0][k] = ONE_OF(-2, -1, 0, between(0, 15)) * (between(0, 3) < refs);
            mv[0][k][0] = far ? ONE_OF(-8192, 8191) : between(-spread, spread);
            mv[0][k][1] = far ? ONE_OF(-8192, 8191) : between(-spread, spread);
        }
        memset(expected, 9, sizeof(expected));
        memset(result, 9, sizeof(result));
        int limit = 4 >> (i & 1), has_list1 = i >> 1 & 1;
        ((strength_function)s->scalar)(nonzero, ref, mv, expected, limit, has_list1);
        ((strength_function)s->simd)(nonzero, ref, mv, result, limit, has_list1);
        if (memcmp(expected, result, sizeof(result)))
            differs("strengths");
    }
}

static tables table = {
    "deblock", (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}};

#define ENTRY(field, run) check(&table, "deblock " #field, &scalar.field, 0, 0, run)

void check_deblock(void) {
    __real_x264_8_deblock_init(0, &scalar, 0);
    x264_deblock_init(0, &simd, 0);
    memset(scalar_arena, 0, ARENA);
    ENTRY(deblock_luma[0], compare_inter);
    ENTRY(deblock_luma[1], compare_inter);
    ENTRY(deblock_chroma[1], compare_inter);
    ENTRY(deblock_h_chroma_420, compare_inter);
    ENTRY(deblock_chroma_422_mbaff, compare_inter);
    ENTRY(deblock_strength, compare_strength);
    finish(&table);
}
