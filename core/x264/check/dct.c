/* Checks transforms and their inverses. */
#include "check_x264.h"

void __real_x264_8_dct_init(uint32_t cpu, x264_dct_function_t *table);

static x264_dct_function_t scalar, simd;
static pixel source[16 * FENC_STRIDE], decoded[16 * FDEC_STRIDE];

/* The forward functions, which take coefficients first, share one wasm type, and so do the inverse ones,
 * which take pixels first. */
typedef void (*forward_function)(dctcoef *, pixel *, pixel *);
typedef void (*inverse_function)(pixel *, dctcoef *);

static void compare_forward(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        dctcoef expected[272], coefs[272];
        for (int k = 0; k < 272; k++)
            expected[k] = coefs[k] = next_random();
        fill_pixels(source, sizeof(source));
        fill_pixels(decoded, sizeof(decoded));
        ((forward_function)s->scalar)(expected, source, decoded);
        ((forward_function)s->simd)(coefs, source, decoded);
        for (int k = 0; k < 272; k++)
            compare_numbers("coefficient", expected[k], coefs[k]);
    }
}

/* Fills in coefficients as large as the arithmetic of both functions allows: a whole block of small
 * ones, or a few large ones. The inverse has two passes, each of which multiplies the largest by up to
 * 3.5 for 4x4 and 7.375 for 8x8. */
static void fill_coefficients(dctcoef *coefs, int per_block) {
    int dense = per_block == 16 ? 2600 : 590, few = between(1, 3), large = 32000 / few;
    int pattern = between(0, 3);
    memset(coefs, 0, 256 * sizeof(dctcoef));
    for (int block = 0; block < 256; block += per_block)
        if (pattern == 0)
            for (int i = 0; i < few; i++)
                coefs[block + ONE_OF(0, 0, 1, per_block - 1)] = between(0, 1) ? large / 4 : -large / 4;
        else if (pattern == 1)
            coefs[block] = between(-32000, 32000);
        else
            for (int i = 0; i < per_block; i++)
                coefs[block + i] = pattern == 2 ? between(-dense, dense) : between(0, 1) ? dense : -dense;
}

/* Fills in coefficients like those that x264 itself inverts: the transform of a residual
 * after coarse quantization. */
static void fill_from_residual(dctcoef *coefs, int per_block) {
    fill_pixels(source, sizeof(source));
    fill_pixels(decoded, sizeof(decoded));
    int step = between(1, 64);
    if (per_block == 16)
        scalar.sub16x16_dct((dctcoef(*)[16])coefs, source, decoded);
    else
        scalar.sub16x16_dct8((dctcoef(*)[64])coefs, source, decoded);
    for (int i = 0; i < 256; i++)
        coefs[i] = coefs[i] / 4 / step * step;
}

/* An inverse may use the coefficients as scratch memory, so they are not compared. */
static void compare_inverse(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        dctcoef coefs[256], copy[256];
        if (s->width == 1)
            for (int k = 0; k < 256; k++)
                coefs[k] = i & 1 ? next_random() : between(-16384, 16384);
        else if (between(0, 1))
            fill_coefficients(coefs, s->width);
        else
            fill_from_residual(coefs, s->width);
        memcpy(copy, coefs, sizeof(copy));
        fill_pixels(scalar_arena, 2048);
        memcpy(simd_arena, scalar_arena, 2048);
        ((inverse_function)s->scalar)(scalar_arena + 500, coefs);
        ((inverse_function)s->simd)(simd_arena + 500, copy);
        compare_arenas("block");
    }
}

static tables table = {
    "dct", (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}};

#define FORWARD(field) check(&table, "dct " #field, &scalar.field, 0, 0, compare_forward)
#define INVERSE(field, per_block) check(&table, "dct " #field, &scalar.field, per_block, 0, compare_inverse)

void check_dct(void) {
    __real_x264_8_dct_init(0, &scalar);
    x264_dct_init(0, &simd);
    memcpy(simd_arena, scalar_arena, ARENA);
    FORWARD(sub4x4_dct);
    FORWARD(sub8x8_dct);
    FORWARD(sub16x16_dct);
    FORWARD(sub8x8_dct8);
    FORWARD(sub16x16_dct8);
    FORWARD(sub8x8_dct_dc);
    INVERSE(add8x8_idct_dc, 1);
    INVERSE(add16x16_idct_dc, 1);
    INVERSE(add4x4_idct, 16);
    INVERSE(add8x8_idct, 16);
    INVERSE(add16x16_idct, 16);
    INVERSE(add8x8_idct8, 64);
    INVERSE(add16x16_idct8, 64);
    finish(&table);
}
