/* Checks the kernels of the HEVC decoder, for 8 bits and for 10. */
#include "check/check.h"
#include "hevc/common.h"
#include <string.h>

void __real_ff_hevc_dsp_init(HEVCDSPContext *c, int bit_depth);

static HEVCDSPContext scalar, simd;
static tables dsp = {
    "hevcdsp", (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}};
static int depth;

#define WIDEST 64
/* The stride of the source that the edge-offset functions assume. */
#define STRIDE (2 * MAX_PB_SIZE + AV_INPUT_BUFFER_PADDING_SIZE)
static uint8_t source[STRIDE * (WIDEST + 8)];
static int16_t others[MAX_PB_SIZE * MAX_PB_SIZE];

/* Fills memory with samples of 8 or 10 bits in the patterns of fill_pixels. */
static void fill_samples(uint8_t *p, int bytes) {
    fill_pixels(p, bytes);
    if (depth == 8)
        return;
    int keeps = between(0, 3);
    for (int i = 0; i < bytes; i += 2) {
        int sample = p[i] == 255 ? 1023 : p[i] << 2 | (keeps ? p[i + 1] & 3 : 0);
        memcpy(p + i, &(uint16_t){sample}, 2);
    }
}

static void new_input(int round) {
    if (!IS_NEW_INPUT(round))
        return;
    fill_samples(source, sizeof(source));
    fill_samples(scalar_arena, ARENA);
    memcpy(simd_arena, scalar_arena, ARENA);
    for (int i = 0; i < MAX_PB_SIZE * MAX_PB_SIZE; i++)
        others[i] = between(0, 1) ? between(-17000, 32767) : ONE_OF(-32768, -32386, 32767);
}

static int any_stride(void) {
    return 2 * ONE_OF(WIDEST, WIDEST + 8, WIDEST + 16, WIDEST + 32);
}

/* The worst case for a filter: pixels of one extreme where its weights are negative and of the other
 * elsewhere, so that its sums exceed 16 bits. */
static void fill_worst(int stride, const int8_t *across, const int8_t *down) {
    int most = (1 << depth) - 1, inverted = between(0, 1), left = between(0, 7), top = between(0, 7);
    for (int y = 0; y < WIDEST + 8; y++)
        for (int x = 0; x < stride / pixel_bytes(depth); x++) {
            int is_negative = (across[(x + left) & 7] < 0) != (down[(y + top) & 7] < 0);
            int sample = is_negative == inverted ? most : 0;
            memcpy(source + y * stride + x * pixel_bytes(depth), &(uint16_t){sample}, pixel_bytes(depth));
        }
}

/* The arguments of one call that predicts a block. */
typedef struct {
    uint8_t *src;
    ptrdiff_t stride;
    int height, mx, my, denominator, weights[2], offsets[2];
} prediction;

/* Flags in subject.height: the motion vector has a fraction across, a fraction down; the filter is luma's
 * with eight taps instead of chroma's with four. */
enum { ACROSS = 1, DOWN = 2, LUMA = 4 };

static prediction any_prediction(const subject *s, int round) {
    int most = s->height & LUMA ? 3 : 7, at = between(0, 7), stride = any_stride();
    prediction p = {
        .stride = stride,
        .height = ONE_OF(2, 4, 8, 12, 16, 32, 64),
        .mx = s->height & ACROSS ? between(1, most) : 0,
        .my = s->height & DOWN ? between(1, most) : 0,
        .denominator = between(0, 7),
    };
    new_input(round);
    if (s->height == (LUMA | ACROSS | DOWN) && round % 4 == 0)
        fill_worst(stride, ff_hevc_qpel_filters[p.mx - 1], ff_hevc_qpel_filters[p.my - 1]);
    p.src = source + 3 * stride + (3 + at) * pixel_bytes(depth);
    for (int i = 0; i < 2; i++) {
        p.weights[i] = between(0, 3) ? between(-128, 255) : ONE_OF(-128, 255);
        p.offsets[i] = between(0, 3) ? between(-128, 127) : ONE_OF(-32768, 32767);
    }
    return p;
}

#define CALL(field, f) ((__typeof__(scalar.field[0][0][0]))(f))
#define EACH_PREDICTION(call)                                                                                \
    for (int i = 0; i < 60 && !has_failed(); i++) {                                                          \
        prediction p = any_prediction(s, i);                                                                 \
        for (int ours = 0; ours < 2; ours++) {                                                               \
            uint8_t *dst = ours ? simd_arena : scalar_arena;                                                 \
            any_function f = ours ? s->simd : s->scalar;                                                     \
            call;                                                                                            \
        }                                                                                                    \
        compare_arenas("block");                                                                             \
    }

