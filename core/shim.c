// What the libraries call and wasi-libc lacks, or does otherwise.
#include <stdint.h>
#include <stdlib.h>

#define PAGE 65536

// Grows the memory, or throws out of the core where the host allows no more. Much of the C code does not survive a failed malloc: a
// decoder drops the picture and goes on.
__attribute__((import_module("framewright"), import_name("grow"))) void grow(size_t pages);

// The end of the memory that the core starts with. A memory that an earlier run has grown is larger, and used before it grows again.
extern char __heap_end;

// Stands in for wasi-libc's. malloc asks for whole pages alone.
void *sbrk(intptr_t increment) {
    static char *end = &__heap_end;
    char *before = end;
    end += increment;
    size_t size = __builtin_wasm_memory_size(0) * PAGE;
    if ((size_t)end > size) grow(((size_t)end - size) / PAGE);
    return before;
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
