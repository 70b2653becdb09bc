import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createRemoteClient } from "../../../src/client/remote.ts";
import type { ImageUrlRequest } from "../../../src/media/image-url.ts";
import { createImageSigner } from "../../../worker/media/signed-urls.ts";
import { clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { hugePng } from "../../inputs/png.ts";
import { apngWithDelays } from "../../judge/animations.ts";
import { withOrientation } from "../../judge/clips.ts";
import { jpegWithGainMap } from "../../judge/color-profiles.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { createRig } from "../engine/rig.ts";

const SECRET = "a-signing-key-of-32-characters-for-tests";
const COUNTER = { name: "counting-encoder", configPath: "./test/worker/images/counter/wrangler.toml" };
const CHROME = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";

let own: Origin;
let other: Origin;
let rig: ReturnType<typeof createRig>;
let base: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-images-"));
  own = await startOrigin();
  other = await startOrigin();
  const host = (origin: Origin) => new URL(origin.url).host;
  rig = createRig(
    {
      ALLOW_PRIVATE_NETWORK: "false",
      ALLOWED_HOSTS: `${host(own)},${host(other)}`,
      IMAGE_ORIGINS: own.url,
      IMAGE_FRESH_SECONDS: "1",
    },
    COUNTER,
  );
  base = (await rig.server.listen()).url.origin;
});
afterAll(async () => {
  await rig.server.close();
  await own.close();
  await other.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  own.forget();
  other.forget();
});

const plain = (options: string, source: string) => `${base}/image/${options}/${encodeURIComponent(source)}`;
const jobs = async () =>
  (await (await rig.server.getWorker(COUNTER.name).fetch("http://counter/jobs")).json()) as number;

