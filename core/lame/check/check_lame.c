/* Checks LAME's kernels on granules of random lines, in the states that its search goes through. */
#include "check/check.h"
#include "lame/common.h"
#include "lame_global_flags.h"

void __real_huffman_init(lame_internal_flags *gfc);
void __real_init_xrpow_core_init(lame_internal_flags *gfc);
int __real_count_bits(const lame_internal_flags *gfc, const FLOAT *xrpow, gr_info *granule,
                      calc_noise_data *noise);
int __real_noquant_count_bits(const lame_internal_flags *gfc, gr_info *granule, calc_noise_data *noise);

int __real_calc_noise(const gr_info *granule, const FLOAT *allowed, FLOAT *distort, calc_noise_result *result,
                      calc_noise_data *known);

typedef int (*count_function)(const lame_internal_flags *, const FLOAT *, gr_info *, calc_noise_data *);
typedef int (*noise_function)(const gr_info *, const FLOAT *, FLOAT *, calc_noise_result *,
                              calc_noise_data *);
typedef int (*recount_function)(const lame_internal_flags *, gr_info *, calc_noise_data *);
typedef int (*choose_function)(const int *ix, const int *end, int *bits);
typedef void (*power_function)(gr_info *, FLOAT *, int, FLOAT *);

static lame_internal_flags *flags;
static lame_internal_flags scalar_flags;
static gr_info granules[2];
static calc_noise_data noises[2];
static FLOAT powers[2][576];

static FLOAT random_share(void) {
    return between(0, 65535) / 65536.0f;
}

/* Fills in random lines that fall off with frequency, up to a random last line. */
static void fill_lines(gr_info *granule, FLOAT loudest) {
    int end = between(1, 576), slope = between(1, 400);
    for (int i = 0; i < 576; i++)
        granule->xr[i] = i < end ? (random_share() - 0.5f) * loudest * slope / (slope + i) : 0;
}

static void set_bands(gr_info *granule) {
    const scalefac_struct *bands = &flags->scalefac_band;
    granule->block_type = ONE_OF(NORM_TYPE, NORM_TYPE, START_TYPE, SHORT_TYPE, STOP_TYPE);
    int is_short = granule->block_type == SHORT_TYPE;
    granule->sfbmax = is_short ? 36 : 21;
    for (int i = 0; i < (is_short ? 39 : 22); i++) {
        granule->width[i] = is_short ? bands->s[i / 3 + 1] - bands->s[i / 3] : bands->l[i + 1] - bands->l[i];
        granule->window[i] = is_short ? i % 3 : 3;
        granule->scalefac[i] = between(0, 3);
    }
    for (int i = 0; i < 3; i++)
        granule->subblock_gain[i] = is_short ? between(0, 2) : 0;
    granule->preflag = !is_short && between(0, 3) == 0;
    granule->scalefac_scale = between(0, 1);
    granule->max_nonzero_coeff = is_short ? 6 * between(0, 95) + 5 : between(0, 287) * 2 + 1;
}

/* Fills in the steps of an earlier iteration of the search; some bands have kept theirs. */
static void fill_noise(calc_noise_data *noise, const gr_info *granule) {
    memset(noise, 0, sizeof(*noise));
    noise->global_gain = granule->global_gain - ONE_OF(0, 0, 1);
    noise->sfb_count1 = between(0, 22);
    for (int i = 0; i < (granule->block_type == SHORT_TYPE ? 39 : 22); i++) {
        int scalefac = granule->scalefac[i] + (granule->preflag ? pretab[i] : 0);
        noise->step[i] = granule->global_gain - (scalefac << (granule->scalefac_scale + 1))
                         - granule->subblock_gain[granule->window[i]] * 8 - ONE_OF(0, 0, 1, -1);
    }
}

static void compare_granules(void) {
    if (memcmp(&granules[0], &granules[1], sizeof(gr_info)))
        differs("granule");
    if (memcmp(&noises[0], &noises[1], sizeof(calc_noise_data)))
        differs("noise");
}

static void prepare_granule(void) {
    gr_info *granule = &granules[0];
    FLOAT sum;
    set_bands(granule);
    fill_lines(granule, ONE_OF(1, 30, 3000, 40000));
    scalar_flags.init_xrpow_core(granule, powers[0], 575, &sum);
    for (int i = 0; i < 576; i++)
        granule->l3_enc[i] = i <= granule->max_nonzero_coeff ? between(0, ONE_OF(0, 1, 1, 2, 15)) : 0;
    granule->global_gain = between(120, 255);
    fill_noise(&noises[0], granule);
    flags->sv_qnt.substep_shaping = scalar_flags.sv_qnt.substep_shaping = ONE_OF(0, 0, 2);
    for (int i = 0; i < SFBMAX; i++)
        flags->sv_qnt.pseudohalf[i] = scalar_flags.sv_qnt.pseudohalf[i] = between(0, 1);
    granules[1] = granules[0];
    noises[1] = noises[0];
}

