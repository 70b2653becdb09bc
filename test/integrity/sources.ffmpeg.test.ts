import { expect, test } from "vitest";
import { z } from "zod";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { judgeOutput, recallOriginal, WHOLE } from "./judge.ts";
import { INTEGRITY_SOURCES, type IntegritySourceName } from "./sources.ts";

const make = (name: IntegritySourceName) => {
  const source = INTEGRITY_SOURCES[name];
  return source.make(source.containers[0]);
};

test.for(Object.keys(INTEGRITY_SOURCES) as IntegritySourceName[])(
  "%s is generated without faults",
  async (name) => {
    const path = await make(name);
    const original = await recallOriginal(path);
    const { frames } = INTEGRITY_SOURCES[name];
    // Xvid drops the frame before the last.
    const last = name === "mpeg4_packed" ? frames : frames - 1;
    const numbers = [...Array(frames - 1).keys(), last];
    expect(original.frames.map(({ number }) => number)).toEqual(numbers);
    expect(await judgeOutput(path, { ...original, start: 0 })).toEqual(WHOLE);
  },
);

// The header patterns that make each source hard to cut, and the minimum number of matches in ffmpeg's trace.
const MARKS = [
  { name: "h264_open_gop", filters: "trace_headers", mark: /recovery_frame_cnt +\S+ = 0$/gm, minimum: 6 },
  {
    name: "h264_intra_refresh",
    filters: "trace_headers",
    mark: /recovery_frame_cnt +\S+ = [1-9]/gm,
    minimum: 6,
  },
  {
    name: "h264_mbaff",
    filters: "trace_headers",
    mark: /mb_adaptive_frame_field_flag +1 = 1$/gm,
    minimum: 1,
  },
  { name: "h264_paff", filters: "trace_headers", mark: /bottom_field_flag +1 = 1$/gm, minimum: 350 },
  { name: "hevc_rasl", filters: "trace_headers", mark: /nal_unit_type +\S+ = 21$/gm, minimum: 6 },
  { name: "hevc_rasl", filters: "trace_headers", mark: /nal_unit_type +\S+ = [89]$/gm, minimum: 6 },
  { name: "hevc_radl", filters: "trace_headers", mark: /nal_unit_type +\S+ = [67]$/gm, minimum: 6 },
  { name: "mpeg2_open_gop", filters: "trace_headers", mark: /closed_gop +0 = 0$/gm, minimum: 22 },
  {
    name: "vp9_hidden",
    filters: "vp9_superframe_split,trace_headers",
    mark: /show_existing_frame +1 = 1$/gm,
    minimum: 50,
  },
  {
    name: "av1_forward",
    filters: "trace_headers",
    mark: /frame_type +00 = 0\n.* show_frame +0 = 0$/gm,
    minimum: 5,
  },
] as const;

test.for(MARKS)(
  "$name has its patterns in the trace of $filters: $mark",
  async ({ name, filters, mark, minimum }) => {
    const { log } = await runNative([
      ...["-v", "trace", "-i", await make(name), "-map", "0:v", "-c", "copy", "-bsf:v", filters],
      ...["-f", "null", "-"],
    ]);
    expect(log.match(mark)?.length ?? 0).toBeGreaterThanOrEqual(minimum);
  },
);

test("mpeg4_packed has packed B-frames", async () => {
  const { log } = await runNative(["-v", "verbose", "-i", await make("mpeg4_packed"), "-f", "null", "-"]);
  expect(log).toContain("('packed B-frames')");
});

const Packets = z.object({ packets: z.array(z.object({ flags: z.string() })) });

test.for([
  // One IDR picture, on which all others depend.
  { name: "h264_one_idr", count: 350, keys: 1 },
  // Sixteen of the packets are hidden.
  { name: "vp8_hidden", count: 266, keys: 4 },
  // Only the first packet is marked as a keyframe.
  { name: "h264_bare", count: 600, keys: 1 },
] as const)("$name has $count packets, $keys of them marked as keyframes", async ({ name, count, keys }) => {
  const report = await runFfprobe(await make(name), ["-show_packets", "-select_streams", "v:0"]);
  const { packets } = Packets.parse(report);
  expect(packets).toHaveLength(count);
  expect(packets.filter(({ flags }) => flags.includes("K"))).toHaveLength(keys);
});

test("the judge reports every kind of fault", async () => {
  const path = await make("h264_one_idr");
  const original = await recallOriginal(path);
  const gray = "drawbox=y=ih/3:h=ih:color=gray:t=fill:enable='eq(n,20)'";
  const noNumber = "drawbox=h=ih/3:color=gray:t=fill:enable='eq(n,30)'";
  const pictures = `${gray},${noNumber},select='not(between(n,100,109))',loop=1:1:200,setpts=N/25/TB`;
  const worse = await makeClip("mp4", [
    ...["-i", path, "-vf", pictures, "-af", "atrim=2:12,asetpts=PTS-STARTPTS", "-c:v", "libx264"],
  ]);
  expect(await judgeOutput(worse, original)).toMatchObject({
    ...{ missing: "30 100-109", doubled: "209", unreadable: "30", damaged: "20", misplaced: "" },
    ...{ untimely: "110-209 209-349", sound_off: expect.closeTo(-4, 1) },
    wrong_sound: expect.arrayContaining([0.3, 9.3]),
  });
  const excerpt = await judgeOutput(path, original, { start: 3.17, end: 9.61 });
  expect(excerpt).toMatchObject({ misplaced: "0-78 241-349", missing: "" });
});
