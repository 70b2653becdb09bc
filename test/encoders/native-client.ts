import type { ChunkJob } from "../../src/encoders/encoder.ts";
import { createNativeEncoder, type NativeEncoderOptions } from "../../src/encoders/native/native.ts";
import type { NativeState } from "../../src/encoders/native/native-wire.ts";
import type { Source } from "../../src/media/source.ts";
import { atEndOfFile } from "../fixtures/end-of-file.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { type Script, type ScriptedNative, startScripted } from "./scripted-native.ts";

/** Starts a scripted encoder that is closed at the end of the test file. */
export async function encoder(name: string, script?: Script): Promise<ScriptedNative> {
  const started = await startScripted(name, script);
  atEndOfFile(() => started.close());
  return started;
}

/** The source of every job. */
export const SOURCE: Source = {
  ...{
    object: "source",
    url: "file:clip",
    kind: "video",
    format: "mp4",
    duration: 10,
    fps: 25,
    filesize: 5000,
  },
  ...{ width: 640, height: 360, coded_width: 640, coded_height: 360 },
  codecs: { video: "h264", audio: null },
};
/** A plan with one chunk. */
export const PLAN = createPlan(SOURCE, "video", { codec: "h265" });
/** Short timeouts. */
export const QUICK = {
  ...{
    startMs: 400,
    pollMs: 200,
    answerMs: 200,
    restartMs: 300,
    awayMs: 300,
    queueMs: 100,
    busyMs: 20,
    busyMostMs: 50,
    endMs: 1200,
  },
};

/** Returns a job for a remote encoder. */
export function job(more: Partial<ChunkJob> = {}): ChunkJob {
  const [chunk] = PLAN.chunks;
  if (!chunk) throw new Error("the plan has no chunk");
  return {
    ...{ plan: PLAN, source: SOURCE, chunk, signal: new AbortController().signal, id: "run_1-0" },
    input: { size: 5000, read: async () => new Uint8Array(0) },
    remote: async () => ({
      input: { url: "http://service/in", size: 5000, etag: "v1" },
      folder: "http://service/out/",
      name: "out.mp4",
    }),
    ...more,
  };
}

/** Creates a client with short timeouts. */
export function client(
  instances: NativeEncoderOptions["instances"],
  more: Partial<NativeEncoderOptions> = {},
) {
  return createNativeEncoder({ instances, timeouts: QUICK, ...more });
}

/** The result of a job that ends with `DONE`. */
export const WRITTEN = { written: [{ name: "out.mp4", mime: "video/mp4", size: 1234 }], playlists: [] };
/** The state of a job in progress. */
export const running = (share: number): NativeState => ({ state: "running", share, speed: 2 });
/** Counts the jobs sent to each encoder. */
export const posts = (...encoders: ScriptedNative[]) =>
  encoders.map(({ log }) => log.filter((line) => line.startsWith("POST /jobs")).length);
