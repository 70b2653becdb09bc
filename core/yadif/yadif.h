/* What the kernel of yadif and its check share. */
#ifndef CORE_YADIF_H
#define CORE_YADIF_H

#include "libavfilter/yadif.h"

/* Puts the kernel in where samples have 8 bits. */
void simd_set_yadif(YADIFContext *yadif);

#endif
