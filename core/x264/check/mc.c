/* Checks motion compensation, weights, copies and the filters over frames. */
#include "check_x264.h"

void __real_x264_8_mc_init(uint32_t cpu, x264_mc_functions_t *table, int cpu_independent);

static x264_mc_functions_t scalar, simd;
static pixel planes[4][ARENA];

#define MIDDLE (ARENA / 2)

static x264_weight_t any_weight(void) {
    x264_weight_t weight = {
        .i_denom = between(0, 7), .i_scale = between(-128, 127), .i_offset = between(-128, 127)};
    if (between(0, 3) == 0)
        weight.i_scale = ONE_OF(-128, 0, 1, 127);
    if (between(0, 1))
        weight.weightfn = scalar.weight;
    return weight;
}

static void fill_input(int round, int count) {
    if (!IS_NEW_INPUT(round))
        return;
    for (int i = 0; i < 4; i++)
        fill_pixels(planes[i] + MIDDLE - count / 2, count);
    fill_arenas();
}

typedef void (*luma_function)(pixel *, intptr_t, pixel **, intptr_t, int, int, int, int,
                              const x264_weight_t *);
typedef pixel *(*reference_function)(pixel *, intptr_t *, pixel **, intptr_t, int, int, int, int,
                                     const x264_weight_t *);

/* Picks the size of a partition: sometimes with the four more columns or the one more row that x264's motion
 * search asks for, or with one more column, a width that has no kernel. */
static void any_partition(int *width, int *height) {
    *width = ONE_OF(4, 8, 16) + ONE_OF(0, 0, 0, 4, 1);
    *height = ONE_OF(2, 4, 8, 16) + between(0, 1);
}

static pixel *sources[4] = {planes[0] + MIDDLE, planes[1] + MIDDLE, planes[2] + MIDDLE, planes[3] + MIDDLE};

/* Tests every quarter-pel position 250 times. */
static void compare_luma(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int width, height, x = 4 * between(-20, 20) + (i & 3), y = 4 * between(-20, 20) + (i >> 2 & 3);
        intptr_t stride = ONE_OF(64, 96, 130), dst_stride = ONE_OF(32, 64);
        x264_weight_t weight = any_weight();
        any_partition(&width, &height);
        fill_input(i, 16384);
        ((luma_function)s->scalar)(scalar_arena + 999, dst_stride, sources, stride, x, y, width, height,
                                   &weight);
        ((luma_function)s->simd)(simd_arena + 999, dst_stride, sources, stride, x, y, width, height, &weight);
        compare_arenas("block");
    }
}

static void compare_reference(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int width, height, x = 4 * between(-20, 20) + (i & 3), y = 4 * between(-20, 20) + (i >> 2 & 3);
        intptr_t stride = ONE_OF(64, 96, 130), expected_stride = ONE_OF(32, 64), dst_stride = expected_stride;
        x264_weight_t weight = any_weight();
        any_partition(&width, &height);
        fill_input(i, 16384);
        pixel *expected = ((reference_function)s->scalar)(scalar_arena + 999, &expected_stride, sources,
                                                          stride, x, y, width, height, &weight);
        pixel *result = ((reference_function)s->simd)(simd_arena + 999, &dst_stride, sources, stride, x, y,
                                                      width, height, &weight);
        compare_numbers("stride", expected_stride, dst_stride);
        if (expected == scalar_arena + 999 ? result != simd_arena + 999 : result != expected)
            differs("another block returned");
        compare_arenas("block");
    }
}

typedef void (*chroma_function)(pixel *, pixel *, intptr_t, pixel *, intptr_t, int, int, int, int);

/* Tests every eighth-pel position at least 62 times. */
static void compare_chroma(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        int x = 8 * between(-10, 10) + (i & 7), y = 8 * between(-10, 10) + (i >> 3 & 7);
        int width = ONE_OF(2, 4, 8, 6), height = ONE_OF(2, 4, 8, 16);
        intptr_t stride = ONE_OF(64, 96, 130), dst_stride = ONE_OF(16, 32, 64);
        fill_input(i, 16384);
        ((chroma_function)s->scalar)(scalar_arena + 999, scalar_arena + 9999, dst_stride, sources[0], stride,
                                     x, y, width, height);
        ((chroma_function)s->simd)(simd_arena + 999, simd_arena + 9999, dst_stride, sources[0], stride, x, y,
                                   width, height);
        compare_arenas("block");
    }
}

typedef void (*average_function)(pixel *, intptr_t, pixel *, intptr_t, pixel *, intptr_t, int);

static void compare_average(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t strides[3] = {ONE_OF(16, 32, 64), ONE_OF(16, 32, 96), ONE_OF(16, 32, 100)};
        int weight = between(0, 1) ? 32 : between(-64, 128), in_place = between(0, 3) == 0;
        fill_input(i, 8192);
        for (int k = 0; k < 2; k++) {
            pixel *dst = (k ? simd_arena : scalar_arena) + 999;
            average_function run = (average_function)(k ? s->simd : s->scalar);
            run(dst, strides[0], in_place ? dst : sources[0], strides[in_place ? 0 : 1], sources[1],
                strides[2], weight);
        }
        compare_arenas("block");
    }
}

static void compare_weight(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t dst_stride = ONE_OF(32, 64), src_stride = ONE_OF(32, 100);
        int height = ONE_OF(2, 4, 8, 16, 17), in_place = between(0, 1);
        x264_weight_t weight = any_weight();
        fill_input(i, 8192);
        for (int k = 0; k < 2; k++) {
            pixel *dst = (k ? simd_arena : scalar_arena) + 999;
            weight_fn_t run = (weight_fn_t)(k ? s->simd : s->scalar);
            run(dst, dst_stride, in_place ? dst : sources[0], in_place ? dst_stride : src_stride, &weight,
                height);
        }
        compare_arenas("block");
    }
}