async function get(url: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(url, { method, headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

async function refusal(url: string) {
  const { status, headers, bytes } = await get(url);
  const { kind, param, request_id } = JSON.parse(new TextDecoder().decode(bytes));
  expect(request_id).toBe(headers.get("Request-Id"));
  expect(headers.get("Cache-Control")).toBe("no-store");
  return param === undefined ? [status, kind] : [status, kind, param];
}

async function saved(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

test("serves a picture of an allowed origin by what the request accepts", async () => {
  const file = await clip("jpeg", { size: "640x480" });
  const url = plain("w=160,f=auto,q=90", own.serve("/a.jpg", { file, mime: "image/jpeg" }));
  const webp = await get(url, { Accept: CHROME });
  expect([webp.status, webp.headers.get("Content-Type")]).toEqual([200, "image/webp"]);
  expect(webp.headers.get("Vary")).toContain("Accept");
  expect(webp.headers.get("Cache-Control")).toMatch(/^public, max-age=[01]$/);
  const path = await saved("a.webp", webp.bytes);
  expect(await readFacts(path)).toMatchObject({ picture: { width: 160, height: 120, codec: "webp" } });
  expect((await measureLikeness(path, file, { filter: "scale=160:120" })).mean).toBeGreaterThan(0.95);
  for (const accept of ["*/*", "image/*", "image/webp;q=0, image/*"]) {
    const jpeg = await get(url, { Accept: accept });
    expect([accept, jpeg.status, jpeg.headers.get("Content-Type")]).toEqual([accept, 200, "image/jpeg"]);
  }
});

test("keeps transparency, and crops and fits as a task does", async () => {
  const file = await clip("png_alpha", { size: "320x240" });
  const source = own.serve("/alpha.png", { file });
  const png = await get(plain("w=64,h=64,fit=cover,f=auto", source));
  expect(png.headers.get("Content-Type")).toBe("image/png");
  expect(await readFacts(await saved("alpha.png", png.bytes))).toMatchObject({
    picture: { width: 64, height: 64 },
  });
  const cropped = await get(plain("crop=10:20:100:50,f=jpg", source));
  expect(await readFacts(await saved("crop.jpg", cropped.bytes))).toMatchObject({
    picture: { width: 100, height: 50 },
  });
});

test("names what a picture lacks in a header, when it is made and from storage", async () => {
  const source = own.serve("/gain.jpg", { file: await jpegWithGainMap() });
  for (let count = 0; count < 2; count++) {
    const { headers } = await get(plain("w=64,f=jpg", source));
    expect(headers.get("Dropped")).toBe("gain_map;reason=not_supported");
  }
  const { headers } = await get(plain("w=64,f=jpg", own.serve("/plain.jpg", { file: await clip("jpeg") })));
  expect(headers.get("Dropped")).toBeNull();
});

test("the last picture of an animation is shown as long as in the source", async () => {
  const source = own.serve("/moving.png", { file: await apngWithDelays([10, 10, 300]) });
  for (const format of ["gif", "webp"]) {
    const { bytes } = await get(plain(`w=32,f=${format}`, source));
    expect((await sharp(bytes).metadata()).delay).toEqual([100, 100, 3000]);
  }
});

test("enlarges a picture, but not with enlarge=false", async () => {
  const source = own.serve("/small.jpg", { file: await clip("jpeg", { size: "320x240" }) });
  for (const [options, width, height] of [
    ["w=640", 640, 480],
    ["w=640,enlarge=true", 640, 480],
    ["w=640,enlarge=false", 320, 240],
    ["w=640,h=640,fit=contain,enlarge=false", 320, 240],
    ["w=160,enlarge=false", 160, 120],
  ] as const) {
    const { bytes } = await get(plain(`${options},f=png`, source));
    const { picture } = await readFacts(await saved("sized.png", bytes));
    expect([options, picture?.width, picture?.height]).toEqual([options, width, height]);
  }
  expect(await refusal(plain("w=640,enlarge=no", source))).toEqual([
    400,
    "invalid_options",
    "options.enlarge",
  ]);
});

test("turns, mirrors, places and fills as a task does", async () => {
  const file = await clip("jpeg", { size: "320x240" });
  const options = "w=200,h=200,fit=contain,position=right,bg=%23ff0000,rotate=90,flip=horizontal,f=png";
  const { bytes } = await get(plain(options, own.serve("/turned.jpg", { file })));
  const path = await saved("turned.png", bytes);
  const filter = "transpose=clock,hflip,scale=150:200,pad=200:200:50:0:red";
  expect((await measureLikeness(path, file, { filter })).mean).toBeGreaterThan(0.95);
});

test("shrinks a large JPEG while it is decoded, turned and cropped as it is shown", async () => {
  const file = await clip("jpeg", { size: "3200x2400" });
  const turned = withOrientation(await readFile(file), 6);
  const source = own.serve("/large.jpg", { file: turned });
  const { bytes } = await get(plain("crop=400:800:1200:1600,w=300,f=png", source));
  const path = await saved("large.png", bytes);
  expect(await readFacts(path)).toMatchObject({ picture: { width: 300, height: 400 } });
  const filter = "transpose=clock,crop=1200:1600:400:800,scale=300:400";
  expect((await measureLikeness(path, file, { filter })).mean).toBeGreaterThan(0.97);
});

test("many equal requests make one fetch and one encode; later ones come from storage", async () => {
  const file = await clip("jpeg", { size: "640x480" });
  const source = own.serve("/many.jpg", { file, mime: "image/jpeg" });
  const before = await jobs();
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(plain("w=200,f=webp", source))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ headers }) => headers.get("ETag"))).size).toBe(1);
  // On a slow machine the last request may find it stale and revalidate it.
  const fetches = own.log.filter(({ headers }) => headers["if-none-match"] === undefined);
  expect(fetches.map(({ path }) => path)).toEqual(["/many.jpg"]);
  expect((await jobs()) - before).toBe(1);
});

