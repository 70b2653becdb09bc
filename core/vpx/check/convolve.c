/* Checks the horizontal filters with all kernels of VP9. */
#include "check/check.h"
#include <stddef.h>

#define STRIDE 96
#define ROWS 72

typedef int16_t kernel[8];
typedef void convolve_function(const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst, ptrdiff_t dst_stride,
                               const kernel *kernels, int x0, int x_step, int y0, int y_step, int width,
                               int height);

convolve_function vpx_convolve8_horiz_c, vpx_convolve8_avg_horiz_c;
convolve_function __wrap_vpx_convolve8_horiz_neon, __wrap_vpx_convolve8_avg_horiz_neon;
extern const kernel *const vp9_filter_kernels[4];

static uint8_t source[STRIDE * ROWS];

static void compare_blocks(const subject *s) {
    for (int i = 0; i < 2 * ROUNDS && !has_failed(); i++) {
        int width = ONE_OF(4, 8, 16, 32, 64), height = between(1, ROWS - 1), at = between(0, 15);
        int type = between(0, 3), x0 = between(0, 15);
        if (IS_NEW_INPUT(i)) {
            fill_pixels(source, sizeof(source));
            fill_arenas();
        }
        for (int k = 0; k < 2; k++) {
            convolve_function *run = (convolve_function *)(k ? s->simd : s->scalar);
            uint8_t *dst = (k ? simd_arena : scalar_arena) + at;
            run(source + 8 + at, STRIDE, dst, STRIDE, vp9_filter_kernels[type], x0, 16, 0, 16, width, height);
        }
        compare_arenas("block");
    }
}

void check_neon(void);

void check_vpx(void) {
    check_neon();
    check_functions("vpx convolve8_horiz", (any_function)vpx_convolve8_horiz_c,
                    (any_function)__wrap_vpx_convolve8_horiz_neon, 0, 0, compare_blocks);
    check_functions("vpx convolve8_avg_horiz", (any_function)vpx_convolve8_avg_horiz_c,
                    (any_function)__wrap_vpx_convolve8_avg_horiz_neon, 0, 0, compare_blocks);
}
