import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { family, ROOT, runCommand, running, runScript } from "./run-script.ts";

// The user's working directory, and the demo's temporary folder.
let cwd: string;
let temp: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "framewright-here-"));
  temp = await mkdtemp(join(tmpdir(), "framewright-temp-"));
  return async () => {
    await rm(cwd, { recursive: true, force: true });
    await rm(temp, { recursive: true, force: true });
  };
});

const demo = (...args: string[]) => runScript("demo", args, { INIT_CWD: cwd, TMPDIR: temp });

// npm puts a cache there too.
const ownFiles = async () => (await readdir(temp)).filter((name) => name.startsWith("framewright"));

// Any page in the visitor's browser can reach the service of the demo.
async function expectNoTrust(): Promise<void> {
  const [name = ""] = await ownFiles();
  const { url } = JSON.parse(await readFile(join(temp, name, "state", "service.json"), "utf8"));
  for (const key of ["dev-key", "demo", ""]) {
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${url}/tasks`, { headers })).status).toBe(401);
  }
  const foreign = await fetch(`${url}/health`, { headers: { Origin: "https://evil.example" } });
  expect([foreign.status, foreign.headers.get("Access-Control-Allow-Origin")]).toEqual([403, null]);
}

interface Probed {
  format: { format_name: string; duration: string };
  streams: { codec_name: string; width?: number; height?: number }[];
}

async function probe(name: string): Promise<Probed> {
  return (await runFfprobe(join(cwd, name))) as Probed;
}

test("npm run demo without arguments makes a clip and converts it", async () => {
  const script = runCommand("npm", ["--prefix", ROOT, "run", "demo"], { TMPDIR: temp }, cwd);
  expect(await script.ended, script.output()).toBe(0);
  const { format, streams } = await probe("demo-output.mp4");
  expect(format.format_name).toContain("mp4");
  expect(Number(format.duration)).toBeCloseTo(10, 1);
  expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264", "aac"]);
  expect(streams[0]).toMatchObject({ width: 640, height: 360 });
  const printed = script.output();
  expect(printed).toContain(join(cwd, "demo-output.mp4"));
  expect(printed).toMatch(/mp4, 640x360, h264, aac, 10\.\d\d s, \d/);
  expect(printed).toMatch(/^time +\d+\.\d s \(probe .*, ingest .*, video .*, upload .*\)$/m);
  expect(printed).toMatch(/^encoder +(light|native): \w+/m);
  expect(printed).toMatch(/^ *\d+% {2}probe ✓ {2}ingest ✓ {2}video … {2}upload ·$/m);
  // The service's state, its logs and the sample are deleted.
  expect(await ownFiles()).toEqual([]);
});

test("applies the options, runs heavy work on the native encoder, and writes demo-output into an existing folder", async () => {
  const options =
    "--format webm --codec av1 --width 60% --start 0.5 --end 1.5 --quality low --fps 10 --out folder";
  await mkdir(join(cwd, "folder"));
  const script = demo(await clip("mp4"), ...options.split(" "));
  expect(await script.ended, script.output()).toBe(0);
  const { format, streams } = await probe("folder/demo-output.webm");
  expect(format.format_name).toContain("webm");
  expect(Number(format.duration)).toBeCloseTo(1, 1);
  expect(streams.map(({ codec_name }) => codec_name)).toEqual(["av1", "opus"]);
  expect(streams[0]).toMatchObject({ width: 96, height: 54 });
  expect(script.output()).toMatch(/^encoder +native: \w+/m);
  expect(await readdir(cwd, { recursive: true })).toEqual(["folder", join("folder", "demo-output.webm")]);
  expect(await ownFiles()).toEqual([]);
});

test("writes adaptive video as a playable folder", async () => {
  const script = demo(await clip("mp4"), "--kind", "adaptive_video", "--out", "stream");
  expect(await script.ended, script.output()).toBe(0);
  const files = await readdir(join(cwd, "stream"), { recursive: true });
  const [master = ""] = files.filter((name) => /^[^/]+\.m3u8$/.test(name));
  expect(script.output()).toContain(`(${files.filter((name) => name.includes(".")).length} files)`);
  const { format, streams } = await probe(join("stream", master));
  expect(format.format_name).toBe("hls");
  expect(streams.map(({ codec_name }) => codec_name).sort()).toEqual(["aac", "h264"]);
});

test("a file that is not media exits with code 1 and the task's error", async () => {
  await writeFile(join(cwd, "bad.mp4"), "This is no film.");
  const script = demo("bad.mp4");
  expect(await script.ended).toBe(1);
  expect(script.output()).toMatch(/^error: (input_unsupported|probe_failed): \w+ .+$/m);
  expect(script.output()).not.toContain("    at ");
  expect(await readdir(cwd)).toEqual(["bad.mp4"]);
  expect(await ownFiles()).toEqual([]);
});

test.for([
  { args: ["missing.mp4"], message: /^error: There is no file .*missing\.mp4\.$/m },
  { args: ["--widht", "3"], message: /^error: Unknown option '--widht'/m },
] as const)("rejects $args before it starts the service", async ({ args, message }) => {
  const script = demo(...args);
  expect(await script.ended).toBe(1);
  expect(script.output()).toMatch(message);
  expect(script.output()).not.toContain("starting the service");
});

test("options that the service rejects end with its error", async () => {
  const script = demo(await clip("mp4"), "--fps", "61");
  expect(await script.ended).toBe(1);
  expect(script.output()).toMatch(/^error: options\.fps must be a number from 1 to 60\.$/m);
});

test("Ctrl-C cancels the task and leaves nothing behind", async () => {
  const script = demo(await clip("mp4", { size: "640x360", seconds: 20 }), "--format", "webm");
  await script.line(/video …/);
  const pids = family(script.pid);
  await expectNoTrust();
  script.child.kill("SIGINT");
  expect(await script.ended).toBe(130);
  expect(script.output()).toMatch(/^cancelled$/m);
  await vi.waitFor(() => expect(running(pids)).toEqual([]), { timeout: 30_000 });
  expect(await readdir(cwd)).toEqual([]);
  expect(await ownFiles()).toEqual([]);
});

test("--help prints the usage", async () => {
  const script = demo("--help");
  expect(await script.ended).toBe(0);
  expect(script.output()).toMatch(/^npm run demo -- \[FILE or URL\] \[options\]\n/);
});
