import { afterEach, expect, test, vi } from "vitest";
import { runIsolated } from "../../src/browser/encoders/isolated-encoder.ts";
import type { LocalEncoder } from "../../src/browser/encoders/local-offers.ts";
import { type Port, serveOver } from "../../src/browser/rpc.ts";
import type { ChunkJob, EncodedFile } from "../../src/encoders/encoder.ts";

const SILENCE_SECONDS = 300;

afterEach(() => vi.useRealTimers());

/** An encode in a worker of this process, whose progress and end the test decides. */
function startEncode() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { port1, port2 } = new MessageChannel();
  const result = Promise.withResolvers<EncodedFile[]>();
  const isStarted = Promise.withResolvers<void>();
  const tell = serveOver<{ encode(): Promise<EncodedFile[]> }, number>(port1 as unknown as Port, {
    encode() {
      isStarted.resolve();
      return result.promise;
    },
  });
  const end = () => port1.close();
  port1.start();
  port2.start();
  const worker = Object.assign(port2, { terminate: end }) as unknown as Worker;
  const run = runIsolated(() => worker, { workers: 1, silenceSeconds: SILENCE_SECONDS });
  const encoder = run({ name: "slow" } as LocalEncoder);
  const shares: number[] = [];
  const encoded = encoder.encode({
    input: { blob: new Blob(["source"]), size: 6 } as unknown as ChunkJob["input"],
    signal: new AbortController().signal,
    onProgress: (share: number) => shares.push(share),
  } as unknown as ChunkJob);
  return { encoded, started: isStarted.promise, tell, finish: result.resolve, shares, end };
}

test("an encode that reports progress may take longer than the limit of silence", async () => {
  const { encoded, started, tell, finish, shares, end } = startEncode();
  await started;
  for (const share of [0.25, 0.5, 0.75]) {
    vi.advanceTimersByTime(SILENCE_SECONDS * 900);
    tell(share);
    await vi.waitUntil(() => shares.includes(share));
  }
  vi.advanceTimersByTime(SILENCE_SECONDS * 900);
  finish([]);
  expect(await encoded).toEqual([]);
  end();
});

test("an encode that is silent for the limit fails as stalled", async () => {
  const { encoded, started } = startEncode();
  await started;
  const end = expect(encoded).rejects.toMatchObject({
    kind: "stalled",
    message: "The slow encoder was silent for 300 seconds.",
  });
  vi.advanceTimersByTime(SILENCE_SECONDS * 1000);
  await end;
});
