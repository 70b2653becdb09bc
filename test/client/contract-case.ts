import type { Client } from "../../src/client/client.ts";
import type { Clause } from "../fixtures/contract.ts";

/** A client, and where media for it are. */
export interface ClientCase {
  client: Client;
  inputs: {
    /** A video with sound, in mp4. */
    video: string;
    /** Text that says of itself to be a video. */
    text: string;
    /** A path that is not there. */
    missing: string;
    /** A path that never answers, so that a run of it runs until it is cancelled. */
    silent: string;
  };
}

/** What every client must do in some respect. */
export type ClientClauses = readonly Clause<ClientCase>[];

/** Creates a task that runs until it is cancelled. */
export const createSilent = ({ client, inputs }: ClientCase, more: object = {}) =>
  client.tasks.create({ input: inputs.silent, kind: "video", ...more });
