/* Checks quantization and the functions that examine quantized coefficients. */
#include "check_x264.h"

void __real_x264_8_quant_init(x264_t *h, uint32_t cpu, x264_quant_function_t *table);

static x264_quant_function_t scalar, simd;

/* A subject's width is its number of coefficients. The arrays are longer, so that
 * writes beyond them are found. */
static dctcoef expected[128], coefs[128];

static void copy_coefficients(void) {
    memcpy(coefs, expected, sizeof(coefs));
}

static void compare_coefficients(void) {
    for (int i = 0; i < 128; i++)
        compare_numbers("coefficient", expected[i], coefs[i]);
}

/* Fills in coefficients up to limit. No transform of x264 yields more than 32640. */
static void fill_large(int limit) {
    int pattern = between(0, 3);
    for (int i = 0; i < 128; i++)
        if (pattern == 0)
            expected[i] = between(0, 1) ? limit : -limit;
        else if (pattern == 1)
            expected[i] = between(-40, 40);
        else
            expected[i] = between(0, 3) ? between(-limit, limit) : 0;
    copy_coefficients();
}

typedef int (*quant_function)(dctcoef *, udctcoef *, udctcoef *);
typedef int (*quant_dc_function)(dctcoef *, int, int);

/* x264 limits every bias to 32768 / factor. */
static int any_factor(void) {
    return ONE_OF(1, 2, 65535, between(1, 65535), between(1, 65535), between(1, 300));
}

static int any_bias(int factor) {
    return between(0, 1) ? 32768 / factor : between(0, 32768 / factor);
}

static void compare_quant(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        udctcoef factor[64], bias[64];
        for (int k = 0; k < 64; k++) {
            factor[k] = any_factor();
            bias[k] = any_bias(factor[k]);
        }
        fill_large(32640);
        int nonzero = ((quant_function)s->scalar)(expected, factor, bias);
        compare_numbers("result", nonzero, ((quant_function)s->simd)(coefs, factor, bias));
        compare_coefficients();
    }
}

static void compare_quant_dc(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int factor = any_factor(), bias = any_bias(factor);
        fill_large(32640);
        int nonzero = ((quant_dc_function)s->scalar)(expected, factor >> 1, bias << 1);
        compare_numbers("result", nonzero, ((quant_dc_function)s->simd)(coefs, factor >> 1, bias << 1));
        compare_coefficients();
    }
}

typedef void (*dequant_function)(dctcoef *, int *, int);

/* The largest factor, 36 * 255, comes from a quantization matrix at its limit. */
static void compare_dequant(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int factors[6 * 64];
        for (int k = 0; k < 6 * 64; k++)
            factors[k] = ONE_OF(10 * 16, 29 * 16, 36 * 255, between(1, 36 * 255));
        fill_large(i & 1 ? 8191 : 200);
        ((dequant_function)s->scalar)(expected, factors, i % 52);
        ((dequant_function)s->simd)(coefs, factors, i % 52);
        compare_coefficients();
    }
}

typedef void (*denoise_function)(dctcoef *, uint32_t *, udctcoef *, int);

static void compare_denoise(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        uint32_t expected_sums[68], sums[68];
        udctcoef offsets[64];
        int count = ONE_OF(16, 64);
        for (int k = 0; k < 68; k++)
            expected_sums[k] = sums[k] = next_random();
        for (int k = 0; k < 64; k++)
            offsets[k] = ONE_OF(0, 65535, between(0, 100), between(0, 65535));
        fill_large(between(0, 1) ? 32767 : 300);
        ((denoise_function)s->scalar)(expected, expected_sums, offsets, count);
        ((denoise_function)s->simd)(coefs, sums, offsets, count);
        compare_coefficients();
        for (int k = 0; k < 68; k++)
            compare_numbers("sum", expected_sums[k], sums[k]);
    }
}

/* Fills in mostly zeros and ones, as after quantization; the coefficient before a
 * block may have any value. */
static void fill_sparse(void) {
    int density = between(0, 12), large = between(0, 2) == 0;
    for (int i = 0; i < 128; i++) {
        expected[i] = between(0, 12) < density ? ONE_OF(-1, 1) : 0;
        if (large && between(0, 9) == 0)
            expected[i] = ONE_OF(-32768, 32767, 2, -2, between(-300, 300));
    }
    copy_coefficients();
}

typedef int (*score_function)(dctcoef *);

/* A subject's height is the offset at which x264 starts its blocks. */
static void compare_score(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        fill_sparse();
        int score = ((score_function)s->scalar)(expected + 16 + s->height);
        compare_numbers("result", score, ((score_function)s->simd)(coefs + 16 + s->height));
        compare_coefficients();
    }
}

typedef int (*levels_function)(dctcoef *, x264_run_level_t *);

static void compare_levels(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        x264_run_level_t expected_list, list;
        int start = 16 + s->height;
        memset(&expected_list, 99, sizeof(list));
        memset(&list, 99, sizeof(list));
        fill_sparse();
        expected[start + between(0, s->width - 1)] = 1; /* x264 never passes an empty block */
        copy_coefficients();
        int count = ((levels_function)s->scalar)(expected + start, &expected_list);
        compare_numbers("count", count, ((levels_function)s->simd)(coefs + start, &list));
        if (memcmp(&expected_list, &list, sizeof(list)))
            differs("list of levels");
    }
}

static tables table = {
    "quant", (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}};

#define ENTRY(field, count, start, run) check(&table, "quant " #field, &scalar.field, count, start, run)

/* counts gives the number of coefficients of each kind of block in x264's enum; blocks
 * of 15 start at offset 1. */
static void check_kind(const char *what, int kind, const void *slot, test run) {
    static const int counts[14] = {16, 15, 16, 4, 15, 64, 16, 15, 16, 64, 16, 15, 16, 64};
    char name[64];
    snprintf(name, sizeof(name), "quant coeff_%s, kind %d", what, kind);
    check(&table, name, slot, counts[kind], counts[kind] == 15, run);
}

void check_quant(void) {
    __real_x264_8_quant_init(NULL, 0, &scalar);
    x264_quant_init(NULL, 0, &simd);
    ENTRY(quant_4x4, 16, 0, compare_quant);
    ENTRY(quant_4x4x4, 64, 0, compare_quant);
    ENTRY(quant_8x8, 64, 0, compare_quant);
    ENTRY(quant_4x4_dc, 16, 0, compare_quant_dc);
    ENTRY(quant_2x2_dc, 4, 0, compare_quant_dc);
    ENTRY(dequant_4x4, 16, 0, compare_dequant);
    ENTRY(dequant_8x8, 64, 0, compare_dequant);
    ENTRY(denoise_dct, 64, 0, compare_denoise);
    ENTRY(decimate_score15, 15, 0, compare_score);
    ENTRY(decimate_score16, 16, 0, compare_score);
    ENTRY(decimate_score64, 64, 0, compare_score);
    for (int i = 0; i < 14; i++)
        check_kind("last", i, &scalar.coeff_last[i], compare_score);
    for (int i = 0; i < 13; i++)
        check_kind("level_run", i, &scalar.coeff_level_run[i], compare_levels);
    finish(&table);
}
