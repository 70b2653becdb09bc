import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { BUILT, CACHE, coreFolder, findBuilt } from "./cache.ts";
import { DEBIAN, type ForeignSource, HELPERS, PARTS, SOURCES, TOOLCHAIN, VP9_PARTS } from "./recipe.ts";

// The exit code if the machine cannot build the core, which a gate tells from a recipe that fails.
const CANNOT = 3;

const run = promisify(execFile);

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills it in
const VERSION_FORMAT = "${Version}";

/** Thrown if the machine cannot build the core, which is not the fault of the recipe. */
class CannotBuild extends Error {}

/** Builds the core into the cache unless it is there already; resolves with its path. */
async function buildCore(): Promise<string> {
  const built = findBuilt("core");
  if (built) return built;
  await requireDebootstrap();
  const root = await makeToolchain();
  const build = join(root, "build");
  await rm(build, { recursive: true, force: true });
  await mkdir(join(build, "src"), { recursive: true });
  await cp(import.meta.dirname, join(build, "core"), { recursive: true });
  for (const [name, source] of Object.entries(SOURCES)) await unpack(source, join(build, "src", name));
  await compile(root);
  // The folder gets its final name only when it is complete.
  const part = `${coreFolder()}.part`;
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true });
  for (const name of Object.values(BUILT)) await cp(join(build, name), join(part, name));
  await rename(part, coreFolder());
  await rm(build, { recursive: true, force: true });
  return join(coreFolder(), BUILT.core);
}

async function requireDebootstrap(): Promise<void> {
  const find = () => run("debootstrap", ["--version"]).catch(() => null);
  if (process.getuid?.() === 0) {
    if (await find()) return;
    const install = ["install", "--yes", "--no-install-recommends", "debootstrap"];
    await run("apt-get", ["update"]).catch(() => null);
    await run("apt-get", install).catch(() => null);
    if (await find()) return;
  }
  throw new CannotBuild(
    "core:build needs root and Debian's debootstrap; without it, the stock core does all the work.",
  );
}

// A root of its own fixes the versions, whatever the machine has installed.
async function makeToolchain(): Promise<string> {
  const packages = [...Object.keys(TOOLCHAIN), ...HELPERS];
  const name = createHash("sha256").update(packages.join()).digest("hex").slice(0, 16);
  const root = join(CACHE, `toolchain-${name}`);
  const done = join(root, "complete");
  const complete = await readFile(done).catch(() => null);
  if (!complete) {
    console.error(`Installing ${packages.join(", ")} of Debian ${DEBIAN.suite}…`);
    await rm(root, { recursive: true, force: true });
    await mkdir(root, { recursive: true });
    const include = `--include=${packages.join()}`;
    await show("debootstrap", ["--variant=minbase", include, DEBIAN.suite, root, DEBIAN.mirror]);
    await writeFile(done, "");
  }
  for (const [name, version] of Object.entries(TOOLCHAIN)) {
    const { stdout } = await run("chroot", [
      root,
      "dpkg-query",
      "--show",
      "--showformat",
      VERSION_FORMAT,
      name,
    ]);
    if (stdout !== version) throw new Error(`The recipe wants ${name} ${version}; Debian now has ${stdout}.`);
  }
  return root;
}

async function unpack({ path, sha256 }: ForeignSource, folder: string): Promise<void> {
  const archive = join(CACHE, "sources", basename(path));
  const bytes = await readFile(archive).catch(async () => {
    const response = await fetch(`${DEBIAN.mirror}/${path}`);
    if (!response.ok) throw new Error(`${response.url} answers ${response.status}.`);
    return Buffer.from(await response.arrayBuffer());
  });
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
    await rm(archive, { force: true });
    throw new Error(`${basename(path)} is not the file that the recipe names.`);
  }
  await mkdir(dirname(archive), { recursive: true });
  await writeFile(archive, bytes);
  await mkdir(folder, { recursive: true });
  await run("tar", ["--extract", "--strip-components=1", "--file", archive, "--directory", folder]);
}

async function compile(root: string): Promise<void> {
  const flags = (parts: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(parts).map(([kind, names]) => `--enable-${kind}=${names.join()}`);
  const parts = [`FFMPEG_PARTS=${flags(PARTS).join(" ")}`, `FFMPEG_VP9_PARTS=${flags(VP9_PARTS).join(" ")}`];
  await show("chroot", [root, "env", ...parts, "sh", "/build/core/compile.sh"]);
}

// Compilers print much, which is of interest only when they fail.
async function show(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LC_ALL: "C" },
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      words = (words + text).slice(-4000);
    });
  }
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Error(`${program} failed (${code}):\n${words}`);
}

try {
  console.log(await buildCore());
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exitCode = thrown instanceof CannotBuild ? CANNOT : 1;
}
