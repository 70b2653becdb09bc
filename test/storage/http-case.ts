import type { Origin } from "../fixtures/origin.ts";
import { noise, type VirtualFile, virtualFile } from "../fixtures/virtual-file.ts";
import type { HttpOperation, HttpOutcome } from "./http-operations.ts";

/** Runs an operation on some platform. */
export type Run = (operation: HttpOperation) => Promise<HttpOutcome>;

/** A case: serves something at the origin, fetches it, and checks the outcome and the origin's log. */
export interface HttpCase {
  name: string;
  judge(origin: Origin, run: Run): Promise<void>;
}

export const MB = 1024 * 1024;
/** Streams the whole file. */
export const stream = { kind: "stream" } as const;
/** Opens the file and no more. */
export const open = { kind: "open" } as const;

/** A file of this many random-looking bytes. */
export function file(size: number): VirtualFile {
  return virtualFile([noise(size)]);
}
