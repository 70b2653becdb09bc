export type * from "../client/client.ts";
export type { Job, Jobs, JobUpdate, NewJob, NewOutput } from "../client/jobs.ts";
export type { S3Connection } from "../storage/s3/s3-connection.ts";
export { type PresignRequest, presignS3, type SignedRequest } from "../storage/s3/s3-sign.ts";
export { createLocalClient, type LocalClient, type LocalClientOptions } from "./local-client.ts";
export type { LocalOutput } from "./local-output.ts";
export type { CoreFiles, LocalFile, LocalUsage, ThreadedCoreFiles } from "./media-api.ts";
export type { LocalConnection, SignRequest } from "./sign-requests.ts";
