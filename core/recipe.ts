/** The Debian suite that the toolchain and the sources come from. */
export const DEBIAN = { suite: "trixie", mirror: "http://deb.debian.org/debian" } as const;

/** Debian packages of the toolchain. clang compiles for WASI, so the core needs no JavaScript from a compiler. */
export const TOOLCHAIN = {
  "clang-19": "1:19.1.7-3+b1",
  "libclang-rt-19-dev-wasm32": "1:19.1.7-3",
  "lld-19": "1:19.1.7-3+b1",
  "llvm-19": "1:19.1.7-3+b1",
  "libsimde-dev": "0.8.2-3",
  "wasi-libc": "0.0~git20241209.574b88d-2",
} as const;

/** Tools that configure scripts call; their versions do not affect the core. */
export const HELPERS = ["gcc", "libc6-dev", "make", "pkgconf", "xz-utils"] as const;

/** An archive of third-party source: downloaded at build time, verified, never committed. */
export interface ForeignSource {
  version: string;
  /** Path relative to the mirror. */
  path: string;
  sha256: string;
  license: string;
}

/** ffmpeg 5.1 is the last version whose command-line tool needs no threads, and the version in Debian 12. */
export const SOURCES = {
  x264: {
    version: "0.164.3108",
    path: "pool/main/x/x264/x264_0.164.3108%2bgit31e19f9.orig.tar.gz",
    sha256: "41606cb8e788a7f8c4514290646d4ba5c7bc68d9e1ccd1a73f446a90546913eb",
    license: "GPL-2.0-or-later",
  },
  lame: {
    version: "3.100",
    path: "pool/main/l/lame/lame_3.100.orig.tar.gz",
    sha256: "ddfe36cab873794038ae2c1210557ad34857a4b6bdc515785d1da9e175b1da1e",
    license: "LGPL-2.0-or-later",
  },
  opus: {
    version: "1.5.2",
    path: "pool/main/o/opus/opus_1.5.2.orig.tar.gz",
    sha256: "65c1d2f78b9f2fb20082c38cbe47c951ad5839345876e46941612ee87f9a7ce1",
    license: "BSD-3-Clause",
  },
  libvpx: {
    version: "1.15.0",
    path: "pool/main/libv/libvpx/libvpx_1.15.0.orig.tar.xz",
    sha256: "a6cfd199c5c567cfa4e6d991ec36690d9af801585b5db959c1494b5b15f821a5",
    license: "BSD-3-Clause",
  },
  // Needed for cover art in PNG: muxers ask for its dimensions.
  zlib: {
    version: "1.3.1",
    path: "pool/main/z/zlib/zlib_1.3.dfsg%2breally1.3.1.orig.tar.gz",
    sha256: "60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
    license: "Zlib",
  },
  ffmpeg: {
    version: "5.1.9",
    path: "pool/main/f/ffmpeg/ffmpeg_5.1.9.orig.tar.xz",
    sha256: "d9b593bb2ba93d4b50f74177e0cdcd41747e708596367deed0c30348a71dd176",
    license: "GPL-2.0-or-later",
  },
} as const satisfies Record<string, ForeignSource>;

/** The ffmpeg components in the core, by their names in its `configure`: those that plans for H.264 video, streams and sound use. */
export const PARTS = {
  protocol: ["file"],
  demuxer: [
    ...["aac", "ac3", "aiff", "avi", "eac3", "flac", "flv", "h264", "hevc", "matroska", "mov", "mp3"],
    ...["mpegps", "mpegts", "mpegvideo", "ogg", "rawvideo", "wav"],
  ],
  parser: [
    ...["aac", "aac_latm", "ac3", "flac", "h264", "hevc", "mpeg4video", "mpegaudio", "mpegvideo", "opus"],
    ...["vorbis", "vp8", "vp9"],
  ],
  decoder: [
    ...[
      "aac",
      "aac_latm",
      "ac3",
      "alac",
      "eac3",
      "flac",
      "h264",
      "hevc",
      "mjpeg",
      "mp2float",
      "mp3float",
      "mpeg1video",
    ],
    ...["mpeg2video", "mpeg4", "opus", "pcm_f32le", "pcm_s16be", "pcm_s16le", "pcm_s24be", "pcm_s24le"],
    ...["pcm_s32le", "pcm_u8", "png", "rawvideo", "vorbis", "vp8", "vp9"],
  ],
  encoder: ["aac", "flac", "libmp3lame", "libopus", "libx264", "pcm_s16le"],
  muxer: [
    "adts",
    "flac",
    "framecrc",
    "hls",
    "ipod",
    "matroska",
    "mov",
    "mp3",
    "mp4",
    "mpegts",
    "null",
    "ogg",
    "opus",
    "wav",
    "webm",
  ],
  bsf: [
    ...["aac_adtstoasc", "extract_extradata", "h264_metadata", "h264_mp4toannexb", "hevc_mp4toannexb"],
    ...["mpeg4_unpack_bframes", "null", "setts", "vp9_superframe", "vp9_superframe_split"],
  ],
  filter: [
    ...[
      "aformat",
      "afade",
      "alimiter",
      "anull",
      "apad",
      "aresample",
      "asetpts",
      "asplit",
      "atrim",
      "color",
      "concat",
      "crop",
      "ebur128",
      "format",
      "fps",
    ],
    ...[
      "hflip",
      "metadata",
      "null",
      "nullsink",
      "overlay",
      "pad",
      "premultiply",
      "scale",
      "setparams",
      "setpts",
    ],
    ...["setsar", "settb", "split", "tpad", "transpose", "trim", "vflip", "volume", "yadif"],
  ],
} as const;

/** The components of the second core, which makes only VP9: a page loads it only for a WebM. */
export const VP9_PARTS = {
  ...PARTS,
  encoder: ["libopus", "libvpx_vp9", "pcm_s16le"],
  muxer: ["framecrc", "matroska", "null", "webm"],
} as const;
