import { expect, test } from "vitest";
import { createSigner } from "../../../worker/media/signed-urls.ts";

const RUN = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
const OTHER = "step_01kbb1d3x4e8v0t6m9q2y5z7aw";
const NOW = 1_795_170_600;
const signer = createSigner(["secret"], () => NOW * 1000);
const BASE = "https://media.example";

test("a URL carries its signature and expiry in the path and opens to its key", async () => {
  const url = await signer.sign(`out/${RUN}/clip.mp4`, NOW + 60, BASE);
  expect(url).toMatch(
    new RegExp(`^https://media\\.example/media/[A-Za-z0-9_-]{43}\\.${NOW + 60}/out/${RUN}/clip\\.mp4$`),
  );
  expect(await signer.open(url)).toEqual({ key: `out/${RUN}/clip.mp4`, expires: NOW + 60 });
  expect(await signer.resolve(url)).toBe(`out/${RUN}/clip.mp4`);
});

test("the signature is HMAC-SHA-256 of folder and expiry", async () => {
  const { createHmac } = await import("node:crypto");
  const expected = createHmac("sha256", "secret")
    .update(`out/${RUN}/\n${NOW + 60}`)
    .digest("base64url");
  const url = await signer.sign(`out/${RUN}/a`, NOW + 60.9, BASE);
  expect(url.split("/")[4]).toBe(`${expected}.${NOW + 60}`);
});

test("a relative URL inside a playlist opens too, within its run", async () => {
  const master = await signer.sign(`out/${RUN}/master.m3u8`, NOW + 60, `${BASE}/`);
  const segment = new URL("720p/seg_00001.m4s?from=player#t", master);
  expect(await signer.resolve(segment.href)).toBe(`out/${RUN}/720p/seg_00001.m4s`);
  expect(await signer.resolve(new URL(`../${OTHER}/master.m3u8`, master).href)).toBe(null);
  expect(await signer.resolve(new URL(`../../work/${RUN}/input`, master).href)).toBe(null);
});

test.each(["ä ö?#&+ 100%.mp4", "a%2Fb", "%2e%2e", "'\"<>|", "…💥"])(
  "the name %j survives a round trip",
  async (name) => {
    const key = `work/${OTHER}/${name}`;
    expect(await signer.resolve(await signer.sign(key, NOW + 1, BASE))).toBe(key);
  },
);

test("a URL opens under any base, even one with a path", async () => {
  const url = await signer.sign(`out/${RUN}/a`, NOW + 1, "http://127.0.0.1:8787/api");
  expect(await signer.resolve(url)).toBe(`out/${RUN}/a`);
  expect(await signer.resolve(url.replace("http://127.0.0.1:8787", BASE))).toBe(`out/${RUN}/a`);
});

test("a URL works until its expiry second, and no longer in that second", async () => {
  const url = await signer.sign(`out/${RUN}/a`, NOW, BASE);
  const at = (seconds: number) => createSigner(["secret"], () => seconds * 1000).resolve(url);
  expect(await at(NOW - 0.001)).toBe(`out/${RUN}/a`);
  expect(await at(NOW)).toBe(null);
});

const valid = await signer.sign(`out/${RUN}/clip.mp4`, NOW + 60, BASE);
const grant = valid.split("/")[4] ?? "";

test.each([
  {
    name: "another secret",
    url: await createSigner(["other"], () => 0).sign(`out/${RUN}/clip.mp4`, NOW + 60, BASE),
  },
  { name: "a later expiry", url: valid.replace(`.${NOW + 60}/`, `.${NOW + 61}/`) },
  {
    name: "an expiry with a leading zero",
    url: valid.replace(`.${NOW + 60}/`, `.0${NOW + 60}/`).replace(RUN, OTHER),
  },
  { name: "no expiry", url: valid.replace(`.${NOW + 60}/`, "/") },
  { name: "an expiry that is not a number", url: valid.replace(`.${NOW + 60}/`, ".1e99/") },
  { name: "a negative expiry", url: valid.replace(`.${NOW + 60}/`, `.-${NOW}/`) },
  {
    name: "another character in the signature",
    url: valid.replace(grant, (grant.startsWith("A") ? "B" : "A") + grant.slice(1)),
  },
  { name: "a shorter signature", url: valid.replace(grant, grant.slice(1)) },
  { name: "no signature", url: valid.replace(grant, `.${NOW + 60}`) },
  { name: "another run", url: valid.replace(RUN, OTHER) },
  { name: "another top", url: valid.replace("/out/", "/work/") },
  { name: "an unknown top", url: valid.replace("/out/", "/key/") },
  { name: "the folder alone", url: valid.replace("clip.mp4", "") },
  { name: "the folder without a slash", url: valid.replace("/clip.mp4", "") },
  { name: "steps up", url: valid.replace("clip.mp4", `../${OTHER}/clip.mp4`) },
  { name: "encoded steps up", url: valid.replace("clip.mp4", `%2e%2e/${OTHER}/clip.mp4`) },
  { name: "an encoded slash", url: valid.replace("clip.mp4", `..%2f${OTHER}%2fclip.mp4`) },
  { name: "an encoded slash in a name", url: valid.replace("clip.mp4", "a%2Fb") },
  { name: "a backslash", url: valid.replace("clip.mp4", `..%5c${OTHER}%5cclip.mp4`) },
  { name: "an empty name", url: valid.replace("clip.mp4", "a//b") },
  { name: "NUL", url: valid.replace("clip.mp4", "clip.mp4%00") },
  { name: "a broken escape", url: valid.replace("clip.mp4", "%E0%A4%A") },
  { name: "a malformed run id", url: valid.replace(RUN, "task_x") },
  { name: "the grant in the query", url: `${BASE}/media/out/${RUN}/clip.mp4?${grant}` },
  { name: "not a URL", url: "clip.mp4" },
  { name: "nothing", url: "" },
])("$name does not open", async ({ url }) => {
  expect(await signer.open(url)).toBe(null);
});

