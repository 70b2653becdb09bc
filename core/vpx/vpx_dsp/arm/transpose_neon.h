/* Found before libvpx's header of the same name, which it includes. */
#ifndef CORE_VPX_TRANSPOSE_NEON_H
#define CORE_VPX_TRANSPOSE_NEON_H

#define transpose_s16_8x8 libvpx_transpose_s16_8x8
#include_next <vpx_dsp/arm/transpose_neon.h>
#undef transpose_s16_8x8

/* Transposes by interleaving, which takes one instruction on most processors; libvpx swaps within pairs,
 * which takes three to five. */
static inline void transpose_s16_8x8(int16x8_t *a0, int16x8_t *a1, int16x8_t *a2, int16x8_t *a3,
                                     int16x8_t *a4, int16x8_t *a5, int16x8_t *a6, int16x8_t *a7) {
    int16x8_t *out[8] = {a0, a1, a2, a3, a4, a5, a6, a7};
    int16x8_t rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = *out[i];
    for (int pass = 0; pass < 3; pass++) {
        int16x8_t mixed[8];
        for (int i = 0; i < 4; i++) {
            mixed[2 * i] = vzip1q_s16(rows[i], rows[i + 4]);
            mixed[2 * i + 1] = vzip2q_s16(rows[i], rows[i + 4]);
        }
        for (int i = 0; i < 8; i++)
            rows[i] = mixed[i];
    }
    for (int i = 0; i < 8; i++)
        *out[i] = rows[i];
}

#endif
