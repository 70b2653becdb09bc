/* The parts of swscale's check. */
#ifndef CORE_CHECK_SWSCALE_H
#define CORE_CHECK_SWSCALE_H

void check_unscaled(void);

#endif
