/* Checks yadif's kernel. */
#include "check/check.h"
#include "yadif/yadif.h"
#include "libavfilter/internal.h"

#define STRIDE 300
#define ROWS 9
#define WIDEST 280

typedef void (*line_function)(void *dst, void *prev, void *cur, void *next, int width, int below, int above,
                              int parity, int mode);

extern const AVFilter ff_vf_yadif;

static YADIFContext scalar, simd;
static uint8_t pictures[3][ROWS * STRIDE];

/* At the top and bottom of a picture, yadif uses the same row as the one above and the one below. */
static void compare_lines(const subject *s) {
    for (int i = 0; i < 2 * ROUNDS && !has_failed(); i++) {
        int middle = 4 * STRIDE + 10, width = between(0, WIDEST), at = between(0, 99);
        int below = ONE_OF(STRIDE, STRIDE, -STRIDE), above = ONE_OF(-STRIDE, -STRIDE, STRIDE);
        int parity = between(0, 1), mode = between(0, 3);
        if (IS_NEW_INPUT(i)) {
            for (int k = 0; k < 3; k++)
                fill_pixels(pictures[k], sizeof(pictures[k]));
            fill_arenas();
        }
        for (int k = 0; k < 2; k++) {
            line_function run = (line_function)(k ? s->simd : s->scalar);
            uint8_t *dst = (k ? simd_arena : scalar_arena) + at;
            run(dst, pictures[0] + middle, pictures[1] + middle, pictures[2] + middle, width, below, above,
                parity, mode);
        }
        compare_arenas("line");
    }
}

static void set_up(YADIFContext *yadif, enum AVPixelFormat format) {
    AVFilterLink in = {.w = 64, .h = 64, .time_base = {1, 25}, .frame_rate = {25, 1}}, *inputs[] = {&in};
    AVFilterContext filter = {.inputs = inputs, .priv = yadif};
    AVFilterLink out = {.src = &filter, .format = format};
    ff_vf_yadif.outputs[0].config_props(&out);
}

static tables table = {"yadif", (any_function *)&scalar.filter, (any_function *)&simd.filter, 3, {0}};

void check_yadif(void) {
    set_up(&scalar, AV_PIX_FMT_YUV420P);
    set_up(&simd, AV_PIX_FMT_YUV420P);
    simd_set_yadif(&simd);
    check(&table, "yadif filter_line", &scalar.filter_line, 0, 0, compare_lines);
    finish(&table);
    table.checked[1] = 0;
    set_up(&scalar, AV_PIX_FMT_YUV420P10);
    set_up(&simd, AV_PIX_FMT_YUV420P10);
    simd_set_yadif(&simd);
    finish(&table);
}
