import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { makeClip, runFfmpeg } from "../fixtures/make-clip.ts";
import { numberedClip, PICTURE } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

const SCREEN =
  "color=white:size=640x360:rate=25,drawgrid=w=40:h=20:c=gray,drawbox=x='mod(t*40,600)':y=100:w=12:h=12:c=black:t=fill";
const FILM = "mandelbrot=size=640x360:rate=25,noise=alls=6:allf=t";
// Each frame shows its number.
const PATTERN = "testsrc2=size=640x360:rate=25";
const SOUND = "aevalsrc=0.3*sin(2*PI*(300+200*sin(t))*t)+0.05*random(0):s=48000:d=24";
const H264 = "-c:v libx264 -preset veryfast -crf 18 -pix_fmt yuv420p -c:a aac -b:a 128k".split(" ");

const film = (pictures: string) =>
  makeClip("mp4", ["-f", "lavfi", "-i", pictures, "-f", "lavfi", "-i", SOUND, "-t", "24", ...H264]);

const VP8 = "-c:v libvpx -b:v 300k -auto-alt-ref 1 -lag-in-frames 16 -g 100";
const NUMBERED = "-c:v libx264 -g 40 -pix_fmt yuv420p";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await clip("jpeg"), "photo.jpg");
  await rig.serve(await clip("mp4"), "clip.mp4");
  await rig.serve(await film(SCREEN), "screen.mp4");
  await rig.serve(await film(FILM), "film.mp4");
  await rig.serve(await film(PATTERN), "pattern.mp4");
});
afterAll(() => rig?.close());
beforeEach(async () => {
  await openKit(rig.lab.page, { name: "samples" });
  return async () => {
    await rig.lab.page.evaluate(() => kit.client.close());
    expect(rig.lab.complaints.splice(0)).toEqual([]);
  };
});

/** Estimates an output in the page, then makes it with a task. */
async function estimateAndRun(path: string, kind: string, options: object) {
  return rig.lab.page.evaluate(
    async ({ path, kind, options }) => {
      const { client } = kit;
      const request = { input: await kit.file(path), kind, options } as Parameters<typeof client.run>[0];
      const estimates = await Array.fromAsync(client.estimate(request));
      const before = [
        (await client.tasks.list()).records,
        (await client.steps.list()).records,
        await kit.stored(),
      ];
      const { task, source } = await client.run(request);
      const { files: all } = await client.output(task);
      const files = all.length > 1 ? all : null;
      const sizes = files ? files.map(({ file }) => file.size) : [source.filesize ?? 0];
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      await client.clear();
      return { estimates, before, bytes, encoder: source.encoder };
    },
    { path, kind, options },
  );
}

test.each([
  { name: "a screen", path: "/files/screen.mp4", kind: "video", options: { width: 480 }, stretches: 3 },
  { name: "a film", path: "/files/film.mp4", kind: "video", options: { width: 480 }, stretches: 3 },
  {
    name: "parts of a film",
    path: "/files/film.mp4",
    kind: "video",
    options: { width: 480, parts: [{ start: 14 }, { start: 2, end: 8 }] },
    stretches: 3,
  },
  {
    name: "adaptive video",
    path: "/files/film.mp4",
    kind: "adaptive_video",
    options: { height: 240 },
    stretches: 3,
  },
  { name: "an animation", path: "/files/film.mp4", kind: "animation", options: { width: 320 }, stretches: 3 },
  {
    name: "a storyboard",
    path: "/files/film.mp4",
    kind: "storyboard",
    options: { interval: 1 },
    stretches: 5,
  },
  { name: "sound", path: "/files/film.mp4", kind: "audio", options: { format: "flac" }, stretches: 0 },
])("the estimate of $name has its size within its bounds", async ({ path, kind, options, stretches }) => {
  const { estimates, before, bytes } = await estimateAndRun(path, kind, options);
  const last = estimates.at(-1);
  expect(last?.bytes.low).toBeLessThanOrEqual(bytes);
  expect(last?.bytes.high).toBeGreaterThanOrEqual(bytes);
  expect((last?.bytes.high ?? 0) / (last?.bytes.low ?? 1)).toBeLessThan(1.5);
  expect(estimates.length).toBeGreaterThan(stretches);
  expect(before).toEqual([[], [], []]);
});

