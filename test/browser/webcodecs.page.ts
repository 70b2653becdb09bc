import type { EncodedFile, Encoder } from "../../src/encoders/encoder.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import type { Chunk, Plan } from "../../src/media/index.ts";
import type { RefusalReason } from "../../src/media/refusal.ts";
import type { Source } from "../../src/media/source.ts";
import { createBlobReader } from "../../src/storage/readers.ts";

/** A request to the worker. */
export interface WebCodecsWish {
  plan: Plan;
  chunks: Chunk[];
  source: Source;
  /** URL of the source. */
  input: string;
  /** URL of the sound, encoded beforehand; null for none. */
  sound: string | null;
  /** Progress of a chunk at which the work is aborted, 0 to 1. */
  abort_at?: number;
  /** Changes the file after it is chosen. */
  changed?: boolean;
}

/** The worker's answer. */
export interface WebCodecsAnswer {
  refusal: RefusalReason | null;
  /** The file of each chunk, as base64. */
  files: string[];
  shares: number[];
  /** Milliseconds of the encode, even of one that failed, and from the abort to its end. */
  ms: number;
  abort_ms: number | null;
  /** Frames created but not closed. */
  open_frames: number;
  error: { kind?: string; name: string; message: string } | null;
}

// Counts every frame that this worker creates or gets from a decoder.
let open = 0;
const { close, clone } = VideoFrame.prototype;
const closed = new WeakSet<VideoFrame>();
VideoFrame.prototype.close = function (this: VideoFrame) {
  if (!closed.has(this)) open--;
  closed.add(this);
  close.call(this);
};
VideoFrame.prototype.clone = function (this: VideoFrame) {
  open++;
  return clone.call(this);
};
globalThis.VideoFrame = new Proxy(VideoFrame, {
  construct(target, args) {
    open++;
    return Reflect.construct(target, args);
  },
});
globalThis.VideoDecoder = new Proxy(VideoDecoder, {
  construct(target, [init]: [VideoDecoderInit]) {
    const output = (frame: VideoFrame) => {
      open++;
      init.output(frame);
    };
    return Reflect.construct(target, [{ ...init, output }]);
  },
});

async function soundFrom(url: string): Promise<Encoder> {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  return {
    name: "made before",
    refuse: () => null,
    encode: async () => [{ name: "audio.mp4", mime: "audio/mp4", bytes }],
  };
}

async function bytesOf(output: Awaited<ReturnType<Encoder["encode"]>>): Promise<Uint8Array> {
  if (output instanceof ReadableStream) return new Uint8Array(await new Response(output).arrayBuffer());
  const [file] = output as EncodedFile[];
  if (!file) throw new Error("Nothing came out.");
  return file.bytes;
}

async function changedFile(blob: Blob): Promise<File> {
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle("changed", { create: true });
  const write = async (content: Blob) => {
    const writable = await handle.createWritable();
    await writable.write(content);
    await writable.close();
  };
  await write(blob);
  const file = await handle.getFile();
  await write(new Blob([blob, "more"]));
  return file;
}

addEventListener("message", async ({ data }: MessageEvent<WebCodecsWish>) => {
  const { plan, chunks, source } = data;
  const stop = new AbortController();
  let aborted: number | null = null;
  let from = performance.now();
  const answer: WebCodecsAnswer = {
    ...{ refusal: null, files: [], shares: [], ms: 0, abort_ms: null, open_frames: 0, error: null },
  };
  try {
    const blob = await (await fetch(data.input)).blob();
    const input = createBlobReader(data.changed ? await changedFile(blob) : blob);
    const encoder = createWebCodecsEncoder({ sound: data.sound ? await soundFrom(data.sound) : null });
    await encoder.prepare(plan, source);
    answer.refusal = encoder.refuse(plan, source);
    from = performance.now();
    for (const chunk of answer.refusal === null ? chunks : []) {
      const onProgress = (share: number) => {
        answer.shares.push(share);
        if (data.abort_at === undefined || share < data.abort_at || aborted !== null) return;
        aborted = performance.now();
        stop.abort(new Error("the test has enough"));
      };
      const encoded = await encoder.encode({ plan, chunk, source, input, signal: stop.signal, onProgress });
      answer.files.push(((await bytesOf(encoded)) as Uint8Array & { toBase64(): string }).toBase64());
    }
  } catch (thrown) {
    const { name, message } = thrown as Error;
    answer.error = {
      name,
      message,
      ...("kind" in (thrown as Error) && { kind: String(Reflect.get(thrown as Error, "kind")) }),
    };
  }
  answer.ms = performance.now() - from;
  if (aborted !== null) answer.abort_ms = performance.now() - aborted;
  // Frames still in the decoder are closed once its work has settled.
  for (let turn = 0; turn < 50 && open > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 20));
  answer.open_frames = open;
  postMessage(answer);
});
