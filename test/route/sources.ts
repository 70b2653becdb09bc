import type { Source } from "../../src/media/source.ts";
import { videoSource } from "../plan/source.ts";

export const MB = 1_000_000;

export const video = (width: number, height: number, duration: number, more: Partial<Source> = {}): Source =>
  videoSource({
    ...{ width, height, coded_width: width, coded_height: height, duration },
    filesize: Math.round(duration * width * height * 0.3),
    ...more,
  });

export const sound = (duration: number, filesize: number): Source => {
  const { width: _w, height: _h, coded_width: _cw, coded_height: _ch, fps: _f, ...rest } = videoSource();
  const codecs = { video: null, audio: "pcm_s16le" };
  return { ...rest, kind: "audio", format: "wav", codecs, duration, filesize };
};
