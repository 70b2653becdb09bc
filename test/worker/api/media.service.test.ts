import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSigner } from "../../../worker/media/signed-urls.ts";
import { SIGNING_KEYS, startService } from "./service.ts";

const RUN = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
const OTHER = "task_01kbb1d3x4e8v0t6m9q2y5z7aw";
const SIZE = 100_000;
const bytes = Uint8Array.from({ length: SIZE }, (_, index) => (index * 31) % 251);
const soon = () => Math.floor(Date.now() / 1000) + 600;

let service: Awaited<ReturnType<typeof startService>>;
let url: string;
let etag: string;

async function put(key: string, mime: string | undefined, body = bytes) {
  const options = mime === undefined ? {} : { httpMetadata: { contentType: mime } };
  return service.bindings.MEDIA.put(key, body, options);
}

beforeAll(async () => {
  service = await startService("key");
  etag = `"${(await put(`out/${RUN}/clip.mp4`, "video/mp4")).etag}"`;
  await put(`out/${OTHER}/clip.mp4`, "video/mp4");
  url = await service.signer.sign(`out/${RUN}/clip.mp4`, soon(), service.base);
});
afterAll(() => service?.close());

async function get(headers: Record<string, string> = {}, at = url, method = "GET") {
  const response = await fetch(at, { method, headers });
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: Object.fromEntries(response.headers), body, response };
}

test("serves the whole file with the headers that a player needs", async () => {
  const { status, headers, body } = await get();
  expect(status).toBe(200);
  expect(body).toEqual(bytes);
  expect(headers).toMatchObject({
    "content-type": "video/mp4",
    "content-length": String(SIZE),
    "accept-ranges": "bytes",
    etag,
    "content-disposition": 'inline; filename="clip.mp4"',
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "request-id": expect.stringMatching(/^req_/),
  });
  const exposed = headers["access-control-expose-headers"]?.toLowerCase().split(",");
  expect(exposed).toEqual(
    expect.arrayContaining(["content-length", "content-range", "accept-ranges", "etag"]),
  );
  const age = Number(/^private, max-age=(\d+)$/.exec(headers["cache-control"] ?? "")?.[1]);
  expect(age).toBeGreaterThan(500);
  expect(age).toBeLessThanOrEqual(600);
});

test.each([
  { range: "bytes=0-0", start: 0, end: 1 },
  { range: "bytes=0-999", start: 0, end: 1000 },
  { range: "bytes=500-", start: 500, end: SIZE },
  { range: "bytes=99999-", start: SIZE - 1, end: SIZE },
  { range: "bytes=-1000", start: SIZE - 1000, end: SIZE },
  { range: "bytes=-999999", start: 0, end: SIZE },
  { range: "bytes=50000-999999", start: 50_000, end: SIZE },
  { range: "bytes=0-", start: 0, end: SIZE },
])("serves the range $range", async ({ range, start, end }) => {
  const { status, headers, body } = await get({ Range: range });
  expect(status).toBe(206);
  expect(headers).toMatchObject({
    "content-range": `bytes ${start}-${end - 1}/${SIZE}`,
    "content-length": String(end - start),
    "content-type": "video/mp4",
    etag,
  });
  expect(body).toEqual(bytes.slice(start, end));
});

test.each([`bytes=${SIZE}-`, "bytes=-0", "bytes=999999-9999999"])(
  "answers 416 to the range %s",
  async (range) => {
    const { status, headers, body } = await get({ Range: range });
    expect([status, headers["content-range"], body.length]).toEqual([416, `bytes */${SIZE}`, 0]);
  },
);

test.each(["bytes=5-2", "bytes=0-1,5-6", "items=0-5", "bytes=x"])(
  "ignores the range %s and serves the whole file",
  async (range) => {
    const { status, body } = await get({ Range: range });
    expect([status, body.length]).toEqual([200, SIZE]);
  },
);

test("If-Range serves the range of the same version, else the whole file", async () => {
  expect((await get({ Range: "bytes=0-9", "If-Range": etag })).status).toBe(206);
  const { status, body } = await get({ Range: "bytes=0-9", "If-Range": '"other"' });
  expect([status, body.length]).toEqual([200, SIZE]);
});

test("answers 304 to a client that holds this version", async () => {
  for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
    const { status, headers, body } = await get({ "If-None-Match": condition });
    expect([status, headers.etag, body.length]).toEqual([304, etag, 0]);
    expect(headers["cache-control"]).toMatch(/^private, max-age=\d+$/);
  }
  expect((await get({ "If-None-Match": '"x"' })).status).toBe(200);
  expect((await get({ "If-None-Match": etag, Range: "bytes=0-9" })).status).toBe(304);
});

test("HEAD returns the headers of GET", async () => {
  const whole = await get();
  const head = await get({}, url, "HEAD");
  expect([head.status, head.body.length]).toEqual([200, 0]);
  for (const name of ["content-type", "content-length", "accept-ranges", "etag", "content-disposition"]) {
    expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
  }
  expect((await get({ Range: "bytes=0-9" }, url, "HEAD")).headers["content-length"]).toBe(String(SIZE));
  expect((await get({ "If-None-Match": etag }, url, "HEAD")).status).toBe(304);
  const gone = await service.signer.sign(`out/${RUN}/gone.mp4`, soon(), service.base);
  expect((await get({}, gone, "HEAD")).status).toBe(404);
});

