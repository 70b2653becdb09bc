import { join } from "node:path";
import { expect, test } from "vitest";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { makeFolder } from "../fixtures/end-of-file.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { readSound } from "../judge/sound.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";
import { encode } from "./native-encode.ts";

/** Makes a film of 4 s whose sound lacks 60 ms at 2 s, and is loud only at 3 s. */
const film = () =>
  makeClip("mkv", [
    ...["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=4", "-f", "lavfi", "-i"],
    "aevalsrc='if(between(t,3,3.1),sin(6283*t),0.001*sin(1885*t))':s=48000:d=4",
    ..."-af aselect=not(between(t\\,2\\,2.06)) -c:v libx264 -preset ultrafast -c:a flac".split(" "),
  ]);

/** Returns when the sound of a file gets loud, in seconds. */
async function burstAt(path: string): Promise<number> {
  const { channels, sample_rate } = await readSound(path, { channels: 1 });
  return (channels[0]?.findIndex((level) => Math.abs(level) > 0.2) ?? -1) / sample_rate;
}

/** Joins a film with itself. */
async function joinTwice(path: string): Promise<string> {
  const source = await probe(path);
  const plan = createPlan(
    source,
    "video",
    { concat: [{ url: "https://a.example/b.mkv" }] },
    { extra: [source] },
  );
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan is empty.");
  const output = join(await makeFolder("gaps"), "joined.mp4");
  const files = { input: path, output, extra: [{ path, input: [] }] };
  await runNative(["-y", ...chunkArgs(plan, chunk, source, files, NATIVE_TOOLS)]);
  return output;
}

const ROWS: readonly { name: string; at: number; make(input: string): Promise<string> }[] = [
  {
    name: "a stream",
    at: 3,
    make: async (input) => {
      const { path } = await encode(input, "adaptive_video", {});
      return path.replace("master", "audio/playlist");
    },
  },
  { name: "a joined video", at: 3, make: joinTwice },
  {
    name: "faster sound",
    at: 1.5,
    make: async (input) => (await encode(input, "audio", { format: "flac", speed: 2 })).path,
  },
];

test.for(ROWS)("sound after a gap shorter than 0.1 s keeps its time in $name", async ({ at, make }) => {
  const burst = await burstAt(await make(await film()));
  // The sound of a stream is late by a packet of AAC.
  expect(Math.abs(burst - at)).toBeLessThan(0.025);
});
