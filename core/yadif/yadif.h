/* Declarations shared by yadif's kernel and its check. */
#ifndef CORE_YADIF_H
#define CORE_YADIF_H

#include "libavfilter/yadif.h"

/* Installs the kernel if samples have 8 bits. */
void simd_set_yadif(YADIFContext *yadif);

#endif
