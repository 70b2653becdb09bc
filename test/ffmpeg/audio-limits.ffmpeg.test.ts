import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SAMPLE_RATES } from "../../src/media/features/audio-format.ts";
import { audioArgs } from "../../src/media/ffmpeg/audio-args.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { createAudioPlan } from "../../src/media/sound-plan.ts";
import { audioSource } from "../plan/source.ts";

const run = promisify(execFile);
const UNCUT = { seek: [], video: [], uncounted: 0, audio: [], length: null, lead: 0, speed: 1 };

// The encoders refuse to start outside their limits, so a start without warnings is the proof.
const CASES = (["vorbis", "opus"] as const).flatMap((codec) =>
  [1, 2].flatMap((channels) =>
    SAMPLE_RATES.flatMap((sample_rate) =>
      [32_000, 320_000].map((bitrate) => ({ codec, channels, sample_rate, bitrate })),
    ),
  ),
);

test.concurrent.for(CASES)(
  "$codec accepts $bitrate bit/s for $channels channels at $sample_rate Hz",
  async ({ codec, channels, sample_rate, bitrate }, { expect }) => {
    const source = audioSource({ audio: { channels, sample_rate } });
    const plan = createAudioPlan(source, codec, { trimmed: false, bitrate });
    const sound = `sine=sample_rate=${sample_rate}:duration=0.1,aformat=channel_layouts=${channels}c`;
    const args = ["-f", "lavfi", "-i", sound, ...audioArgs(plan, source, UNCUT, NATIVE_TOOLS, null)];
    const { stderr } = await run("ffmpeg", ["-v", "warning", "-nostdin", ...args, "-f", "null", "-"]);
    expect(stderr).toBe("");
  },
);

test("the encoder rejects a bitrate beyond its limits", async () => {
  const args = [
    "-f",
    "lavfi",
    "-i",
    "sine=sample_rate=8000:duration=0.1",
    "-c:a",
    "libvorbis",
    "-b:a",
    "320000",
  ];
  await expect(run("ffmpeg", ["-v", "error", "-nostdin", ...args, "-f", "null", "-"])).rejects.toThrow();
});