test("an image's preview is the file that a task makes, and its original has the same size", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const input = await kit.file("/files/photo.jpg");
    const request = { input, kind: "image", options: { format: "webp", width: 120 } } as const;
    const preview = await client.preview(request);
    const { blob } = await client.run(request);
    const sizeOf = async (file: Blob) => {
      const { width, height } = await createImageBitmap(file);
      return [width, height];
    };
    const { original, output, ...facts } = preview;
    const same = (await base64(output)) === (await base64(blob));
    await client.clear();
    return {
      facts,
      same,
      bytes: blob.size,
      types: [original.type, output.type],
      sizes: [await sizeOf(original), await sizeOf(output)],
    };
  });
  const { width, height } = seen.facts;
  expect(seen.facts).toEqual({ bytes: seen.bytes, seconds: null, at: null, width: 120, height });
  expect(seen.same).toBe(true);
  expect(seen.types).toEqual(["image/jpeg", "image/webp"]);
  expect(seen.sizes).toEqual([
    [width, height],
    [width, height],
  ]);
});

test.each([
  { name: "a video", kind: "video", options: { width: 320 } },
  {
    name: "a cropped video of twice the speed",
    kind: "video",
    options: { crop: "1:1", width: 240, speed: 2 },
  },
  {
    name: "parts of a video",
    kind: "video",
    options: {
      ...{ start: undefined, end: undefined, width: 320 },
      parts: [
        { start: 20, end: 21 },
        { start: 3, end: 5 },
      ],
    },
  },
  { name: "adaptive video", kind: "adaptive_video", options: { height: 180 } },
  {
    name: "an animation with texts",
    kind: "animation",
    options: {
      ...{ format: "webp", width: 320 },
      text: [
        { text: "now", size: "60%", start: 1, end: 3 },
        { text: "later", size: "60%", color: "#000000", start: 3 },
      ],
    },
  },
])("the frame in the preview of $name is that of the task's output", async ({ kind, options }) => {
  const seen = await rig.lab.page.evaluate(
    async ({ kind, options }) => {
      const { client, base64 } = kit;
      const input = await kit.file(kind === "animation" ? "/files/screen.mp4" : "/files/pattern.mp4");
      const part = { start: 2, end: 6, ...options };
      const request = { input, kind, options: part } as Parameters<typeof client.run>[0];
      const { original, output, ...facts } = await client.preview({ ...request, at: 4 });
      const { task } = await client.run(request);
      const whole = await client.output(task);
      const named = (end: RegExp) => whole.files.find(({ name }) => end.test(name));
      const parts = [named(/init_0\.mp4$/), named(/seg_00000\.m4s$/)].flatMap((file) => file?.file ?? []);
      const video = parts.length > 0 ? new Blob(parts) : await whole.blob();
      const start = 2 / ((options as { speed?: number }).speed ?? 1);
      const { blob } = await client.run({ input: video, kind: "image", options: { format: "png", start } });
      const frames = await Promise.all([original, output, blob].map(base64));
      await client.clear();
      return { facts, frames };
    },
    { kind, options },
  );
  expect(seen.facts).toMatchObject({ at: 4, bytes: expect.any(Number) });
  const [original, output, whole] = await writeFrames(kind, seen.frames);
  const same = await measureLikeness(output ?? "", whole ?? "");
  expect(same.worst).toBeGreaterThanOrEqual(0.98);
  if (kind === "animation") return;
  const like = await measureLikeness(output ?? "", original ?? "");
  expect(like.worst).toBeGreaterThan(0.9);
});

test("the frame in the preview of a video of another speed is that of the task's output", async () => {
  const source = await numberedClip({
    container: "mp4",
    frames: 100,
    codec: "-c:v libx264 -g 40 -pix_fmt yuv420p",
  });
  await rig.serve(source, "numbered.mp4");
  const moments = [1, 1.02, 1.06, 1.5, 2.04, 2.98];
  for (const speed of [2, 0.5, 1.5]) {
    const { previews, whole } = await rig.lab.page.evaluate(
      async ({ speed, moments }) => {
        const { client, base64 } = kit;
        const input = await kit.file("/files/numbered.mp4");
        const request = { input, kind: "video", options: { speed } } as const;
        const previews = [];
        for (const at of moments)
          previews.push(await base64((await client.preview({ ...request, at })).output));
        const { blob } = await client.run(request);
        const whole = await base64(blob);
        await client.clear();
        return { previews, whole };
      },
      { speed, moments },
    );
    const [output = "", ...pictures] = await writeFrames("speed", [whole, ...previews]);
    const frames = await readFrames(output);
    const shown = [];
    for (const picture of pictures) shown.push((await readFrames(picture))[0]?.number);
    const first = frames[0]?.time ?? 0;
    const expected = moments.map(
      (at) => frames.findLast(({ time }) => time - first <= at / speed + 0.001)?.number,
    );
    expect([speed, shown]).toEqual([speed, expected]);
  }
});

