/* Declarations shared by the checks of the x264 kernels. */
#ifndef CORE_X264_CHECK_H
#define CORE_X264_CHECK_H

#include "check/check.h"
#include "common/common.h"

void check_pixel(void);
void check_mc(void);
void check_predict(void);
void check_dct(void);
void check_quant(void);
void check_deblock(void);

#endif
