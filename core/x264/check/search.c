/* Checks the comparisons with predictions, against a prediction and a comparison after it. */
#include "check_x264.h"
#include "x264/search.h"

void __real_x264_8_pixel_init(uint32_t cpu, x264_pixel_function_t *table);
void __real_x264_8_mc_init(uint32_t cpu, x264_mc_functions_t *table, int cpu_independent);

#define MIDDLE (ARENA / 2)

static x264_t scalar, simd;
static x264_weight_t weight = {.i_scale = 50, .i_denom = 6};
static pixel planes[4][ARENA], block[ARENA] __attribute__((aligned(16)));

static void fill_search(x264_me_t *m) {
    for (int i = 0; i < 4; i++) {
        fill_pixels(planes[i] + MIDDLE - 4096, 8192);
        m->p_fref[i] = planes[i] + MIDDLE;
    }
    fill_pixels(block, 1024);
    m->p_fenc[0] = block;
    m->i_stride[0] = ONE_OF(64, 96, 130);
    weight.weightfn = between(0, 7) ? NULL : scalar.mc.weight;
    m->weight = &weight;
}

/* The subject's width is the size, as x264 numbers them. Every quarter-pel position comes 250 times. */
static void compare_predictions(const subject *s) {
    static x264_me_t m;
    pixel buffer[16 * 16] __attribute__((aligned(16)));
    m.i_pixel = s->width;
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int x = 4 * between(-10, 10) + (i & 3), y = 4 * between(-10, 10) + (i >> 2 & 3);
        if (IS_NEW_INPUT(i))
            fill_search(&m);
        intptr_t stride = 16, stride_simd = 16;
        pixel *expected = scalar.mc.get_ref(buffer, &stride, m.p_fref, m.i_stride[0], x, y,
                                            x264_pixel_size[m.i_pixel].w, x264_pixel_size[m.i_pixel].h,
                                            &m.weight[0]);
        compare_numbers("result", ((x264_pixel_cmp_t)s->scalar)(block, FENC_STRIDE, expected, stride),
                        simd_compare_prediction(&simd, &m, x, y, (x264_pixel_cmp_t)s->simd));
        pixel *reference = simd_get_ref(&simd, buffer, &stride_simd, m.p_fref, m.i_stride[0], x, y,
                                        x264_pixel_size[m.i_pixel].w, x264_pixel_size[m.i_pixel].h,
                                        &m.weight[0]);
        compare_numbers("stride", stride, stride_simd);
        if (reference != expected)
            differs("another block returned");
    }
}

void check_search(void) {
    __real_x264_8_pixel_init(0, &scalar.pixf);
    __real_x264_8_mc_init(0, &scalar.mc, 0);
    x264_pixel_init(0, &simd.pixf);
    x264_mc_init(0, &simd.mc, 0);
    for (int i = 0; i <= PIXEL_4x4; i++) {
        char name[64];
        snprintf(name, sizeof(name), "prediction sad %dx%d", x264_pixel_size[i].w, x264_pixel_size[i].h);
        check_functions(name, (any_function)scalar.pixf.sad[i], (any_function)simd.pixf.sad[i], i, 0,
                        compare_predictions);
        snprintf(name, sizeof(name), "prediction satd %dx%d", x264_pixel_size[i].w, x264_pixel_size[i].h);
        check_functions(name, (any_function)scalar.pixf.satd[i], (any_function)simd.pixf.satd[i], i, 0,
                        compare_predictions);
    }
}