test("the visible part of a picture comes first, at the size of the screen", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const input = await kit.file("/files/photo.jpg");
    const sizeOf = async (file: Blob) => {
      const { width, height } = await createImageBitmap(file);
      return [width, height, file.type];
    };
    const order: unknown[] = [];
    const request = { input, kind: "image", options: { format: "webp", quality: "low" } } as const;
    const view = { x: 40, y: 20, width: 100, height: 60 };
    const parts: Blob[] = [];
    const onPart = async ({
      original,
      output,
      width,
      height,
    }: {
      original: Blob;
      output: Blob;
      width: number;
      height: number;
    }) => {
      order.push([width, height]);
      parts.push(original, output);
    };
    const whole = await client.preview({ ...request, view }, { onPart });
    order.push([whole.width, whole.height]);
    await client.preview({ ...request, view: { ...view, scale: 0.5 } }, { onPart });
    const crop = { x: 40, y: 20, width: 100, height: 60 };
    const { blob } = await client.run({
      ...request,
      options: { ...request.options, format: "png", crop },
    } as never);
    const wrong = await client
      .preview({ ...request, view: { ...view, width: 0 } }, { onPart })
      .catch(({ param }: { param: string }) => param);
    const frames = await Promise.all([parts[1] as Blob, blob].map(base64));
    await client.clear();
    return { order, wrong, sizes: await Promise.all(parts.map(sizeOf)), frames };
  });
  const [first, whole, half] = seen.order;
  expect([first, half, seen.wrong]).toEqual([[100, 60], [50, 30], "view"]);
  expect(whole).not.toEqual(first);
  expect(seen.sizes).toEqual([
    [100, 60, "image/jpeg"],
    [100, 60, "image/webp"],
    [50, 30, "image/jpeg"],
    [50, 30, "image/webp"],
  ]);
  const [part = "", same = ""] = await writeFrames("view", seen.frames);
  expect((await measureLikeness(part, same)).worst).toBeGreaterThan(0.8);
});

test("the preview of joined videos shows a moment of the first", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client, base64 } = kit;
    const input = await kit.file("/files/pattern.mp4");
    const concat = [{ url: await kit.file("/files/film.mp4") }];
    const request = { input, kind: "video", options: { width: 320, concat } } as Parameters<
      typeof client.preview
    >[0];
    const { original, output, ...facts } = await client.preview(request);
    return { facts, frames: await Promise.all([original, output].map(base64)) };
  });
  expect(seen.facts).toMatchObject({ at: 12, width: 320, height: 180 });
  expect(seen.facts.seconds).toBeLessThan(0.5);
  const [original = "", output = ""] = await writeFrames("joined", seen.frames);
  expect((await measureLikeness(output, original)).worst).toBeGreaterThan(0.9);
});

/** Writes files in base64 to the rig's folder; returns their paths. */
function writeFrames(name: string, frames: readonly string[]): Promise<string[]> {
  return Promise.all(
    frames.map(async (frame, at) => {
      const path = join(rig.folder, `${name}-${at}`);
      await writeFile(path, Buffer.from(frame, "base64"));
      return path;
    }),
  );
}

/** Copies a video that players turn by a quarter clockwise; returns its path. */
async function turn(path: string): Promise<string> {
  const turned = join(rig.folder, "turned.mp4");
  await runFfmpeg(["-y", "-i", path, "-c", "copy", "-metadata:s:v:0", "rotate=270", turned]);
  return turned;
}

/** Turns a picture back by a quarter; returns the path of the result. */
async function turnBack(path: string): Promise<string> {
  await runFfmpeg(["-y", "-i", path, "-vf", "transpose=cclock", `${path}.png`]);
  return `${path}.png`;
}

const pictures = (input: string, ...codec: string[]) => ["-f", "lavfi", "-i", input, ...codec];
const SMALL = "testsrc2=size=160x90:rate=30:duration=6";