static void compare_put(const subject *s) {
    EACH_PREDICTION(CALL(put_hevc_qpel, f)((int16_t *)dst, p.src, p.stride, p.height, p.mx, p.my, s->width))
}

static void compare_uni(const subject *s) {
    EACH_PREDICTION(
        CALL(put_hevc_qpel_uni, f)(dst, p.stride, p.src, p.stride, p.height, p.mx, p.my, s->width))
}

static void compare_uni_w(const subject *s) {
    EACH_PREDICTION(CALL(put_hevc_qpel_uni_w, f)(dst, p.stride, p.src, p.stride, p.height, p.denominator,
                                                 p.weights[0], p.offsets[0], p.mx, p.my, s->width))
}

static void compare_bi(const subject *s) {
    EACH_PREDICTION(
        CALL(put_hevc_qpel_bi, f)(dst, p.stride, p.src, p.stride, others, p.height, p.mx, p.my, s->width))
}

static void compare_bi_w(const subject *s) {
    EACH_PREDICTION(CALL(put_hevc_qpel_bi_w, f)(dst, p.stride, p.src, p.stride, others, p.height,
                                                p.denominator, p.weights[0], p.weights[1], p.offsets[0],
                                                p.offsets[1], p.mx, p.my, s->width))
}

/* Fills in coefficients up to a random last one in coding order, which goes diagonally by 4x4 blocks. Returns
 * the column limit that the decoder derives from the position of the last one. */
static int fill_coefficients(int16_t *block, int size) {
    int x_last = between(0, size - 1), y_last = between(0, size - 1), reach = ONE_OF(4, 8, 12, 32);
    int spread = ONE_OF(64, 2000, 32767), density = between(1, 8);
    if (x_last >= reach || y_last >= reach)
        x_last %= reach, y_last %= reach;
    int diagonal = x_last / 4 + y_last / 4, most = x_last > y_last ? x_last : y_last;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            int here = x / 4 + y / 4, is_coded = here < diagonal || (here == diagonal && x / 4 <= x_last / 4);
            block[y * size + x] =
                is_coded && between(1, 8) <= density ? between(-spread - (spread == 32767), spread) : 0;
        }
    int limit = x_last + y_last + 4, bound = most < 4 ? 4 : most < 8 ? 8 : most < 12 ? 24 : limit;
    return limit < bound ? limit : bound;
}

static void compare_transform(const subject *s) {
    int size = s->width;
    for (int i = 0; i < ROUNDS / 4 && !has_failed(); i++) {
        int limit = fill_coefficients((int16_t *)scalar_arena, size);
        memcpy(simd_arena, scalar_arena, ARENA);
        ((__typeof__(scalar.idct[0]))s->scalar)((int16_t *)scalar_arena, limit);
        ((__typeof__(scalar.idct[0]))s->simd)((int16_t *)simd_arena, limit);
        compare_arenas("coefficients");
    }
}

static void compare_add(const subject *s) {
    for (int i = 0; i < ROUNDS / 4 && !has_failed(); i++) {
        int stride = any_stride(), spread = ONE_OF(20, 1200, 32768);
        new_input(i);
        for (int k = 0; k < s->width * s->width; k++)
            others[k] = between(-spread, spread - 1);
        ((__typeof__(scalar.add_residual[0]))s->scalar)(scalar_arena, others, stride);
        ((__typeof__(scalar.add_residual[0]))s->simd)(simd_arena, others, stride);
        compare_arenas("pixels");
    }
}

static void fill_offsets(int16_t offsets[5]) {
    int most = ONE_OF(7, 31, 300, 32767);
    for (int i = 0; i < 5; i++)
        offsets[i] = between(-most - (most == 32767), most);
}

static void compare_edge(const subject *s) {
    for (int i = 0; i < ROUNDS / 4 && !has_failed(); i++) {
        int stride = any_stride(), width = 2 * between(1, 32), height = between(1, 64), direction = i & 3;
        uint8_t *src = source + STRIDE + 2 * between(1, 8);
        int16_t offsets[5];
        new_input(i);
        fill_offsets(offsets);
        ((__typeof__(scalar.sao_edge_filter[0]))s->scalar)(scalar_arena, src, stride, offsets, direction,
                                                           width, height);
        ((__typeof__(scalar.sao_edge_filter[0]))s->simd)(simd_arena, src, stride, offsets, direction, width,
                                                         height);
        compare_arenas("block");
    }
}

