/* Checks predictions. */
#include "check_x264.h"

void __real_x264_8_predict_16x16_init(uint32_t cpu, x264_predict_t table[7]);
void __real_x264_8_predict_8x8c_init(uint32_t cpu, x264_predict_t table[7]);

static x264_predict_t scalar[7], simd[7];

static void compare_prediction(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        fill_pixels(scalar_arena, 2048);
        memcpy(simd_arena, scalar_arena, ARENA);
        ((x264_predict_t)s->scalar)(scalar_arena + 10 * FDEC_STRIDE + 8);
        ((x264_predict_t)s->simd)(simd_arena + 10 * FDEC_STRIDE + 8);
        compare_arenas("block");
    }
}

static void check_modes(const char *name) {
    tables table = {name, (any_function *)scalar, (any_function *)simd, 7, {0}};
    for (int i = 0; i < 7; i++) {
        char title[64];
        snprintf(title, sizeof(title), "%s, mode %d", name, i);
        check(&table, title, &scalar[i], 0, 0, compare_prediction);
    }
    finish(&table);
}

void check_predict(void) {
    __real_x264_8_predict_16x16_init(0, scalar);
    x264_predict_16x16_init(0, simd);
    check_modes("predict 16x16");
    __real_x264_8_predict_8x8c_init(0, scalar);
    x264_predict_8x8c_init(0, simd);
    check_modes("predict 8x8c");
}
