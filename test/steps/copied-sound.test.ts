import { expect, test } from "vitest";
import type { EncodeRequest } from "../../src/media/options.ts";
import type { Plan } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import type { InputEncode } from "../../src/runs/steps/decide-encode.ts";
import { encodeAnyInput } from "../../src/runs/steps/decoded-sound.ts";
import { audioSource } from "../plan/source.ts";

const context = {
  run_id: "run",
  progress: async () => {},
  reportChoice: async () => {},
  durably: <T>(_: string, work: (signal: AbortSignal) => Promise<T>) => work(AbortSignal.timeout(5000)),
};

/** Starts an encode of sound that changes midway; returns the plan that decodes it first, or else the request to decide. */
async function firstWork(source: Source, request: EncodeRequest): Promise<Plan | EncodeRequest | undefined> {
  const work: (Plan | EncodeRequest)[] = [];
  const encode: InputEncode = {
    ...{ key: "in", source, extra: [], id: "run-encode", out: "out/", name: "sound", request },
    async decide(_, first) {
      work.push(first);
      throw new Error("The request is decided.");
    },
  };
  const offers = async (plan: Plan) => {
    work.push(plan);
    return [];
  };
  const tools = { offers, encoders: [], shared: null };
  await expect(encodeAnyInput(tools as never, encode, context as never)).rejects.toThrow();
  return work[0];
}

test("sound to copy is never decoded first", async () => {
  const source = audioSource({ format: "aac", codecs: { video: null, audio: "aac" }, edited: true });
  const copy = { kind: "audio", options: { mode: "copy" } } as const;
  expect(await firstWork(source, copy)).toBe(copy);
});

const SEVERAL = audioSource({
  ...{ format: "ogg", edited: true, restarted: true, codecs: { video: null, audio: "vorbis" } },
  ...{ duration: 4, audio: { channels: 2, sample_rate: 48_000 } },
  streams: [0, 1].map((index) => ({ index, kind: "audio", codec: "vorbis" })),
});

test("sound that changes midway is decoded from the track that the request selects", async () => {
  const request = { kind: "audio", options: { format: "flac", track: 1 } } as const;
  expect(await firstWork(SEVERAL, request)).toMatchObject({ format: "wav", sound_track: 1 });
});

test("adaptive video keeps all of several sound tracks that change midway", async () => {
  const stream = { kind: "adaptive_video", options: { format: "hls" } } as const;
  expect(await firstWork(SEVERAL, stream)).toBe(stream);
});
