/* Compares every kernel with the scalar function that it replaces. Exits with 1 if any differs or if a table
 * has a kernel that no check covers. */
#include "check.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wasm_simd128.h>

uint8_t scalar_arena[ARENA], simd_arena[ARENA];

static uint32_t state = 0x2545f491;
static int kernels, failures;
static char difference[256];

uint32_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

int between(int low, int high) {
    return low + (int)(next_random() % (uint32_t)(high - low + 1));
}

int one_of(const int *values, int count) {
    return values[between(0, count - 1)];
}

static int clip(int value) {
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

void fill_pixels(uint8_t *p, int count) {
    int pattern = between(0, 8), base = between(0, 255), spread = between(1, 12), period = between(1, 40);
    for (int i = 0; i < count; i++) {
        if (pattern == 0)
            p[i] = 0;
        else if (pattern == 1)
            p[i] = 255;
        else if (pattern == 2)
            p[i] = i / period & 1 ? 255 : 0;
        else if (pattern == 3)
            p[i] = next_random() & 64 ? 255 : 0;
        else if (pattern <= 5)
            p[i] = clip(base + between(-spread, spread));
        else
            p[i] = next_random() >> 8;
    }
}

void fill_arenas(void) {
    fill_pixels(scalar_arena, ARENA);
    memcpy(simd_arena, scalar_arena, ARENA);
}

/* wasi-libc's memcmp would take most of the time of the checks. */
static int arenas_are_equal(void) {
    v128_t difference = wasm_i32x4_const_splat(0);
    for (int i = 0; i < ARENA; i += 16)
        difference = wasm_v128_or(difference,
                                  wasm_v128_xor(wasm_v128_load(scalar_arena + i), wasm_v128_load(simd_arena + i)));
    return !wasm_v128_any_true(difference);
}

void compare_arenas(const char *what) {
    if (arenas_are_equal())
        return;
    for (int i = 0; i < ARENA; i++)
        if (scalar_arena[i] != simd_arena[i]) {
            differs("%s: byte %d is %d, scalar %d", what, i, simd_arena[i], scalar_arena[i]);
            return;
        }
}

void compare_numbers(const char *what, int64_t scalar, int64_t simd) {
    if (scalar != simd)
        differs("%s is %lld, scalar %lld", what, (long long)simd, (long long)scalar);
}

void differs(const char *format, ...) {
    if (has_failed())
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(difference, sizeof(difference), format, arguments);
    va_end(arguments);
}

int has_failed(void) {
    return difference[0] != 0;
}

void check_functions(const char *name, any_function scalar, any_function simd, int width, int height,
                     test run) {
    if (scalar == simd)
        return;
    subject s = {scalar, simd, width, height};
    kernels++;
    difference[0] = 0;
    run(&s);
    if (has_failed()) {
        failures++;
        printf("%s differs: %s\n", name, difference);
    } else
        printf("%s ok\n", name);
}

void check(tables *t, const char *name, const void *slot, int width, int height, test run) {
    int index = (any_function *)slot - t->scalar;
    t->checked[index] = 1;
    check_functions(name, t->scalar[index], t->simd[index], width, height, run);
}

void finish(tables *t) {
    for (int i = 0; i < t->slots; i++)
        if (t->scalar[i] != t->simd[i] && !t->checked[i]) {
            failures++;
            printf("%s: entry %d unchecked\n", t->name, i);
        }
}

int report(void) {
    printf("%d kernels, %d failures\n", kernels, failures);
    return failures > 0 || kernels == 0;
}

int main(void) {
    check_x264();
    check_lame();
    check_aac();
    check_swresample();
    check_swscale();
    check_tonemap();
    check_yadif();
    check_h264();
    check_hevc();
    check_vpx();
    return report();
}