/** Writes the first 70 % of a film whose index comes first. */
async function cutFilm(): Promise<string> {
  const whole = await readFile(await makeClip("mp4", pictures(SMALL, ...H264, "-movflags", "+faststart")));
  const path = join(rig.folder, "cut-film.mp4");
  await writeFile(path, whole.subarray(0, whole.length * 0.7));
  return path;
}

test.each([
  {
    name: "a picture that stays for half a second",
    make: () =>
      makeClip("mp4", pictures(SMALL, "-vf", "select=lt(t\\,2)+not(mod(n\\,15))", "-vsync", "vfr", ...H264)),
    request: { kind: "video", options: { width: 80 } },
    at: 5.2,
  },
  {
    name: "a film that is cut off",
    make: cutFilm,
    request: { kind: "video", options: { width: 80, partial: true } },
    at: 6,
    shown: 4.1,
  },
  {
    name: "an animated picture",
    make: () => makeClip("gif", pictures("testsrc2=size=160x90:rate=10:duration=2")),
    request: { kind: "animation", options: { format: "webp" } },
    at: 1,
  },
] as const)(
  "a preview of $name shows the output and the original at its moment",
  async ({ name, make, request, at, ...row }) => {
    const path = await rig.serve(await make(), `${name}.${request.kind}`);
    const result = await rig.lab.page.evaluate(
      async ({ path, request, at }) => {
        const { client, base64 } = kit;
        const preview = await client.preview({ input: await kit.file(path), ...request, at } as never);
        return {
          at: preview.at,
          frames: await Promise.all([preview.original, preview.output].map(base64)),
        };
      },
      { path, request, at },
    );
    expect(result.at).toBeCloseTo("shown" in row ? row.shown : at, 1);
    const [original = "", output = ""] = await writeFrames("moment", result.frames);
    expect((await measureLikeness(output, original)).worst).toBeGreaterThan(0.8);
  },
);

test("an AV1 video, which only the browser decodes, has a preview and a filmstrip, but no preview of a still", async () => {
  const path = await rig.serve(await clip("mp4_av1"), "av1.mp4");
  const seen = await rig.lab.page.evaluate(async (path) => {
    const { client, base64 } = kit;
    const input = await kit.file(path);
    const { original, output } = await client.preview({
      input,
      kind: "video",
      options: { width: 80 },
      at: 1,
    });
    const pictures = await Array.fromAsync(client.filmstrip(input, { count: 2 }));
    const still = await client.preview({ input, kind: "image", at: 1 }).catch(({ kind }) => kind);
    return {
      still,
      frames: await Promise.all([original, output, ...pictures.map(({ blob }) => blob)].map(base64)),
    };
  }, path);
  expect(seen.still).toBe("encoder_unavailable");
  const [original = "", output = "", ...pictures] = await writeFrames("av1", seen.frames);
  expect((await measureLikeness(output, original)).worst).toBeGreaterThan(0.8);
  expect(pictures).toHaveLength(2);
});

test("a preview and a filmstrip of a stream whose clock restarts show the pictures after the restart", async () => {
  const part = await readFile(
    await makeClip("ts", [...pictures("testsrc2=size=160x90:rate=25:duration=2"), ...H264]),
  );
  const joined = join(rig.folder, "joined.ts");
  await writeFile(joined, Buffer.concat([part, part]));
  const path = await rig.serve(joined, "joined.ts");
  const frames = await rig.lab.page.evaluate(async (path) => {
    const { client, base64 } = kit;
    const input = await kit.file(path);
    const request = { input, kind: "video", options: { width: 80 } } as const;
    const previews = [
      await client.preview({ ...request, at: 0.6 }),
      await client.preview({ ...request, at: 2.6 }),
    ];
    const strip = await Array.fromAsync(client.filmstrip(input, { count: 4 }));
    const blobs = [...previews.map(({ original }) => original), ...strip.map(({ blob }) => blob)];
    return Promise.all(blobs.map(base64));
  }, path);
  const [early = "", late = "", one = "", two = "", three = "", four = ""] = await writeFrames(
    "joined-clock",
    frames,
  );
  for (const [before, after] of [
    [early, late],
    [one, three],
    [two, four],
  ] as const)
    expect((await measureLikeness(before, after)).worst).toBeGreaterThan(0.9);
});

