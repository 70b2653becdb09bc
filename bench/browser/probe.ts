import { open as openFile, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ffprobeArgs } from "../../src/media/ffmpeg/ffprobe.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { openSite } from "./open-page.ts";

const BYTES = 4 * 2 ** 30;

/** The cost of probing a file of 4 GB. */
export const probeBenchmarks: readonly Benchmark[] = [{ name: "browser-probe-4gb", unit: "ms", open }];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const site = await openSite(ends);
  const path = join(site.files, "large.mp4");
  const { path: clip } = await makeFootage(600);
  await padMp4(clip, path, BYTES);
  const tab = await site.open();
  await tab.choose(path);
  await tab.page.evaluate(() => bench.ours.open({ allowPrivate: true }));
  const url = `${site.url}files/${basename(path)}`;
  return {
    async ours() {
      const { ms, output } = await tab.page.evaluate(() => bench.ours.probe(null));
      if (output?.filesize !== BYTES || !output.duration) throw new Error("The file was not probed.");
      site.takeBytes();
      const far = await tab.page.evaluate((at) => bench.ours.probe(at), url);
      return { value: ms, bytes: site.takeBytes(), url_ms: far.ms };
    },
    async peer() {
      const { seconds } = await runCommand("ffprobe", ffprobeArgs(path));
      return { value: seconds * 1000 };
    },
    notes: (ours) =>
      `a probe of an MP4 of 4 GiB and ten minutes with its index at the end, given as a File; the same by URL takes ${short(medianOf(ours, "url_ms"))} ms and ${medianOf(ours, "bytes")} bytes from the server, headers included; the peer is native ffprobe`,
  };
}

/** Rewrites an MP4 with its media padded to any length by a hole in the file, and its index after that. */
async function padMp4(from: string, to: string, bytes: number): Promise<void> {
  const boxes = boxesOf(await readFile(from));
  const box = (type: string) => boxes.find((each) => each.type === type) ?? missing(type);
  const [start, index, media] = [box("ftyp"), box("moov"), box("mdat")];
  // The media must keep their offset, which the index refers to.
  if (media.start + media.header < start.bytes.length + WIDE) missing("room for a long size");
  const file = await openFile(to, "w");
  try {
    await file.write(start.bytes, 0, start.bytes.length, 0);
    const payload = media.bytes.subarray(media.header);
    const place = media.start + media.header;
    const end = bytes - index.bytes.length;
    const head = Buffer.alloc(WIDE);
    head.writeUInt32BE(1, 0);
    head.write("mdat", 4, "latin1");
    head.writeBigUInt64BE(BigInt(end - (place - WIDE)), 8);
    await file.write(head, 0, WIDE, place - WIDE);
    await file.write(payload, 0, payload.length, place);
    await file.write(index.bytes, 0, index.bytes.length, end);
  } finally {
    await file.close();
  }
}

const WIDE = 16;

function boxesOf(file: Buffer) {
  const boxes: { type: string; start: number; header: number; bytes: Buffer }[] = [];
  for (let start = 0; start + 8 <= file.length; ) {
    const short = file.readUInt32BE(start);
    const header = short === 1 ? WIDE : 8;
    const size = short === 1 ? Number(file.readBigUInt64BE(start + 8)) : short || file.length - start;
    const type = file.toString("latin1", start + 4, start + 8);
    boxes.push({ type, start, header, bytes: file.subarray(start, start + size) });
    start += size;
  }
  return boxes;
}

function missing(part: string): never {
  throw new Error(`The clip has no ${part}.`);
}