test.each([
  "",
  "clip.mp4",
  "key:abc",
  `out/${RUN}`,
  `out/${RUN}/`,
  `key/${RUN}/a`,
  `out/x/a`,
  `out/${RUN}/../a`,
  `out/${RUN}//a`,
])("the key %j has no URL", async (key) => {
  await expect(signer.sign(key, NOW + 1, BASE)).rejects.toThrow("Only files of a run");
});

test("a folder URL opens for writing with a file name appended, and read and write URLs are not interchangeable", async () => {
  const folder = await signer.signFolder(`work/${RUN}/chunks/`, NOW + 60, BASE);
  expect(folder).toMatch(
    new RegExp(`^https://media\\.example/media/[A-Za-z0-9_-]{43}\\.${NOW + 60}/work/${RUN}/chunks/$`),
  );
  const url = `${folder}720p/init_0.mp4?upload=x&part=1`;
  expect(await signer.openWrite(url)).toEqual({
    key: `work/${RUN}/chunks/720p/init_0.mp4`,
    expires: NOW + 60,
  });
  expect([await signer.open(url), await signer.resolve(url)]).toEqual([null, null]);
  expect(await signer.openWrite(await signer.sign(`work/${RUN}/a`, NOW + 60, BASE))).toBe(null);
  expect(await signer.openWrite(folder)).toBe(null);
  expect(await signer.openWrite(`${folder}..%2fa`)).toBe(null);
  expect(await signer.openWrite(`${folder.replace("/work/", "/out/")}a`)).toBe(null);
  expect(await createSigner(["secret"], () => (NOW + 60) * 1000).openWrite(`${folder}a`)).toBe(null);
});

test("the write signature is HMAC-SHA-256 of a prefix, folder and expiry", async () => {
  const { createHmac } = await import("node:crypto");
  const expected = createHmac("sha256", "secret")
    .update(`write\nout/${RUN}/\n${NOW + 60}`)
    .digest("base64url");
  const url = await signer.signFolder(`out/${RUN}/`, NOW + 60.9, BASE);
  expect(url.split("/")[4]).toBe(`${expected}.${NOW + 60}`);
});

test.each([
  "",
  "out/",
  `out/${RUN}`,
  `out/${RUN}/a`,
  "out/x/",
  `key/${RUN}/`,
  `out/${RUN}/../`,
  `out/${RUN}//`,
])("the folder %j has no URL", async (folder) => {
  await expect(signer.signFolder(folder, NOW + 1, BASE)).rejects.toThrow(/^(Only files of|The URL of a)/);
});

test("signs with the newest secret and opens what an older one signed, until that is removed", async () => {
  const ring = (...secrets: string[]) => createSigner(secrets, () => NOW * 1000);
  const key = `out/${RUN}/clip.mp4`;
  const urls = await Promise.all(
    ["new", "old", "older"].map((secret) => ring(secret).sign(key, NOW + 60, BASE)),
  );
  expect(await ring("new", "old").sign(key, NOW + 60, BASE)).toBe(urls[0]);
  const opened = (...secrets: string[]) => Promise.all(urls.map((url) => ring(...secrets).resolve(url)));
  expect(await opened("new", "old")).toEqual([key, key, null]);
  expect(await opened("new")).toEqual([key, null, null]);
});

test("fails to start without a secret", () => {
  for (const secrets of [[], [""], ["secret", ""]])
    expect(() => createSigner(secrets, () => 0)).toThrow("MEDIA_SIGNING_KEY");
});
