// Functions that the libraries call and that wasi-libc lacks or implements differently.
#include <stdint.h>
#include <stdlib.h>

#define PAGE 65536

// Grows the memory, or throws an exception out of the core if the host allows no more. Much of the C code
// does not handle a failed malloc correctly: a decoder, for example, drops the picture and continues.
__attribute__((import_module("framewright"), import_name("grow"))) void grow(size_t pages);

// The end of the core's initial memory, where sbrk starts. If an earlier run has grown the memory, sbrk uses
// that part before it grows the memory again.
extern char __heap_end;

// Replaces wasi-libc's sbrk. malloc only asks for whole pages.
void *sbrk(intptr_t increment) {
    static char *end = &__heap_end;
    char *before = end;
    end += increment;
    size_t size = __builtin_wasm_memory_size(0) * PAGE;
    if ((size_t)end > size) grow(((size_t)end - size) / PAGE);
    return before;
}

// x264 allocates its aligned memory with this function.
void *memalign(size_t alignment, size_t size) {
    void *block;
    return posix_memalign(&block, alignment, size) ? NULL : block;
}

// ffmpeg calls this only in features that the core leaves out.
char *tempnam(const char *folder, const char *prefix) {
    (void)folder;
    (void)prefix;
    return NULL;
}
