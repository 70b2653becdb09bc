import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { tiledPhoto } from "../fixtures/photos.ts";
import { blackFirst, clearFrom, colorError, skyPhoto, thumbhashError } from "../judge/placeholder.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
// Steps of ThumbHash's own coarse values, by which scalers differ.
const MOST_ERROR = 5;

async function probe(path: string, options: Record<string, unknown>) {
  const step = await rig.door.runStep({ kind: "probe", input: { url: rig.serve(path) }, options });
  if (!step.output) throw new Error(JSON.stringify(step.error));
  return step.output;
}

const BOTH = { thumbhash: true, dominant_color: true };

test.for([
  { name: "a picture that is clear in part", make: () => clearFrom("2/3"), time: 0 },
  { name: "a photo", make: skyPhoto, time: 0 },
  { name: "a video after a tenth of its time", make: blackFirst, time: 0.2 },
] as const)("a probe states the ThumbHash and the dominant color of $name", LIMIT, async ({ make, time }) => {
  const path = await make();
  const { thumbhash, dominant_color, url, encoder } = await probe(path, BOTH);
  expect(await thumbhashError(thumbhash ?? "", path, time)).toBeLessThan(MOST_ERROR);
  expect(colorError(dominant_color ?? "")).toBeLessThan(5);
  expect({ url, encoder }).toEqual({ url: rig.serve(path), encoder: undefined });
});

test.for(["1000x4", "2x1000"])("a probe states both of a line of %s pixels", LIMIT, async (size) => {
  const line = await makeClip("png", ["-f", "lavfi", "-i", `color=red:size=${size}`, "-frames:v", "1"]);
  const { thumbhash, dominant_color } = await probe(line, BOTH);
  expect(thumbhash).toMatch(/^[A-Za-z0-9+/]+=*$/);
  expect(dominant_color).toMatch(/^#f[def]0{4}$/);
});

test("a native encoder looks at what no other reads", LIMIT, async () => {
  const { path, png, shown } = await tiledPhoto({ quarters: 1 });
  const { thumbhash, dominant_color } = await probe(path, { thumbhash: true, dominant_color: false });
  expect(await thumbhashError(thumbhash ?? "", png, 0, shown)).toBeLessThan(MOST_ERROR);
  expect(dominant_color).toBeUndefined();
});

test("a picture that is clear throughout has a ThumbHash alone", LIMIT, async () => {
  const path = await clearFrom("0");
  const { thumbhash, dominant_color } = await probe(path, BOTH);
  expect(await thumbhashError(thumbhash ?? "", path)).toBeLessThan(MOST_ERROR);
  expect(dominant_color).toBeUndefined();
});

test("sound has neither", LIMIT, async () => {
  const source = await probe(await clip("mp3", { seconds: 1 }), BOTH);
  expect(source.kind).toBe("audio");
  expect(source).not.toHaveProperty("thumbhash");
  expect(source).not.toHaveProperty("dominant_color");
});

test("a picture that is cut off fails, with no output", LIMIT, async () => {
  const file = (await readFile(await clearFrom("2/3"))).subarray(0, 120);
  const input = { url: rig.origin.serve("/cut.png", { file }) };
  const step = await rig.door.runStep({ kind: "probe", input, options: BOTH });
  expect(step).toMatchObject({ status: "failed", output: null });
  expect(["input_unsupported", "encode_failed"]).toContain(step.error?.kind);
});

test("an input that cannot be pinned is copied", LIMIT, async () => {
  const file = await skyPhoto();
  const run = (url: string) => rig.door.runStep({ kind: "probe", input: { url }, options: BOTH });
  for (const answer of [{ etag: null }, { ranges: false }]) {
    const { output } = await run(rig.origin.serve("/weak.jpg", { file, ...answer }));
    expect(await thumbhashError(output?.thumbhash ?? "", file)).toBeLessThan(MOST_ERROR);
  }
});

test.for([
  { options: { thumbhash: "yes" }, kind: "request_invalid", param: "options.thumbhash" },
  { options: { dominant_color: 1 }, kind: "request_invalid", param: "options.dominant_color" },
  { options: { blurhash: true }, kind: "request_invalid", param: "options.blurhash" },
] as const)("refuses $options", async ({ options, kind, param }) => {
  const body = { kind: "probe", input: { url: "https://example.com/a.png" }, options };
  expect(await rig.door.request("POST", "/steps", body)).toMatchObject({
    status: 400,
    body: { kind, param },
  });
});
