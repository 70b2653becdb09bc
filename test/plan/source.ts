import type { Source } from "../../src/media/source.ts";

/** A plain MP4 of H.264 and AAC, 1920x1080 in BT.709 at 25 fps, 10 seconds, with a test's changes. */
export function videoSource(changes: Partial<Source> = {}): Source {
  return {
    object: "source",
    url: "https://example.com/clip.mp4",
    kind: "video",
    format: "mp4",
    width: 1920,
    height: 1080,
    coded_width: 1920,
    coded_height: 1080,
    sample_aspect_ratio: "1:1",
    rotation: 0,
    duration: 10,
    fps: 25,
    codecs: { video: "h264", audio: "aac" },
    pixel_format: "yuv420p",
    has_alpha: false,
    interlaced: false,
    color: { bit_depth: 8, primaries: "bt709", transfer: "bt709", space: "bt709", hdr: false },
    audio: { channels: 2, sample_rate: 48_000 },
    ...changes,
  };
}

/** An opaque PNG of 400x300, with a test's changes. */
export function imageSource(changes: Partial<Source> = {}): Source {
  return {
    object: "source",
    url: "https://example.com/picture.png",
    kind: "image",
    format: "png",
    width: 400,
    height: 300,
    coded_width: 400,
    coded_height: 300,
    rotation: 0,
    codecs: { video: "png", audio: null },
    pixel_format: "rgb24",
    has_alpha: false,
    animated: false,
    ...changes,
  };
}

/** A 16-bit stereo WAV of 10 seconds at 44.1 kHz, with a test's changes. */
export function audioSource(changes: Partial<Source> = {}): Source {
  return {
    object: "source",
    url: "https://example.com/sound.wav",
    kind: "audio",
    format: "wav",
    duration: 10,
    codecs: { video: null, audio: "pcm_s16le" },
    audio: { channels: 2, sample_rate: 44_100 },
    ...changes,
  };
}

/** Returns the kind, param and message of the MediaError that `work` must throw. */
export function faultOf(work: () => unknown): { kind: unknown; param: unknown; message: string } {
  try {
    work();
  } catch (thrown) {
    const { kind, param, message } = Object(thrown);
    return { kind, param, message };
  }
  throw new Error("It did not throw.");
}
