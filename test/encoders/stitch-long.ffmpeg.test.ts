import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { stitch } from "../../src/mux/stitch.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import { makeClip, runFfprobe, runFfprobeWith } from "../fixtures/make-clip.ts";
import { note } from "../judge/figures.ts";
import { processorTime, watchPace } from "../reliability/pace.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-long-"));
afterAll(() => rm(home, { recursive: true }));
const run = promisify(execFile);

const MINUTE = 60;
const count = z.coerce.number();
const Header = z.object({
  streams: z.array(z.object({ codec_type: z.string(), nb_frames: count, duration: count })),
});
const Packets = z.object({
  packets: z.array(z.object({ pts_time: count, dts_time: count, size: count })),
});
const Counted = z.object({ streams: z.array(z.object({ nb_read_packets: count })) });
const Report = z.object({ size: z.number(), cpu: z.number(), buffers: z.number() });

const pictures = (rate: number) =>
  `-f lavfi -i testsrc2=s=64x36:r=${rate}:d=${MINUTE} -pix_fmt yuv420p`.split(" ");
const silence = `-f lavfi -i anullsrc=r=48000:cl=stereo -t ${MINUTE}`.split(" ");
const loop = (times: number) => ["-stream_loop", String(times - 1), "-i", "{in}", "-c", "copy"];
const exact = ["-video_track_timescale", "120000", "-movie_timescale", "120000"];
const front = ["-movflags", "+faststart"];

/** Stitches a film of a number of minutes in a process with a heap limit in MiB. */
async function stitchFilm(
  format: string,
  parts: { video: string; sound: string },
  minutes: number,
  heap: number,
) {
  const output = join(home, `film.${format}`);
  const args = [format, parts.video, String(minutes), String(MINUTE), parts.sound, output];
  const child = join(import.meta.dirname, "stitch-child.ts");
  const { stdout } = await run(process.execPath, [`--max-old-space-size=${heap}`, child, ...args]);
  return { output, report: Report.parse(JSON.parse(stdout)) };
}

/** Returns the pictures of a file from a second on: times relative to it, and sizes. */
async function picturesFrom(path: string, from: number) {
  const shown = ["-select_streams", "v", "-read_intervals", `${from}%+${MINUTE + 1}`, "-show_entries"];
  const query = [...shown, "packet=pts_time,dts_time,size", path];
  const report = await runFfprobeWith(["-v", "warning", "-of", "json", ...query]);
  return Packets.parse(report).packets.map(({ pts_time, dts_time, size }) => {
    return { shown: (pts_time - from).toFixed(4), decoded: (dts_time - from).toFixed(4), size };
  });
}

test("stitches 4 hours at 60 fps in a heap of 48 MiB", async ({ task }) => {
  const minutes = 240;
  const video = await makeClip("mp4", [
    ...[...pictures(60), "-c:v", "libx264", "-preset", "veryfast", "-crf", "40", ...exact, ...front],
  ]);
  const sound = await makeClip("mp4", [...silence, "-c:a", "aac"], [...loop(minutes), ...front]);
  const steady = watchPace(processorTime);
  const { output, report } = await stitchFilm("mp4", { video, sound }, minutes, 48);
  note(task, report);
  expect(report.size).toBe((await stat(output)).size);
  expect(report.buffers).toBeLessThan(64);
  expect(steady(report.cpu)).toBeLessThan(3);

  const [track] = Header.parse(await runFfprobe(sound)).streams;
  const { streams } = Header.parse(await runFfprobe(output));
  expect(streams.map(({ nb_frames }) => nb_frames)).toEqual([minutes * MINUTE * 60, track?.nb_frames]);
  for (const { duration } of streams) expect(duration).toBeCloseTo(track?.duration ?? 0, -1);
  expect(streams[0]?.duration).toBe(minutes * MINUTE);
  // The last minute equals the first.
  const last = await picturesFrom(output, (minutes - 1) * MINUTE);
  expect(last).toHaveLength(MINUTE * 60);
  expect(last).toEqual((await picturesFrom(output, 0)).slice(0, MINUTE * 60));
});

