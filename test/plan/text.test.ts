import { expect, test } from "vitest";
import { createAvifEncoder } from "../../src/encoders/images/avif.ts";
import { createCanvasEncoder } from "../../src/encoders/images/canvas.ts";
import { LIGHT_LIMITS, refuseLight } from "../../src/encoders/light/light-estimate.ts";
import { createWebCodecsEncoder } from "../../src/encoders/webcodecs/webcodecs.ts";
import { placeText } from "../../src/media/features/text.ts";
import { FAST_TOOLS, NATIVE_TOOLS, refuseTools, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import { describeRefusal } from "../../src/media/words.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { isLargerAtNoGain } from "../../src/runs/steps/step-work.ts";
import { writeTextScript } from "../../src/runs/steps/text-scripts.ts";
import { describeSettings } from "../../web/words/item-words.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const film = videoSource();
const photo = imageSource({ has_alpha: false });
const text = [{ text: "Lisbon" }, { text: "2026", box: "#00000080", start: 1, end: 2 }];

test("the plan has a layer for each text and each box, and the script and the font as extra files", () => {
  const plan = createPlan(film, "video", { text, width: 320 });
  expect(plan.video).toMatchObject({
    mode: "encode",
    text: {
      file: 0,
      width: 320,
      layers: [
        { color: "0xffffff", start: 0, end: null },
        { color: "0x000000", opacity: 128 / 255, start: 1, end: 2 },
        { color: "0xffffff", start: 1, end: 2 },
      ],
    },
  });
  expect(plan.further?.map(({ role }) => role)).toEqual(["text", "font"]);
  const burnt = { subtitles: [{ url: "https://a.example/a.srt", burn: true }] };
  const both = createPlan(film, "video", { text, ...burnt, overlay: { url: "https://a.example/a.png" } });
  expect(both.further?.map(({ role }) => role)).toEqual(["overlay", "subtitles", "font", "text", "font"]);
  expect(both.video).toMatchObject({ burn: { file: 1 }, text: { file: 3 } });
  expect(createPlan(film, "video", { text: [] })).toEqual(createPlan(film, "video", {}));
});

test("sizes and places follow the size of the output", () => {
  const size = { width: 1280, height: 720 };
  expect(placeText({ text: "a" }, size)).toEqual({
    text: "a",
    size: 43.2,
    hasBox: false,
    anchor: [0.5, 0.5],
    margins: [64, 64, 36],
  });
  const placed = { text: "a", size: 20, color: "#f008", box: "#102030", position: { x: "25%", y: 10 } };
  expect(placeText(placed, size)).toEqual({
    text: "a",
    size: 20,
    hasBox: true,
    anchor: [0, 0],
    margins: [320, 64, 10],
  });
});

test("letters count as memory, so the light encoder leaves huge ones to native ffmpeg", () => {
  const size = { width: 640, height: 360 };
  const huge = createPlan(film, "video", { ...size, text: [{ text: "ABCD", size: "1000%" }] });
  const small = createPlan(film, "video", { ...size, text: [{ text: "ABCD" }] });
  expect(huge.further?.[0]).toMatchObject({ role: "text", pixels: 4 * 3600 ** 2 });
  expect(refuseLight(huge, film, LIGHT_LIMITS)).toMatchObject({ code: "memory" });
  expect(refuseLight(small, film, LIGHT_LIMITS)).toBeNull();
  const bytes = nativeWork(huge, film).memory - nativeWork(small, film).memory;
  expect(bytes / 2 ** 20).toBeCloseTo(1.4 * 51.84, 1);
  const subtitles = [{ url: "https://a.example/a.srt", burn: true, style: { size: "10%" } }];
  const burnt = createPlan(film, "video", { ...size, subtitles });
  expect(burnt.further?.[0]).toMatchObject({ role: "subtitles", pixels: 84 * 36 ** 2 });
});

test("native ffmpeg and the stock core draw text; all other encoders refuse", () => {
  const plan = createPlan(film, "video", { text });
  const webp = createPlan(photo, "image", { text: [{ text: "a" }], format: "webp" });
  const avif = createPlan(photo, "image", { text: [{ text: "a" }], format: "avif" });
  expect({
    native: refuseTools(plan, film, NATIVE_TOOLS),
    stock: refuseTools(plan, film, WASM_TOOLS),
    fast: refuseTools(plan, film, FAST_TOOLS),
    webcodecs: createWebCodecsEncoder({ sound: null }).refuse(plan, film),
    canvas: createCanvasEncoder().refuse(webp, photo),
    avif: createAvifEncoder({ wasm: "x" }).refuse(avif, photo),
  }).toEqual({
    native: null,
    stock: null,
    fast: { code: "text" },
    webcodecs: { code: "text" },
    canvas: { code: "text" },
    avif: { code: "text" },
  });
  expect(refuseTools(plan, film, { ...NATIVE_TOOLS, lacks: ["text"] })).toEqual({ code: "text" });
  expect(describeRefusal({ encoder: "webcodecs", code: "text" })).toBe(
    "this browser cannot draw text into pictures",
  );
});

test.for([
  { options: { text: [{ text: "" }] }, message: "options.text.0.text must be a text of 1 to 500 characters" },
  {
    options: { text: [{ text: " \n\u200b" }] },
    message: "options.text.0.text must contain visible characters, not only spaces.",
  },
  {
    options: { text: [{ text: "a\u0007" }] },
    message: "options.text.0.text must be a text of 1 to 500 characters",
  },
  {
    options: { text: [{ text: "a", color: "red" }] },
    message: 'options.text.0.color must be a hex color such as "#1e90ff"',
  },
  {
    options: { text: [{ text: "a", start: 2, end: 1 }] },
    message: "options.text.0.end must be after the start (2)",
  },
  {
    options: { text: Array(21).fill({ text: "a" }) },
    message: "options.text must be a list of at most 20 texts",
  },
  {
    options: { text: [{ text: "a" }], mode: "copy" },
    message: 'options.text needs an encode, which options.mode "copy" rules out',
  },
] as const)("$options is refused: $message", ({ options, message }) => {
  const request = { input: "https://a.example/a.mp4", kind: "video", options };
  expect(() => parseTaskRequest(request)).toThrow(message);
});

const font = {
  bytes: new Uint8Array(),
  family: "Any",
  scriptName: "Any",
  lineHeight: 1,
  hasLetter: () => true,
};

test.for([{ x: 320, y: 0 }, { x: "100%" }, { y: 240 }, { x: 10, y: "100%" }])(
  "a text that begins outside the pictures is refused ($x, $y)",
  (position) => {
    const draw = () => writeTextScript([{ text: "a", position }], { width: 320, height: 240 }, [font]);
    expect(draw).toThrow(
      "options.text.0.position puts the text outside the picture of 320x240 pixels, where it would not be visible.",
    );
  },
);

test("letters that would fill the memory of a renderer are refused", () => {
  const draw = (text: string, size: number | string) =>
    writeTextScript([{ text, size }], { width: 320, height: 240 }, [font]).length;
  expect(draw("A", "1000%")).toBeGreaterThan(0);
  expect(draw("A".repeat(500), "100%")).toBeGreaterThan(0);
  expect(() => draw("A".repeat(500), "200%")).toThrow(
    "options.text.0.size makes so many letters too large to draw; it can be at most 357 pixels.",
  );
});

test("a text of an image has neither start nor end", () => {
  const options = { text: [{ text: "a", start: 1 }] };
  expect(() => parseTaskRequest({ input: "https://a.example/a.png", kind: "image", options })).toThrow(
    'Unknown field "start" of a text of an image, which has no span of time',
  );
});

test("a summary mentions text, and an output that text makes larger than its source is kept", () => {
  const options = { text: [{ text: "a" }] };
  const settings = { kind: "video", options, target_size: null, preset: null, place: "device" } as const;
  expect(describeSettings(settings, film)).toContain("with text");
  const [small, large] = [
    { ...photo, filesize: 1 },
    { ...photo, filesize: 2 },
  ];
  expect(isLargerAtNoGain(large, small, {})).toBe(true);
  expect(isLargerAtNoGain(large, small, options)).toBe(false);
});
