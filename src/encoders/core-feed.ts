import type { CoreFileSystem, CoreImports } from "./core-module.ts";
import { CORE_NAMES } from "./core-module.ts";

/** Bytes that come while a run reads them, once, from the front to the end. */
export interface Feed {
  /** Null when {@link Feed.take} has something to give or the end has come; else resolves when that is so. Never rejects. */
  wait(): Promise<void> | null;
  /** Gives the next bytes, `most` at the most; none at the end, or when it would have to be waited for. */
  take(most: number): Uint8Array;
}

// What this browser may have of the JavaScript Promise Integration of WebAssembly.
interface Waiting {
  Suspending?: new (call: (...args: number[]) => unknown) => (...args: number[]) => unknown;
  promising?: (call: unknown) => (...args: number[]) => Promise<unknown>;
}

const waiting = WebAssembly as Waiting;

/** Tells whether wasm can wait for promises here. */
export function canWait(): boolean {
  return waiting.Suspending !== undefined && waiting.promising !== undefined;
}

/** Makes the reads of an instance wait for what they give; from then on its exports must be called by {@link callWaiting}. */
export function letReadsWait(imports: CoreImports): void {
  const { Suspending } = waiting;
  for (const group of Object.values(imports)) {
    const read = group[CORE_NAMES.imports.read];
    if (read && Suspending) group[CORE_NAMES.imports.read] = new Suspending(read);
  }
}

/** Calls an export of an instance whose reads may wait; rejects with what it throws. */
export async function callWaiting(called: unknown, ...args: number[]): Promise<unknown> {
  if (!waiting.promising) throw new RangeError("This browser's wasm cannot wait.");
  return waiting.promising(called)(...args);
}

/** Puts what a feed is waited for in front of each read of a job. */
export function awaitFeed(imports: CoreImports, feed: () => Feed | null): void {
  for (const group of Object.values(imports)) {
    const read = group[CORE_NAMES.imports.read];
    if (!read) continue;
    group[CORE_NAMES.imports.read] = (...args) => {
      const wait = feed()?.wait();
      return wait ? wait.then(() => read(...args)) : read(...args);
    };
  }
}

/** Makes the bytes of a feed readable in a core under a path such as `/in/input`, in a folder of its own; ffmpeg must not seek in it. */
export function mountFeed(files: CoreFileSystem, path: string, feed: Feed): void {
  const cut = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, cut), path.slice(cut + 1)];
  const { WORKERFS } = files.filesystems;
  WORKERFS.reader = { readAsArrayBuffer: (slice: { read(): Uint8Array }) => slice.read() };
  let at = 0;
  const slice = (start: number, end: number) => {
    if (start !== at) throw new RangeError("A feed is read from the front to the end.");
    const bytes = feed.take(end - start);
    at += bytes.length;
    return { size: bytes.length, read: () => bytes };
  };
  files.mkdir(folder);
  files.mount(WORKERFS, { blobs: [{ name, data: { size: ENDLESS, slice } }] }, folder);
}

// Nobody knows how much comes; a read that gets nothing finds the end.
const ENDLESS = 2 ** 40;
