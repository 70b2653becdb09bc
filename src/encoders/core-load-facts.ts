/** One file of the stock core, as it is once unpacked. */
export interface CoreFile {
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of these bytes, in hex. */
  readonly sha256: string;
}

/** The files of `@ffmpeg/core` 0.12.10 (single thread, ESM) that a page loads; a test reads them back from the package. */
export const CORE_FILES = {
  glue: { size: 111_804, sha256: "67a48f11645f85439f3fde4f2119042c16b374b910206b7a7a24f342e28dcae3" },
  wasm: { size: 32_232_419, sha256: "9f57947a5bd530d8f00c5b3f2cb2a3492faa7e5d823315342d6a8656d0a6b7b7" },
} as const satisfies Record<string, CoreFile>;
