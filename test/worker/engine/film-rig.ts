import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeClip } from "../../fixtures/make-clip.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import type { Bindings, createRig } from "./rig.ts";

/** A film with its origin, a running service, its bindings, and a folder for outputs. */
export interface FilmRig {
  origin: Origin;
  env: Bindings;
  folder: string;
  film: string;
  /** Bytes of the film. */
  bytes: number;
  /** The service's own origin. */
  base: string;
}

/** Starts the service of a rig and makes a film with sound; `coded` are the arguments of its pictures. */
export async function startFilm(
  rig: ReturnType<typeof createRig>,
  { size, seconds, coded }: { size: string; seconds: number; coded: string },
): Promise<FilmRig> {
  const base = (await rig.server.listen()).url.origin;
  const [origin, env, folder, film] = await Promise.all([
    startOrigin(),
    rig.worker().getEnv(),
    mkdtemp(join(tmpdir(), "framewright-film-")),
    makeClip("mp4", [
      ...["-f", "lavfi", "-i", `testsrc2=size=${size}:rate=25:duration=${seconds}`],
      ...["-f", "lavfi", "-i", `sine=frequency=440:sample_rate=44100:duration=${seconds}`],
      ...`-c:v libx264 -preset ultrafast ${coded} -pix_fmt yuv420p -c:a aac -b:a 96k -shortest`.split(" "),
    ]),
  ]);
  return { origin, env, folder, film, bytes: (await stat(film)).size, base };
}

/** Closes everything that {@link startFilm} started, even if it failed midway. */
export async function closeFilm(rig: ReturnType<typeof createRig>, film?: FilmRig): Promise<void> {
  await Promise.all([film?.origin.close(), rig.server.close()]);
  if (film) await rm(film.folder, { recursive: true, force: true });
}
