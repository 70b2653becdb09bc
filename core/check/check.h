/* Compares kernels with the scalar functions that they replace: input, comparison and report. */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include <stdint.h>

#define ROUNDS 4000
#define ARENA (32 * 1024)

typedef void (*any_function)(void);

/* A kernel, the scalar function that it replaces, and its block size; some checks give width
 * and height another meaning. */
typedef struct {
    any_function scalar, simd;
    int width, height;
} subject;

typedef void (*test)(const subject *s);

/* A library's table of functions, as the library fills it and with the kernels. A table holds only pointers,
 * and slots is their number. */
typedef struct {
    const char *name;
    any_function *scalar, *simd;
    int slots;
    uint8_t checked[512];
} tables;

/* Memory that the scalar function and the kernel write to; both arenas must be identical afterwards. */
extern uint8_t scalar_arena[ARENA], simd_arena[ARENA];

void check(tables *t, const char *name, const void *slot, int width, int height, test run);
void check_functions(const char *name, any_function scalar, any_function simd, int width, int height,
                     test run);
void finish(tables *t);
int report(void);

/* Records a difference; only the first one of each kernel is printed. */
void differs(const char *format, ...);
int has_failed(void);

uint32_t next_random(void);
int between(int low, int high);
int one_of(const int *values, int count);
#define ONE_OF(...) one_of((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* Fills in pixels in one of several patterns: random, all 0 or 255, alternating,
 * extremes at random, nearly flat. */
void fill_pixels(uint8_t *p, int count);
void fill_arenas(void);

/* Filling takes longer than most kernels, so only every eighth round does it; comparisons
 * leave both arenas identical. */
#define IS_NEW_INPUT(round) ((round) % 8 == 0)

void compare_arenas(const char *what);
void compare_numbers(const char *what, int64_t scalar, int64_t simd);

void check_x264(void);
void check_lame(void);
void check_aac(void);
void check_swresample(void);
void check_swscale(void);
void check_tonemap(void);
void check_yadif(void);
void check_h264(void);
void check_hevc(void);
void check_vpx(void);

#endif
