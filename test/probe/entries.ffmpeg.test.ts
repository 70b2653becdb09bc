import { expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import { readSplice } from "../../src/mux/splice.ts";
import { listPictures } from "../../src/mux/weigh.ts";
import { listEntries, readKeyframes, withEntries } from "../../src/probe/entries.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { openFile } from "../encoders/native-encoder.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { INTEGRITY_SOURCES } from "../integrity/sources.ts";
import { probeFile } from "./probe-file.ts";

// Where decoding must start to show pictures from 3.7 s and from 7 s.
const ENTRIES = [
  // Groups of two seconds, of which only the first starts with an IDR picture.
  { name: "h264_open_gop", container: "mp4", expected: [2, 6] },
  { name: "h264_open_gop", container: "mkv", expected: [2.021, 6.021] },
  // One refresh cycle earlier.
  { name: "h264_intra_refresh", container: "mp4", expected: [2.12, 4.16] },
  { name: "h264_one_idr", container: "mp4", expected: [0, 0] },
  { name: "h264_mbaff", container: "mp4", expected: [2, 6] },
  { name: "hevc_rasl", container: "mp4", expected: [2, 6] },
  { name: "hevc_radl", container: "mkv", expected: [2.021, 6.021] },
  { name: "vp9_hidden", container: "webm", expected: [3.007, 6.007] },
  { name: "vp8_hidden", container: "webm", expected: [3.007, 6.007] },
  // One group earlier, because this codec's packets are not parsed.
  { name: "mpeg2_open_gop", container: "mp4", expected: [3, 6] },
] as const;

test.for(ENTRIES)(
  "finds where to start decoding $name in $container",
  async ({ name, container, expected }) => {
    const path = await INTEGRITY_SOURCES[name].make(container);
    const { source } = await probeFile(path);
    const { signal } = new AbortController();
    const times = await withEntries(await openFile(path), source, signal, ({ entry }) =>
      Promise.all([3.7, 7].map(entry)),
    );
    expect(times.map((time) => Number(time?.toFixed(3)))).toEqual(expected);
  },
);

test.for([
  { name: "h264_open_gop", container: "mp4", expected: [0, 2, 4, 6, 8, 10, 12] },
  { name: "h264_open_gop", container: "mkv", expected: [0.021, 2.021, 4.021, 6.021, 8.021, 10.021, 12.021] },
  { name: "h264_intra_refresh", container: "mp4", expected: [0] },
  { name: "h264_one_idr", container: "mp4", expected: [0] },
  { name: "hevc_rasl", container: "mp4", expected: [0, 2, 4, 6, 8, 10, 12] },
  // No pictures of this codec can be examined.
  { name: "mpeg2_open_gop", container: "mp4", expected: [] },
  { name: "vp9_hidden", container: "webm", expected: [0.007, 3.007, 6.007, 9.007] },
] as const)("lists where a copy of $name in $container can start", async ({ name, container, expected }) => {
  const path = await INTEGRITY_SOURCES[name].make(container);
  const { source } = await probeFile(path);
  const times = await listEntries(await openFile(path), source, AbortSignal.timeout(60_000));
  expect(times.map((time) => Number(time.toFixed(3)))).toEqual(expected);
});

test("finds nothing in an unreadable file", async () => {
  const { source } = await probeFile(await INTEGRITY_SOURCES.h264_open_gop.make("mp4"));
  const bytes = crypto.getRandomValues(new Uint8Array(5000));
  const reader = { size: 5000, read: async ({ start = 0, end = 0 }) => bytes.slice(start, end) };
  const time = await withEntries(reader, source, new AbortController().signal, ({ entry }) => entry(3));
  expect(time).toBeNull();
});

test.for([
  { name: "h264_open_gop", container: "mp4", expected: [3.68, 3.72, 7] },
  { name: "h264_open_gop", container: "mkv", expected: [3.661, 3.701, 6.981] },
  { name: "vp8_hidden", container: "webm", expected: [3.687, 3.687, 6.967] },
] as const)(
  "finds the picture of $name in $container shown at a time",
  async ({ name, container, expected }) => {
    const path = await INTEGRITY_SOURCES[name].make(container);
    const { source } = await probeFile(path);
    const times = await withEntries(
      await openFile(path),
      source,
      AbortSignal.timeout(60_000),
      ({ visibleFrom }) => Promise.all([3.7, 3.72, 7].map(visibleFrom)),
    );
    expect(times.map((time) => Number(time?.toFixed(3)))).toEqual(expected);
  },
);

test("lists where a copy of a fragmented MP4 can start", async () => {
  const whole = await INTEGRITY_SOURCES.h264_open_gop.make("mp4");
  const fragments = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"];
  const path = await makeClip("mp4", ["-i", whole, "-c", "copy", ...fragments]);
  const { source } = await probeFile(path);
  // Fragments without an edit list show the reordering of the first pictures as a delay.
  const times = await listEntries(await openFile(path), source, AbortSignal.timeout(60_000));
  expect(times.map((time) => Number(time.toFixed(2)))).toEqual([0.08, 2.08, 4.08, 6.08, 8.08, 10.08, 12.08]);
});

const UNREACHABLE = new MediaError("input_unreachable", "The storage does not answer.");

/** A file whose first reads succeed and whose next one fails, as storage may for a moment. */
function failingOnce(file: ByteReader, successes: number): ByteReader {
  let reads = 0;
  return {
    size: file.size,
    read: (...args) => (reads++ === successes ? Promise.reject(UNREACHABLE) : file.read(...args)),
  };
}

const SPLICES = ["copy", "smart"] as const;

test.for([
  { container: "mp4", successes: 0 },
  { container: "mp4", successes: 1 },
  { container: "mkv", successes: 1 },
] as const)(
  "a read of $container that fails after $successes others is not taken for damage",
  async ({ container, successes }) => {
    const path = await INTEGRITY_SOURCES.h264_open_gop.make(container);
    const { source } = await probeFile(path);
    const file = await openFile(path);
    const { signal } = new AbortController();
    const reader = () => failingOnce(file, successes);
    const ranges = [{ start: 3, end: 5 }];
    const failing = [
      withEntries(reader(), source, signal, ({ entry }) => entry(7)),
      listEntries(reader(), source, signal),
      readKeyframes(reader(), source, signal),
      ...SPLICES.map((mode) => readSplice(reader(), source, { mode, ranges }, signal)),
      ...(container === "mp4" ? [listPictures(reader(), source, signal)] : []),
    ];
    const ends = await Promise.allSettled(failing);
    expect(ends.map((end) => end.status === "rejected" && end.reason)).toEqual(
      failing.map(() => UNREACHABLE),
    );
  },
);
