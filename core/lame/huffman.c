/* Counts the bits of quantized spectral lines: replaces LAME's noquant_count_bits and choose_table. */
#include "common.h"

void __real_huffman_init(lame_internal_flags *gfc);

#define MOST 15 /* larger values need escape bits */

/* Up to three Huffman tables for the same range of values. bits holds the code lengths of each pair of values
 * in these tables, 16 bits apart. */
typedef struct {
    int first, tables, width;
    uint64_t bits[(MOST + 1) * (MOST + 1)];
} book;

/* The books; book_of selects one by the largest value of a region. The last book is for escapes. */
static book books[] = {{1, 1}, {2, 2}, {5, 2}, {7, 3}, {10, 3}, {13, 3}, {16, 2}};
static const uint8_t book_of[MOST + 1] = {0, 0, 1, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5};
static book *const escapes = &books[6];

/* The code lengths of four lines of 0 or 1 in the two tables for such lines, 16 bits apart. Each line is one
 * bit of the index, the first line the lowest bit. */
static uint32_t quads[16];

static void fill_book(book *b) {
    b->width = b == escapes ? MOST + 1 : ht[b->first].xlen;
    for (int code = 0; code < b->width * b->width; code++)
        if (b == escapes)
            b->bits[code] = (uint64_t)(largetbl[code] >> 16) | (uint64_t)(largetbl[code] & 0xffff) << 16;
        else
            for (int i = 0; i < b->tables; i++)
                b->bits[code] |= (uint64_t)ht[b->first + i].hlen[code] << 16 * i;
}

static void init_books(void) {
    if (quads[0])
        return;
    for (int i = 0; i < 7; i++)
        fill_book(&books[i]);
    for (int i = 0; i < 16; i++) {
        int reversed = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
        quads[i] = t32l[reversed] | t33l[reversed] << 16;
    }
}

INLINE int largest(const int *ix, int count) {
    v128_t most = wasm_i32x4_const_splat(0);
    int i = 0;
    for (; i + 4 <= count; i += 4)
        most = wasm_i32x4_max(most, wasm_v128_load(ix + i));
    if (i < count)
        most = wasm_i32x4_max(most, wasm_v128_load64_zero(ix + i));
    return max_i32(most);
}

/* Sums the code lengths of pairs of lines. The index of a pair x, y is x * width + y. */
INLINE uint64_t sum_pairs(const book *b, const int *ix, int count, int has_escapes) {
    v128_t factors = wasm_i32x4_splat(1 << 16 | b->width), cap = wasm_i16x8_const_splat(MOST);
    uint64_t sum = 0;
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        v128_t lines = wasm_i16x8_narrow_i32x4(wasm_v128_load(ix + i), wasm_v128_load(ix + i + 4));
        if (has_escapes)
            lines = wasm_i16x8_min(lines, cap);
        v128_t codes = wasm_i32x4_dot_i16x8(lines, factors);
        sum += b->bits[wasm_i32x4_extract_lane(codes, 0)] + b->bits[wasm_i32x4_extract_lane(codes, 1)];
        sum += b->bits[wasm_i32x4_extract_lane(codes, 2)] + b->bits[wasm_i32x4_extract_lane(codes, 3)];
    }
    for (; i < count; i += 2) {
        int x = ix[i], y = ix[i + 1];
        if (has_escapes) {
            x = Min(x, MOST);
            y = Min(y, MOST);
        }
        sum += b->bits[x * b->width + y];
    }
    return sum;
}

INLINE int count_escapes(const int *ix, int count) {
    v128_t found = wasm_i32x4_const_splat(0), limit = wasm_i32x4_const_splat(MOST - 1);
    int i = 0;
    for (; i + 4 <= count; i += 4)
        found = wasm_i32x4_sub(found, wasm_i32x4_gt(wasm_v128_load(ix + i), limit));
    if (i < count)
        found = wasm_i32x4_sub(found, wasm_i32x4_gt(wasm_v128_load64_zero(ix + i), limit));
    return sum_i32(found);
}

/* Tables 16 to 23 share one set of codes and 24 to 31 another; within a set, only the
 * length of the escapes differs. */
static int choose_with_escapes(const int *ix, int count, int most, int *bits) {
    int above = most - MOST, second = 24, first;
    if (most > IXMAX_VAL) {
        *bits = LARGE_BITS;
        return -1;
    }
    while (ht[second].linmax < above)
        second++;
    first = second - 8;
    while (first < 24 && ht[first].linmax < above)
        first++;
    int number = count_escapes(ix, count);
    uint64_t sum = sum_pairs(escapes, ix, count, 1);
    int bits1 = (sum & 0xffff) + number * ht[first].xlen, bits2 = (sum >> 16) + number * ht[second].xlen;
    *bits += bits1 > bits2 ? bits2 : bits1;
    return bits1 > bits2 ? second : first;
}

