/* Checks the kernel of ffmpeg's AAC encoder. */
#include "check/check.h"
#include "aac/quantize.h"
#include "libavcodec/aacenc_utils.h"

#define WIDEST 96

typedef void (*quantize_function)(int *out, const float *in, const float *scaled, int size, int is_signed,
                                  int maxval, const float Q34, const float rounding);

static void compare_bands(const subject *s) {
    float in[WIDEST], scaled[WIDEST];
    for (int i = 0; i < 4 * ROUNDS && !has_failed(); i++) {
        int size = 4 * between(1, WIDEST / 4), at = 4 * between(0, 99), is_signed = between(0, 1);
        int round = between(0, 1);
        int maxval = ONE_OF(1, 2, 4, 7, 12, 16), loudest = ONE_OF(0, 1, 100, 30000);
        float step = between(1, 1 << 20) / (float)(1 << ONE_OF(10, 18, 30));
        for (int k = 0; k < size; k++)
            in[k] = between(-65536, 65536) / 65536.0f * loudest;
        abs_pow34_v(scaled, in, size);
        fill_arenas();
        for (int k = 0; k < 2; k++) {
            quantize_function run = (quantize_function)(k ? s->simd : s->scalar);
            run((int *)(k ? simd_arena : scalar_arena) + at, in, scaled, size, is_signed, maxval, step,
                round ? ROUND_TO_ZERO : ROUND_STANDARD);
        }
        compare_arenas("band");
    }
}

void check_aac(void) {
    static AACEncContext encoder;
    simd_set_aac(&encoder);
    check_functions("aac quant_bands", (any_function)quantize_bands, (any_function)encoder.quant_bands, 0, 0,
                    compare_bands);
}
