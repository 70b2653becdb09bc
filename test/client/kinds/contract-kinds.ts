import type { ClientClauses } from "../contract-case.ts";
import { clausesOf } from "./kind-case.ts";
import { PICTURE_CASES } from "./picture-cases.ts";
import { SOUND_CASES } from "./sound-cases.ts";
import { STREAM_CASES } from "./stream-cases.ts";
import { VIDEO_CASES } from "./video-cases.ts";

/** Kinds with several files or a picture. */
const FILES: ClientClauses = clausesOf([...PICTURE_CASES, ...STREAM_CASES]);

/** Kinds with one file of sound or video. */
export const ONE_FILE: ClientClauses = clausesOf([...SOUND_CASES, ...VIDEO_CASES]);

/** Every kind with its options: the same request has the same result on every host. */
export const KINDS: ClientClauses = [...FILES, ...ONE_FILE];

/** The same for a page that prefers speed, by names of their own. */
export const FAST_KINDS: ClientClauses = KINDS.map(({ name, check }) => ({
  name: `at speed ${name}`,
  check,
}));
