import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { NATIVE_TOOLS, type Toolset } from "../../src/ffmpeg/toolset.ts";
import { errors } from "./errors.ts";

const run = promisify(execFile);

/** The ffmpeg of this machine, and what it can be started under. */
export interface Installed {
  /** Such as `5.1.9`. */
  version: string;
  /** True where prlimit (util-linux) bounds a program's resources. */
  prlimit: boolean;
  /** libheif's program that decodes HEIC and AVIF; null without it. */
  heif: string | null;
  /** The features that this build of ffmpeg lacks: `burn` without libass. */
  lacks: Toolset["lacks"];
  /** The formats of animations that it only writes as endless: AVIF before ffmpeg 6.0. */
  endless: Toolset["endless"];
  /** Whether libwebp's program that decodes stills is there. */
  dwebp: boolean;
  /** The command that has another one end when the server is gone, as a user of its own if there is one; empty without setpriv (util-linux). */
  setpriv: readonly string[];
}

/** What one ffmpeg may take. */
export interface Limits {
  max_file_bytes: number;
  max_memory_bytes: number;
}

/** Returns the command that runs another one, whose name and arguments follow, under limits. */
export function prlimitArgs({ max_file_bytes, max_memory_bytes }: Limits): string[] {
  // Not the address space, of which x265 and SVT-AV1 reserve far more than they use.
  const limits = [`--fsize=${max_file_bytes}`, `--data=${max_memory_bytes}`, "--core=0", "--nofile=512"];
  return ["prlimit", ...limits, "--"];
}

// Of the server's rights only the group is left, for the files of a job.
function setprivArgs(user: string | null): string[] {
  const end = ["setpriv", "--pdeathsig", "KILL"];
  if (user === null) return end;
  const group = ["--regid", String(process.getgid?.() ?? 0), "--clear-groups"];
  const rights = ["--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"];
  return [...end, "--reuid", user, ...group, ...rights];
}

/**
 * Looks for ffmpeg and its encoders; throws an `encoder_unavailable` in one line when it or one of them is not there, or the user
 * cannot be changed to.
 */
export async function findInstalled(limits: Limits, user: string | null = null): Promise<Installed> {
  const setpriv = setprivArgs(user);
  const [version, encoders, filters, avif, heif, dwebp, prlimit, changed] = await Promise.all([
    ask("ffmpeg", "-version"),
    ask("ffmpeg", "-hide_banner", "-encoders"),
    ask("ffmpeg", "-hide_banner", "-filters"),
    ask("ffmpeg", "-hide_banner", "-h", "muxer=avif"),
    findHeif(),
    ask("dwebp", "-version"),
    // The host's own limit may be lower, and no process may raise it.
    ask(...prlimitArgs(limits), "true"),
    ask(...setpriv, "true"),
  ]);
  if (version === null) {
    throw errors.ffmpegMissing();
  }
  if (changed === null && user !== null) {
    throw errors.userUnavailable({ user });
  }
  const { video, audio, image, animated } = NATIVE_TOOLS;
  const wanted = [video, audio, image, animated].flatMap((tools) => Object.values(tools));
  const lacking = wanted.map(({ encoder }) => encoder).filter((name) => !encoders?.includes(` ${name} `));
  if (lacking.length > 0) throw errors.encodersMissing({ names: [...new Set(lacking)] });
  return {
    version: /version (?:n|\D*-)?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? "unknown",
    heif,
    lacks: filters?.includes(" ass ") ? [] : ["burn"],
    endless: avif?.includes("-loop ") ? [] : ["avif"],
    dwebp: dwebp !== null,
    prlimit: prlimit !== null,
    setpriv: changed === null ? [] : setpriv,
  };
}

// libheif 1.18 renamed it.
async function findHeif(): Promise<string | null> {
  for (const name of ["heif-dec", "heif-convert"]) if ((await ask(name, "--help")) !== null) return name;
  return null;
}

async function ask(program = "", ...args: string[]): Promise<string | null> {
  try {
    return (await run(program, args, { timeout: 20_000, maxBuffer: 1 << 24 })).stdout;
  } catch {
    return null;
  }
}
