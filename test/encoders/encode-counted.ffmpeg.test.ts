import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { ChunkJob, Encoder } from "../../src/encoders/encoder.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import type { PacketCounts, PictureCounts } from "../../src/media/ffmpeg/packet-count.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { type Trial, trial } from "./encode-trial.ts";

const WHOLE: PictureCounts = { decoded: 25, missing: 0, missing_at: null, late_start: false, unreadable: 0 };
const LATE: PictureCounts = { ...WHOLE, decoded: 20, missing: 5, missing_at: 0.04, late_start: true };

/** Returns an encoder that always outputs the same second of 25 pictures with sound, and reports scripted tallies. */
async function scripted(
  tallies: readonly PacketCounts[],
  name: ClipName = "mp4",
): Promise<Encoder & { jobs: ChunkJob[] }> {
  const bytes = new Uint8Array(await readFile(await clip(name, { seconds: 1 })));
  const jobs: ChunkJob[] = [];
  return {
    name: "scripted",
    jobs,
    refuse: () => null,
    async encode(job) {
      const tally = tallies[jobs.length];
      jobs.push(job);
      if (tally) job.onCounts?.(tally);
      return [{ name: "output.mp4", mime: "video/mp4", bytes }];
    },
  };
}

/** Encodes from second 50 and decodes from second 45. */
async function encode(tallies: readonly PacketCounts[], fps?: number, output?: ClipName) {
  const encoder = await scripted(tallies, output);
  const run: Trial = await trial(await clip("mp4", { seconds: 1 }), "video", {
    width: 80,
    ...(fps && { fps }),
  });
  const chunks = [{ index: 0, track: "all", start: 50, end: 51, decode_from: 45 }] as const;
  const result = runEncode({ ...run, encoder, plan: { ...run.plan, chunks: [...chunks] } });
  const ended = await result.then(
    ({ counts }) => ({ counts }),
    ({ kind, message }) => ({ kind, message }),
  );
  return {
    ended,
    starts: encoder.jobs.map(({ chunk }) => chunk.decode_from),
    ids: encoder.jobs.map(({ id }) => id),
  };
}

test("decodes a chunk that lacks pictures at its start from earlier, as a new job", async () => {
  expect(await encode([{ pictures: LATE }, { pictures: WHOLE, sound: 1 }])).toEqual({
    ended: { counts: { pictures: { source: 25, output: 25 }, sound: { source: 1, output: 1.023 } } },
    starts: [45, 15],
    ids: ["run-0", "run-0.1"],
  });
});

test("fails with the missing pictures after decoding from the start of the source", async () => {
  expect(await encode([{ pictures: LATE }, { pictures: LATE }, { pictures: LATE }])).toMatchObject({
    ended: {
      kind: "encode_incomplete",
      message: "The encode is incomplete: 5 of 25 pictures are missing, the first at 50.04 s.",
    },
    starts: [45, 15, 0],
  });
});

test("does not retry for pictures missing elsewhere", async () => {
  const damaged = { ...WHOLE, decoded: 24, missing: 1, missing_at: 0.52 };
  expect(await encode([{ pictures: damaged }])).toMatchObject({
    ended: {
      kind: "encode_incomplete",
      message: "The encode is incomplete: 1 of 25 pictures are missing, the first at 50.52 s.",
    },
    starts: [45],
  });
});

test("counts pictures that were decoded but not encoded as missing", async () => {
  const more = { ...WHOLE, decoded: 30 };
  expect((await encode([{ pictures: more }])).ended).toMatchObject({
    message: "The encode is incomplete: 5 of 30 pictures are missing.",
  });
});

test("at a constant rate expects as many pictures as fill the span", async () => {
  expect((await encode([{ pictures: { ...WHOLE, decoded: 7 } }], 25)).ended).toEqual({
    counts: { pictures: { source: 7, output: 25 } },
  });
  expect((await encode([{ pictures: WHOLE }], 30)).ended).toMatchObject({ kind: "encode_incomplete" });
});

test("fails when the sound is shorter than the source's packets", async () => {
  expect((await encode([{ sound: 3.5 }])).ended).toMatchObject({
    kind: "encode_incomplete",
    message: "The encode is incomplete: 2.477 of 3.5 s of sound are missing.",
  });
});

test.for([
  { name: "mp4_silent", missing: "1 of 1 s of sound are missing" },
  { name: "m4a", missing: "25 of 25 pictures are missing" },
] as const)("an output without a whole track ($name) is incomplete", async ({ name, missing }) => {
  expect((await encode([{ pictures: WHOLE, sound: 1 }], undefined, name)).ended).toMatchObject({
    kind: "encode_incomplete",
    message: `The encode is incomplete: ${missing}.`,
  });
});

test("counts undecodable pictures separately", async () => {
  expect((await encode([{ pictures: { ...WHOLE, unreadable: 4 } }])).ended).toEqual({
    counts: { pictures: { source: 29, output: 25, unreadable: 4 } },
  });
});

test("fails when the output has more pictures than were decoded", async () => {
  expect((await encode([{ pictures: { ...WHOLE, decoded: 12 } }])).ended).toEqual({
    kind: "encode_failed",
    message: "The output has 13 more pictures than the input: the input may have contradictory times.",
  });
});

test("accepts one extra picture at each end", async () => {
  expect((await encode([{ pictures: { ...WHOLE, decoded: 23 } }])).ended).toMatchObject({
    counts: { pictures: { source: 23, output: 25 } },
  });
});

test("at a constant rate fails when the pictures fill more than the span", async () => {
  expect((await encode([{ pictures: WHOLE }], 12)).ended).toMatchObject({
    kind: "encode_failed",
    message: expect.stringContaining("13 more pictures"),
  });
});

test("encodes again without filling gaps, then fails, when the sound is longer than the source's", async () => {
  const short = { sound: 0.4, heard: { from: 0, until: 0.4 } };
  const { ended, ids } = await encode([short, short]);
  expect(ended).toMatchObject({
    kind: "encode_failed",
    message: expect.stringMatching(/^The output's sound is 0\.6\d* s too long/),
  });
  expect(ids).toEqual(["run-0", "run-0.1"]);
});

// Packets of 10.67 and 34.83 ms, of which the container states 10 and 34.
test.for([
  { codec: "dca", rate: 48_000 },
  { codec: "ac3", rate: 44_100 },
])(
  "counts the sound of $codec in Matroska, whose clock is coarser than a sample",
  async ({ codec, rate }) => {
    const tone = ["-f", "lavfi", "-i", `sine=sample_rate=${rate}:duration=4`];
    const path = await makeClip("mka", [...tone, "-c:a", codec, "-strict", "-2"]);
    const { counts } = await runEncode(await trial(path, "audio", { format: "flac" }));
    expect(counts?.sound?.source).toBeCloseTo(counts?.sound?.output ?? 0, 1);
  },
);
