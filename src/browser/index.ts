export type {
  Client,
  ListOptions,
  MediaInput,
  NewStep,
  NewTask,
  Output,
  Page,
  RunRef,
  Steps,
  Tasks,
  Update,
} from "../client/client.ts";
export { createLocalClient, type LocalClient, type LocalClientOptions } from "./local-client.ts";
export type { LocalOutput } from "./local-output.ts";
export type { CoreFiles, LocalFile, ThreadedCoreFiles, WaitingFile } from "./media-api.ts";
export type { LocalConnection, SignRequest } from "./sign-requests.ts";
