import { drawSvg } from "../../src/browser/draw-svg.ts";
import { createLocalEncoders } from "../../src/browser/encoders/local-encoders.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { Source } from "../../src/media/source.ts";
import type { Durably } from "../../src/runs/ports.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createBlobReader } from "../../src/storage/readers.ts";
import { readAll } from "../../src/storage/storage.ts";
import { CORE } from "./client-core.ts";
import { MT_CORE } from "./pool-mt.page.ts";

/** One encode by one encoder of the page. */
export interface Cell<K extends EncodeKind = EncodeKind> {
  encoder: string;
  /** URL of the input. */
  clip: string;
  source: Source;
  kind: K;
  options: OptionsOf<K>;
  /** Seconds of a chunk; by default there is one chunk. */
  chunk_seconds?: number;
  /** Extra inputs: their URLs and what the probe says about them. */
  extra?: { clip: string; source: Source }[];
}

/** Why the encoder refused, or its files as base64, with the name of the one to open. */
export type CellAnswer = { refusal: string } | { main: string; files: { name: string; base64: string }[] };

let encoders: ReturnType<typeof createLocalEncoders> | undefined;

/** The encoders of a local client in this page, in its order. */
function openEncoders() {
  encoders ??= createLocalEncoders(
    { prefer: "quality", encoderWorkers: 2, core: CORE, threadedCore: MT_CORE, avif: null },
    async (file, size) => {
      const { result, error } = await drawSvg(file, size);
      if (error) throw new Error(error.message);
      return result;
    },
  );
  return encoders;
}

export function encoderNames(): string[] {
  return openEncoders().ordered.map(({ name }) => name);
}

/** Encodes with one encoder, unless it refuses. */
export async function fillCell(cell: Cell): Promise<CellAnswer> {
  const { encoder: name, clip, source, kind, options, chunk_seconds, extra = [] } = cell;
  const encoder = openEncoders().ordered.find((each) => each.name === name);
  if (!encoder) throw new Error(`There is no ${name}.`);
  const plan = createPlan(source, kind, options, {
    chunk_seconds,
    extra: extra.map((each) => each.source),
  });
  await encoder.prepare?.(plan, source);
  const refusal = encoder.refuse(plan, source);
  if (refusal !== null) return { refusal: refusal.code };
  const open = async (url: string) => createBlobReader(await (await fetch(url)).blob());
  const input = await open(clip);
  const storage = createMemoryStorage();
  const keys: string[] = [];
  const { key } = await runEncode({
    ...{ id: "run", plan, source, encoder, work: "work/", out: "out/", name: "file", max_in_flight: 1 },
    input: async () => input,
    extra: () => Promise.all(extra.map((each) => open(each.clip))),
    storage: {
      ...storage,
      write(at, body, mime) {
        if (at.startsWith("out/")) keys.push(at);
        return storage.write(at, body, mime);
      },
    },
    durably: runOnce,
    async progress() {},
  });
  const files = keys.map(async (at) => {
    const stored = await storage.read(at);
    if (!stored) throw new Error(`${at} is not there.`);
    return { name: at.slice("out/".length), base64: await toBase64(await readAll(stored.body)) };
  });
  return { main: key.slice("out/".length), files: await Promise.all(files) };
}

const runOnce: Durably = (_name, work) => work(new AbortController().signal);

function toBase64(bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^.*,/, ""));
    reader.readAsDataURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  });
}
