import { createDecipheriv } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import { type Rig, startRig } from "../judge/rig.ts";

// A service of its own, whose files are searched for the key.
let rig: Rig;
beforeAll(async () => {
  rig = await startRig(() => ({}));
}, 180_000);
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const KEY = Buffer.from("0f1e2d3c4b5a69788796a5b4c3d2e1f0", "hex");
const FORMS = [KEY.toString("hex"), KEY.toString("base64"), KEY.toString("latin1")];

async function serveKey(): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), "framewright-key-")), "content.key");
  await writeFile(path, KEY);
  return rig.serve(path);
}

/** Returns which of init segment, key and segment a playlist names, in order, and the URL of each segment. */
async function readPlaylist(url: string) {
  const lines = (await (await fetch(url)).text()).split("\n").filter((line) => line !== "");
  const named = lines.filter((line) => /^#EXT-X-(KEY|MAP)|^[^#]/.test(line));
  const segments = named.filter((line) => !line.startsWith("#")).map((line) => new URL(line, url).href);
  const short = (line: string) =>
    line.startsWith("#EXT-X-KEY") ? line.slice("#EXT-X-".length) : line.startsWith("#") ? "MAP" : "segment";
  return { lines: named.map(short), segments };
}

async function decrypt(url: string, iv: string): Promise<{ clear: Buffer; sealed: Buffer }> {
  const sealed = Buffer.from(await (await fetch(url)).arrayBuffer());
  const decipher = createDecipheriv("aes-128-cbc", KEY, Buffer.from(iv, "hex"));
  return { sealed, clear: Buffer.concat([decipher.update(sealed), decipher.final()]) };
}

test(
  "segments are encrypted with the caller's key, which no answer shows and no file holds",
  LIMIT,
  async () => {
    const original = await noiseClip(7);
    const key_url = await serveKey();
    const encryption = { method: "aes-128", key: KEY.toString("base64"), key_url };
    const request = { input: rig.serve(original), kind: "adaptive_video", options: { encryption } } as const;
    const first = await rig.door.runTask(request);
    expect(first.error).toBeNull();
    expect(first.options).toEqual({ encryption: { method: "aes-128", key_url } });

    const { body: again } = await rig.door.request<Task>("POST", `/tasks/${first.id}/retry`);
    const read = async () => (await rig.door.request<Task>("GET", `/tasks/${again.id}`)).body;
    await expect.poll(async () => (await read()).finished_at, { timeout: 120_000 }).not.toBeNull();
    const task = await read();
    expect(task.error).toBeNull();
    const master = task.output ?? "";
    const text = await (await fetch(master)).text();
    const [sound = "", pictures = ""] = ['URI="([^"]+)', "^(?!#)(.+)$"].map((pattern) => {
      return new URL(new RegExp(pattern, "m").exec(text)?.[1] ?? "", master).href;
    });
    for (const url of [sound, pictures]) {
      const { lines, segments } = await readPlaylist(url);
      expect(lines).toEqual(["MAP", `KEY:METHOD=AES-128,URI="${key_url}"`, "segment", "segment"]);
      for (const [number, segment] of segments.entries()) {
        const { clear, sealed } = await decrypt(segment, number.toString(16).padStart(32, "0"));
        expect(clear.toString("latin1", 4, 8)).toMatch(/^(styp|moof)$/);
        expect(sealed.length % 16).toBe(0);
        expect(sealed.includes("moof")).toBe(false);
      }
    }
    // ffmpeg fetches the key.
    const { path } = await rig.door.fetchFile(master);
    await runNative(["-y", "-i", master, "-c", "copy", `${path}.mkv`]);
    const facts = await readFacts(`${path}.mkv`);
    expect(facts.sound?.codec).toBe("aac");
    const like = await measureLikeness(`${path}.mkv`, original);
    expect(like.mean).toBeGreaterThan(LIKE - 0.02);
    const answers = await Promise.all(
      [`/tasks/${task.id}`, "/tasks", `/steps/${task.steps[2]?.id}`, "/events"].map((path) => {
        return rig.door.request("GET", path);
      }),
    );
    const shown = JSON.stringify([first, again, task, answers]);
    for (const form of FORMS) expect(shown.includes(JSON.stringify(form).slice(1, -1))).toBe(false);
    const files = globSync("**/*", { cwd: rig.folder, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const holders = files
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => {
        const bytes = readFileSync(path);
        return FORMS.some((form) => bytes.includes(Buffer.from(form, "latin1")));
      });
    expect(files.length).toBeGreaterThan(10);
    expect(holders).toEqual([]);
  },
);

test("a vector of the caller's is that of all segments", LIMIT, async () => {
  const key_url = await serveKey();
  const iv = "000102030405060708090a0b0c0d0e0f";
  const encryption = { method: "aes-128", key: KEY.toString("hex"), key_url, iv: `0x${iv}` };
  const input = {
    object: "source",
    url: rig.serve(await clip("mp4", { seconds: 1 })),
    kind: "video",
    format: "mp4",
  } as const;
  const step = await rig.door.runStep({ kind: "adaptive_video", input, options: { encryption } });
  expect(step.error).toBeNull();
  expect(step.options).toEqual({ encryption: { method: "aes-128", key_url, iv: `0x${iv}` } });
  const [rendition] = step.output?.renditions ?? [];
  const { lines, segments } = await readPlaylist(rendition?.url ?? "");
  expect(lines).toEqual(["MAP", `KEY:METHOD=AES-128,URI="${key_url}",IV=0x${iv}`, "segment"]);
  const { clear } = await decrypt(segments[0] ?? "", iv);
  expect(clear.toString("latin1", 4, 8)).toMatch(/^(styp|moof)$/);
});

const RULE = "16 bytes, as 32 hexadecimal digits or in base64.";
const GOOD = { method: "aes-128", key: "0".repeat(32), key_url: "https://example.com/k" };
test.for([
  { encryption: { ...GOOD, key: "0".repeat(31) }, message: `options.encryption.key must be ${RULE}` },
  { encryption: { ...GOOD, key: "0".repeat(64) }, message: `options.encryption.key must be ${RULE}` },
  { encryption: { ...GOOD, key: "c2VjcmV0LXNlY3JldA==" }, message: `options.encryption.key must be ${RULE}` },
  { encryption: { ...GOOD, key: undefined }, message: `options.encryption.key is required: ${RULE}` },
  { encryption: { ...GOOD, iv: "12" }, message: `options.encryption.iv must be ${RULE}` },
  {
    encryption: { ...GOOD, method: "sample-aes" },
    message: "options.encryption.method must be one of aes-128.",
  },
  {
    encryption: { ...GOOD, key_url: undefined },
    message: "options.encryption.key_url is required: where players get the key.",
  },
  {
    encryption: { ...GOOD, key_url: 'https://example.com/"k' },
    message: "options.encryption.key_url must be a URL that starts with https:// or http://.",
  },
  {
    encryption: { ...GOOD, secret: "x" },
    message: /^Unknown field "secret" for encryption; the fields are method, key, key_url, iv\.$/,
  },
] as const)("$encryption is refused without its key", async ({ encryption, message }) => {
  const body = { input: "https://example.com/a.mp4", kind: "adaptive_video", options: { encryption } };
  const { status, body: answer } = await rig.door.request("POST", "/tasks", body);
  expect(status).toBe(400);
  expect(answer).toMatchObject({ kind: "secret" in encryption ? "request_invalid" : "invalid_options" });
  if (typeof message === "string") expect(Object(answer).message).toBe(message);
  else expect(Object(answer).message).toMatch(message);
  const { key } = encryption;
  if (key) expect(JSON.stringify(answer)).not.toContain(key);
});

test.for([
  { more: { format: "dash" }, message: /^options\.encryption needs format "hls": AES-128 .* DASH lacks\.$/ },
  { more: { format: "hls_dash" }, message: /^options\.encryption needs format "hls"/ },
  { more: { i_frames: true }, message: /^options\.i_frames and options\.encryption cannot both be given/ },
] as const)("encryption and $more are refused", async ({ more, message }) => {
  const options = { encryption: GOOD, ...more };
  const body = { input: "https://example.com/a.mp4", kind: "adaptive_video", options };
  const { status, body: answer } = await rig.door.request("POST", "/tasks", body);
  expect([status, Object(answer).kind]).toEqual([400, "invalid_options"]);
  expect(Object(answer).message).toMatch(message);
});
