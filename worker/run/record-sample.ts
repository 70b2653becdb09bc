// What records have in common. It is part of what is stored: what was packed with it can only be read with it, so it never changes.

const VIDEO = {
  ...{
    object: "source",
    url: "https://media.example.com/input.mp4",
    kind: "video",
    format: "mp4",
    mime: "video/mp4",
  },
  ...{ filesize: 10485760, duration: 10.5, width: 1920, height: 1080, coded_width: 1920, coded_height: 1080 },
  ...{
    sample_aspect_ratio: "1:1",
    rotation: 0,
    pixel_format: "yuv420p",
    has_alpha: false,
    interlaced: false,
  },
  color: {
    primaries: "bt709",
    transfer: "bt709",
    space: "bt709",
    range: "limited",
    bit_depth: 8,
    hdr: false,
  },
  ...{ fps: 25, bitrate: 8000000, codecs: { video: "h264", audio: "aac" } },
  audio: { channels: 2, sample_rate: 48000 },
  streams: [
    { index: 0, kind: "video", codec: "h264", duration: 10.5, end: 10.5, bitrate: 8000000 },
    { index: 1, kind: "audio", codec: "aac", duration: 10.5, end: 10.5, bitrate: 128000, language: "eng" },
  ],
  ...{ tags: { title: "", artist: "", encoder: "Lavf59.27.100" }, chapters: 1, dropped: [], etag: "" },
};
const ENCODED = {
  ...VIDEO,
  url: "https://media.example.com/media/.1796121133/out/task_01m86/output.mp4",
  counts: { pictures: { source: 250, output: 250 }, sound: { source: 10.5, output: 10.5 } },
  ...{ encoder: "native", reason: "Fits the encoder's memory and time limits." },
};
const SOUND = {
  ...{ object: "source", url: "https://media.example.com/input.mp3", kind: "audio", format: "mp3" },
  ...{ mime: "audio/mpeg", filesize: 10485760, duration: 10.5, bitrate: 128000 },
  ...{ codecs: { video: null, audio: "mp3" }, audio: { channels: 2, sample_rate: 44100 } },
  streams: [{ index: 0, kind: "audio", codec: "mp3", duration: 10.5, bitrate: 128000 }],
};
const STILL = {
  ...{
    object: "source",
    url: "https://media.example.com/media/.1796121133/work/task_01m86/source",
    kind: "image",
  },
  ...{ format: "png", mime: "image/png", filesize: 10485760, width: 1920, height: 1080 },
  ...{
    coded_width: 1920,
    coded_height: 1080,
    sample_aspect_ratio: "1:1",
    rotation: 0,
    pixel_format: "rgb24",
  },
  ...{ has_alpha: false, interlaced: false, color: { range: "full", bit_depth: 8, hdr: false } },
  ...{
    codecs: { video: "png", audio: null },
    animated: false,
    streams: [{ index: 0, kind: "video", codec: "png" }],
  },
  ...{ encoder: "light", reason: "About 1 s of work.", etag: "" },
};

function step(kind: string, input: object, output: object): object {
  const times = { created_at: 1795516333012, started_at: 1795516333588, finished_at: 1795516336967 };
  const end = { status: "succeeded", progress: 100, error: null, ...times, updated_at: 1795516336967 };
  return { id: "step_01m86", object: "step", kind, input, options: {}, output, ...end };
}

const FAILED = {
  error: {
    kind: "input_not_found",
    message: "The input could not be read: the server answered 404.",
    retryable: false,
  },
  ...{ status: "failed", progress: null },
};

/** Resembles the JSON of any finished task or step. */
export const RECORD_SAMPLE = JSON.stringify([
  SOUND,
  STILL,
  FAILED,
  {
    ...{ id: "task_01m86", object: "task", input: "https://media.example.com/input.mp4", kind: "video" },
    ...{
      options: { format: "webp", codec: "h264", width: 1280, height: 720, quality: "high" },
      metadata: {},
    },
    output: "https://media.example.com/media/.1796121133/out/task_01m86/output.mp4",
    ...{ status: "succeeded", error: null },
    steps: [
      step("probe", { object: "external_file", url: "https://media.example.com/input.mp4" }, VIDEO),
      step("ingest", VIDEO, VIDEO),
      step("adaptive_video", VIDEO, ENCODED),
      step("image", STILL, STILL),
      step("upload", ENCODED, { ...ENCODED, etag: "" }),
    ],
    ...{
      created_at: 1795516333012,
      started_at: 1795516333588,
      finished_at: 1795516357454,
      updated_at: 1795516357454,
    },
  },
]);
