import { afterAll, beforeAll, test } from "vitest";
import type { EncodeKind } from "../../src/media/formats.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { type Rig, startRig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(() => ({}), 0);
}, 180_000);
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
/** Seconds within which a refusal must come on a busy machine; an attempted encode takes longer. */
const LIMIT_SECONDS = 30;

const small = () => clip("mp4", { seconds: 1 });
// Half an hour of 1280x720, made by repeating the packets of one second.
const long = async () => {
  const args = "-f lavfi -i color=size=1280x720:rate=25:duration=1 -c:v libx264 -preset ultrafast";
  const second = await makeClip("mp4", args.split(" "));
  return makeClip("mp4", ["-stream_loop", "1799", "-i", second, "-c", "copy"]);
};
const wide = () => {
  const args =
    "-f lavfi -i testsrc2=size=3840x2160:rate=25:duration=0.4 -c:v libx264 -preset ultrafast -crf 35";
  return makeClip("mp4", args.split(" "));
};
const poster = () => makeClip("png", ["-f", "lavfi", "-i", "color=c=red:size=12000x12000", "-frames:v", "1"]);

const REFUSED: {
  name: string;
  make: () => Promise<string>;
  kind: EncodeKind;
  options: Record<string, unknown>;
  why: RegExp;
}[] = [
  { name: "h265", make: small, kind: "video", options: { codec: "h265" }, why: /H\.265/ },
  {
    name: "h265 in mov",
    make: small,
    kind: "video",
    options: { format: "mov", codec: "h265" },
    why: /H\.265/,
  },
  { name: "av1", make: small, kind: "video", options: { codec: "av1" }, why: /av1/i },
  { name: "av1 in webm", make: small, kind: "video", options: { format: "webm", codec: "av1" }, why: /av1/i },
  { name: "avif", make: small, kind: "image", options: { format: "avif" }, why: /avif/i },
  {
    name: "a video that is too long",
    make: long,
    kind: "video",
    options: { width: 640 },
    why: /\d+ s of computing/,
  },
  {
    name: "a video that is too large",
    make: wide,
    kind: "video",
    options: { quality: "high" },
    why: /\d+ MB of memory/,
  },
  {
    name: "an image that is too large",
    make: poster,
    kind: "image",
    options: { format: "jpeg" },
    why: /\d+ MB of memory/,
  },
  {
    name: "an av1 source",
    make: () => clip("mp4_av1", { seconds: 1 }),
    kind: "video",
    options: { codec: "h264" },
    why: /av1/i,
  },
  {
    name: "an avif source",
    make: () => clip("avif"),
    kind: "image",
    options: { format: "png" },
    why: /avif|av1/i,
  },
];

test.concurrent.for(REFUSED)(
  "refuses $name within 30 seconds",
  LIMIT,
  async ({ make, kind, options, why }, { expect }) => {
    const input = rig.serve(await make());
    const task = await rig.door.runTask({ input, kind, options }, 120);
    expect(task).toMatchObject({
      status: "failed",
      output: null,
      error: { kind: "encoder_unavailable", step_id: task.steps[1]?.id, retryable: false },
    });
    expect(task.error?.message).toMatch(why);
    expect((task.finished_at ?? 0) - (task.started_at ?? 0)).toBeLessThan(LIMIT_SECONDS * 1000);
    expect(task.steps.map((step) => step.status)).toEqual(["succeeded", "failed", "cancelled", "cancelled"]);
  },
);
