import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewTask } from "../../src/client/client.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";
import { watchShare } from "./processor-share.ts";

const pictures = (seconds: number, size: string) =>
  `-f lavfi -i testsrc2=size=${size}:rate=25:duration=${seconds}`.split(" ");
const tone = (seconds: number) => `-f lavfi -i sine=frequency=440:duration=${seconds}`.split(" ");
const H264 = "-c:v libx264 -preset ultrafast -crf 30 -g 50 -pix_fmt yuv420p -c:a aac -b:a 64k".split(" ");
const film = (seconds: number, size: string) =>
  makeClip("mp4", [...pictures(seconds, size), ...tone(seconds), ...H264]);

// Percent of the task at which all chunks are encoded.
const ENCODED = 90;
// Near the end a factor of two is a very small window; a display in seconds does not show an error of two.
const SLACK = 2;
// Parts of the time so far, up to now, in which the encode's share of the processor is taken.
const WINDOWS = [0.125, 0.25, 0.5, 1];

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await film(60, "640x360"), "film.mp4");
  await rig.serve(await film(120, "640x360"), "long-film.mp4");
  await rig.serve(await makeClip("flac", [...tone(2500), "-c:a", "flac"]), "sound.flac");
  await rig.serve(await makeClip("gif", pictures(20, "320x180")), "moving.gif");
});
afterAll(() => rig?.close());

interface Job {
  file: string;
  kind: NewTask["kind"];
  options: object;
  workers: number;
  prefer?: "speed";
}

const JOBS: readonly { name: string; job: Job }[] = [
  { name: "one-chunk", job: { file: "film.mp4", kind: "video", options: { quality: "low" }, workers: 1 } },
  {
    name: "several-chunks",
    job: { file: "film.mp4", kind: "video", options: { quality: "low" }, workers: 2 },
  },
  {
    name: "webcodecs",
    job: {
      file: "long-film.mp4",
      kind: "video",
      options: { width: 1280, quality: "low" },
      workers: 2,
      prefer: "speed",
    },
  },
  { name: "sound", job: { file: "sound.flac", kind: "audio", options: { format: "mp3" }, workers: 2 } },
  { name: "stream", job: { file: "film.mp4", kind: "adaptive_video", options: { height: 360 }, workers: 2 } },
  { name: "animation", job: { file: "moving.gif", kind: "image", options: { width: 480 }, workers: 2 } },
];

// Progress is reported once a second: each lasts long enough for several reports on a fast machine.
test.for(JOBS)(
  "from 20 percent on, every ETA of $name is right within a factor of two",
  async ({ name, job }) => {
    await openKit(rig.lab.page, { name, encoderWorkers: job.workers, prefer: job.prefer ?? "quality" });
    const share = await watchShare(rig.lab);
    const { updates, end } = await rig.lab.page.evaluate(async ({ file, kind, options }) => {
      const { client } = kit;
      const input = await kit.file(`/files/${file}`);
      const task = await client.tasks.create({ input, kind, options } as NewTask);
      const updates: { began: number; at: number; progress: number; eta: number | null }[] = [];
      client.on(task, "update", ({ progress, eta, record }) => {
        const began = record.steps[2]?.started_at;
        if (progress !== null && began && !record.steps[2]?.output)
          updates.push({ began: began / 1000, at: Date.now() / 1000, progress, eta });
      });
      const done = await client.tasks.wait(task);
      const end = Date.now() / 1000;
      if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
      await client.close();
      return { updates, end };
    }, job);
    share.stop();
    const late = updates
      .filter(({ progress }) => progress >= 20 && progress < ENCODED)
      .map(({ began, at, progress, eta }) => {
        const left = end - at;
        // The load of the machine cannot be predicted: this is the time left if the encode keeps a share of the processor that it has had.
        const work = left * share.between(at, end);
        const shares = WINDOWS.map((part) => share.between(at - part * (at - began), at));
        return { progress, eta, left, most: work / Math.min(...shares), least: work / Math.max(...shares) };
      });
    expect(late.length).toBeGreaterThan(2);
    expect(
      late.filter(({ eta, left, most, least }) => !isRight(eta, left, left) && !isRight(eta, least, most)),
    ).toEqual([]);
    expect(rig.lab.complaints).toEqual([]);
  },
);

function isRight(eta: number | null, least: number, most: number): boolean {
  if (eta === null) return false;
  return eta <= Math.max(2 * most, most + SLACK) && eta >= Math.min(least / 2, least - SLACK);
}
