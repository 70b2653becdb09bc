/** Bytes of a kibibyte. */
export const KIB = 2 ** 10;
/** Bytes of a mebibyte. */
export const MIB = 2 ** 20;
/** Bytes of a gibibyte. */
export const GIB = 2 ** 30;
