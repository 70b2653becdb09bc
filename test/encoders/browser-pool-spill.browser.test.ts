import { expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { probe } from "../probe/probe-file.ts";
import { usePool } from "./browser-pool-rig.ts";
import { CORE } from "./fast/run-fast.ts";

const rig = usePool();

const MEMORY = 288 * 2 ** 20;
const RATE = 48_000;

// Half an hour of stereo is 345 MB of samples.
test.skipIf(!CORE)("a core writes a file larger than its memory", { timeout: 120_000 }, async () => {
  const noise = `anoisesrc=r=${RATE}:c=pink:d=1800:seed=7`;
  const sound = ["-ac", "2", "-sample_fmt", "s16", "-compression_level", "0"];
  const input = await makeClip("flac", ["-f", "lavfi", "-i", noise, ...sound]);
  const source = await probe(input);
  const clip = await rig.serve(input);
  const page = await rig.lab.page.evaluate(
    async ({ clip, source, memory }) => {
      const { openClip } = await import("../browser/pool.page.ts");
      const { createWasmPool } = await import("../../src/encoders/wasm/wasm-pool.ts");
      const { loadFastCore } = await import("../../src/encoders/wasm/load-core.ts");
      const { createPlan } = await import("../../src/media/index.ts");
      const input = await openClip(clip);
      const plan = createPlan(source, "audio", { format: "wav" });
      const [chunk] = plan.chunks;
      if (!chunk) throw new Error("The plan has no chunk.");
      const loadFast = () => loadFastCore({ wasm: "/files/core/framewright-core.wasm.gz" });
      const pool = createWasmPool({ workers: 1, memory, loadFast });
      await pool.fast.prepare(plan, source);
      const refusals = [pool.refuse(plan, source), pool.fast.refuse(plan, source)];
      const { signal } = new AbortController();
      const encoded = await pool.fast.encode({ plan, chunk, source, input, signal });
      pool.close();
      if (!(encoded instanceof ReadableStream)) throw new Error("The file is in memory.");
      const bytes = new Uint8Array(await new Response(encoded).arrayBuffer());
      const header = 44 + 34;
      const samples = await crypto.subtle.digest("SHA-256", bytes.subarray(header));
      return {
        refusals,
        header: [...bytes.subarray(0, header)],
        size: bytes.length,
        sha256: [...new Uint8Array(samples)],
      };
    },
    { clip, source, memory: MEMORY },
  );
  const hash = ["-c:a", "pcm_s16le", "-f", "hash", "-hash", "sha256", "-"];
  const { output } = await runNative(["-i", input, ...hash]);
  expect(page.refusals).toEqual([expect.objectContaining({ code: "memory" }), null]);
  expect(page.size).toBe(page.header.length + 1800 * RATE * 4);
  expect(Buffer.from(page.sha256).toString("hex")).toBe(output.toString().trim().split("=")[1]);
  // Sizes of the file and of its samples, which ffmpeg writes when it knows them.
  const header = Buffer.from(page.header);
  expect(header.readUInt32LE(4)).toBe(page.size - 8);
  expect(header.readUInt32LE(page.header.length - 4)).toBe(1800 * RATE * 4);
});
