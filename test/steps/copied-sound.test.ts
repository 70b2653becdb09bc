import { expect, test } from "vitest";
import { encodeAnyInput } from "../../src/runs/steps/decoded-sound.ts";
import { audioSource } from "../plan/source.ts";

test("sound to copy is never decoded first", async () => {
  const source = audioSource({ format: "aac", codecs: { video: null, audio: "aac" }, edited: true });
  const context = {
    run_id: "run",
    progress: async () => {},
    reportChoice: async () => {},
    durably: <T>(_: string, work: (signal: AbortSignal) => Promise<T>) => work(AbortSignal.timeout(5000)),
  };
  const encode = {
    ...{ key: "in", source, extra: [], id: "run-encode", out: "out/", name: "sound" },
    request: { kind: "audio", options: { mode: "copy" } } as const,
    decide: async () => Promise.reject(new Error("The source is decided on as it is.")),
  };
  await expect(encodeAnyInput({} as never, encode, context as never)).rejects.toThrow("as it is");
});