test("answers 304 to the picture's ETag, and asks the source again once it is no longer fresh", async () => {
  const [first, second] = [await clip("jpeg", { size: "320x240" }), await clip("jpeg", { size: "300x300" })];
  let version = 1;
  const source = own.serve("/versions.jpg", () =>
    version === 1 ? { file: first, etag: '"one"' } : { file: second, etag: '"two"' },
  );
  const url = plain("w=100,f=jpeg", source);
  const picture = await get(url);
  const etag = picture.headers.get("ETag") ?? "";
  const cached = await get(url, { "If-None-Match": etag });
  expect([cached.status, cached.bytes.length, cached.headers.get("ETag")]).toEqual([304, 0, etag]);
  const head = await get(url, {}, "HEAD");
  expect([head.status, head.headers.get("Content-Length")]).toEqual([200, String(picture.bytes.length)]);
  const before = await jobs();
  const revalidated = await rig.until(
    () => get(url, { "If-None-Match": etag }),
    ({ headers }) => headers.get("Cache-Status")?.includes("fwd=stale") === true,
  );
  expect(revalidated.status).toBe(304);
  expect(own.log.at(-1)?.headers["if-none-match"]).toBe('"one"');
  expect(await jobs()).toBe(before);
  version = 2;
  const changed = await rig.until(
    () => get(url),
    ({ headers }) => headers.get("ETag") !== etag,
  );
  expect(await readFacts(await saved("v2.jpg", changed.bytes))).toMatchObject({
    picture: { width: 100, height: 100 },
  });
});

test("a source that answers 304 to no condition makes no picture, and takes none away", async () => {
  const file = await clip("jpeg", { size: "320x240" });
  await get(plain("w=90", own.serve("/kept.jpg", { file })));
  const { MEDIA } = await rig.worker().getEnv();
  const stored = async () => (await MEDIA.list({ prefix: "" })).objects.map(({ key }) => key);
  const before = await stored();
  expect(before).not.toEqual([]);
  let sly = true;
  const source = own.serve("/sly.jpg", () => (sly ? { status: 304 } : { file }));
  const url = plain("w=90", source);
  expect(await refusal(url)).toEqual([502, "input_unreachable"]);
  sly = false;
  await rig.until(
    () => get(url),
    ({ status }) => status === 200,
  );
  expect(await stored()).toEqual(expect.arrayContaining(before));
});

test("a signed URL serves any public source, and an output of this service", async () => {
  const client = createRemoteClient({ baseUrl: base, apiKey: "key-of-alpha" });
  const file = await clip("jpeg", { size: "320x240" });
  // A line separator, which no pattern of one line matches.
  const source = other.serve("/signed%20photo%E2%80%A8.jpg", { file }).replace("%E2%80%A8", "\u2028");
  const sign = async (request: ImageUrlRequest) => (await client.images.sign(request)).url;
  const url = await sign({ source, options: { width: 80, format: "webp", quality: 70 }, seconds: 60 });
  const { status, headers, bytes } = await get(url);
  expect(status).toBe(200);
  expect(Number(/max-age=(\d+)/.exec(headers.get("Cache-Control") ?? "")?.[1])).toBeLessThanOrEqual(60);
  expect(await readFacts(await saved("signed.webp", bytes))).toMatchObject({
    picture: { width: 80, height: 60 },
  });

  const task = await client.tasks.create({ input: source, kind: "image", options: { format: "png" } });
  const { output } = await client.tasks.wait(task);
  const thumbnail = await get(await sign({ source: output ?? "", options: { width: 40 } }));
  expect(await readFacts(await saved("thumb.png", thumbnail.bytes))).toMatchObject({
    picture: { width: 40, height: 30 },
  });
  // Without a signature no output can be read, whatever its key.
  expect(await refusal(thumbnailKey(output ?? ""))).toEqual([403, "forbidden"]);

  await expect(sign({ source: "http://10.0.0.1/a.jpg" })).rejects.toMatchObject({ kind: "invalid_input" });
  await expect(sign({ source: "s3://bucket/a.jpg" })).rejects.toMatchObject({ kind: "invalid_input" });
});

const thumbnailKey = (output: string) => {
  const key = new URL(output).pathname.split("/").slice(3).join("/");
  return plain("w=40", decodeURIComponent(key));
};

