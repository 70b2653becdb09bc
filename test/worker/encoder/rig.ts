import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createTestHarness } from "wrangler";
import type { EncodedFile } from "../../../src/encoders/encoder.ts";
import { createLightEncoder, type LightEncoderOptions } from "../../../src/encoders/light/light.ts";
import { parseFfprobe } from "../../../src/media/ffmpeg/ffprobe.ts";
import type { EncodeKind } from "../../../src/media/formats.ts";
import { type ChunkHints, createPlan } from "../../../src/media/index.ts";
import type { Source } from "../../../src/media/source.ts";
import type { ByteReader } from "../../../src/runs/ports.ts";
import { diskFile, type VirtualFile } from "../../fixtures/virtual-file.ts";

/** A reader that counts the bytes read through it. */
interface CountingReader extends ByteReader {
  readonly bytes: number;
  readonly reads: number;
}

/** Opens a file, on disk or virtual, for random access. */
export function openReader(file: string | VirtualFile): CountingReader {
  const { size, read } = typeof file === "string" ? diskFile(file) : file;
  let bytes = 0;
  let reads = 0;
  return {
    size,
    get bytes() {
      return bytes;
    },
    get reads() {
      return reads;
    },
    async read({ start, end }) {
      const stop = Math.min(end, size);
      reads++;
      bytes += stop - start;
      return Buffer.concat([...read(start, stop)]);
    },
  };
}

/** The light encoder in its own workerd. */
export async function startEncoder(limits: LightEncoderOptions["limits"] = {}) {
  const server = createTestHarness({ workers: [{ configPath: "./worker/encoder/wrangler.toml" }] });
  await server.listen();
  const folder = await mkdtemp(join(tmpdir(), "framewright-light-"));
  const send = (url: string, init: RequestInit) =>
    server.fetch(url, init as never) as unknown as Promise<Response>;
  const light = createLightEncoder({ fetch: send, limits });
  const signal = () => AbortSignal.timeout(120_000);

  async function probe(file: string | VirtualFile) {
    const reader = openReader(file);
    const report = await light.probe(reader, signal());
    return { source: parseFfprobe(report, { url: "file:clip", filesize: reader.size }), reader };
  }

  /** Probes, plans and encodes every chunk; returns the files of each. */
  async function encode(
    file: string | VirtualFile,
    kind: EncodeKind,
    options: Record<string, unknown>,
    hints: ChunkHints = {},
  ) {
    const { source } = await probe(file);
    const plan = createPlan(source, kind, options, hints);
    const reader = openReader(file);
    const chunks: EncodedFile[][] = [];
    for (const chunk of plan.chunks) {
      chunks.push(await light.encode({ plan, chunk, source, input: reader, signal: signal() }));
    }
    return { source, plan, reader, chunks };
  }

  let saved = 0;
  /** Writes files to a new folder and returns the path of the last. */
  async function save(files: readonly EncodedFile[]): Promise<string> {
    const place = join(folder, String(saved++));
    let path = place;
    for (const file of files) {
      path = join(place, file.name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, file.bytes);
    }
    return path;
  }

  return {
    server,
    light,
    send,
    probe,
    encode,
    save,
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type EncoderRig = Awaited<ReturnType<typeof startEncoder>>;

/** A source as a probe returns it, with the given properties. */
export function sourceOf(facts: Partial<Source>): Source {
  return { object: "source", url: "file:clip", kind: "video", format: "mp4", ...facts };
}
