// Included before every file of ffmpeg: declares what shim.c defines.
#ifndef __ASSEMBLER__
char *tempnam(const char *folder, const char *prefix);
#endif
