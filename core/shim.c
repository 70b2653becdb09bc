// What the libraries call and wasi-libc lacks, or does otherwise.
#include <stdint.h>
#include <stdlib.h>

#define PAGE 65536

// Throws out of the core. Much of the C code does not survive a failed malloc: a decoder drops the picture and goes on.
__attribute__((import_module("framewright"), import_name("out_of_memory"))) _Noreturn void out_of_memory(void);

// Stands in for wasi-libc's, which returns an error that malloc passes on. malloc asks for whole pages alone.
void *sbrk(intptr_t increment) {
    if (increment == 0) return (void *)(__builtin_wasm_memory_size(0) * PAGE);
    size_t pages = __builtin_wasm_memory_grow(0, (size_t)increment / PAGE);
    if (pages == SIZE_MAX) out_of_memory();
    return (void *)(pages * PAGE);
}

// x264 aligns its frames.
void *memalign(size_t alignment, size_t size) {
    void *block;
    return posix_memalign(&block, alignment, size) ? NULL : block;
}

// ffmpeg asks for a temporary file in features that the core leaves out.
char *tempnam(const char *folder, const char *prefix) {
    (void)folder;
    (void)prefix;
    return NULL;
}