/* Fills in samples whose step at the edge in the middle is, in most rounds, small enough to be filtered. */
static void fill_surface(void) {
    int count = 4096 / pixel_bytes(depth), scale = 1 << (depth - 8);
    uint8_t *start = scalar_arena + ARENA / 2 - 2048;
    fill_samples(start, 4096);
    if (between(0, 3)) {
        int base = between(0, 255), slope = between(0, 3), noise = between(0, 3), step = between(0, 12);
        for (int i = 0; i < count; i++) {
            int sample =
                base + (i & 7) * slope + (i >> 6 & 7) * slope + (i & 4 ? step : 0) + between(-noise, noise);
            sample = (sample < 0 ? 0 : sample > 255 ? 255 : sample) * scale + between(0, scale - 1);
            memcpy(start + i * pixel_bytes(depth), &(uint16_t){sample}, pixel_bytes(depth));
        }
    }
    memcpy(simd_arena, scalar_arena, ARENA);
}

static void compare_deblocking(const subject *s) {
    for (int i = 0; i < 2 * ROUNDS && !has_failed(); i++) {
        int stride = 64 * pixel_bytes(depth), beta = between(0, 64), at = ARENA / 2 + 4 * pixel_bytes(depth);
        int32_t tc[2] = {between(0, 24), between(0, 24)};
        uint8_t keeps[4] = {0};
        for (int k = 0; k < 4; k++)
            keeps[k] = between(0, 7) == 0;
        fill_surface();
        ((__typeof__(scalar.hevc_h_loop_filter_luma))s->scalar)(scalar_arena + at, stride, beta, tc, keeps,
                                                                keeps + 2);
        ((__typeof__(scalar.hevc_h_loop_filter_luma))s->simd)(simd_arena + at, stride, beta, tc, keeps,
                                                              keeps + 2);
        compare_arenas("edge");
    }
}

#define ENTRY(field, width, height, run) check(&dsp, #field, &scalar.field, width, height, run)

static void check_interpolation(void) {
    static const int widths[10] = {2, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    for (int i = 0; i < 10; i++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 2; x++) {
                int fraction = (x ? ACROSS : 0) | (y ? DOWN : 0);
                ENTRY(put_hevc_qpel[i][y][x], widths[i], LUMA | fraction, compare_put);
                ENTRY(put_hevc_qpel_uni[i][y][x], widths[i], LUMA | fraction, compare_uni);
                ENTRY(put_hevc_qpel_uni_w[i][y][x], widths[i], LUMA | fraction, compare_uni_w);
                ENTRY(put_hevc_qpel_bi[i][y][x], widths[i], LUMA | fraction, compare_bi);
                ENTRY(put_hevc_qpel_bi_w[i][y][x], widths[i], LUMA | fraction, compare_bi_w);
                ENTRY(put_hevc_epel[i][y][x], widths[i], fraction, compare_put);
                ENTRY(put_hevc_epel_uni[i][y][x], widths[i], fraction, compare_uni);
                ENTRY(put_hevc_epel_uni_w[i][y][x], widths[i], fraction, compare_uni_w);
                ENTRY(put_hevc_epel_bi[i][y][x], widths[i], fraction, compare_bi);
                ENTRY(put_hevc_epel_bi_w[i][y][x], widths[i], fraction, compare_bi_w);
            }
}

static void check_residuals(void) {
    for (int i = 1; i < 4; i++) {
        ENTRY(idct[i], 4 << i, 0, compare_transform);
        ENTRY(add_residual[i], 4 << i, 0, compare_add);
    }
}

static void check_filters(void) {
    for (int i = 0; i < 5; i++)
        ENTRY(sao_edge_filter[i], 0, 0, compare_edge);
    ENTRY(hevc_h_loop_filter_luma, 0, 0, compare_deblocking);
    ENTRY(hevc_v_loop_filter_luma, 0, 0, compare_deblocking);
    ENTRY(hevc_h_loop_filter_luma_c, 0, 0, compare_deblocking);
    ENTRY(hevc_v_loop_filter_luma_c, 0, 0, compare_deblocking);
}

static void fill_tables(int bits) {
    depth = bits;
    __real_ff_hevc_dsp_init(&scalar, bits);
    ff_hevc_dsp_init(&simd, bits);
    memset(dsp.checked, 0, sizeof(dsp.checked));
}

void check_hevc(void) {
    for (int bits = 8; bits <= 10; bits += 2) {
        fill_tables(bits);
        check_interpolation();
        check_residuals();
        check_filters();
        finish(&dsp);
    }
}
