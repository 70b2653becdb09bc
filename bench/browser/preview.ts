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
const PAGE = `color=white:size=${SIZE},drawgrid=w=40:h=20:c=gray`;
const CURSOR = "drawbox=x='mod(t*40,600)':y=100:w=12:h=12:c=black:t=fill";
const STILLS = "testsrc2=size=640x360:rate=0.25,fps=25";
const CLIPS = {
  // Test patterns and computer graphics.
  pattern: `testsrc2=size=${SIZE}`,
  bars: `smptehdbars=size=${SIZE}`,
  clock: `testsrc=size=${SIZE}`,
  rainbow: `gradients=size=${SIZE}:n=6:speed=0.05:type=radial`,
  spiral: `gradients=size=${SIZE}:n=4:speed=0.02:type=spiral`,
  carpet: `sierpinski=size=${SIZE}:type=carpet`,
  triangle: `sierpinski=size=${SIZE}:type=triangle`,
  // Drawings with flat colors.
  life: "life=s=160x90:mold=10:r=25:ratio=0.1:death_color=#C83232:life_color=#00ff00,scale=640:360:flags=neighbor",
  "slow life":
    "life=s=160x90:mold=30:r=5:ratio=0.2:death_color=#3232C8:life_color=#ffff00,scale=640:360:flags=neighbor,fps=25",
  lines: `cellauto=size=${SIZE},scroll=v=0.002`,
  "other lines": `cellauto=size=${SIZE}:rule=110,scroll=v=0.005`,
  balls: `color=skyblue:size=${SIZE},drawbox=x='300+250*sin(t)':y='160+120*cos(1.3*t)':w=60:h=60:c=red:t=fill,drawbox=x='300+200*cos(0.7*t)':y='100+80*sin(2*t)':w=90:h=40:c=green:t=fill`,
  // Screens: still for long, then something moves.
  screen: `${PAGE},${CURSOR},drawbox=enable='gt(mod(t,8),4)':x=200:y=80:w=240:h=180:c=blue:t=fill`,
  "scrolled page": `${PAGE},scroll=v=0.01`,
  "page scrolled at times": `color=white:size=640x1440:rate=25,drawgrid=w=40:h=23:c=gray,drawbox=x=40:y=20:w=200:h=700:c=silver:t=fill,crop=640:360:0:'180*floor(t/4)+180*clip(mod(t,4)-3,0,1)'`,
  "video in a page": `mandelbrot=size=320x180:rate=25,pad=640:360:160:90:white`,
  "typed text": `${PAGE},drawbox=x=20:y=20:w='1+mod(t*60,600)':h=14:c=black:t=fill`,
  // Slides.
  slides: STILLS,
  "slides with grain": `${STILLS},noise=alls=3:allf=t`,
  "long slides": "mandelbrot=size=640x360:rate=0.125,fps=25",
  "slides that fade": `${STILLS},fade=t=in:d=4,fade=t=out:st=18:d=6`,
  "slides that turn": `${STILLS},rotate=0.05*sin(t)`,
  // Films: slow motion, detail and grain, with calm and busy parts.
  fractal: `mandelbrot=size=${SIZE}`,
  film: `mandelbrot=size=${SIZE}:maxiter=200:end_scale=0.3,noise=alls=6:allf=t`,
  dusk: `gradients=size=${SIZE}:c0=navy:c1=orange:speed=0.02,noise=alls=12:allf=t`,
  "dark film": `mandelbrot=size=${SIZE}:end_scale=0.1,eq=brightness=-0.3,noise=alls=10:allf=t`,
  fade: `testsrc2=size=${SIZE},noise=alls=20:allf=t,fade=t=in:d=6,fade=t=out:st=16:d=8`,
  "busy middle": `mandelbrot=size=${SIZE}:end_scale=0.2,noise=alls=3:allf=t,noise=enable='between(t,9,14)':alls=40:allf=t`,
  "busy end": `mandelbrot=size=${SIZE}:end_scale=0.2,noise=enable='gt(t,18)':alls=30:allf=t`,
  "calm start": `gradients=size=${SIZE}:speed=0.01,noise=enable='gt(t,8)':alls=15:allf=t`,
  // Phones: a moving hand, focus that changes, grain.
  camera: `${ZOOM},zoompan=z='1+0.3*sin(on/60)':d=1:s=640x360:fps=25,noise=alls=4:allf=t`,
  shaken: `${ZOOM},fps=25,crop=640:360:'320+80*sin(2.1*t)+20*sin(17*t)':'180+60*cos(1.7*t)+15*cos(13*t)',noise=alls=5:allf=t`,
  panned: `${ZOOM},fps=25,scroll=h=0.003,scale=640x360`,
  "panned fast": `${ZOOM},fps=25,scroll=h=0.02,scale=640x360,noise=alls=4:allf=t`,
  "lost focus": `${ZOOM},fps=25,crop=640:360:'320+80*sin(t)':180,gblur=sigma=6:enable='between(mod(t,8),3,6)',noise=alls=3:allf=t`,
  "turned phone": `${ZOOM},fps=25,rotate=0.3*sin(0.6*t),crop=640:360,noise=alls=3:allf=t`,
  // Noise.
  grain: `color=gray:size=${SIZE},noise=alls=30:allf=t`,
  "strong noise": `testsrc2=size=${SIZE},noise=alls=50:allf=t`,
  "still noise": `color=gray:size=${SIZE},noise=alls=60`,
  snow: `color=gray:size=${SIZE},noise=alls=100:allf=t+u,gblur=sigma=1`,
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
      const delays: number[] = [];
      let inside = 0;
      lines = [];
      for (const [at, { low, high, encode_seconds }] of estimates.entries()) {
        await tab.choose(paths[at] ?? "");
        const { size, seconds } = await tab.page.evaluate(
          (request) => bench.ours.run(request, false),
          REQUEST,
        );
        const error = (low + high) / 2 / size - 1;
        const delay = (encode_seconds ?? Number.NaN) / seconds - 1;
        errors.push(Math.abs(error));
        delays.push(Math.abs(delay));
        if (low <= size && size <= high) inside++;
        lines.push(`${names[at]} ${percent(error)} (${percent(delay)})`);
      }
      const within = (all: readonly number[], most: number) => all.filter((error) => error <= most).length;
      const seconds = estimates.reduce((sum, each) => sum + each.seconds, 0) / estimates.length;
      return {
        value: within(errors, 0.1),
        within_20: within(errors, 0.2),
        in_time: within(delays, 0.25),
        inside,
        seconds,
      };
    },
    peer: null,
    notes: (ours) =>
      [
        `${names.length} clips of 24 s to H.264 at 480 wide; ${medianOf(ours, "within_20")} are within 20 %, ${medianOf(ours, "inside")} within their bounds, ${medianOf(ours, "in_time")} within 25 % of the time`,
        `${short(medianOf(ours, "seconds"))} s an estimate`,
        `errors of size (and time): ${lines.join(", ")}`,
      ].join("; "),
  };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
