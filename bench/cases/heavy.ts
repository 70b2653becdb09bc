import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import { serveFile } from "../../worker/local/demo-files.ts";
import type { Footage } from "../footage.ts";
import { type Lab, openLab } from "../lab.ts";

/** A service with native encoders that already stores a clip, so that its encodes start at once. */
export interface Heavy {
  lab: Lab;
  /** The clip, as ingested. */
  source: Source;
  /** Runs an encode step; returns its output and the seconds from its creation to its end. */
  encode<K extends EncodeKind>(kind: K, options: OptionsOf<K>): Promise<Encoded>;
  /**
   * Measures the seconds that it takes to read the clip from the service and to store the output: moving the bytes, without
   * any other work.
   */
  timeBytes(output: Source): Promise<number>;
  save(output: Source, name: string): Promise<string>;
}

export interface Encoded {
  output: Source;
  seconds: number;
}

// Often enough, because the step itself records when it ended.
const ASK_MS = 1000;

/** Starts the service with a number of native encoders and ingests a clip. */
export async function openHeavy(
  footage: Pick<Footage, "path">,
  ends: AsyncDisposableStack,
  native: number,
): Promise<Heavy> {
  const lab = await openLab(ends, native);
  const file = await serveFile(footage.path);
  ends.defer(() => file.close());
  const ingest = async (url: string) => (await lab.runStep({ kind: "ingest", input: { url } })).output;
  const source = await ingest(file.url);
  if (!source) throw new Error("The clip was not ingested.");
  return {
    lab,
    source,
    async encode(kind, options) {
      const { output, created_at, finished_at } = await lab.runStep({ kind, input: source, options }, ASK_MS);
      if (!output || !finished_at) throw new Error("The step returned nothing.");
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

/** Returns the encoder and the reason on an output, for the notes. */
export function describeChoice({ encoder, reason }: Source): string {
  return `${encoder}: ${reason}`;
}