test("refuses what is not signed, signed otherwise or expired, and other origins", async () => {
  const file = await clip("jpeg", { size: "320x240" });
  const source = other.serve("/a.jpg", { file });
  const signer = createImageSigner([SECRET], Date.now);
  const expires = Math.floor(Date.now() / 1000) + 60;
  const grant = { options: "w=80", source, project: "alpha", expires };
  const good = await signer.sign(grant, base);
  const stranger = await createImageSigner(["another key"], Date.now).sign(grant, base);
  const past = await signer.sign({ ...grant, expires: expires - 120 }, base);
  for (const url of [
    plain("w=80", source),
    stranger,
    past,
    good.replace("w=80", "w=81"),
    good.replace("a.jpg", "b.jpg"),
    good.replace("alpha", "beta"),
    good.replace(/expires=(\d+)/, (_, time) => `expires=${Number(time) + 1}`),
    good.replace(/signature=.*/, "signature="),
  ])
    expect([url, ...(await refusal(url))]).toEqual([url, 403, "forbidden"]);
  expect(other.log).toEqual([]);
  expect((await get(good)).status).toBe(200);
});

test("refuses private hosts behind a valid signature", async () => {
  const signer = createImageSigner([SECRET], Date.now);
  const signed = (source: string) =>
    signer.sign(
      { options: "w=80", source, project: "alpha", expires: Math.floor(Date.now() / 1000) + 60 },
      base,
    );
  expect(await refusal(await signed("http://169.254.169.254/latest"))).toEqual([403, "input_forbidden"]);
  expect(await refusal(await signed("http://[::1]/a.jpg"))).toEqual([403, "input_forbidden"]);
  expect(await refusal(await signed("file:///etc/passwd"))).toEqual([404, "media_not_found"]);
});

test("a source that fails answers the kind of its error", async () => {
  const jpeg = await readFile(await clip("jpeg", { size: "320x240" }));
  const moving = "-f lavfi -i testsrc2=s=160x90:d=1 -movflags +faststart".split(" ");
  const film = await readFile(await makeClip("mp4", moving));
  const cases = {
    missing: [{ status: 404 }, 404, "input_not_found"],
    text: [{ file: new TextEncoder().encode("no picture at all".repeat(100)) }, 415, "input_unsupported"],
    film: [{ file: await clip("mp4", { seconds: 1 }) }, 415, "input_unsupported"],
    cut_film: [{ file: film.subarray(0, film.length / 2) }, 415, "input_unsupported"],
    cut: [{ file: jpeg.subarray(0, jpeg.length / 2) }, 415, "input_unsupported"],
    large: [{ file: new Uint8Array(16), declared: 40_000_000 }, 413, "input_too_large"],
    huge: [{ file: hugePng(12_000) }, 422, "encoder_unavailable"],
    broken: [{ disconnect: true }, 502, "input_unreachable"],
  } as const;
  for (const [name, [answer, status, kind]] of Object.entries(cases)) {
    const url = plain("w=80,f=webp", own.serve(`/bad-${name}`, answer));
    expect([name, ...(await refusal(url))]).toEqual([name, status, kind]);
  }
});

test("what the light encoder cannot do is refused where there is no native one, and says so", async () => {
  const source = own.serve("/small.jpg", { file: await clip("jpeg", { size: "320x240" }) });
  const { status, bytes } = await get(plain("f=avif", source));
  expect([status, JSON.parse(new TextDecoder().decode(bytes))]).toMatchObject([
    422,
    { kind: "encoder_unavailable", message: expect.stringContaining("native: there is no native encoder") },
  ]);
});

test.each<{ options: string; status: number; kind: string; param?: string }>([
  { options: "w=0", status: 400, kind: "invalid_options", param: "options.width" },
  { options: "w=99999", status: 400, kind: "invalid_options", param: "options.width" },
  { options: "w=80,w=90", status: 400, kind: "invalid_options", param: "options.width" },
  { options: "q=101", status: 400, kind: "invalid_options", param: "options.quality" },
  { options: "fit=cover", status: 400, kind: "invalid_options", param: "options.fit" },
  { options: "crop=1:2:3", status: 400, kind: "invalid_options", param: "options.crop" },
  { options: "f=bmp", status: 400, kind: "invalid_format", param: "options.format" },
  { options: "nonsense", status: 400, kind: "request_invalid" },
  { options: "__proto__=1", status: 400, kind: "request_invalid" },
  { options: "%E0%A4", status: 400, kind: "request_invalid" },
])("refuses the options $options", async ({ options, status, kind, param }) => {
  const expected = param === undefined ? [status, kind] : [status, kind, param];
  expect(await refusal(plain(options, `${own.url}/a.jpg`))).toEqual(expected);
});
