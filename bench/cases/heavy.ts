import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EncodeKind } from "../../src/core/formats.ts";
import type { OptionsOf } from "../../src/core/options.ts";
import type { Source } from "../../src/core/source.ts";
import { serveFile } from "../../worker/local/file-server.ts";
import type { Footage } from "../footage.ts";
import { type Lab, openLab } from "../lab.ts";

/** A service with native encoders that holds a clip already, so that its encodes begin at once. */
export interface Heavy {
  lab: Lab;
  /** The clip, as its ingest gave it. */
  source: Source;
  /** Runs an encode step; gives its output and the seconds from its creation to its end. */
  encode<K extends EncodeKind>(kind: K, options: OptionsOf<K>): Promise<Encoded>;
  /** Seconds that it takes to read the clip from the service and to have the output stored: moving the bytes, without any work on them. */
  timeBytes(output: Source): Promise<number>;
  /** Fetches an output into a file. */
  save(output: Source, name: string): Promise<string>;
}

/** What an encode step gave. */
export interface Encoded {
  output: Source;
  seconds: number;
}

// Often enough for whoever waits; when a step has ended, it says itself.
const ASK_MS = 1000;

/** Starts the service with so many native encoders and takes a clip in. */
export async function openHeavy(
  footage: Footage,
  ends: AsyncDisposableStack,
  native: number,
): Promise<Heavy> {
  const lab = await openLab(ends, native);
  const file = await serveFile(footage.path);
  ends.defer(() => file.close());
  const ingest = async (url: string) => (await lab.runStep({ kind: "ingest", input: { url } })).output;
  const source = await ingest(file.url);
  if (!source) throw new Error("The clip was not taken in.");
  return {
    lab,
    source,
    async encode(kind, options) {
      const { output, created_at, finished_at } = await lab.runStep({ kind, input: source, options }, ASK_MS);
      if (!output || !finished_at) throw new Error("The step gave nothing.");
      return { output, seconds: (finished_at - created_at) / 1000 };
    },
    async timeBytes(output) {
      const started = performance.now();
      await (await fetch(source.url)).arrayBuffer();
      if (output.kind !== "adaptive_video") await ingest(output.url);
      return (performance.now() - started) / 1000;
    },
    async save(output, name) {
      const path = join(lab.dir, name);
      await writeFile(path, new Uint8Array(await (await fetch(output.url)).arrayBuffer()));
      return path;
    },
  };
}

/** The encoder and the reason on an output, for the notes. */
export function wayOf({ encoder, reason }: Source): string {
  return `${encoder}: ${reason}`;
}
