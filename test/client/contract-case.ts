import type { Client } from "../../src/client/client.ts";
import type { Clause } from "../fixtures/contract.ts";

/** A client and URLs of media for it. */
export interface ClientCase {
  client: Client;
  inputs: {
    /** An MP4 video with sound. */
    video: string;
    /** A video with two sound tracks and chapters; see dubbed-clip.ts. */
    dubbed: string;
    /** Text served as a video. */
    text: string;
    /** Answers 404. */
    missing: string;
    /** URL that never answers, so that a run on it lasts until it is cancelled. */
    silent: string;
  };
  /** The encoder that has to make the pictures, where one alone can; absent for any. */
  encoder?: string;
}

export type ClientClauses = readonly Clause<ClientCase>[];

/** Creates a task that lasts until it is cancelled. */
export const createSilent = ({ client, inputs }: ClientCase, more: object = {}) =>
  client.tasks.create({ input: inputs.silent, kind: "video", ...more });
