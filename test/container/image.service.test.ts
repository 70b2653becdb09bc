import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { startRig } from "./rig.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const dockerfile = await readFile(join(ROOT, "worker", "container", "Dockerfile"), "utf8");

interface Step {
  name: string;
  rest: string;
}

// The instructions of each stage; a line that ends in a backslash continues.
const stages: Step[][] = [];
for (const line of dockerfile
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split("\n")) {
  const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
  if (name === undefined || rest === undefined) continue;
  if (name === "FROM") stages.push([]);
  stages.at(-1)?.push({ name, rest: rest.trim() });
}
const [build = [], image = []] = stages;
const all = (steps: Step[], name: string) =>
  steps.filter((step) => step.name === name).map(({ rest }) => rest);

const app = await mkdtemp(join(tmpdir(), "framewright-image-"));
afterAll(() => rm(app, { recursive: true, force: true }));

test("is a slim Debian with the repository's Node, and does not run as root", async () => {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const [major] = devDependencies.node.split(".");
  expect(all(build, "FROM").map(withoutDigest)).toEqual([`node:${major}-trixie-slim AS node`]);
  expect(all(image, "FROM").map(withoutDigest)).toEqual(["debian:trixie-slim"]);
  expect(all(image, "RUN").at(-1)).toMatch(/useradd --system .*encoder\b.*useradd --system .*ffmpeg$/);
  const command: string[] = JSON.parse(all(image, "CMD")[0] ?? "");
  expect(command.slice(-2)).toEqual(["node", "worker/container/main.ts"]);
  if (process.getuid?.() !== 0) return;
  // The command runs with users that every Debian has.
  const [program = "", ...words] = command.slice(0, -2).map((word) => word.replace("=encoder", "=daemon"));
  const { stdout } = await run(program, [...words, "sh", "-c", "id -un; grep CapEff /proc/self/status"]);
  // CAP_KILL, CAP_SETGID and CAP_SETUID of capabilities(7).
  expect(stdout).toBe("daemon\nCapEff:\t00000000000000e0\n");
});

function withoutDigest(base: string): string {
  expect(base).toMatch(/@sha256:[0-9a-f]{64}\b/);
  return base.replace(/@sha256:[0-9a-f]{64}/, "");
}

test("its packages install on an empty system, and bring ffmpeg and the tools to bound it", async ({
  skip,
}) => {
  const [, packages = ""] = /apt-get install --yes --no-install-recommends ([^&]+)/.exec(dockerfile) ?? [];
  const names = packages.replaceAll("\\", " ").trim().split(/\s+/);
  const plugins = ["libheif-plugin-libde265", "libheif-plugin-dav1d"];
  expect(names).toEqual(["ffmpeg", "util-linux", "libstdc++6", "libheif-examples", ...plugins, "webp"]);
  const apt = (program: string, ...args: string[]) =>
    run(program, args, { maxBuffer: 1 << 26 }).then(
      ({ stdout }) => stdout,
      () => "",
    );
  const policy = await apt("apt-cache", "policy", "ffmpeg");
  if (!/Candidate: \d/.test(policy)) skip("The package lists are missing; apt-get update brings them.");
  const nothing = ["-o", "Dir::State::status=/dev/null"];
  const options = ["--simulate", "--yes", "--no-install-recommends"];
  // Decoders are packages of their own from Debian 13 on.
  const packaged = (await apt("apt-cache", "pkgnames", "libheif-plugin")).split("\n");
  const available = names.filter((name) => !plugins.includes(name) || packaged.includes(name));
  const simulated = await apt("apt-get", ...nothing, "install", ...options, ...available);
  const installed = [...simulated.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  expect(installed).toEqual(expect.arrayContaining(["ffmpeg", "util-linux", "libc6", "libheif1"]));
  expect(installed).toEqual(expect.arrayContaining([expect.stringMatching(/^libx264-/)]));
  expect(installed).toEqual(expect.arrayContaining([expect.stringMatching(/^libx265-/)]));
  expect(installed).toEqual(expect.arrayContaining([expect.stringMatching(/^libsvtav1enc/)]));
});

test("its build ends unless Debian's ffmpeg is 7.1", async () => {
  const [, pattern = ""] = /ffmpeg -version \| grep --quiet '([^']+)'/.exec(all(image, "RUN")[0] ?? "") ?? [];
  const resultOf = async (text: string) =>
    run("sh", ["-c", 'printf \'%s\' "$1" | grep --quiet "$2" && echo yes || echo no', "-", text, pattern]);
  const ffmpeg = await run("ffmpeg", ["-version"]);
  const [, version = ""] = /^ffmpeg version (\d+\.\d+)/.exec(ffmpeg.stdout) ?? [];
  for (const [text, is] of [
    ["ffmpeg version 7.1.5-0+deb13u1 Copyright (c) 2000-2025 the FFmpeg developers", "yes"],
    ["ffmpeg version 7.1-3 Copyright (c) 2000-2024 the FFmpeg developers", "yes"],
    ["ffmpeg version 7.10 Copyright (c) 2000-2027 the FFmpeg developers", "no"],
    [ffmpeg.stdout, version === "7.1" ? "yes" : "no"],
  ] as const)
    expect([text, (await resultOf(text)).stdout.trim()]).toEqual([text, is]);
});

