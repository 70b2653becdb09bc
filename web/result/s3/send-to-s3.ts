import { presignS3, type SignRequest } from "../../../src/browser/index.ts";
import type { Client, RemoteClient } from "../../../src/client/index.ts";
import { MediaError, type Output, type Step } from "../../../src/index.ts";
import type { Item } from "../../queue/item.ts";
import type { Workbench } from "../../workbench.ts";
import { filesOf } from "../output-files.ts";
import { isFolder, outputName } from "../save/file-names.ts";
import type { Watch } from "../save/write-file.ts";
import { keyOf, type S3Form } from "./s3-form.ts";

const SIGNED_SECONDS = 3600;

/**
 * Sends an output to S3 with an upload step and returns its URL there. Files on this machine are sent from here, signed by
 * the keys in the form or by a connection of the service; files at the service are sent from there. Rejects with the
 * failure, or with the signal's reason once stopped.
 */
export async function sendToS3(
  { device, edge, destinations }: Pick<Workbench, "device" | "edge" | "destinations">,
  item: Item,
  output: Output,
  form: S3Form,
  { signal, onProgress }: Watch,
): Promise<string> {
  const { source } = output;
  const service = edge.connection.value?.client;
  const is_folder = isFolder(source);
  const key = keyOf(form, outputName(item.name, source), is_folder);
  const address = `${form.bucket}/${key}`;
  const main = source.url
    .replace(/[?#].*$/, "")
    .split("/")
    .at(-1);
  const url = `s3://${address}${is_folder ? main : ""}`;
  const isHere = filesOf(output).length > 0;
  if (!isHere || form.connection_id !== null) {
    if (!service) throw new MediaError("connection_required", "Connect the service first, under Edge.");
  }
  if (isHere) destinations.use(address, signOf(form, service ?? null));
  const connection_id = isHere ? destinations.connection.id : form.connection_id;
  const client: Client = isHere || !service ? device : service;
  const options = { url, ...(connection_id !== null && { connection_id }) };
  const step = await client.steps.create({ kind: "upload", input: source, options });
  const done = await watched(client, step, signal, onProgress);
  if (done.error) throw new MediaError(done.error.kind, done.error.message, done.error);
  return url;
}

function signOf(form: S3Form, service: RemoteClient | null): SignRequest {
  const { connection_id, bucket: _, prefix: __, ...keys } = form;
  if (connection_id !== null && service) return (request) => service.connections.sign(connection_id, request);
  return ({ bucket, content_type, content_length: _, ...request }) => {
    const headers = content_type ? { "content-type": content_type } : {};
    return presignS3(keys, bucket, { ...request, headers }, SIGNED_SECONDS);
  };
}

async function watched(
  client: Client,
  step: Step,
  signal: AbortSignal,
  onProgress: Watch["onProgress"],
): Promise<Step> {
  const stop = client.on(step, "update", ({ record }) => onProgress(record.progress ?? 0, 100));
  // A step that has finished reports so itself.
  const cancel = () => void client.steps.cancel(step.id).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const done = await client.steps.wait(step);
    signal.throwIfAborted();
    return done;
  } finally {
    signal.removeEventListener("abort", cancel);
    stop();
  }
}
