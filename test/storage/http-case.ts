import type { Origin } from "../fixtures/origin.ts";
import { noise, type VirtualFile, virtualFile } from "../fixtures/virtual-file.ts";
import type { HttpOperation, HttpOutcome } from "./http-operations.ts";

/** Has an operation carried out, on one platform or another. */
export type Run = (operation: HttpOperation) => Promise<HttpOutcome>;

/** A case: serves something at the origin, has it fetched, and judges the outcome and the origin's log. */
export interface HttpCase {
  name: string;
  judge(origin: Origin, run: Run): Promise<void>;
}

/** Bytes in a mebibyte. */
export const MB = 1024 * 1024;
/** Has the whole file streamed. */
export const stream = { kind: "stream" } as const;
/** Has the file opened and no more. */
export const open = { kind: "open" } as const;

/** A file of so many bytes that look random. */
export function file(size: number): VirtualFile {
  return virtualFile([noise(size)]);
}
