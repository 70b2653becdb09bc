export type {
  Connection,
  ConnectionChange,
  ConnectionRequest,
  ConnectionTest,
  ConnectionTestRequest,
  Reencryption,
  SignedRequest,
  SignRequest,
} from "../core/connection.ts";
export {
  type ApiKey,
  type KeyRequest,
  type NewApiKey,
  type RollRequest,
  SCOPES,
  type Scope,
} from "../core/key.ts";
export type { Upload, UploadCompletion, UploadPart, UploadRequest } from "../core/upload.ts";
export {
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  type DeliveryStatus,
  EVENT_KINDS,
  type EventKind,
  type NewWebhookEndpoint,
  type RotateRequest,
  type Topic,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEndpointChange,
  type WebhookEndpointRequest,
  type WebhookEvent,
  type WebhookSecret,
} from "../core/webhook.ts";
export type {
  AnyMedia,
  Client,
  Connections,
  CreateOptions,
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
  UploadProgress,
  Uploads,
  Webhooks,
} from "./client.ts";
export type { Fetch } from "./http.ts";
export { progressOf } from "./progress.ts";
export { createRemoteClient, type RemoteClientOptions } from "./remote.ts";
export type { PollTimes } from "./watch.ts";
