import { MOVING_TIMES } from "../fixtures/moving-webp.ts";
import type { Rgba } from "../judge/picture.ts";

/** A stream of media, with its size if it has one. */
export type Stream = readonly [codec: string, width?: number, height?: number];
/** The variable that holds a recipe's result, and the expected result: properties of media, or a value. */
export interface Expected {
  leaves: string;
  streams?: readonly Stream[];
  seconds?: number;
  /** Times at which pictures are shown, in seconds. */
  times?: readonly number[];
  /** Colors of points of a picture. */
  colors?: readonly (readonly [x: number, y: number, color: Rgba])[];
  /** The file is smaller. */
  bytes?: number;
  /** Hertz. */
  rate?: number;
  value?: unknown;
}
/** Results of the recipes for a page, by their headings. */
export const PAGE_RECIPES: Readonly<Record<string, Expected>> = {
  "Keep a video below a size": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]], bytes: 100_000 },
  "Take a picture out of a video": { leaves: "blob", streams: [["mjpeg", 160, 90]] },
  "Take a picture every half second": {
    leaves: `await Promise.all(done.steps.at(-1).output.files.map(async ({ time, mime }, index) => {
      const { width, height } = await createImageBitmap(await (await fetch(urls[index])).blob());
      return [stills[index].name, time, mime, width, height];
    }))`,
    value: [
      ["still_0001.webp", 0, "image/webp", 160, 90],
      ["still_0002.webp", 0.5, "image/webp", 160, 90],
      ["still_0003.webp", 1, "image/webp", 160, 90],
      ["still_0004.webp", 1.5, "image/webp", 160, 90],
    ],
  },
  "Keep a picture below a size": { leaves: "blob", streams: [["mjpeg", 320, 180]], bytes: 5000 },
  "Convert a photo of an iPhone": { leaves: "blob", streams: [["mjpeg", 80, 45]] },
  "Draw an SVG at any size": {
    leaves: "blob",
    streams: [["png", 400, 200]],
    // On both sides of a sharp edge, and where the SVG is clear.
    colors: [
      [198, 50, [255, 0, 0, 255]],
      [201, 50, [0, 255, 0, 255]],
      [201, 150, [0, 0, 0, 0]],
    ],
  },
  "Lay a logo over a picture": { leaves: "blob", streams: [["png", 320, 180]] },
  "Write text over a video": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]] },
  "Make a GIF of a scene": { leaves: "blob", streams: [["gif", 160, 90]], seconds: 1 },
  "Make an animated WebP of a scene": {
    leaves: `await (async () => {
      const decoder = new ImageDecoder({ data: await blob.arrayBuffer(), type: blob.type });
      await decoder.completed;
      await decoder.tracks.ready;
      const { frameCount, repetitionCount } = decoder.tracks.selectedTrack;
      return [blob.type, frameCount, repetitionCount];
    })()`,
    value: ["image/webp", 10, 0],
  },
  "Turn an animated WebP into a video": {
    leaves: "blob",
    streams: [["h264", 96, 64]],
    seconds: 1.42,
    times: MOVING_TIMES,
  },
  "Take the sound out of a video": { leaves: "blob", streams: [["mp3"]] },
  "Make a WAV for speech recognition": { leaves: "blob", streams: [["pcm_s16le"]], rate: 16_000 },
  "Take the sound out without encoding it": { leaves: "blob", streams: [["aac"]] },
  "Bring sound to the loudness of podcasts": { leaves: "blob", streams: [["mp3"]] },
  "Fade sound in and out": { leaves: "blob", streams: [["flac"]], seconds: 2 },
  "Choose the codec of the sound of a video": { leaves: "blob", streams: [["h264", 320, 180], ["opus"]] },
  "Remove the sound of a video": { leaves: "blob", streams: [["h264", 320, 180]] },
  "Draw a waveform as a picture": { leaves: "blob", streams: [["png", 320, 80]] },
  "Save a waveform as binary data": {
    leaves: "[[version, flags, rate, samplesPerPoint, points, channels], peaks.length, Math.max(...peaks)]",
    value: [[2, 1, 44_100, 221, 400, 1], 800, 104],
  },
  "Trim a video": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]], seconds: 1 },
  "Cut a video without encoding it": {
    ...{ leaves: "blob", streams: [["h264", 320, 180], ["aac"]], seconds: 1 },
  },
  "Play a video faster": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]], seconds: 1 },
  "Crop, turn and mirror a video": { leaves: "blob", streams: [["h264", 120, 120], ["aac"]] },
  "Lay a logo over a video": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]] },
  "Add subtitles to a video": { leaves: "blob", streams: [["h264", 320, 180], ["aac"], ["mov_text"]] },
  "Burn subtitles into a video": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]] },
  "Play videos one after the other": { leaves: "blob", streams: [["h264", 320, 180], ["aac"]], seconds: 6 },
  "Make it square, with bars": { leaves: "blob", streams: [["h264", 240, 240], ["aac"]] },
  "Show the time left and a cancel button": { leaves: "blob", streams: [["h264", 160, 90], ["aac"]] },
  "Convert many files": { leaves: "blobs[1]", streams: [["webp", 80, 45]] },
  "Make several outputs of one file": { leaves: "blobs[1]", streams: [["mjpeg", 160, 90]] },
  "Write a large result to disk": { leaves: "blob", streams: [["h264", 160, 90], ["aac"]] },
  "Make a stream for HLS and DASH": {
    leaves: "names.filter((name) => !name.includes('/')).sort()",
    value: ["manifest.mpd", "master.m3u8"],
  },
  "Show a placeholder while a picture loads": {
    leaves: "[typeof thumbhash, typeof dominant_color]",
    value: ["string", "string"],
  },
  "Predict the output of a file": { leaves: "[width, height, copied, lost]", value: [160, 90, false, []] },
  "Preview and estimate an encode": {
    leaves: "[width, height, original.type, output.type, bytes.low <= bytes.high, seconds > 0]",
    value: [160, 90, "image/jpeg", "image/jpeg", true, true],
  },
  "Draw a filmstrip": {
    leaves: "pictures.map(({ at, width }) => [at, width])",
    value: [
      [0, 80],
      [0.5, 80],
      [1, 80],
      [1.5, 80],
    ],
  },
  "Find the tasks of an earlier visit": { leaves: "running", value: [] },
  "Free storage space": { leaves: "[before.outputs > 0, after.outputs]", value: [true, 0] },
};
