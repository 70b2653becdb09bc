import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { ImageFormat } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import { clip } from "../fixtures/clips.ts";
import { MOVING_TIMES, movingWebp } from "../fixtures/moving-webp.ts";
import { clearAvif, p3Photo, tiledPhoto } from "../fixtures/photos.ts";
import { BOMBS, QUARTERS, reaching, svg } from "../fixtures/svg.ts";
import { markedStill } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { movingErrors } from "../judge/moving.ts";
import { clearErrors, p3Errors } from "../judge/photos.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { blackFirst, clearFrom, colorError, skyPhoto, thumbhashError } from "../judge/placeholder.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
});
afterAll(() => rig?.close());
beforeEach(() => openKit(rig.lab.page, { name: "pictures" }));
afterEach(async () => {
  await rig.lab.page.evaluate(() => kit.client.close());
  expect(rig.lab.complaints.splice(0)).toEqual([]);
});

let count = 0;

interface Wish {
  kind: "image" | "video" | "animation";
  options: object;
}
type Made = { source: Source; path: string };

/** Runs a task on a file in the page; returns its output's Source and file, or its error. */
async function make(path: string, wish: Wish): Promise<Made | { error: string }> {
  const url = await rig.serve(path);
  const seen = await rig.lab.page.evaluate(
    async ([at, requests]) => {
      const { client, base64 } = kit;
      const request = { input: await kit.file(at), ...requests } as unknown as Parameters<
        typeof client.tasks.create
      >[0];
      const done = await client.tasks.wait(await client.tasks.create(request));
      if (done.error) return { error: done.error };
      const output = await client.output(done);
      return { source: output.source, bytes: await base64(await output.blob()) };
    },
    [url, wish] as const,
  );
  if (seen.error) return { error: `${seen.error.kind}: ${seen.error.message}` };
  const out = join(rig.folder, `out-${count++}`);
  await writeFile(out, Buffer.from(seen.bytes, "base64"));
  return { source: seen.source, path: out };
}

async function draw(path: string, options: { format: ImageFormat; [name: string]: unknown }): Promise<Made> {
  const output = await make(path, { kind: "image", options });
  if ("error" in output) throw new Error(output.error);
  return output;
}

test.for([
  { format: "jpeg", encoder: "canvas", like: 0.96, facts: { quarters: 3 } },
  { format: "png", encoder: "wasm", like: 0.98, facts: { quarters: 1, mirror: "x" } },
  { format: "gif", encoder: "wasm", like: 0.9, facts: { mirror: "y", loose: true } },
  { format: "avif", encoder: "avif", like: 0.96, facts: { quarters: 2 } },
] as const)(
  "a HEIC of tiles becomes $format upright, on $encoder",
  async ({ format, encoder, like, facts }) => {
    const { path, png, shown } = await tiledPhoto(facts);
    const output = await draw(path, { format, quality: "high" });
    const turned = "quarters" in facts && facts.quarters % 2 === 1;
    const [width, height] = turned ? [96, 160] : [160, 96];
    expect(output.source).toMatchObject({ encoder, format, width, height });
    expect((await measureLikeness(output.path, png, { filter: shown })).mean).toBeGreaterThan(like);
  },
);

test("the colors of Display P3 become those of sRGB", async () => {
  const { path } = await draw(await p3Photo(), { format: "png" });
  expect(await p3Errors(path)).toBeLessThan(8);
});

test("an AVIF becomes a JPEG, and one with transparency a PNG that has it", async () => {
  const output = await draw(await markedStill("avif"), { format: "jpeg", quality: "high" });
  expect(output.source.encoder).toBe("canvas");
  expect((await measureLikeness(output.path, await markedStill("png"))).mean).toBeGreaterThan(0.95);
  const { path } = await draw(await clearAvif(), { format: "png" });
  expect(await clearErrors(path)).toBeLessThan(12);
});

