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
export type { ApiKey, KeyRequest, NewApiKey, RollRequest } from "../core/key.ts";
export type { Upload, UploadCompletion, UploadPart, UploadRequest } from "../core/upload.ts";
export type {
  DeliveryAttempt,
  EventKind,
  NewWebhookEndpoint,
  RotateRequest,
  Topic,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest,
  WebhookEvent,
  WebhookSecret,
} from "../core/webhook.ts";
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
