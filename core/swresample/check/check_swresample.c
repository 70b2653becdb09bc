/* Checks swresample's kernel with filters of random even length, upsampling and downsampling. */
#include "check/check.h"
#include "libswresample/resample.h"

#define LONGEST 256 /* taps */
#define PHASES 32
#define MOST 64 /* output samples per call */

void __real_swri_resample_dsp_init(ResampleContext *c);

typedef int (*resample_function)(ResampleContext *c, void *dst, const void *src, int count, int update);

static int16_t filters[PHASES * LONGEST], sound[MOST * 8 + LONGEST];

/* Fills the input with full-scale or random samples, and the filters with taps that sum to less than 2.0. */
static void fill_sound(int length) {
    int extreme = between(0, 1);
    for (int i = 0; i < FF_ARRAY_ELEMS(filters); i++)
        filters[i] = between(-65535, 65535) / length;
    for (int i = 0; i < FF_ARRAY_ELEMS(sound); i++)
        sound[i] = extreme ? ONE_OF(-32768, 32767) : (int)next_random();
}

static ResampleContext random_context(void) {
    ResampleContext c = {.format = AV_SAMPLE_FMT_S16P, .filter_bank = (uint8_t *)filters};
    c.filter_length = 2 * between(1, between(1, LONGEST / 2));
    c.filter_alloc = FFALIGN(c.filter_length, 8);
    c.phase_count = between(1, PHASES);
    c.src_incr = between(1, 1 << 20);
    c.dst_incr_div = between(0, 4 * c.phase_count);
    c.dst_incr_mod = between(0, c.src_incr - 1);
    c.index = between(0, c.phase_count);
    c.frac = between(0, c.src_incr - 1);
    return c;
}

static void compare_sound(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        ResampleContext scalar = random_context(), simd = scalar;
        int count = between(0, MOST), update = between(0, 1), at = 4 * between(0, 99);
        if (IS_NEW_INPUT(i))
            fill_arenas();
        fill_sound(scalar.filter_length);
        compare_numbers("samples taken",
                        ((resample_function)s->scalar)(&scalar, scalar_arena + at, sound, count, update),
                        ((resample_function)s->simd)(&simd, simd_arena + at, sound, count, update));
        compare_numbers("index", scalar.index, simd.index);
        compare_numbers("fraction", scalar.frac, simd.frac);
        compare_arenas("sound");
    }
}

void check_swresample(void) {
    ResampleContext scalar = {.format = AV_SAMPLE_FMT_S16P, .filter_length = 2}, simd = scalar;
    tables table = {"swresample", (any_function *)&scalar.dsp, (any_function *)&simd.dsp, 3, {0}};
    __real_swri_resample_dsp_init(&scalar);
    swri_resample_dsp_init(&simd);
    check(&table, "swresample int16", &scalar.dsp.resample_common, 0, 0, compare_sound);
    finish(&table);
}
