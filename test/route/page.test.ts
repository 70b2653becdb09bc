import { expect, test } from "vitest";
import { type LocalEncoder, localOffers } from "../../src/browser/encoders/local-offers.ts";
import type { RefusalReason } from "../../src/media/refusal.ts";
import { decide } from "../../src/media/route.ts";
import { describeDecision } from "../../src/media/words.ts";
import { videoSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

interface EncoderOptions {
  workers?: number;
  seconds?: number | null;
  refusal?: RefusalReason;
}

function encoder(name: string, { workers = 1, seconds = null, refusal }: EncoderOptions = {}): LocalEncoder {
  return {
    ...{ name, workers, chunkSeconds: () => seconds, refuse: () => refusal ?? null },
    encode: () => Promise.reject(new Error("encode must not be called")),
  };
}

async function decideInPage(encoders: LocalEncoder[]) {
  const source = { ...videoSource(), duration: 20, filesize: 1_000_000 };
  const plan = createPlan(source, "video", { width: 80 }, { chunk_seconds: Number.POSITIVE_INFINITY });
  return decide(plan, await localOffers(encoders, plan, source));
}

test.each([
  { workers: 2, seconds: 4, chunk_seconds: 4, sentence: "Encoded in 5 parts; a reload repeats at most one." },
  { workers: 8, seconds: 7, chunk_seconds: 7, sentence: "Encoded in 3 parts; a reload repeats at most one." },
  { workers: 2, seconds: 30, chunk_seconds: 30, sentence: "Fits the encoder's memory and time limits." },
  { workers: 2, seconds: null, chunk_seconds: null, sentence: "Fits the encoder's memory and time limits." },
  // A chunk is read whole, so it covers at least 16 KiB of the source.
  {
    workers: 2,
    seconds: 0.01,
    chunk_seconds: 0.32768,
    sentence: "Encoded in 61 parts; a reload repeats at most one.",
  },
] as const)(
  "$workers workers that wish for chunks of $seconds seconds cut into $chunk_seconds",
  async ({ workers, seconds, chunk_seconds, sentence }) => {
    const decision = await decideInPage([encoder("own", { workers, seconds })]);
    expect(decision).toMatchObject({ encoder: "own", chunk_seconds, refusals: [] });
    expect(describeDecision(decision)).toBe(sentence);
  },
);

test("chooses the first able encoder and keeps the refusals before it", async () => {
  const copy = encoder("copy", { refusal: { code: "needs_encoding", track: "video" } });
  const webcodecs = encoder("webcodecs", { refusal: { code: "output_codec", codec: "h265" } });
  const refusals = [
    { encoder: "copy", code: "needs_encoding", track: "video" },
    { encoder: "webcodecs", code: "output_codec", codec: "h265" },
  ];
  const decision = await decideInPage([copy, webcodecs, encoder("wasm"), encoder("wasm-mt")]);
  expect(decision).toMatchObject({ encoder: "wasm", reason: { code: "refused" }, refusals });
  expect(describeDecision(decision)).toBe("Not on WebCodecs: this browser has no H.265 encoder.");
  await expect(decideInPage([copy, webcodecs])).rejects.toMatchObject({
    ...{ kind: "encoder_unavailable", refusals },
    message:
      "No encoder here can do this (copy: the pictures need encoding; webcodecs: this browser has no H.265 encoder).",
  });
  await expect(decideInPage([])).rejects.toThrow("No encoder here can do this (there are no encoders).");
});
