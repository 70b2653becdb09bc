import { expect, test } from "vitest";
import { chooseWay, type LocalEncoder } from "../../src/browser/choose-way.ts";
import { createPlan } from "../../src/plan/index.ts";
import { probe } from "../ffmpeg/native-encode.ts";
import { clip } from "../fixtures/clips.ts";

const encoder = (workers: number, seconds: number | null): LocalEncoder => ({
  name: "own",
  workers,
  chunkSeconds: () => seconds,
  can: () => null,
  encode: async () => [],
});

test.each([
  [2, 4, "; in 5 chunks of about 4 s, so that a reload repeats one at the most and 2 are encoded at once"],
  [8, 7, "; in 3 chunks of about 7 s, so that a reload repeats one at the most and 3 are encoded at once"],
  [1, 10, "; in 2 chunks of about 10 s, so that a reload repeats one at the most"],
  [2, 30, ""],
  [2, null, ""],
] as const)(
  "%i workers with chunks of %s seconds tell why a source is cut",
  async (workers, seconds, cut) => {
    const source = { ...(await probe(await clip("mp4"))), duration: 20 };
    const plan = createPlan(source, "video", { width: 80 });
    const way = chooseWay([encoder(workers, seconds)], plan, source);
    const reason = `the work fits its memory and time${cut}`;
    expect(way).toEqual({ encoder: "own", chunk_seconds: seconds, reason });
  },
);