test("serves an empty file, which has no ranges", async () => {
  await put(`out/${RUN}/empty.mp4`, "video/mp4", new Uint8Array(0));
  const empty = await service.signer.sign(`out/${RUN}/empty.mp4`, soon(), service.base);
  const { status, headers, body } = await get({}, empty);
  expect([status, headers["content-length"], body.length]).toEqual([200, "0", 0]);
  expect((await get({ Range: "bytes=0-" }, empty)).status).toBe(416);
});

test("a playlist's relative URLs resolve to its segments", async () => {
  await put(`out/${RUN}/720p/playlist.m3u8`, "application/vnd.apple.mpegurl");
  await put(`out/${RUN}/720p/seg_00001.m4s`, "video/iso.segment");
  const master = await service.signer.sign(`out/${RUN}/master.m3u8`, soon(), service.base);
  const playlist = new URL("720p/playlist.m3u8", master).href;
  const segment = new URL("seg_00001.m4s", playlist).href;
  expect((await get({}, playlist)).headers["content-type"]).toBe("application/vnd.apple.mpegurl");
  expect((await get({}, segment)).status).toBe(200);
});

test.each([
  { mime: "text/html", name: "page.html", disposition: 'attachment; filename="page.html"' },
  { mime: "image/svg+xml", name: "a.svg", disposition: 'attachment; filename="a.svg"' },
  { mime: "image/svg+xml; charset=utf-8", name: "b.svg", disposition: 'attachment; filename="b.svg"' },
  { mime: "image/png", name: 'a"b ö;.png', disposition: 'inline; filename="a_b___.png"' },
  { mime: "audio/mpeg", name: "a.mp3", disposition: 'inline; filename="a.mp3"' },
  { mime: undefined, name: "input", disposition: 'attachment; filename="input"' },
])(
  "a stored $mime named $name is served sandboxed and cannot be sniffed",
  async ({ mime, name, disposition }) => {
    await put(`work/${RUN}/${name}`, mime);
    const at = await service.signer.sign(`work/${RUN}/${name}`, soon(), service.base);
    const { status, headers } = await get({}, at);
    expect(status).toBe(200);
    expect(headers["content-disposition"]).toBe(disposition);
    expect(headers["content-type"]).toBe(mime ?? "application/octet-stream");
    expect(headers["content-security-policy"]).toContain("sandbox;");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  },
);

async function errorOf(at: string) {
  const response = await fetch(at);
  return [response.status, ((await response.json()) as { kind: string }).kind];
}

test("a signed URL of a missing file is media_not_found", async () => {
  const at = await service.signer.sign(`out/${RUN}/gone.mp4`, soon(), service.base);
  expect(await errorOf(at)).toEqual([404, "media_not_found"]);
});

test("a URL that an older key signed stays valid, and new ones are signed with the newest", async () => {
  const key = `out/${RUN}/clip.mp4`;
  const [newest, older] = SIGNING_KEYS.map((secret) => createSigner([secret], Date.now));
  const until = soon();
  const old = await older?.sign(key, until, service.base);
  expect((await fetch(old ?? "")).status).toBe(200);
  expect(await service.signer.sign(key, until, service.base)).toBe(
    await newest?.sign(key, until, service.base),
  );
});

test("a URL without a valid signature for its file is forbidden", async () => {
  const grant = url.split("/")[4] ?? "";
  const wrong = [
    url.replace(RUN, OTHER),
    url.replace("/out/", "/work/"),
    url.replace(/\.(\d+)\//, (_, seconds) => `.${Number(seconds) + 1}/`),
    url.replace(grant, (grant.startsWith("A") ? "B" : "A") + grant.slice(1)),
    `${service.base}/media/out/${RUN}/clip.mp4`,
    `${service.base}/media/`,
    await createSigner(["other"], Date.now).sign(`out/${RUN}/clip.mp4`, soon(), service.base),
    await service.signer.sign(`out/${RUN}/clip.mp4`, soon() - 601, service.base),
  ];
  for (const at of wrong) expect([at, ...(await errorOf(at))]).toEqual([at, 403, "forbidden"]);
});

// fetch normalizes a path before sending it; this does not.
function raw(path: string): Promise<{ status: number | undefined; text: string }> {
  const { hostname, port } = new URL(service.base);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

test.each([
  `../${OTHER}/clip.mp4`,
  `%2e%2e/${OTHER}/clip.mp4`,
  `.%2e/${OTHER}/clip.mp4`,
  `..%2f${OTHER}%2fclip.mp4`,
  `..%5c${OTHER}%5cclip.mp4`,
  `..\\${OTHER}\\clip.mp4`,
  `x/../../${OTHER}/clip.mp4`,
  `%252e%252e/${OTHER}/clip.mp4`,
  "clip.mp4%00",
  "clip.mp4/",
  "%E0%A4%A",
])("the path %s cannot leave the signed folder", async (path) => {
  const sent = new URL(url).pathname.replace("clip.mp4", path);
  const { status, text } = await raw(sent);
  expect([403, 404]).toContain(status);
  expect(["forbidden", "media_not_found"]).toContain(JSON.parse(text).kind);
});

test("never logs a signature", () => {
  expect(service.logs()).not.toContain(url.split("/")[4]);
});
