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

const REFUSED: [string, () => Promise<string>, EncodeKind, Record<string, unknown>, RegExp][] = [
  ["h265", small, "video", { codec: "h265" }, /H\.265/],
  ["h265 in mov", small, "video", { format: "mov", codec: "h265" }, /H\.265/],
  ["av1", small, "video", { codec: "av1" }, /av1/i],
  ["av1 in webm", small, "video", { format: "webm", codec: "av1" }, /av1/i],
  ["avif", small, "image", { format: "avif" }, /avif/i],
  ["a video that is too long", long, "video", { width: 640 }, /\d+ s of computing/],
  ["a video that is too large", wide, "video", { quality: "high" }, /\d+ MB of memory/],
  ["an image that is too large", poster, "image", { format: "jpeg" }, /\d+ MB of memory/],
  ["an av1 source", () => clip("mp4_av1", { seconds: 1 }), "video", { codec: "h264" }, /av1/i],
  ["an avif source", () => clip("avif"), "image", { format: "png" }, /avif|av1/i],
];

test.concurrent.for(REFUSED)(
  "refuses %s within 30 seconds",
  LIMIT,
  async ([, make, kind, options, why], { expect }) => {
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
