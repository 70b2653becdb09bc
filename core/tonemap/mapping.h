/* Maps rows of HDR pictures to SDR. */
#ifndef CORE_TONEMAP_MAPPING_H
#define CORE_TONEMAP_MAPPING_H

#include "libavutil/pixfmt.h"
#include <stdint.h>

/* The lookup table covers R'G'B' up to 1.5: values above 1 are highlights beyond nominal
 * white, which cameras record. */
#define STEPS_TO_ONE 16384
#define LINEAR_STEPS (STEPS_TO_ONE * 3 / 2)

/* The parameters that all rows share. Light of 1 is SDR white, 100 cd/m². */
typedef struct {
    float red_of_v, green_of_u, green_of_v, blue_of_u;
    float linear[LINEAR_STEPS];
    float gamut[3][3]; /* from the source's primaries to BT.709's */
    float brightest;   /* the curve's value at the peak */
} mapping;

/* Returns a negative number if the colors are not supported. */
int set_mapping(mapping *m, enum AVColorPrimaries primaries, enum AVColorTransferCharacteristic transfer,
                enum AVColorSpace matrix);

/* `peak` is the brightest light that the picture shows. */
void set_peak(mapping *m, double peak);

/* Maps a row of 10-bit Y, U and V to 8-bit BT.709; both are 4:4:4 and have limited range. */
void map_row(const mapping *m, uint8_t *const out[3], const uint16_t *const in[3], int width);

#endif
