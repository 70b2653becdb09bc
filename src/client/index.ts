export type { ImageUrl, ImageUrlOptions, ImageUrlRequest } from "../media/image-url.ts";
export {
  type Connection,
  type ConnectionChange,
  type ConnectionRequest,
  type ConnectionTest,
  type ConnectionTestRequest,
  type Reencryption,
  SIGNED_METHODS,
  type SignedRequest,
  type SigningRule,
  type SignRequest,
} from "../runs/connection.ts";
export {
  type ApiKey,
  type KeyRequest,
  type NewApiKey,
  type RollRequest,
  SCOPES,
  type Scope,
} from "../runs/key.ts";
export type { Upload, UploadCompletion, UploadPart, UploadRequest } from "../runs/upload.ts";
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
} from "../runs/webhook-events.ts";
export type * from "./client.ts";
export type { Fetch } from "./http.ts";
export type { Job, Jobs, JobUpdate, NewJob, NewOutput } from "./jobs.ts";
export { progressOf } from "./progress.ts";
export { createRemoteClient, type RemoteClientOptions } from "./remote.ts";
export type {
  Connections,
  DeliveryFilter,
  Images,
  Keys,
  RemoteClient,
  ServiceInfo,
  Uploads,
  Webhooks,
} from "./remote-client.ts";
export type { PollTimes } from "./watch.ts";