test("the server runs from the copied files and encodes", async () => {
  // Copies each file of the context to its place; .dockerignore must let it through.
  const ignore = (await readFile(join(ROOT, ".dockerignore"), "utf8")).split("\n");
  const copies = [...all(build, "COPY"), ...all(image, "COPY").filter((copy) => !copy.startsWith("--from="))];
  for (const copy of copies) {
    const [to = "", ...from] = copy.split(/\s+/).reverse();
    for (const path of from) {
      expect(ignore).toContain(`!${path}`);
      await cp(join(ROOT, path), to.endsWith("/") ? join(app, to, path) : join(app, to), { recursive: true });
    }
  }
  // The modules that `npm ci --omit=dev` installs by the lock file, taken from those installed here, and the
  // server.
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const server = ["hono", "@hono/node-server"];
  const install = server.map((name) => `${name}@${devDependencies[name]}`).join(" ");
  expect(all(build, "RUN").map((line) => line.split(/\s+/).join(" "))).toEqual([
    `npm ci --omit=dev --ignore-scripts && npm install --no-save --ignore-scripts ${install}`,
  ]);
  const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const needed = Object.entries<{ dev?: boolean; optional?: boolean; devOptional?: boolean }>(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional)
    .map(([path]) => path);
  for (const path of [...needed, ...server.map((name) => `node_modules/${name}`)]) {
    await mkdir(join(app, path), { recursive: true });
    const within = join(ROOT, path, "node_modules");
    await cp(join(ROOT, path), join(app, path), { recursive: true, filter: (file) => file !== within });
  }
  const env = Object.fromEntries(
    all(image, "ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("=") as [string, string])),
  );
  expect(env).toMatchObject({ HOST: "0.0.0.0", PORT: "8080" });
  const rig = await startRig(
    { ...env, HOST: "127.0.0.1", PORT: "0", FFMPEG_USER: "" },
    join(app, "worker", "container", "main.ts"),
  );
  try {
    const job = await rig.job(await clip("mp4", { seconds: 1 }), "video", { format: "webm" });
    expect(await rig.run(job)).toMatchObject({ state: "done" });
    const { picture } = await readFacts(join(rig.sink.folder, job.id, "output.webm"));
    expect(picture).toMatchObject({ codec: "vp9", width: 160, height: 90 });
    rig.child.kill("SIGTERM");
    expect(await rig.ended).toBe(0);
  } finally {
    await rig.close();
  }
});
