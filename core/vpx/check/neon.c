/* Compares our NEON intrinsics with SIMDe's. */
#include "check/check.h"
#include <arm_neon.h>
#include "vpx_dsp/arm/transpose_neon.h"
#include <string.h>

#define VECTORS 8

typedef void (*operation)(uint8_t *out, const uint8_t *in);

/* Adds lanes with the least and the greatest number, which the byte patterns of
 * fill_pixels seldom produce. */
static void fill_vectors(uint8_t *in) {
    static const uint8_t extremes[4][4] = {
        {0, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0x7f}, {0, 0x80, 0, 0x80}, {0xff, 0x7f, 0xff, 0x7f}};
    fill_pixels(in, 16 * VECTORS);
    for (int i = between(0, 20); i > 0; i--)
        memcpy(in + 4 * between(0, 4 * VECTORS - 1), extremes[between(0, 3)], 4);
}

static void compare_vectors(const subject *s) {
    uint8_t in[16 * VECTORS], out[2][16 * VECTORS];
    for (int i = 0; i < 4 * ROUNDS && !has_failed(); i++) {
        fill_vectors(in);
        memset(out, 0, sizeof(out));
        ((operation)s->scalar)(out[0], in);
        ((operation)s->simd)(out[1], in);
        for (int k = 0; k < 16 * VECTORS; k++)
            compare_numbers("byte", out[0][k], out[1][k]);
    }
}

#define AT(type, i)                                                                                          \
    ({                                                                                                       \
        type v;                                                                                              \
        memcpy(&v, in + 16 * (i), sizeof(v));                                                                \
        v;                                                                                                   \
    })
#define RUN(result, call)                                                                                    \
    {                                                                                                        \
        result r = call;                                                                                     \
        memcpy(out, &r, sizeof(r));                                                                          \
    }
#define OPERATION(name, result, arguments)                                                                   \
    static void simde_run_##name(uint8_t *out, const uint8_t *in) RUN(result, simde_##name arguments)        \
    static void run_##name(uint8_t *out, const uint8_t *in) RUN(result, name arguments)

#define EACH(DO)                                                                                             \
    DO(vqrdmulhq_s16, int16x8_t, (AT(int16x8_t, 0), AT(int16x8_t, 1)))                                       \
    DO(vqrdmulh_s16, int16x4_t, (AT(int16x4_t, 0), AT(int16x4_t, 1)))                                        \
    DO(vqrdmulhq_n_s16, int16x8_t, (AT(int16x8_t, 0), AT(int16_t, 1)))                                       \
    DO(vqrdmulhq_s32, int32x4_t, (AT(int32x4_t, 0), AT(int32x4_t, 1)))                                       \
    DO(vmull_n_s16, int32x4_t, (AT(int16x4_t, 0), AT(int16_t, 1)))                                           \
    DO(vmlal_n_s16, int32x4_t, (AT(int32x4_t, 0), AT(int16x4_t, 1), AT(int16_t, 2)))                         \
    DO(vmlsl_n_s16, int32x4_t, (AT(int32x4_t, 0), AT(int16x4_t, 1), AT(int16_t, 2)))                         \
    DO(vmul_lane_s16, int16x4_t, (AT(int16x4_t, 0), AT(int16x4_t, 1), 3))                                    \
    DO(vmulq_lane_s16, int16x8_t, (AT(int16x8_t, 0), AT(int16x4_t, 1), 2))                                   \
    DO(vmla_lane_s16, int16x4_t, (AT(int16x4_t, 0), AT(int16x4_t, 1), AT(int16x4_t, 2), 1))                  \
    DO(vmlaq_lane_s16, int16x8_t, (AT(int16x8_t, 0), AT(int16x8_t, 1), AT(int16x4_t, 2), 0))                 \
    DO(vqadd_s16, int16x4_t, (AT(int16x4_t, 0), AT(int16x4_t, 1)))                                           \
    DO(vqadd_s8, int8x8_t, (AT(int8x8_t, 0), AT(int8x8_t, 1)))                                               \
    DO(vqsub_s8, int8x8_t, (AT(int8x8_t, 0), AT(int8x8_t, 1)))                                               \
    DO(vrhadd_u8, uint8x8_t, (AT(uint8x8_t, 0), AT(uint8x8_t, 1)))                                           \
    DO(vhsubq_s16, int16x8_t, (AT(int16x8_t, 0), AT(int16x8_t, 1)))                                          \
    DO(vpaddlq_u8, uint16x8_t, (AT(uint8x16_t, 0)))                                                          \
    DO(vpaddlq_u16, uint32x4_t, (AT(uint16x8_t, 0)))                                                         \
    DO(vpaddlq_s16, int32x4_t, (AT(int16x8_t, 0)))                                                           \
    DO(vpadalq_u8, uint16x8_t, (AT(uint16x8_t, 0), AT(uint8x16_t, 1)))                                       \
    DO(vpadalq_u16, uint32x4_t, (AT(uint32x4_t, 0), AT(uint16x8_t, 1)))                                      \
    DO(vpadalq_s16, int32x4_t, (AT(int32x4_t, 0), AT(int16x8_t, 1)))                                         \
    DO(vqmovun_s16, uint8x8_t, (AT(int16x8_t, 0)))                                                           \
    DO(vqmovn_s16, int8x8_t, (AT(int16x8_t, 0)))                                                             \
    DO(vqmovn_s32, int16x4_t, (AT(int32x4_t, 0)))                                                            \
    DO(vrshrn_n_u16, uint8x8_t, (AT(uint16x8_t, 0), 4))                                                      \
    DO(vrshrn_n_s32, int16x4_t, (AT(int32x4_t, 0), 14))                                                      \
    DO(vqrshrun_n_s16, uint8x8_t, (AT(int16x8_t, 0), 7))

EACH(OPERATION)

#define TRANSPOSE(name, function)                                                                            \
    static void name(uint8_t *out, const uint8_t *in) {                                                      \
        int16x8_t a[8];                                                                                      \
        memcpy(a, in, sizeof(a));                                                                            \
        function(&a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7]);                                    \
        memcpy(out, a, sizeof(a));                                                                           \
    }
TRANSPOSE(libvpx_transpose, libvpx_transpose_s16_8x8)
TRANSPOSE(transpose, transpose_s16_8x8)

#define CHECK(name, result, arguments)                                                                       \
    check_functions("vpx " #name, (any_function)simde_run_##name, (any_function)run_##name, 0, 0,            \
                    compare_vectors);

void check_neon(void) {
    EACH(CHECK)
    check_functions("vpx transpose_s16_8x8", (any_function)libvpx_transpose, (any_function)transpose, 0, 0,
                    compare_vectors);
}
