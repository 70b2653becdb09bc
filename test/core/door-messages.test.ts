import { expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import { parseImageOptions } from "../../src/media/image-url.ts";
import { parseStepRequest, parseTaskRequest } from "../../src/runs/requests.ts";

const input = "https://example.com/a.mp4";
const video = (options: unknown) => ({ input, kind: "video", options });
const source = { object: "source", url: input, kind: "video", format: "mp4" };

function errorOf(call: () => unknown): unknown[] {
  try {
    return [call()];
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    const { kind, param, message, reason } = thrown;
    return [kind, param, message, reason && "rule" in reason ? reason.rule : undefined];
  }
}

const SIZE = 'must be a whole number of pixels from 1 to 16384 or a percentage such as "50%" (1 to 1000).';

test.for<{ body: object; kind: string; param: string; text: string; whole?: string }>([
  {
    body: { input },
    kind: "request_invalid",
    param: "kind",
    text: "is required: video, audio, image, animation, storyboard, waveform, adaptive_video.",
  },
  {
    body: { input, kind: "movie" },
    kind: "invalid_kind",
    param: "kind",
    text: 'Unknown kind "movie"; use video, audio, image, animation, storyboard, waveform, adaptive_video.',
    whole: "",
  },
  {
    body: { kind: "video" },
    kind: "input_required",
    param: "input",
    text: "is required: the URL of the source.",
  },
  {
    body: { ...video({}), input: "ftp://e.org/a" },
    kind: "invalid_input",
    param: "input",
    text: "must be a URL that starts with http://, https://, s3://.",
  },
  {
    body: { ...video({}), output: "s3://bucket" },
    kind: "invalid_output",
    param: "output",
    text: "must have the shape s3://<bucket>/<key>.",
  },
  {
    body: { ...video({}), metadata: [] },
    kind: "request_invalid",
    param: "metadata",
    text: "must be an object.",
  },
  { body: video([]), kind: "request_invalid", param: "options", text: "must be an object." },
  {
    body: video({ format: "mp3" }),
    kind: "invalid_format",
    param: "options.format",
    text: "must be one of mp4, webm, mov for video.",
  },
  {
    body: video({ format: "webm", codec: "h264" }),
    kind: "invalid_codec",
    param: "options.codec",
    text: "webm cannot hold h264 here; use vp9, av1.",
    whole: "",
  },
  {
    body: video({ fps: 0 }),
    kind: "invalid_options",
    param: "options.fps",
    text: "must be a number from 1 to 60.",
  },
  { body: video({ width: "0%" }), kind: "invalid_options", param: "options.width", text: SIZE },
  { body: video({ width: true }), kind: "request_invalid", param: "options.width", text: SIZE },
  {
    body: video({ bitrate: 1.5 }),
    kind: "invalid_options",
    param: "options.bitrate",
    text: "must be a whole number of bits per second from 300000 to 60000000.",
  },
  {
    body: video({ fit: "cover" }),
    kind: "invalid_options",
    param: "options.fit",
    text: "needs both width and height.",
  },
])("rejects $body with a message that names the field and its rule", ({ body, kind, param, text, whole }) => {
  const message = whole === undefined ? `${param} ${text}` : text;
  const rule = whole === undefined ? text : undefined;
  expect(errorOf(() => parseTaskRequest(body))).toEqual([kind, param, message, rule]);
});

const QUALITY = "must be a whole number from 1 to 100, or one of very_low, low, medium, high, very_high.";

// Values in a URL are text, so a value of another type counts as invalid.
test.for([
  { text: "q=0", rule: `quality ${QUALITY}` },
  { text: "q=101", rule: `quality ${QUALITY}` },
  { text: "q=best", rule: `quality ${QUALITY}` },
  { text: "w=-1", rule: `width ${SIZE}` },
  { text: "rotate=-90", rule: "rotate must be one of 0, 90, 180, 270." },
  { text: "rotate=45", rule: "rotate must be one of 0, 90, 180, 270." },
  { text: "flip=1", rule: "flip must be one of horizontal, vertical, both." },
  { text: "enlarge=1", rule: "enlarge must be true or false." },
  {
    text: "crop=-1:0:5:5",
    rule: 'crop.x must be a whole number of pixels from 0 to 16384 or a percentage from "0%" to "100%".',
  },
])("rejects $text in an image URL as an invalid value", ({ text, rule }) => {
  const [kind, , message] = errorOf(() => parseImageOptions(text));
  expect([kind, message]).toEqual(["invalid_options", `options.${rule}`]);
});

test("rejects an unknown field or option with a list of the known ones", () => {
  const of = (body: object) => errorOf(() => parseTaskRequest(body))[2];
  expect(of({ ...video({}), more: 1 })).toBe(
    'Unknown field "more"; the fields are input, kind, options, metadata, output, webhook_url.',
  );
  expect(of({ input, kind: "audio", options: { fps: 1 } })).toBe(
    'Unknown option "fps" for audio; the options are format, mode, quality, bitrate, track, channels, sample_rate, volume, normalize, target_lufs, fade_in, fade_out, start, end, speed, parts, partial, metadata.',
  );
  const step = (kind: string) =>
    errorOf(() => parseStepRequest({ kind, input: { url: input }, options: { a: 1 } }))[2];
  expect(step("probe")).toBe(
    'Unknown option "a" for probe; the options are thumbhash, dominant_color, entries.',
  );
  expect(step("ingest")).toBe('Unknown option "a" for ingest; there are none.');
});

test("the message for an invalid Source says what to pass", () => {
  const wrong = { kind: "video", input: { ...source, width: 0 } };
  expect(errorOf(() => parseStepRequest(wrong))[2]).toBe(
    "input.width is wrong: pass a Source, such as the output of a probe step.",
  );
});

test("the kind of a request types its options", () => {
  const request = parseTaskRequest(video({ fps: 30 }));
  if (request.kind !== "video") throw new Error("another kind");
  const fps: number | undefined = request.options.fps;
  expect(fps).toBe(30);
});
