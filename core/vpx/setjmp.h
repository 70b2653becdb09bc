/* Replaces the system's setjmp.h, which needs wasm exceptions. libvpx jumps only when it gives up,
 * so longjmp ends the run. */
#ifndef CORE_VPX_SETJMP_H
#define CORE_VPX_SETJMP_H

#include <stdlib.h>

typedef int jmp_buf[1];
#define setjmp(buffer) ((void)(buffer), 0)
#define longjmp(buffer, value) abort()

#endif
