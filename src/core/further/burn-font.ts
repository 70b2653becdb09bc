/** The font that burnt-in subtitles are drawn with, the same on every host: `DejaVuSans.ttf` of DejaVu 2.37. A test checks it against the package. */
export const BURN_FONT = {
  family: "DejaVu Sans",
  /** Bytes. */
  size: 757_076,
  /** SHA-256 in hex. */
  sha256: "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954",
} as const;
