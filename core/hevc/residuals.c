/* Inverse transforms, and the addition of residuals to pixels. Sums have 32 bits; the rounded results of
 * both passes saturate to 16. */
#include "common.h"

INLINE v128_t round_sums(v128_t low, v128_t high, int shift) {
    v128_t rounding = wasm_i32x4_splat(1 << (shift - 1));
    return wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(wasm_i32x4_add(low, rounding), shift),
                                   wasm_i32x4_shr(wasm_i32x4_add(high, rounding), shift));
}

/* The weights of the 4-point transform in each of its sums: of rows 0 and 2, and of rows 1 and 3. */
static const int8_t even_weights[4][2] = {{64, 64}, {64, -64}, {64, -64}, {64, 64}};
static const int8_t inner_weights[4][2] = {{83, 36}, {36, -83}, {-36, 83}, {-83, -36}};

/* The weights of the odd rows of the 8-, 16- and 32-point transforms, for the first half of the sums: 90
 * cos(row (2 sum + 1) pi / 64), with rows numbered as in the 32-point transform. The transform of half the
 * size covers the even rows. */
static int16_t odd_weights[3][16][16];

static void fill_weights(void) {
    static const int8_t quarter[32] = {0,  90, 90, 90, 89, 88, 87, 85, 83, 82, 80, 78, 75, 73, 70, 67,
                                       64, 61, 57, 54, 50, 46, 43, 38, 36, 31, 25, 22, 18, 13, 9,  4};
    for (int level = 0; level < 3; level++)
        for (int sum = 0; sum < 4 << level; sum++)
            for (int i = 0; i < 4 << level; i++) {
                int angle = (2 * sum + 1) * ((2 * i + 1) * (4 >> level)) & 127;
                angle = angle > 64 ? 128 - angle : angle;
                odd_weights[level][sum][i] = angle < 32 ? quarter[angle] : -quarter[64 - angle];
            }
}

/* Two vectors for eight columns: their 32-bit sums, or two interleaved rows. */
typedef struct {
    v128_t low, high;
} sums_8;

/* Adds the products of two interleaved rows and their weights. */
INLINE void add_products(sums_8 *sum, const sums_8 *pair, v128_t weights) {
    sum->low = wasm_i32x4_add(sum->low, wasm_i32x4_dot_i16x8(pair->low, weights));
    sum->high = wasm_i32x4_add(sum->high, wasm_i32x4_dot_i16x8(pair->high, weights));
}

INLINE sums_8 interleave(const int16_t *a, const int16_t *b) {
    v128_t first = wasm_v128_load(a), second = wasm_v128_load(b);
    return (sums_8){low16(first, second), high16(first, second)};
}

/* Transforms eight columns of size rows. Rows are stride apart; those from limit on are zero. */
INLINE void transform_columns(sums_8 *sums, const int16_t *src, int stride, int size, int limit) {
    int quarter = size / 4 * stride;
    sums_8 even = interleave(src, src + 2 * quarter), odd = interleave(src + quarter, src + 3 * quarter);
    for (int i = 0; i < 4; i++) {
        sums[i] = (sums_8){zero(), zero()};
        add_products(&sums[i], &even, splat_pair(even_weights[i][0], even_weights[i][1]));
        add_products(&sums[i], &odd, splat_pair(inner_weights[i][0], inner_weights[i][1]));
    }
    for (int level = 0, half = 4; 2 * half <= size; level++, half *= 2) {
        int step = size / (2 * half), count = 0;
        sums_8 pairs[8];
        for (int row = step; row < limit; row += 4 * step)
            pairs[count++] = interleave(src + row * stride, src + (row + 2 * step) * stride);
        for (int i = 0; i < half; i++) {
            sums_8 a = sums[i], b = {zero(), zero()};
            for (int k = 0; k < count; k++)
                add_products(&b, &pairs[k], wasm_v128_load32_splat(&odd_weights[level][i][2 * k]));
            sums[i] = (sums_8){wasm_i32x4_add(a.low, b.low), wasm_i32x4_add(a.high, b.high)};
            sums[2 * half - 1 - i] = (sums_8){wasm_i32x4_sub(a.low, b.low), wasm_i32x4_sub(a.high, b.high)};
        }
    }
}

/* Transforms the first columns of a block and stores the result transposed. */
INLINE void transform_pass(int16_t *dst, const int16_t *src, int size, int columns, int limit, int shift) {
    for (int x = 0; x < columns; x += 8) {
        sums_8 sums[32];
        transform_columns(sums, src + x, size, size, limit);
        for (int y = 0; y < size; y += 8) {
            v128_t rows[8];
            for (int i = 0; i < 8; i++)
                rows[i] = round_sums(sums[y + i].low, sums[y + i].high, shift);
            transpose_8x8(rows);
            for (int i = 0; i < 8; i++)
                wasm_v128_store(dst + (x + i) * size + y, rows[i]);
        }
    }
}

/* The decoder derives column_limit from the position of the last coefficient: columns from column_limit on
 * are zero, and so are rows from column_limit + 4 on. */
NOINLINE void transform_block(int16_t *coefficients, int column_limit, int size, int last_shift) {
    int16_t rows[32 * 32];
    int columns = column_limit < size ? column_limit : size,
        limit = column_limit + 4 < size ? column_limit + 4 : size;
    transform_pass(rows, coefficients, size, columns, limit, 7);
    if (columns < size)
        for (int x = (columns + 7 & -8) * size; x < size * size; x += 8)
            wasm_v128_store(rows + x, zero());
    transform_pass(coefficients, rows, size, size, columns, last_shift);
}

INLINE void add_block(uint8_t *dst, const int16_t *residuals, ptrdiff_t stride, int size, int depth) {
    for (int y = 0; y < size; y++, dst += stride, residuals += size)
        for (int x = 0; x < size; x += 8) {
            uint8_t *p = dst + x * pixel_bytes(depth);
            v128_t sum = wasm_i16x8_add_sat(load_pixels(p, depth), wasm_v128_load(residuals + x));
            store_pixels(p, sum, 8, depth);
        }
}

#define TRANSFORM(size, depth)                                                                               \
    static void transform_##size##_##depth(int16_t *coefficients, int column_limit) {                        \
        transform_block(coefficients, column_limit, size, 20 - depth);                                       \
    }                                                                                                        \
    static void add_##size##_##depth(uint8_t *dst, int16_t *residuals, ptrdiff_t stride) {                   \
        add_block(dst, residuals, stride, size, depth);                                                      \
    }

#define DEPTH(depth)                                                                                         \
    TRANSFORM(8, depth)                                                                                      \
    TRANSFORM(16, depth)                                                                                     \
    TRANSFORM(32, depth)                                                                                     \
    static void set_##depth(HEVCDSPContext *c) {                                                             \
        SET(1, 8, depth)                                                                                     \
        SET(2, 16, depth)                                                                                    \
        SET(3, 32, depth)                                                                                    \
    }

#define SET(i, size, depth)                                                                                  \
    c->idct[i] = transform_##size##_##depth;                                                                 \
    c->add_residual[i] = add_##size##_##depth;

DEPTH(8)
DEPTH(10)

void simd_set_residuals(HEVCDSPContext *c, int depth) {
    fill_weights();
    if (depth == 8)
        set_8(c);
    else
        set_10(c);
}
