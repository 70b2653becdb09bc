import { expect, test } from "vitest";
import type { Source } from "../../src/index.ts";
import { defaultWishes } from "../options/default-wishes.ts";
import type { Wishes } from "../queue/item.ts";
import { describeDropped } from "./dropped-words.ts";

const film: Source = {
  ...{ object: "source", url: "https://example.com/film", kind: "video", format: "matroska" },
  ...{ width: 320, height: 240, coded_width: 320, coded_height: 240, duration: 5, fps: 25 },
  ...{
    codecs: { video: "h264", audio: "ac3" },
    audio: { channels: 6, sample_rate: 48_000 },
    chapters: [{ start: 0, end: 5, title: "" }],
  },
  streams: [
    { index: 0, kind: "video", codec: "h264" },
    { index: 1, kind: "audio", codec: "ac3", language: "eng" },
    { index: 2, kind: "audio", codec: "aac", language: "fra" },
    { index: 3, kind: "subtitle", codec: "hdmv_pgs_subtitle", language: "deu" },
    { index: 4, kind: "cover", codec: "mjpeg" },
  ],
  tags: { title: "Dawn", location: "+48.8577+002.2950/" },
};
const wishes = (kind: Wishes["kind"], options: Wishes["options"]): Wishes => ({
  ...{ ...defaultWishes(film), kind, options },
});
const CROWD = "1 further sound track (French), surround sound (it becomes stereo), subtitles (German)";

test.for([
  ["video", { format: "mp4" }, `Leaves out: ${CROWD}, private tags such as location and device.`],
  ["video", { format: "mp4", metadata: "keep" }, `Leaves out: ${CROWD}.`],
  ["video", { format: "webm", metadata: "keep" }, `Leaves out: ${CROWD}, the cover.`],
  ["video", { format: "mov", metadata: "keep" }, `Leaves out: ${CROWD}, the cover.`],
  ["video", { format: "mp4", metadata: "strip" }, `Leaves out: ${CROWD}.`],
  ["image", {}, null],
] as const)("%s with %o", ([kind, options, words]) => {
  expect(describeDropped(wishes(kind, options), film)).toBe(words);
});

test("returns null where nothing is left out", () => {
  const { chapters: _, tags: __, ...plain } = film;
  const silent: Source = { ...plain, codecs: { video: "h264", audio: null }, streams: [] };
  const { audio: ___, ...mute } = silent;
  expect(describeDropped(wishes("video", { format: "mp4" }), mute)).toBeNull();
  expect(describeDropped(wishes("video", {}), null)).toBeNull();
});
