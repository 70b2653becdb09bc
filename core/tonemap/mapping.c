/* Maps HDR to SDR with the same math as this chain: zscale to linear light, zscale to BT.709 primaries,
 * tonemap=hable, zscale to BT.709. */
#include "tonemap/mapping.h"
#include "libavfilter/colorspace.h"
#include "libavutil/attributes.h"
#include "libavutil/csp.h"
#include "libavutil/error.h"
#include <math.h>
#include <string.h>
#include <wasm_simd128.h>

#define INLINE static av_always_inline
#define STEP 4

typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));

#define ALL(value) ((floats)wasm_f32x4_splat(value))

/* Returns linear light; 1 is 100 cd/m², as with zscale's `npl=100`. */
static double from_pq(double x) {
    double power = pow(x, 1 / 78.84375);
    return 100 * pow(fmax(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125);
}

/* Applies the system gamma to each channel, as zscale does, with a nominal peak of 1000 cd/m². */
static double from_hlg(double x) {
    double scene = x <= 0.5 ? x * x / 3 : (exp((x - 0.55991073) / 0.17883277) + 0.28466892) / 12;
    return 10 * pow(scene, 1.2);
}

/* John Hable's filmic curve. */
#define HABLE(x)                                                                                             \
    (((x) * ((x) * 0.15f + 0.05f) + 0.004f) / ((x) * ((x) * 0.15f + 0.5f) + 0.06f) - 0.02f / 0.3f)

static void set_gamut(mapping *m, const AVColorPrimariesDesc *primaries) {
    const AVColorPrimariesDesc *bt709 = av_csp_primaries_desc_from_id(AVCOL_PRI_BT709);
    double to_xyz[3][3], from_xyz[3][3], gamut[3][3];
    ff_fill_rgb2xyz_table(&bt709->prim, &bt709->wp, to_xyz);
    ff_matrix_invert_3x3(to_xyz, from_xyz);
    ff_fill_rgb2xyz_table(&primaries->prim, &primaries->wp, to_xyz);
    ff_matrix_mul_3x3(gamut, to_xyz, from_xyz);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m->gamut[i][j] = gamut[i][j];
}

int set_mapping(mapping *m, enum AVColorPrimaries primaries, enum AVColorTransferCharacteristic transfer,
                enum AVColorSpace matrix) {
    const AVColorPrimariesDesc *gamut = av_csp_primaries_desc_from_id(primaries);
    const AVLumaCoefficients *luma = av_csp_luma_coeffs_from_avcsp(matrix);
    int is_hlg = transfer == AVCOL_TRC_ARIB_STD_B67;
    if (!gamut || !luma || matrix == AVCOL_SPC_RGB || (transfer != AVCOL_TRC_SMPTE2084 && !is_hlg))
        return AVERROR(EINVAL);
    double red = av_q2d(luma->cr), green = av_q2d(luma->cg), blue = av_q2d(luma->cb);
    m->red_of_v = 2 * (1 - red);
    m->blue_of_u = 2 * (1 - blue);
    m->green_of_v = -m->red_of_v * red / green;
    m->green_of_u = -m->blue_of_u * blue / green;
    for (int i = 0; i < LINEAR_STEPS; i++) {
        double x = (double)i / STEPS_TO_ONE;
        m->linear[i] = is_hlg ? from_hlg(x) : from_pq(x);
    }
    set_gamut(m, gamut);
    return 0;
}

void set_peak(mapping *m, double peak) {
    float x = peak;
    m->brightest = HABLE(x);
}

/* Adding this rounds to an integer, which is then in the low bits. */
#define ROUNDER 12582912.f /* 1.5 * 2^23 */

INLINE ints rounded(floats x) {
    return (ints)(x + ROUNDER) - (ints)ALL(ROUNDER);
}

INLINE floats larger(floats a, floats b) {
    return wasm_f32x4_pmax(a, b);
}

/* Returns x to the power of p, accurate to four digits; x must be above 0. */
INLINE floats power(floats x, float p) {
    /* Splits x into a power of 2 and a factor between the square roots of 1/2 and 2,
     * for the series of atanh. */
    ints bits = (ints)x - 0x3f3504f3;
    floats factor = (floats)((bits & 0x7fffff) + 0x3f3504f3);
    floats t = (factor - 1) / (factor + 1), t2 = t * t;
    floats log2 = t * (2.8853901f + t2 * 0.97458f);
    floats exponent = p * (log2 + __builtin_convertvector(bits >> 23, floats));
    floats whole = exponent + ROUNDER, part = exponent - (whole - ROUNDER);
    floats exp2 = part * (0.24022651f + part * (0.055504109f + part * 0.0096181291f));
    exp2 = 1 + part * (0.69314718f + exp2);
    return (floats)((ints)exp2 + ((ints)whole << 23));
}

INLINE floats linearize(const mapping *m, floats x) {
    ints at = rounded(wasm_f32x4_pmin(larger(x * STEPS_TO_ONE, ALL(0)), ALL(LINEAR_STEPS - 1)));
    return (floats){m->linear[at[0]], m->linear[at[1]], m->linear[at[2]], m->linear[at[3]]};
}

INLINE floats weigh(const float weights[3], const floats rgb[3]) {
    return weights[0] * rgb[0] + weights[1] * rgb[1] + weights[2] * rgb[2];
}

INLINE floats load(const uint16_t *p, int black) {
    ints samples = (ints)wasm_u32x4_load16x4(p);
    return __builtin_convertvector(samples - black, floats);
}

INLINE void store(uint8_t *p, floats x) {
    v128_t samples = (v128_t)rounded(x);
    samples = wasm_i16x8_narrow_i32x4(samples, samples);
    wasm_v128_store32_lane(p, wasm_u8x16_narrow_i16x8(samples, samples), 0);
}

INLINE void map_step(const mapping *m, uint8_t *const out[3], const uint16_t *const in[3], int x) {
    floats y = load(in[0] + x, 64) * (1 / 876.f);
    floats u = load(in[1] + x, 512) * (1 / 896.f), v = load(in[2] + x, 512) * (1 / 896.f);
    floats source[3] = {
        linearize(m, y + m->red_of_v * v),
        linearize(m, y + m->green_of_u * u + m->green_of_v * v),
        linearize(m, y + m->blue_of_u * u),
    };
    floats rgb[3];
    for (int i = 0; i < 3; i++)
        rgb[i] = weigh(m->gamut[i], source);
    floats most = larger(larger(larger(rgb[0], rgb[1]), rgb[2]), ALL(1e-6f));
    floats gain = HABLE(most) / (m->brightest * most);
    for (int i = 0; i < 3; i++)
        rgb[i] = power(larger(rgb[i] * gain, ALL(1e-12f)), 1 / 2.4f);
    floats luma = weigh((const float[]){0.2126f, 0.7152f, 0.0722f}, rgb);
    store(out[0] + x, luma * 219 + 16);
    store(out[1] + x, (rgb[2] - luma) * (224 / 1.8556f) + 128);
    store(out[2] + x, (rgb[0] - luma) * (224 / 1.5748f) + 128);
}

void map_row(const mapping *m, uint8_t *const out[3], const uint16_t *const in[3], int width) {
    int x = 0;
    for (; x + STEP <= width; x += STEP)
        map_step(m, out, in, x);
    if (x == width)
        return;
    uint16_t samples[3][STEP] = {{0}};
    uint8_t mapped[3][STEP];
    for (int i = 0; i < 3; i++)
        memcpy(samples[i], in[i] + x, (width - x) * sizeof(**in));
    map_step(m, (uint8_t *[]){mapped[0], mapped[1], mapped[2]},
             (const uint16_t *[]){samples[0], samples[1], samples[2]}, 0);
    for (int i = 0; i < 3; i++)
        memcpy(out[i] + x, mapped[i], width - x);
}