test("a sound preview has a few seconds of output and original", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/film.mp4");
    const request = { input, kind: "audio", options: { format: "opus" }, at: 10 } as const;
    const { original, output, ...facts } = await client.preview(request);
    const [before, after] = [await client.probe(original), await client.probe(output)];
    return {
      facts,
      size: output.size,
      probes: [before, after].map(({ codecs, duration }) => [codecs?.audio, Math.round(duration ?? 0)]),
    };
  });
  expect(seen.facts).toEqual({ bytes: seen.size, seconds: 4, at: 10, width: null, height: null });
  expect(seen.probes).toEqual([
    ["pcm_s16le", 4],
    ["opus", 4],
  ]);
});

test("a new preview aborts the previous one, a signal aborts its own, and none is stored", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { client } = kit;
    const input = await kit.file("/files/film.mp4");
    const request = { input, kind: "video", options: { width: 320 } } as const;
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => "shown",
        (thrown: Error) => thrown.name + (thrown.name === "Error" ? `: ${thrown.message}` : ""),
      );
    const first = outcome(client.preview({ ...request, at: 3 }));
    const second = outcome(client.preview({ ...request, at: 4 }));
    const outcomes = [await first, await second];
    const signal = AbortSignal.abort(new Error("the visitor left"));
    outcomes.push(await outcome(client.preview(request, { signal })));
    outcomes.push(await outcome(client.preview({ ...request, at: -1 })));
    outcomes.push(await outcome(client.preview({ input, kind: "waveform" })));
    const stored = [
      (await client.tasks.list()).records,
      (await client.steps.list()).records,
      await kit.stored(),
    ];
    return { outcomes, stored };
  });
  expect(seen.outcomes).toEqual([
    "AbortError",
    "shown",
    "Error: the visitor left",
    "MediaError",
    "MediaError",
  ]);
  expect(seen.stored).toEqual([[], [], []]);
});

test.each([
  { name: "an H.264 file", codec: NUMBERED, container: "mp4", count: 7 },
  { name: "a VP8 file with hidden pictures", codec: VP8, container: "webm", two_passes: true, count: 7 },
  { name: "a file that the core decodes", codec: "-c:v mpeg4 -g 40 -q:v 3", container: "mp4", count: 7 },
  { name: "a long file that the core decodes", codec: "-c:v mpeg4 -g 40 -q:v 3", container: "mp4", count: 2 },
  { name: "a turned file", codec: NUMBERED, container: "mp4", count: 3, turned: true },
] as const)(
  "a filmstrip of $name shows at each time the same picture as a still",
  async ({ count, ...of }) => {
    const frames = 290;
    const turned = "turned" in of;
    const clip = await numberedClip({ frames, ...of });
    const path = await rig.serve(turned ? await turn(clip) : clip, `strip.${of.container}`);
    const seen = await rig.lab.page.evaluate(
      async ({ path, options }) => {
        const { client, base64 } = kit;
        const input = await kit.file(path);
        const pictures = await Array.fromAsync(client.filmstrip(input, options));
        const { core: _, total: __, ...stored } = await client.usage();
        const { at = 0, blob = new Blob() } = pictures[1] ?? {};
        const still = { format: "png", height: options.height, start: at } as const;
        const same = await client.run({ input, kind: "image", options: still });
        const pair = await Promise.all([blob, same.blob].map(base64));
        await client.clear();
        return {
          stored,
          times: pictures.map(({ at }) => at),
          sizes: pictures.map(({ width, height }) => [width, height]),
          pictures: await Promise.all(pictures.map(({ blob }) => base64(blob))),
          pair,
        };
      },
      { path, options: { count, height: turned ? 320 : 96 } },
    );
    expect(seen.stored).toEqual({ inputs: 0, work: 0, outputs: 0, records: 0 });
    const names = await writeFrames("strip", seen.pictures);
    const numbers = await Promise.all(
      names.map(async (name) => {
        const upright = turned ? await turnBack(name) : name;
        return (await readFrames(upright))[0]?.number;
      }),
    );
    expect(numbers).toEqual(seen.times.map((at) => Math.floor(at * PICTURE.fps + 0.05)));
    expect(new Set(numbers).size).toBe(count);
    expect(seen.sizes).toEqual(seen.times.map(() => (turned ? [192, 320] : [160, 96])));
    const [drawn = "", still = ""] = await writeFrames("pair", seen.pair);
    expect((await measureLikeness(drawn, still)).worst).toBeGreaterThan(0.9);
  },
);
