import { expect, test } from "vitest";
import { jobTools } from "../../worker/container/ffmpeg-args.ts";

const ALL = { lacks: [], endless: [] };
const after = (args: readonly string[], name: string) => args[args.indexOf(name) + 1];

test.for([
  { processors: 1, decoders: "1", x264: "threads=1", others: "1", x265: "pools=1" },
  { processors: 2, decoders: "3", x264: "threads=3", others: "2", x265: "pools=2" },
  { processors: 4, decoders: "5", x264: "threads=6", others: "4", x265: "pools=4" },
] as const)(
  "sets the threads of a job for $processors processors",
  ({ processors, decoders, x264, others, x265 }) => {
    const { input, output, renditions, video } = jobTools(processors, { ...ALL, demuxers: "mov" });
    expect(after(input, "-threads")).toBe(decoders);
    expect(after(video.h264?.args ?? [], "-x264-params")).toBe(x264);
    expect(after(renditions.h264?.args ?? [], "-x264-params")).toBe(x264);
    expect(after(output, "-threads")).toBe(others);
    expect(after(video.h265?.args ?? [], "-x265-params")).toBe(`open-gop=0:log-level=error:${x265}`);
  },
);

test("a job reads over HTTP only, with the demuxers of its format", () => {
  const { input } = jobTools(2, { ...ALL, demuxers: "matroska" });
  expect(after(input, "-protocol_whitelist")).toBe("http,tcp");
  expect(after(input, "-format_whitelist")).toBe("matroska");
});

test("videos of one source are encoded as the renditions of adaptive video are, by a faster preset", () => {
  const presets = [false, true].map((isRendition) => {
    const { video, renditions } = jobTools(2, { ...ALL, demuxers: "mov", isRendition });
    return [video, renditions].map(({ h264 }) => after(h264?.args ?? [], "-preset"));
  });
  expect(presets).toEqual([
    ["fast", "faster"],
    ["faster", "faster"],
  ]);
});