test("a damaged HEIC fails as input_unsupported", async () => {
  const { path } = await tiledPhoto({ quarters: 3 });
  const bytes = await readFile(path);
  const cut = join(rig.folder, "damaged.heic");
  await writeFile(cut, bytes.subarray(0, bytes.length * 0.6));
  expect(await make(cut, { kind: "image", options: { format: "jpeg" } })).toEqual({
    error: "input_unsupported: The input is damaged or cut off.",
  });
});

test("an animated WebP becomes a video, a GIF and a still, with all frames in their times", async () => {
  const path = await movingWebp();
  const [video, gif, still] = [
    await make(path, { kind: "video", options: { quality: "very_high" } }),
    await make(path, { kind: "animation", options: { format: "gif" } }),
    await make(path, { kind: "image", options: { format: "png" } }),
  ];
  if ("error" in video || "error" in gif || "error" in still) {
    throw new Error(JSON.stringify([video, gif, still]));
  }
  expect(video.source).toMatchObject({ counts: { pictures: { source: 4, output: 4 } } });
  const { picture } = await readFacts(video.path);
  expect(picture?.times).toEqual(MOVING_TIMES);
  expect(await movingErrors(video.path, "#000000")).toBeLessThan(12);
  expect(await movingErrors(gif.path, "#000000", 3)).toBeLessThan(8);
  expect((await readFacts(gif.path)).picture?.times).toEqual(MOVING_TIMES);
  expect(await movingErrors(still.path, "#000000", 1)).toBeLessThan(4);
});

test("an animated WebP that is cut off fails at once", async () => {
  const cut = join(rig.folder, "cut.webp");
  await writeFile(cut, (await readFile(await movingWebp())).subarray(0, -20));
  expect(await make(cut, { kind: "video", options: {} })).toEqual({
    error: "input_unsupported: The input is damaged or cut off.",
  });
});

test("a probe states the ThumbHash and the dominant color of pictures and of a video", async () => {
  for (const [path, time] of [
    [await clearFrom("2/3")],
    [await skyPhoto()],
    [await blackFirst(), 0.2],
  ] as const) {
    const url = await rig.serve(path);
    const { thumbhash = "", dominant_color = "" } = await rig.lab.page.evaluate(
      async (at) => kit.client.probe(await kit.file(at), { thumbhash: true, dominant_color: true }),
      url,
    );
    expect(await thumbhashError(thumbhash, path, time)).toBeLessThan(5);
    expect(colorError(dominant_color)).toBeLessThan(5);
  }
});

/** Writes an SVG, and makes a picture of it. */
async function drawSvg(text: string, options: { format: ImageFormat; [name: string]: unknown }) {
  const path = join(rig.folder, `drawn-${count++}.svg`);
  await writeFile(path, text);
  const output = await draw(path, options);
  return { ...output, picture: await readPicture(output.path) };
}

const [RED, GREEN, BLUE, CLEAR, WHITE] = [
  [255, 0, 0, 255],
  [0, 255, 0, 255],
  [0, 0, 255, 255],
  [0, 0, 0, 0],
  [255, 255, 255, 255],
] as const;

// Two pixels from each edge: an enlarged raster of 8 by 4 would be blurred there.
test.for([
  [
    { format: "png", width: 400 },
    [400, 200],
    { "198,50": RED, "201,50": GREEN, "50,98": RED, "50,101": BLUE, "300,150": CLEAR },
  ],
  [
    { format: "png", width: 300, rotate: 90, crop: "1:1" },
    [300, 300],
    { "148,100": BLUE, "151,100": RED, "200,148": RED, "200,151": GREEN, "100,200": CLEAR },
  ],
  [
    { format: "png", width: 300, height: 300, flip: "horizontal" },
    [300, 300],
    { "148,100": GREEN, "151,100": RED, "200,148": RED, "200,151": BLUE, "100,200": CLEAR },
  ],
  [
    { format: "jpeg", width: 400, height: 200, quality: "very_high", background: "#ffffff" },
    [400, 200],
    { "190,50": RED, "210,50": GREEN, "50,110": BLUE, "300,150": WHITE },
  ],
] as const)("an SVG is drawn at the size of its output (%o)", async ([options, [width, height], pixels]) => {
  const { source, picture } = await drawSvg(QUARTERS, options);
  expect(source).toMatchObject({ width, height, format: options.format });
  for (const [place, color] of Object.entries(pixels)) {
    const [x = 0, y = 0] = place.split(",").map(Number);
    expect([place, colorDistance(picture.at(x, y), color) < 24, picture.at(x, y)[3]]).toEqual([
      place,
      true,
      color[3],
    ]);
  }
});

