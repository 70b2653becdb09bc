/* Checks all x264 kernels. */
#include "check_x264.h"

void check_x264(void) {
    check_pixel();
    check_mc();
    check_predict();
    check_dct();
    check_quant();
    check_deblock();
}