typedef void (*store_function)(pixel *, intptr_t, pixel *, pixel *, int);
typedef void (*load_function)(pixel *, pixel *, intptr_t, int);

static void compare_store(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t stride = ONE_OF(16, 64, 100);
        int height = ONE_OF(8, 16);
        fill_input(i, 8192);
        ((store_function)s->scalar)(scalar_arena + 999, stride, sources[0], sources[1], height);
        ((store_function)s->simd)(simd_arena + 999, stride, sources[0], sources[1], height);
        compare_arenas("block");
    }
}

static void compare_load(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t stride = ONE_OF(16, 64, 100);
        int height = ONE_OF(8, 16);
        fill_input(i, 8192);
        ((load_function)s->scalar)(scalar_arena + 999, sources[0], stride, height);
        ((load_function)s->simd)(simd_arena + 999, sources[0], stride, height);
        compare_arenas("block");
    }
}

typedef void (*interleave_function)(pixel *, intptr_t, pixel *, intptr_t, pixel *, intptr_t, int, int);

/* Bottom-up pictures have negative strides. */
static void compare_interleave(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t u = ONE_OF(100, 128, -100), v = ONE_OF(100, 140, -130);
        int width = between(1, 90), height = between(1, 20);
        fill_input(i, 16384);
        interleave_function a = (interleave_function)s->scalar, b = (interleave_function)s->simd;
        a(scalar_arena + 999, 200, sources[0], u, sources[1], v, width, height);
        b(simd_arena + 999, 200, sources[0], u, sources[1], v, width, height);
        compare_arenas("plane");
    }
}

typedef void (*half_pel_function)(pixel *, pixel *, pixel *, pixel *, intptr_t, int, int, int16_t *);

/* The scalar function also writes columns -2, -1 and width to width + 2 of v, which x264 overwrites when it
 * extends the borders; x264's assembly does not write them either. sums is scratch memory. */
static void compare_half_pels(const subject *s) {
    static int16_t sums[512];
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t stride = ONE_OF(160, 192);
        int width = 16 * between(2, 6), height = between(1, 12), end = width + 64;
        fill_input(i, 8192);
        sums[end] = 12345;
        for (int k = 0; k < 2; k++) {
            pixel *arena = k ? simd_arena : scalar_arena;
            half_pel_function run = (half_pel_function)(k ? s->simd : s->scalar);
            run(arena + 1000, arena + 5000, arena + 9000, sources[0] - 1000, stride, width, height, sums);
        }
        for (int y = 0; y < height; y++) {
            int row = 5000 + y * stride;
            memcpy(simd_arena + row - 2, scalar_arena + row - 2, 2);
            memcpy(simd_arena + row + width, scalar_arena + row + width, 3);
        }
        compare_numbers("end of scratch memory", 12345, sums[end]);
        compare_arenas("plane");
    }
}

typedef void (*half_size_function)(pixel *, pixel *, pixel *, pixel *, pixel *, intptr_t, intptr_t, int, int);

static void compare_half_size(const subject *s) {
    for (int i = 0; i < ROUNDS && !has_failed(); i++) {
        intptr_t src_stride = ONE_OF(256, 288), stride = ONE_OF(128, 160);
        int width = 8 * between(1, 12), height = between(1, 16);
        fill_input(i, 20000);
        for (int k = 0; k < 2; k++) {
            pixel *arena = k ? simd_arena : scalar_arena;
            half_size_function run = (half_size_function)(k ? s->simd : s->scalar);
            run(sources[0] - 9000, arena + 1000, arena + 5000, arena + 9000, arena + 13000, src_stride,
                stride, width, height);
        }
        compare_arenas("plane");
    }
}

static tables table = {
    "mc", (any_function *)&scalar, (any_function *)&simd, sizeof(scalar) / sizeof(any_function), {0}};

#define SINGLE(field, run) check(&table, "mc " #field, &scalar.field, 0, 0, run)

/* weight, offsetadd and offsetsub are themselves tables, with one function for each width. */
static void check_weights(const char *name, weight_fn_t *const *slot) {
    int index = (any_function *)slot - table.scalar;
    weight_fn_t *ours = ((weight_fn_t **)&simd)[index];
    table.checked[index] = 1;
    for (int i = 0; i < 6; i++) {
        char title[64];
        snprintf(title, sizeof(title), "mc %s %d", name, i ? 4 * i : 2);
        check_functions(title, (any_function)(*slot)[i], (any_function)ours[i], 0, 0, compare_weight);
    }
}

void check_mc(void) {
    __real_x264_8_mc_init(0, &scalar, 0);
    x264_mc_init(0, &simd, 0);
    SINGLE(mc_luma, compare_luma);
    SINGLE(get_ref, compare_reference);
    SINGLE(mc_chroma, compare_chroma);
    for (int i = 0; i < 12; i++) {
        char name[64];
        snprintf(name, sizeof(name), "mc avg %dx%d", x264_pixel_size[i].w, x264_pixel_size[i].h);
        check(&table, name, &scalar.avg[i], 0, 0, compare_average);
    }
    check_weights("weight", &scalar.weight);
    check_weights("offsetadd", &scalar.offsetadd);
    check_weights("offsetsub", &scalar.offsetsub);
    SINGLE(store_interleave_chroma, compare_store);
    SINGLE(load_deinterleave_chroma_fenc, compare_load);
    SINGLE(load_deinterleave_chroma_fdec, compare_load);
    SINGLE(plane_copy_interleave, compare_interleave);
    SINGLE(hpel_filter, compare_half_pels);
    SINGLE(frame_init_lowres_core, compare_half_size);
    finish(&table);
}
