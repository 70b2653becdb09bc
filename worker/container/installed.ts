import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import * as errors from "./errors.ts";

const run = promisify(execFile);

/** The programs of this machine. */
export interface Installed {
  /** Version of ffmpeg, such as `5.1.9`. */
  version: string;
  /** Whether prlimit (util-linux) limits a program's resources. */
  prlimit: boolean;
  /** Name of libheif's decoder of HEIC and AVIF; null without one. */
  heif: string | null;
  /** The features that this build of ffmpeg lacks: without libass, those that draw text. */
  lacks: Toolset["lacks"];
  /** The formats of animations that it only writes as endless: AVIF before ffmpeg 6.0. */
  endless: Toolset["endless"];
  /** Whether libwebp's decoder of stills is installed. */
  dwebp: boolean;
  /** The command that runs another one as `FFMPEG_USER`, and kills it with the server; empty without setpriv (util-linux). */
  setpriv: readonly string[];
}

/** The resources that one ffmpeg may use. */
export interface Limits {
  max_file_bytes: number;
  max_memory_bytes: number;
}

/** Returns the start of a command line that runs the rest of it under limits. */
export function prlimitArgs({ max_file_bytes, max_memory_bytes }: Limits): string[] {
  // The address space has no limit, because x265 and SVT-AV1 reserve far more of it than they use.
  const limits = [`--fsize=${max_file_bytes}`, `--data=${max_memory_bytes}`, "--core=0", "--nofile=512"];
  return ["prlimit", ...limits, "--"];
}

function setprivArgs(user: string | null): string[] {
  const end = ["setpriv", "--pdeathsig", "KILL"];
  if (user === null) return end;
  const group = ["--regid", String(process.getgid?.() ?? 0), "--clear-groups"];
  const rights = ["--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"];
  return [...end, "--reuid", user, ...group, ...rights];
}

/** Finds ffmpeg and the other programs. Throws `encoder_unavailable` when ffmpeg or one of its encoders is missing, or cannot run as `user`. */
export async function findInstalled(limits: Limits, user: string | null = null): Promise<Installed> {
  const setpriv = setprivArgs(user);
  const [version, encoders, filters, avif, heif, dwebp, prlimit, switched] = await Promise.all([
    capture("ffmpeg", "-version"),
    capture("ffmpeg", "-hide_banner", "-encoders"),
    capture("ffmpeg", "-hide_banner", "-filters"),
    capture("ffmpeg", "-hide_banner", "-h", "muxer=avif"),
    findHeif(),
    capture("dwebp", "-version"),
    capture(...prlimitArgs(limits), "true"),
    capture(...setpriv, "true"),
  ]);
  if (version === null) {
    throw errors.ffmpegMissing();
  }
  if (switched === null && user !== null) {
    throw errors.userUnavailable({ user });
  }
  const { video, audio, image, animated } = NATIVE_TOOLS;
  const required = [video, audio, image, animated].flatMap((tools) => Object.values(tools));
  const missing = required.map(({ encoder }) => encoder).filter((name) => !encoders?.includes(` ${name} `));
  if (missing.length > 0) throw errors.encodersMissing({ names: [...new Set(missing)] });
  return {
    version: /version (?:n|\D*-)?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? "unknown",
    heif,
    lacks: filters?.includes(" ass ") ? [] : ["burn", "caption_color", "text"],
    endless: avif?.includes("-loop ") ? [] : ["avif"],
    dwebp: dwebp !== null,
    prlimit: prlimit !== null,
    setpriv: switched === null ? [] : setpriv,
  };
}

// libheif 1.18 renamed heif-convert to heif-dec.
async function findHeif(): Promise<string | null> {
  for (const name of ["heif-dec", "heif-convert"]) if ((await capture(name, "--help")) !== null) return name;
  return null;
}

async function capture(program = "", ...args: string[]): Promise<string | null> {
  try {
    return (await run(program, args, { timeout: 20_000, maxBuffer: 1 << 24 })).stdout;
  } catch {
    return null;
  }
}