test("an SVG in the encoding that it declares is drawn", async () => {
  const path = join(rig.folder, "latin.svg");
  const text = `<?xml version="1.0" encoding="ISO-8859-1"?>${QUARTERS.replace(">", "><title>Caf\u00e9</title>")}`;
  await writeFile(path, text, "latin1");
  const drawn = await make(path, { kind: "image", options: { format: "png", width: 80 } });
  const { at } = await readPicture((drawn as Made).path);
  expect([at(20, 10), at(60, 10), at(20, 30)]).toEqual([
    [255, 0, 0, 255],
    [0, 255, 0, 255],
    [0, 0, 255, 255],
  ]);
});

test("a still without its last bytes, which no browser decodes, becomes a WebP by the core", async () => {
  for (const [format, missing] of [
    ["jpeg", 2],
    ["png", 12],
  ] as const) {
    const whole = await clip(format);
    const path = join(rig.folder, `ends.${format}`);
    await writeFile(path, (await readFile(whole)).subarray(0, -missing));
    const output = await make(path, { kind: "image", options: { format: "webp", quality: "high" } });
    expect(output).toMatchObject({ source: { format: "webp" } });
    expect((await measureLikeness((output as Made).path, whole)).mean, format).toBeGreaterThan(0.9);
  }
});

test("an SVG loads nothing that it names and runs no script, and its animation stands still", async () => {
  const requests: string[] = [];
  const origin = createServer(({ url = "" }, response) => {
    requests.push(url);
    response.writeHead(200, { "access-control-allow-origin": "*" }).end();
  }).listen(0, "127.0.0.1");
  await once(origin, "listening");
  const at = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  try {
    // The count counts.
    await rig.lab.page.evaluate((url) => fetch(url), `${at}/counted`);
    const foreign = `<foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml"><img src="${at}/foreign.png"/><iframe src="${at}/frame.html"/></body></foreignObject>`;
    const endless =
      '<rect width="9" height="9"><animate attributeName="x" from="0" to="9" dur="1ms" repeatCount="indefinite"/></rect>';
    for (const more of [endless, foreign]) {
      const { picture } = await drawSvg(reaching(at, more), { format: "png" });
      expect(colorDistance(picture.at(32, 32), GREEN)).toBe(0);
    }
    expect(requests).toEqual(["/counted"]);
  } finally {
    origin.close();
  }
});

test.for([
  ["repeats its parts too often", BOMBS.uses, "input_unsupported: The SVG has so many parts"],
  [
    "is not well-formed",
    svg("", "<g>"),
    "input_unsupported: The SVG is damaged, or this browser cannot draw it.",
  ],
  [
    "is enormous",
    svg('width="90in" height="99999"'),
    "input_unsupported: The pictures are 8640x99999 pixels",
  ],
  ["has more pixels than memory", svg('width="9999" height="9999"'), "encoder_unavailable: "],
] as const)("an SVG that %s fails", async ([, text = "", error]) => {
  const path = join(rig.folder, `bad-${count++}.svg`);
  await writeFile(path, text);
  expect(await make(path, { kind: "image", options: { format: "png" } })).toEqual({
    error: expect.stringContaining(error),
  });
});