static int choose_table(const int *ix, const int *end, int *bits) {
    int count = end - ix, most = largest(ix, count);
    if (most == 0)
        return 0;
    if (most > MOST)
        return choose_with_escapes(ix, count, most, bits);
    const book *b = &books[book_of[most]];
    uint64_t sum = sum_pairs(b, ix, count, 0);
    int best = 0, least = sum & 0xffff;
    for (int i = 1; i < b->tables; i++) {
        int other = sum >> 16 * i & 0xffff;
        if (other < least) {
            least = other;
            best = i;
        }
    }
    *bits += least;
    return b->first + best;
}

/* Returns the number of lines up to the last nonzero one, in whole pairs. */
INLINE int count_lines(const int *ix, int count) {
    while (count >= 4 && !wasm_v128_any_true(wasm_v128_load(ix + count - 4)))
        count -= 4;
    while (count > 1 && !(ix[count - 1] | ix[count - 2]))
        count -= 2;
    return count;
}

/* Counts the bits of the trailing groups of four lines that are all 0 or 1; returns the
 * number of lines before them. */
INLINE int count_quads(gr_info *granule, const int *ix, int count) {
    uint32_t sum = 0;
    for (; count > 3; count -= 4) {
        v128_t four = wasm_v128_load(ix + count - 4);
        if (wasm_v128_any_true(wasm_u32x4_shr(four, 1)))
            break;
        sum += quads[wasm_i32x4_bitmask(wasm_i32x4_shl(four, 31))];
    }
    int bits0 = sum & 0xffff, bits1 = sum >> 16;
    granule->count1table_select = bits0 > bits1;
    granule->count1bits = Min(bits0, bits1);
    return count;
}

/* Computes where the first and the second region of larger values end. */
static void split_regions(const lame_internal_flags *gfc, gr_info *granule, int count, int ends[2]) {
    const int *bands = gfc->scalefac_band.l;
    if (granule->block_type == SHORT_TYPE) {
        ends[0] = 3 * gfc->scalefac_band.s[3];
        ends[1] = count;
    } else if (granule->block_type == NORM_TYPE) {
        granule->region0_count = gfc->sv_qnt.bv_scf[count - 2];
        granule->region1_count = gfc->sv_qnt.bv_scf[count - 1];
        ends[0] = bands[granule->region0_count + 1];
        ends[1] = bands[granule->region0_count + granule->region1_count + 2];
    } else {
        granule->region0_count = 7;
        granule->region1_count = SBMAX_l - 1 - 7 - 1;
        ends[0] = bands[7 + 1];
        ends[1] = count;
    }
    ends[0] = Min(ends[0], count);
    ends[1] = Min(ends[1], count);
}

int __wrap_noquant_count_bits(const lame_internal_flags *gfc, gr_info *granule, calc_noise_data *noise) {
    const int *ix = granule->l3_enc;
    int ends[2], count = Min(576, (granule->max_nonzero_coeff + 2) & ~1);
    if (noise)
        noise->sfb_count1 = 0;
    granule->count1 = count = count_lines(ix, count);
    granule->big_values = count = count_quads(granule, ix, count);
    int bits = granule->count1bits;
    if (count == 0)
        return bits;
    split_regions(gfc, granule, count, ends);
    if (granule->block_type == NORM_TYPE && ends[1] < count)
        granule->table_select[2] = gfc->choose_table(ix + ends[1], ix + count, &bits);
    if (0 < ends[0])
        granule->table_select[0] = gfc->choose_table(ix, ix + ends[0], &bits);
    if (ends[0] < ends[1])
        granule->table_select[1] = gfc->choose_table(ix + ends[0], ix + ends[1], &bits);
    if (gfc->cfg.use_best_huffman == 2) {
        granule->part2_3_length = bits;
        best_huffman_divide(gfc, granule);
        bits = granule->part2_3_length;
    }
    if (noise && granule->block_type == NORM_TYPE)
        while (gfc->scalefac_band.l[noise->sfb_count1] < count)
            noise->sfb_count1++;
    return bits;
}

void __wrap_huffman_init(lame_internal_flags *gfc) {
    __real_huffman_init(gfc);
    init_books();
    gfc->choose_table = choose_table;
}