// The reason for stitch-mp4.ts.
test("mediabunny's own muxer runs out of a 48 MiB heap for 4 hours, but not for 27 minutes", async () => {
  const child = join(import.meta.dirname, "mediabunny-child.ts");
  const mux = (packets: number) =>
    run(process.execPath, ["--max-old-space-size=48", child, String(packets)]).then(
      ({ stdout }) => stdout.trim(),
      ({ stderr }: { stderr: string }) => /heap out of memory/.exec(stderr)?.[0],
    );
  expect(await mux(100_000)).toBe("whole");
  expect(await mux(240 * MINUTE * 60)).toBe("heap out of memory");
});

test("stitches 40 minutes of WebM in a heap of 24 MiB", async ({ task }) => {
  const minutes = 40;
  const vp9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 0 -crf 50".split(" ");
  const cues = ["-cues_to_front", "1"];
  const video = await makeClip("webm", [...pictures(25), ...vp9, ...cues]);
  const opus = [...silence, "-c:a", "libopus", "-b:a", "64k"];
  const sound = await makeClip("webm", opus, [...loop(minutes), ...cues]);
  const { output, report } = await stitchFilm("webm", { video, sound }, minutes, 24);
  note(task, report);
  const counted = async (path: string) => {
    const shown = ["-count_packets", "-show_entries", "stream=codec_type,nb_read_packets", path];
    const report = await runFfprobeWith(["-v", "warning", "-of", "json", ...shown]);
    return Counted.parse(report).streams.map(({ nb_read_packets }) => nb_read_packets);
  };
  expect(await counted(output)).toEqual([minutes * MINUTE * 25, ...(await counted(sound))]);
});

test("writes 64-bit offsets for a film of more than 4 GiB", async () => {
  const video = await makeClip("mp4", [
    ...pictures(25),
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    ...exact,
    ...front,
  ]);
  const bytes = new Uint8Array(readFileSync(video));
  // Enlarges its last sample to 450 MiB.
  const large = 450 * 2 ** 20;
  const view = new DataView(bytes.buffer);
  const stsz = Buffer.from(bytes.buffer).indexOf("stsz");
  const samples = view.getUint32(stsz + 12);
  view.setUint32(stsz + 12 + samples * 4, large);
  const input = {
    size: bytes.length + large,
    async read({ start, end }: ByteRange) {
      const read = new Uint8Array(Math.min(end, bytes.length + large) - start);
      read.set(bytes.subarray(start, end));
      return read;
    },
  };
  const parts = Array.from({ length: 10 }, (_, index) => ({ input, at: index * MINUTE }));
  let [size, head] = [0, Buffer.alloc(0)];
  for await (const piece of stitch({ format: "mp4", video: parts, audio: null })) {
    if (size === 0) head = Buffer.from(piece);
    size += piece.length;
  }
  expect(size).toBeGreaterThan(10 * large);
  const co64 = head.indexOf("co64");
  const offsets = Array.from({ length: head.readUInt32BE(co64 + 8) }, (_, index) =>
    Number(head.readBigUInt64BE(co64 + 12 + index * 8)),
  );
  expect(offsets).toHaveLength(10 * MINUTE);
  const mdat = head.indexOf("mdat") - 4;
  expect(head.readUInt32BE(mdat)).toBe(1);
  expect(Number(head.readBigUInt64BE(mdat + 8))).toBe(size - mdat);
  expect(offsets[0]).toBe(mdat + 16);
  // All parts have the same size.
  const each = (size - mdat - 16) / 10;
  expect(offsets.filter((_, index) => index % MINUTE === 0)).toEqual(
    parts.map((_, index) => mdat + 16 + index * each),
  );
});
