import { expect, test } from "vitest";
import type { AudioOptions } from "../../src/media/option-types.ts";
import type { Source } from "../../src/media/source.ts";
import { audioSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const sound = (codec: string, bitrate: number) =>
  audioSource({
    ...{ format: codec, codecs: { video: null, audio: codec } },
    streams: [{ index: 0, kind: "audio", codec, bitrate }],
  });
const bitrateOf = (source: Source, options: AudioOptions) => {
  const { audio } = createPlan(source, "audio", options);
  return audio?.mode === "encode" ? audio.bitrate : "copy";
};

test.for([
  { from: "mp3", bits: 64_000, format: "mp3", bitrate: 64_000 },
  { from: "mp3", bits: 320_000, format: "mp3", bitrate: 128_000 },
  { from: "mp3", bits: 64_000, format: "aac", bitrate: 64_000 },
  { from: "mp3", bits: 48_000, format: "opus", bitrate: 48_000 },
  { from: "aac", bits: 96_000, format: "aac", bitrate: 96_000 },
  { from: "aac", bits: 80_000, format: "ogg", bitrate: 80_000 },
  { from: "vorbis", bits: 64_000, format: "opus", bitrate: 64_000 },
  { from: "ac3", bits: 96_000, format: "mp3", bitrate: 96_000 },
  // MP3 needs more than AAC and Opus, and AAC more than HE-AAC.
  { from: "aac", bits: 64_000, format: "mp3", bitrate: 128_000 },
  { from: "opus", bits: 32_000, format: "mp3", bitrate: 128_000 },
  { from: "opus", bits: 32_000, format: "aac", bitrate: 128_000 },
  { from: "aac", bits: 32_000, format: "aac", bitrate: 128_000 },
  { from: "pcm_s16le", bits: 1_411_200, format: "mp3", bitrate: 128_000 },
  { from: "amr_nb", bits: 12_200, format: "aac", bitrate: 128_000 },
] as const)("$from of $bits bits per second becomes $format of $bitrate by default", (row) => {
  const options = { format: row.format, start: 1 };
  expect(bitrateOf(sound(row.from, row.bits), options)).toBe(row.bitrate);
});

test("an explicit quality or bitrate may exceed the source", () => {
  const source = sound("mp3", 64_000);
  expect(bitrateOf(source, { format: "mp3" })).toBe("copy");
  expect(bitrateOf(source, { format: "mp3", quality: "medium" })).toBe(128_000);
  expect(bitrateOf(source, { format: "mp3", bitrate: 192_000 })).toBe(192_000);
});

test("encoded sound of a video does not exceed the source's bitrate by default", () => {
  const film = videoSource({
    streams: [
      { index: 0, kind: "video", codec: "h264", bitrate: 2_000_000 },
      { index: 1, kind: "audio", codec: "aac", bitrate: 96_000 },
    ],
  });
  expect(createPlan(film, "video", { start: 1 }).audio).toMatchObject({ codec: "aac", bitrate: 96_000 });
  expect(createPlan(film, "video", { start: 1, audio_bitrate: 160_000 }).audio).toMatchObject({
    bitrate: 160_000,
  });
  expect(createPlan(film, "video", { format: "webm" }).audio).toMatchObject({
    codec: "opus",
    bitrate: 96_000,
  });
});
