import { stat } from "node:fs/promises";
import { afterAll, beforeAll, test } from "vitest";
import { QUALITIES } from "../../src/media/formats.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { noiseSound } from "../judge/clips.ts";
import { countPacketBytes, readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 300_000 };

const PICTURES = [
  { kind: "video", format: "mp4", name: "mp4_silent" },
  { kind: "video", format: "webm", name: "mp4_silent" },
  { kind: "image", format: "jpeg", name: "png" },
  { kind: "image", format: "webp", name: "png" },
] as const;

test.concurrent.for(PICTURES)(
  "$kind $format gains size and likeness with each step of quality",
  LIMIT,
  async ({ kind, format, name }, { expect, task }) => {
    const original = await clip(name, { seconds: 1 });
    const input = rig.serve(original);
    const steps = await Promise.all(
      QUALITIES.map(async (quality) => {
        const { path } = await rig.door.encode({ input, kind, options: { format, quality } });
        const { mean } = await measureLikeness(path, original);
        return { bytes: (await stat(path)).size, mean };
      }),
    );
    note(task, { steps });
    for (const [index, step] of steps.entries()) {
      const before = steps[index - 1];
      if (!before) continue;
      expect(step.bytes).toBeGreaterThan(before.bytes * 1.05);
      expect(step.mean).toBeGreaterThan(before.mean);
    }
  },
);

test.concurrent.for(["mp3", "aac", "ogg", "opus"] as const)(
  "audio %s grows in size with each step of quality",
  LIMIT,
  async (format, { expect, task }) => {
    const input = rig.serve(await noiseSound("wav", 2));
    const sizes = await Promise.all(
      QUALITIES.map(async (quality) => {
        const { path } = await rig.door.encode({ input, kind: "audio", options: { format, quality } });
        return (await stat(path)).size;
      }),
    );
    note(task, { sizes });
    for (const [index, size] of sizes.entries()) expect(size).toBeGreaterThan((sizes[index - 1] ?? 0) * 1.1);
  },
);

// Moving noise, which uses up any bitrate.
function busyClip(): Promise<string> {
  const picture = "testsrc2=size=160x90:rate=25:duration=3,noise=alls=24:allf=t";
  return makeClip("mp4", [
    "-f",
    "lavfi",
    "-i",
    picture,
    ..."-c:v libx264 -preset ultrafast -qp 12".split(" "),
  ]);
}

// The matrix of pairs has every output at 300,000.
test.concurrent.for([
  { format: "mp4", bitrate: 900_000 },
  { format: "mov", bitrate: 600_000 },
  { format: "webm", bitrate: 900_000 },
] as const)(
  "$format video meets $bitrate bits per second",
  LIMIT,
  async ({ format, bitrate }, { expect, task }) => {
    const input = rig.serve(await busyClip());
    const output = await rig.door.encode({ input, kind: "video", options: { format, bitrate } });
    const { bytes, picture } = await readFacts(output.path);
    const got = (bytes * 8) / (picture?.duration ?? 0);
    note(task, { share: got / bitrate });
    expect(Math.abs(got / bitrate - 1)).toBeLessThan(0.1);
  },
);

// Opus varies, and steady noise takes fewer bits than requested.
const SOUND_SHARE = { mp3: 0.05, aac: 0.1, opus: 0.25, ogg: 0.1 } as const;
const SECONDS = 3;
const SOUND_RATES = (Object.keys(SOUND_SHARE) as (keyof typeof SOUND_SHARE)[]).flatMap((format) =>
  // The matrix of pairs has every format at 96,000.
  ([32_000, 192_000, 320_000] as const).map((bitrate) => ({ format, bitrate })),
);

test.concurrent.for(SOUND_RATES)(
  "$format audio meets $bitrate bits per second",
  LIMIT,
  async ({ format, bitrate }, { expect, task }) => {
    const original = await makeClip("wav", [
      ...["-f", "lavfi", "-i", "anoisesrc=seed=3:color=pink:amplitude=0.5:sample_rate=48000:duration=3"],
      ...["-f", "lavfi", "-i", "anoisesrc=seed=4:color=pink:amplitude=0.5:sample_rate=48000:duration=3"],
      ...["-filter_complex", "[0:a][1:a]amerge=inputs=2[sound]", "-map", "[sound]"],
    ]);
    const input = rig.serve(original);
    const output = await rig.door.encode({ input, kind: "audio", options: { format, bitrate } });
    const bytes = await countPacketBytes(output.path, "a:0");
    const share = (bytes * 8) / SECONDS / bitrate;
    note(task, { share });
    expect(Math.abs(share - 1)).toBeLessThan(SOUND_SHARE[format]);
  },
);