static void compare_count(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        prepare_granule();
        int has_noise = between(0, 3) > 0;
        calc_noise_data *of_scalar = has_noise ? &noises[0] : NULL, *of_simd = has_noise ? &noises[1] : NULL;
        int scalar = ((count_function)s->scalar)(&scalar_flags, powers[0], &granules[0], of_scalar);
        int simd = ((count_function)s->simd)(flags, powers[0], &granules[1], of_simd);
        compare_numbers("bits", scalar, simd);
        compare_granules();
    }
}

static void compare_recount(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        prepare_granule();
        int scalar = ((recount_function)s->scalar)(&scalar_flags, &granules[0], &noises[0]);
        int simd = ((recount_function)s->simd)(flags, &granules[1], &noises[1]);
        compare_numbers("bits", scalar, simd);
        compare_granules();
    }
}

static void compare_choice(const subject *s) {
    static const int most[] = {0,  1,  2,  3,  4,  5,   6,    7,         8,            12,
                               15, 16, 17, 30, 31, 200, 2000, IXMAX_VAL, IXMAX_VAL + 1};
    int ix[576];
    for (int i = 0; i < 4 * ROUNDS && !has_failed(); i++) {
        int count = 2 * between(1, between(1, 288)), limit = most[i % 19], rare = between(0, 1);
        for (int k = 0; k < count; k++)
            ix[k] = rare && between(0, 9) ? between(0, Min(limit, 1)) : between(0, limit);
        ix[between(0, count - 1)] = limit;
        int scalar_bits = between(0, 900), simd_bits = scalar_bits;
        compare_numbers("table", ((choose_function)s->scalar)(ix, ix + count, &scalar_bits),
                        ((choose_function)s->simd)(ix, ix + count, &simd_bits));
        compare_numbers("bits", scalar_bits, simd_bits);
    }
}

static void compare_power(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        FLOAT sums[2];
        int last = between(0, 575);
        fill_lines(&granules[0], ONE_OF(0, 1, 40000));
        granules[0].xrpow_max = 0;
        granules[1] = granules[0];
        memset(powers, 0, sizeof(powers));
        ((power_function)s->scalar)(&granules[0], powers[0], last, &sums[0]);
        ((power_function)s->simd)(&granules[1], powers[1], last, &sums[1]);
        if (memcmp(powers[0], powers[1], sizeof(powers[0])))
            differs("power");
        compare_numbers("whether it sounds", sums[0] > 1e-20f, sums[1] > 1e-20f);
        compare_granules();
    }
}

/* Some bands have kept their step, so their noise is already known. */
static void compare_noise(const subject *s) {
    FLOAT allowed[SFBMAX], distort[2][SFBMAX];
    calc_noise_result results[2];
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        prepare_granule();
        if (__real_count_bits(&scalar_flags, powers[0], &granules[0], NULL) == LARGE_BITS)
            continue;
        granules[0].psymax = granules[0].sfbmax;
        granules[1] = granules[0];
        for (int k = 0; k < SFBMAX; k++) {
            allowed[k] = random_share() * ONE_OF(1, 100, 100000) + 1e-6f;
            noises[0].noise[k] = noises[1].noise[k] = random_share() * 100;
            noises[0].noise_log[k] = noises[1].noise_log[k] = random_share() * 2 - 1;
        }
        memset(results, 0, sizeof(results));
        memset(distort, 0, sizeof(distort));
        calc_noise_data *of_scalar = i & 1 ? &noises[0] : NULL, *of_simd = i & 1 ? &noises[1] : NULL;
        int scalar = ((noise_function)s->scalar)(&granules[0], allowed, distort[0], &results[0], of_scalar);
        int simd = ((noise_function)s->simd)(&granules[1], allowed, distort[1], &results[1], of_simd);
        compare_numbers("number of bands", scalar, simd);
        if (memcmp(&results[0], &results[1], sizeof(results[0])))
            differs("noise of %d bands: %g %g, scalar %g %g", granules[0].psymax, results[1].tot_noise,
                    results[1].over_noise, results[0].tot_noise, results[0].over_noise);
        if (memcmp(distort[0], distort[1], sizeof(distort[0])))
            differs("distortion");
        compare_granules();
    }
}

#define CHECK(name, scalar, simd, run)                                                                       \
    check_functions("lame " name, (any_function)(scalar), (any_function)(simd), 0, 0, run)

void check_lame(void) {
    lame_global_flags *settings = lame_init();
    lame_set_in_samplerate(settings, 44100);
    lame_set_brate(settings, 128);
    lame_set_quality(settings, 5);
    lame_init_params(settings);
    flags = settings->internal_flags;
    scalar_flags = *flags;
    __real_huffman_init(&scalar_flags);
    __real_init_xrpow_core_init(&scalar_flags);
    CHECK("choose_table", scalar_flags.choose_table, flags->choose_table, compare_choice);
    CHECK("init_xrpow", scalar_flags.init_xrpow_core, flags->init_xrpow_core, compare_power);
    CHECK("noquant_count_bits", __real_noquant_count_bits, noquant_count_bits, compare_recount);
    CHECK("count_bits", __real_count_bits, count_bits, compare_count);
    CHECK("calc_noise", __real_calc_noise, calc_noise, compare_noise);
    lame_close(settings);
}
