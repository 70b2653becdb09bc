/** One file of a core, uncompressed. */
export interface CoreFile {
  readonly size: number;
  /** SHA-256 of the uncompressed file, in hex. */
  readonly sha256: string;
}

/** The files of `@ffmpeg/core` 0.12.10 (single-threaded, ESM). A test checks them against the package. */
export const CORE_FILES = {
  glue: { size: 111_804, sha256: "67a48f11645f85439f3fde4f2119042c16b374b910206b7a7a24f342e28dcae3" },
  wasm: { size: 32_232_419, sha256: "9f57947a5bd530d8f00c5b3f2cb2a3492faa7e5d823315342d6a8656d0a6b7b7" },
} as const satisfies Record<string, CoreFile>;

/** This project's own core, as `npm run core:build` builds it from core/; a test checks it against the build. */
export const FAST_CORE_FILES = {
  wasm: { size: 7_582_831, sha256: "8dab1c4708cae566cdec886e4c6c9bffbe6e444c687f0cd12fe4883bcb6fbc54" },
} as const satisfies Record<string, CoreFile>;

/** This project's own core for VP9, from the same build; a test checks it. */
export const VP9_CORE_FILES = {
  wasm: { size: 7_262_492, sha256: "fa47bf3ef35a39cd4e5921c5930d0c1322cef64fdff77530f2fbdee64e1e2c3a" },
} as const satisfies Record<string, CoreFile>;

/** The files of `@ffmpeg/core-mt` 0.12.10 (multi-threaded, ESM); each thread loads `threads`. */
export const CORE_MT_FILES = {
  glue: { size: 128_947, sha256: "270a2e6ff945e173238610669a3f7132df5f9c52698a9bf708cf5c2ab6bda0de" },
  threads: { size: 2115, sha256: "f77898d631dc010b45c29c23cb4379c611a7d7b131bf591d08a656bb729a4ca3" },
  wasm: { size: 32_718_323, sha256: "be2c97605366b78f3f13e21b52e81a55a79e1f29c133b03a68ec187b1a2ec41a" },
} as const satisfies Record<string, CoreFile>;
