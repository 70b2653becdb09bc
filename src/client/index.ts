export type {
  Client,
  Connections,
  DeliveryFilter,
  EachOptions,
  Keys,
  ListOptions,
  MediaInput,
  NewStep,
  NewTask,
  Output,
  Page,
  RemoteClient,
  RunRef,
  SendOptions,
  ServiceInfo,
  Steps,
  Tasks,
  Update,
  Uploads,
  Webhooks,
} from "./client.ts";
export type { Fetch } from "./http.ts";
export { createRemoteClient, type RemoteClientOptions } from "./remote.ts";
export type { PollTimes } from "./watch.ts";
