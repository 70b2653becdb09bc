/* Declares the part of swscale's check that is in a file of its own. */
#ifndef CORE_CHECK_SWSCALE_H
#define CORE_CHECK_SWSCALE_H

void check_unscaled(void);

#endif
