import { execFile, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { runMain } from "./cli.ts";
import * as errors from "./errors.ts";
import { ROOT } from "./settings.ts";

/** The system programs that the local service and the tests call, with their Debian packages. */
export const TOOLS = {
  ffmpeg: "ffmpeg",
  ffprobe: "ffmpeg",
  "heif-convert": "libheif-examples",
  dwebp: "webp",
  chromium: "chromium",
  radosgw: "radosgw",
  "ceph-mon": "ceph-mon",
  "ceph-osd": "ceph-osd",
  aomenc: "aom-tools",
  "firefox-esr": "firefox-esr",
  tesseract: "tesseract-ocr",
} as const;
/** A system program that the local service or the tests call. */
export type Tool = keyof typeof TOOLS;

/** Installs missing programs from Debian packages if apt-get is allowed; otherwise throws a {@link MediaError} that names them. */
export function requireTools(tools: readonly Tool[], env: NodeJS.ProcessEnv = process.env): void {
  const missing = tools.filter((tool) => !findProgram(tool, env));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((tool) => TOOLS[tool]))];
  const apt = findApt(env);
  if (!apt) throw errors.programsMissing({ programs: missing, packages });
  console.error(
    `Installing ${packages.join(", ")} with apt-get (${missing.join(", ")} missing on this machine)…`,
  );
  apt(["update"]);
  apt(["install", "--yes", "--no-install-recommends", ...packages]);
  const still = missing.filter((tool) => !findProgram(tool, env));
  if (still.length > 0) throw errors.programsStillMissing({ programs: still });
}

/** Returns the path of a program on PATH, or null. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | null {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (!folder) continue;
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return null;
}

function findApt(env: NodeJS.ProcessEnv): ((args: string[]) => void) | null {
  const apt = findProgram("apt-get", env);
  if (!apt) return null;
  const root = process.getuid?.() === 0;
  const sudo = root ? null : findProgram("sudo", env);
  if (!root && (!sudo || spawnSync(sudo, ["-n", "true"]).status !== 0)) return null;
  const [command, ...first] = sudo ? [sudo, "-n", "DEBIAN_FRONTEND=noninteractive", apt] : [apt];
  return (args) => {
    const quiet = { ...env, DEBIAN_FRONTEND: "noninteractive" };
    const ran = spawnSync(command ?? apt, [...first, "-qq", ...args], { env: quiet, encoding: "utf8" });
    if (ran.status === 0) return;
    const reason = ran.stderr.trim().split("\n").slice(-3).join(" ") || String(ran.error ?? ran.signal);
    throw errors.aptFailed({ command: args[0] ?? "", reason });
  };
}

const ON_REQUEST: readonly string[] = ["firefox-esr"];

if (import.meta.main) {
  runMain(async () => {
    const tools = process.argv.slice(2).filter((name): name is Tool => name in TOOLS);
    const defaults = (Object.keys(TOOLS) as Tool[]).filter((name) => !ON_REQUEST.includes(name));
    requireTools(tools.length > 0 ? tools : defaults);
  });
}

const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_COLOR: "1",
} as const;

/**
 * Runs a wrangler command in the package's folder and returns its output; a failure rejects with a {@link MediaError} that quotes
 * it.
 */
export async function runWrangler(args: readonly string[]): Promise<string> {
  const program = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const options = { cwd: ROOT, env: { ...process.env, ...QUIET }, maxBuffer: 1 << 26 };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], options);
    return stdout;
  } catch (thrown) {
    const reason = reasonOf(thrown as Error & { stdout?: string; stderr?: string });
    throw errors.wranglerFailed({ command: args[0] ?? "", reason, cause: thrown });
  }
}

function reasonOf({
  message,
  stdout = "",
  stderr = "",
}: Error & { stdout?: string; stderr?: string }): string {
  const output = stripVTControlCharacters([stderr, stdout].join("\n")).trim();
  const errors = [...output.matchAll(/\[ERROR\]\s*(.+)/g)].map(([, line]) => line);
  return errors.join(" ") || output || message;
}
