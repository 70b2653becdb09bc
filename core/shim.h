// Included before every source file of ffmpeg; declares a function of shim.c that wasi-libc's headers lack.
#ifndef __ASSEMBLER__
char *tempnam(const char *folder, const char *prefix);
#endif
