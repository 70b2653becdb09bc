export type {
  Client,
  Connections,
  ListOptions,
  MediaInput,
  NewStep,
  NewTask,
  Output,
  Page,
  RemoteClient,
  RunRef,
  Steps,
  Tasks,
  Update,
} from "./client.ts";
export type { Fetch } from "./http.ts";
export { createRemoteClient, type RemoteClientOptions } from "./remote.ts";
export type { PollTimes } from "./watch.ts";
