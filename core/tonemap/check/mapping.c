/* Checks the mapping against the same math in doubles, without tables. */
#include "tonemap/mapping.h"
#include "check/check.h"
#include <math.h>
#include <string.h>

#define WIDEST 200
#define GUARD 0xA5

static mapping ours;
static double peak;
static uint16_t samples[3][WIDEST];
static uint8_t mapped[3][WIDEST + 16];

/* The matrix of BT.2087 with more digits than the recommendation prints. */
static const double gamut[3][3] = {
    {1.660491, -0.587641, -0.072850}, {-0.124550, 1.132900, -0.008349}, {-0.018151, -0.100579, 1.118730}};

static double light_of(double x, int is_hlg) {
    x = fmin(fmax(x, 0), 1.5);
    if (is_hlg)
        return 10 * pow(x > 0.5 ? (exp((x - 0.55991073) / 0.17883277) + 0.28466892) / 12 : x * x / 3, 1.2);
    double p = pow(x, 1 / 78.84375);
    return 100 * pow(fmax(p - 0.8359375, 0) / (18.8515625 - 18.6875 * p), 1 / 0.1593017578125);
}

static double hable(double x) {
    return (x * (x * 0.15 + 0.05) + 0.004) / (x * (x * 0.15 + 0.5) + 0.06) - 0.02 / 0.3;
}

static void map_sample(int x, int is_hlg, double out[3]) {
    double y = (samples[0][x] - 64) / 876.0;
    double u = (samples[1][x] - 512) / 896.0, v = (samples[2][x] - 512) / 896.0;
    double light[3] = {light_of(y + 1.4746 * v, is_hlg), light_of(y - 0.164553 * u - 0.571353 * v, is_hlg),
                       light_of(y + 1.8814 * u, is_hlg)};
    double rgb[3], most = 1e-6;
    for (int i = 0; i < 3; i++) {
        rgb[i] = gamut[i][0] * light[0] + gamut[i][1] * light[1] + gamut[i][2] * light[2];
        most = fmax(most, rgb[i]);
    }
    for (int i = 0; i < 3; i++)
        rgb[i] = pow(fmax(rgb[i] * hable(most) / hable(peak) / most, 0), 1 / 2.4);
    double luma = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    out[0] = luma * 219 + 16;
    out[1] = (rgb[2] - luma) / 1.8556 * 224 + 128;
    out[2] = (rgb[0] - luma) / 1.5748 * 224 + 128;
}

/* Fills in grays, colors as cameras record them, or arbitrary samples. */
static void fill_samples(void) {
    int spread = ONE_OF(0, 60, 200, 512);
    for (int x = 0; x < WIDEST; x++) {
        samples[0][x] = spread == 512 ? between(0, 1023) : between(64, 940);
        for (int i = 1; i < 3; i++)
            samples[i][x] = 512 + between(-spread, spread == 512 ? 511 : spread);
    }
}

static int samples_off;

static void compare_samples(int width, int is_hlg) {
    for (int x = 0; x < width; x++) {
        double expected[3];
        map_sample(x, is_hlg, expected);
        for (int i = 0; i < 3; i++) {
            double error = fabs(mapped[i][x] - fmin(fmax(expected[i], 0), 255));
            samples_off += error > 0.6;
            if (error > 4)
                differs("%d %d %d becomes %d in plane %d, exact %.2f", samples[0][x], samples[1][x],
                        samples[2][x], mapped[i][x], i, expected[i]);
        }
    }
}

static void compare_rows(enum AVColorTransferCharacteristic transfer) {
    int total = 0;
    samples_off = 0;
    if (set_mapping(&ours, AVCOL_PRI_BT2020, transfer, AVCOL_SPC_BT2020_NCL) < 0)
        differs("unknown colors");
    for (int round = 0; round < ROUNDS / 10 && !has_failed(); round++) {
        int width = between(1, WIDEST);
        peak = ONE_OF(4, 10, 10, 40, 100);
        set_peak(&ours, peak);
        fill_samples();
        memset(mapped, GUARD, sizeof(mapped));
        map_row(&ours, (uint8_t *[]){mapped[0], mapped[1], mapped[2]},
                (const uint16_t *[]){samples[0], samples[1], samples[2]}, width);
        compare_samples(width, transfer == AVCOL_TRC_ARIB_STD_B67);
        for (int i = 0; i < 3; i++)
            if (mapped[i][width] != GUARD)
                differs("plane %d is written beyond %d", i, width);
        total += 3 * width;
    }
    /* The table's steps become visible where the gamut matrix subtracts large values and
     * the difference is near 0. */
    if (samples_off > total / 1000)
        differs("%d of %d samples are off", samples_off, total);
}

static void compare_pq_rows(const subject *s) {
    compare_rows(AVCOL_TRC_SMPTE2084);
}

static void compare_hlg_rows(const subject *s) {
    compare_rows(AVCOL_TRC_ARIB_STD_B67);
}

void check_tonemap(void) {
    check_functions("tone mapping of PQ", NULL, (any_function)map_row, 0, 0, compare_pq_rows);
    check_functions("tone mapping of HLG", NULL, (any_function)map_row, 0, 0, compare_hlg_rows);
}
