import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { openSite, openTabWith } from "./open-page.ts";

/** The time until a preview is shown, and how far estimates are from the sizes of outputs. */
export const previewBenchmarks: readonly Benchmark[] = [
  { name: "preview-image", unit: "ms", open: openPicture },
  { name: "preview-frame", unit: "ms", open: openFrame },
  { name: "estimate", unit: "clips within 10 %", open: openEstimates },
];

async function openPicture(ends: AsyncDisposableStack): Promise<Contest> {
  const picture = "mandelbrot=s=4000x3000:rate=1:maxiter=200,noise=alls=4:allf=t,format=yuvj420p";
  const path = await makeClip("jpg", ["-f", "lavfi", "-i", picture, "-frames:v", "1", "-q:v", "3"]);
  return openPreview(
    ends,
    path,
    { kind: "image", options: { format: "webp", width: 1280 } },
    "a JPEG of 4000x3000 to WebP 1280 wide",
  );
}

async function openFrame(ends: AsyncDisposableStack): Promise<Contest> {
  const pictures = "mandelbrot=s=1920x1080:rate=25:maxiter=150:end_scale=0.2,noise=alls=3:allf=t";
  const codec = "-t 8 -c:v libx264 -preset veryfast -crf 20 -pix_fmt yuv420p -g 50".split(" ");
  const path = await makeClip("mp4", ["-f", "lavfi", "-i", pictures, ...codec]);
  return openPreview(
    ends,
    path,
    { kind: "video", options: { quality: "medium" }, at: 5 },
    "a frame of a video of 1920x1080, H.264 to H.264, 25 frames after a keyframe",
  );
}

async function openPreview(
  ends: AsyncDisposableStack,
  path: string,
  request: { kind: "image" | "video"; options: object; at?: number },
  what: string,
): Promise<Contest> {
  const tab = await openTabWith(ends, path);
  return {
    async ours() {
      const { ms, bytes } = await tab.page.evaluate((each) => bench.ours.preview(each), request);
      return { value: ms, bytes };
    },
    peer: null,
    notes: (ours) =>
      `${what}, with the original beside it, both decoded; the core is warm; ${medianOf(ours, "bytes")} bytes`,
  };
}

const SIZE = "640x360:rate=25";
const ZOOM = "mandelbrot=size=1280x720:rate=1:end_pts=1,loop=-1:1,setpts=N/25/TB";
const CLIPS = {
  pattern: `testsrc2=size=${SIZE}`,
  fractal: `mandelbrot=size=${SIZE}`,
  life: "life=s=160x90:mold=10:r=25:ratio=0.1:death_color=#C83232:life_color=#00ff00,scale=640:360:flags=neighbor",
  lines: `cellauto=size=${SIZE},scroll=v=0.002`,
  grain: `gradients=size=${SIZE}:c0=navy:c1=orange:speed=0.02,noise=alls=12:allf=t`,
  slides: "testsrc2=size=640x360:rate=0.25,fps=25",
  static: `smptehdbars=size=${SIZE}`,
  drawn: `gradients=size=${SIZE}:n=6:speed=0.05:type=radial`,
  scroll: `${ZOOM},fps=25,scroll=h=0.003,scale=640x360`,
  fade: `testsrc2=size=${SIZE},noise=alls=20:allf=t,fade=t=in:d=6,fade=t=out:st=16:d=8`,
  camera: `${ZOOM},zoompan=z='1+0.3*sin(on/60)':d=1:s=640x360:fps=25,noise=alls=4:allf=t`,
  screen: `color=white:size=${SIZE},drawgrid=w=40:h=20:c=gray,drawbox=x='mod(t*40,600)':y=100:w=12:h=12:c=black:t=fill,drawbox=enable='gt(mod(t,8),4)':x=200:y=80:w=240:h=180:c=blue:t=fill`,
} as const;
const CODEC = "-t 24 -c:v libx264 -preset fast -crf 18 -pix_fmt yuv420p".split(" ");
const REQUEST = { kind: "video", options: { width: 480 } } as const;

async function openEstimates(ends: AsyncDisposableStack): Promise<Contest> {
  const site = await openSite(ends);
  const tab = await site.open();
  await tab.page.evaluate(() => bench.ours.open({}));
  const names = Object.keys(CLIPS);
  const paths: string[] = [];
  for (const [name, graph] of Object.entries(CLIPS)) {
    const path = join(site.files, `${name}.mp4`);
    await copyFile(await makeClip("mp4", ["-f", "lavfi", "-i", graph, ...CODEC]), path);
    paths.push(path);
  }
  let lines: string[] = [];
  return {
    async ours() {
      await tab.choose(...paths);
      const estimates = await tab.page.evaluate((request) => bench.ours.estimate(request), REQUEST);
      const errors: number[] = [];
      let inside = 0;
      lines = [];
      for (const [at, { low, high }] of estimates.entries()) {
        await tab.choose(paths[at] ?? "");
        const { size } = await tab.page.evaluate((request) => bench.ours.run(request, false), REQUEST);
        const error = (low + high) / 2 / size - 1;
        errors.push(Math.abs(error));
        if (low <= size && size <= high) inside++;
        lines.push(`${names[at]} ${(error * 100).toFixed(1)} %`);
      }
      const within = (most: number) => errors.filter((error) => error <= most).length;
      const seconds = estimates.reduce((sum, each) => sum + each.seconds, 0) / estimates.length;
      return { value: within(0.1), within_20: within(0.2), inside, seconds, worst: Math.max(...errors) };
    },
    peer: null,
    notes: (ours) =>
      [
        `${names.length} clips of 24 s to H.264 at 480 wide; ${medianOf(ours, "within_20")} are within 20 %, ${medianOf(ours, "inside")} within their bounds`,
        `${short(medianOf(ours, "seconds"))} s each`,
        lines.join(", "),
      ].join("; "),
  };
}
