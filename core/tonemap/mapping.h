/* Maps rows of HDR pictures to SDR. */
#ifndef CORE_TONEMAP_MAPPING_H
#define CORE_TONEMAP_MAPPING_H

#include "libavutil/pixfmt.h"
#include <stdint.h>

/* R'G'B' up to 1.5 is looked up: above 1 are highlights beyond nominal white, which cameras write. */
#define STEPS_TO_ONE 16384
#define LINEAR_STEPS (STEPS_TO_ONE * 3 / 2)

/* What stays the same from row to row. Light of 1 is SDR white, 100 cd/m². */
typedef struct {
    float red_of_v, green_of_u, green_of_v, blue_of_u;
    float linear[LINEAR_STEPS];
    float gamut[3][3]; /* from the source's primaries to BT.709's */
    float brightest;   /* what the curve makes of the peak */
} mapping;

/* Returns a negative number where the colors are unknown. */
int set_mapping(mapping *m, enum AVColorPrimaries primaries, enum AVColorTransferCharacteristic transfer,
                enum AVColorSpace matrix);

/* `peak` is the brightest light that the picture shows. */
void set_peak(mapping *m, double peak);

/* From Y, U and V of 10 bits to those of 8, BT.709; both of limited range and 4:4:4. */
void map_row(const mapping *m, uint8_t *const out[3], const uint16_t *const in[3], int width);

#endif
