import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFilm } from "../film.ts";
import { openHeavy } from "./heavy.ts";

const SECONDS = 600;
const BITRATE = 4_000_000;
/** Three parts of a film of ten minutes, cut between keyframes. */
const PARTS = [
  { start: 12.3, end: 190.7 },
  { start: 221.1, end: 400.9 },
  { start: 433.3, end: 590.5 },
] as const;

const TOTAL = PARTS.reduce((sum, { start, end }) => sum + end - start, 0);
/** Seconds of the first part to encode; the time for all parts is extrapolated, because a full encode takes at least ten minutes. */
const SAMPLE = 60;

/** A smart cut, which encodes only the pictures around the cuts, against an encode of the same parts. */
export const smartCutBenchmarks: readonly Benchmark[] = [{ name: "smart-cut-vs-encode", unit: "s", open }];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const bytes = ((BITRATE + 128_000) * SECONDS) / 8;
  const film = await makeFilm({ bytes, bitrate: BITRATE, size: "1920x1080" }, ends);
  const service = await openHeavy(film, ends, 1);
  let [pictures, copied] = [0, 0];
  return {
    async peer() {
      const [{ start }] = PARTS;
      const { seconds } = await service.encode("video", { start, end: start + SAMPLE });
      return { value: (seconds * TOTAL) / SAMPLE };
    },
    async ours() {
      const { output, seconds } = await service.encode("video", { mode: "smart", parts: [...PARTS] });
      if (!output.cuts) throw new Error(`Nothing was copied: ${output.fallback?.reason}`);
      pictures = output.cuts.reduce((sum, cut) => sum + cut.pictures, 0);
      copied = output.cuts.reduce((sum, cut) => sum + cut.copied, 0);
      return { value: seconds };
    },
    notes: () =>
      `three parts of ${SECONDS} s of 1920x1080; ${copied} of ${pictures} pictures copied; one native encoder; the encode is extrapolated from ${SAMPLE} s`,
  };
}
