/* Checks add_masks, which compile.sh puts into this file of LAME's. */
#include "psymodel.c"
#include "check/check.h"

static FLOAT any_energy(void) {
    return between(0, 9) ? ldexpf(1 + between(0, 65535) / 65536.0f, between(-40, 40)) : 0;
}

/* Often near the limits of the ratio, which are 16ths of powers of ten. */
static void compare_masks(const subject *s) {
    (void)s;
    for (int i = 0; i < 50 * ROUNDS && !has_failed(); i++) {
        FLOAT a = any_energy(), b = between(0, 2) ? any_energy() : a * powf(10, ONE_OF(8, 9, 23, 24) / 16.0f);
        if (between(0, 1))
            b = nextafterf(b, ONE_OF(0, 1) ? INFINITY : 0);
        int distance = between(-12, 12), delta = between(-1, 2);
        union {
            FLOAT number;
            int32_t bits;
        } scalar = {vbrpsy_mask_add(a, b, distance, delta)}, simd = {add_masks(a, b, distance, delta)};
        compare_numbers("sum", scalar.bits, simd.bits);
        scalar.number = vbrpsy_mask_add(b, a, distance, delta);
        simd.number = add_masks(b, a, distance, delta);
        compare_numbers("sum", scalar.bits, simd.bits);
    }
}

void check_masks(void) {
    init_log_table();
    check_functions("lame add_masks", (any_function)vbrpsy_mask_add, (any_function)add_masks, 0, 0,
                    compare_masks);
}
