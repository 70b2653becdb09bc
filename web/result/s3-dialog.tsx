import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { presignS3, type SignRequest } from "../../src/browser/index.ts";
import type { Client, Connection, RemoteClient } from "../../src/client/index.ts";
import { MediaError, type Output, type Step } from "../../src/index.ts";
import { keepsOriginal } from "../options/default-settings.ts";
import type { Item } from "../queue/item.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWorkbench, type Workbench } from "../workbench.ts";
import { isFolder, outputName } from "./file-names.ts";
import { OperationView, useOperation, type Watch } from "./operation.tsx";
import { filesOf } from "./output-files.ts";
import * as strings from "./strings.ts";

/** The destination that a visitor enters for a file. */
export interface S3Form {
  /** Id of the service's connection that signs; null when the keys below do. */
  readonly connection_id: string | null;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Start of the key, such as a folder with a trailing slash. */
  readonly prefix: string;
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

export const EMPTY_FORM: S3Form = {
  connection_id: null,
  endpoint: "",
  region: "",
  bucket: "",
  prefix: "",
  access_key_id: "",
  secret_access_key: "",
};

/** Returns the errors in a form by field; empty when it can be sent. */
export function faultsOf(form: S3Form): Partial<Record<keyof S3Form, string>> {
  const faults: Partial<Record<keyof S3Form, string>> = {};
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(form.bucket)) faults.bucket = strings.enterBucket;
  if (new TextEncoder().encode(form.prefix).length > 800) faults.prefix = strings.prefixTooLong;
  else if (form.prefix.split("/").some((part) => part === "." || part === ".."))
    faults.prefix = strings.prefixHasDots;
  if (form.connection_id !== null) return faults;
  const url = URL.parse(form.endpoint);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    faults.endpoint = strings.enterEndpoint;
  for (const [name, fault] of [
    ["region", strings.enterRegion],
    ["access_key_id", strings.enterAccessKey],
    ["secret_access_key", strings.enterSecretKey],
  ] as const)
    if (!/^[\x21-\x7e]+$/.test(form[name])) faults[name] = fault;
  return faults;
}

/**
 * Returns the key of an output: the prefix without leading slashes, and the name; for a stream the folder, with a trailing
 * slash.
 */
export function keyOf({ prefix }: Pick<S3Form, "prefix">, name: string, is_folder: boolean): string {
  return `${prefix.replace(/^\/+/, "")}${name}${is_folder ? "/" : ""}`;
}

/** Returns the CORS rules, in S3's format, that let a page of an origin upload to a bucket. */
export function corsRules(origin: string): string {
  const rule = {
    AllowedOrigins: [origin],
    AllowedMethods: ["GET", "HEAD", "PUT", "POST", "DELETE"],
    AllowedHeaders: ["*"],
    ExposeHeaders: ["ETag", "Content-Range"],
  };
  return JSON.stringify([rule], null, 2);
}

const SIGNED_SECONDS = 3600;

/**
 * Sends an output to S3 with an upload step and returns its URL there. Files on this machine are sent from here, signed by
 * the keys in the form or by a connection of the service; files at the service are sent from there. Rejects with the
 * failure, or with the signal's reason once stopped.
 */
async function sendToS3(
  { device, edge, destinations }: Pick<Workbench, "device" | "edge" | "destinations">,
  item: Item,
  output: Output,
  form: S3Form,
  { signal, onProgress }: Watch,
): Promise<string> {
  const { source } = output;
  const service = edge.connection.value?.client;
  const is_folder = isFolder(source);
  const key = keyOf(form, outputName(item.name, source, item.naming), is_folder);
  const address = `${form.bucket}/${key}`;
  const main = source.url
    .replace(/[?#].*$/, "")
    .split("/")
    .at(-1);
  const url = `s3://${address}${is_folder ? main : ""}`;
  const isHere = filesOf(output).length > 0;
  if (!isHere || form.connection_id !== null) {
    if (!service) throw new MediaError("connection_required", strings.connectFirst);
  }
  if (isHere) destinations.use(address, signOf(form, service ?? null));
  const connection_id = isHere ? destinations.connection.id : form.connection_id;
  const client: Client = isHere || !service ? device : service;
  const options = { url, ...(connection_id !== null && { connection_id }) };
  const input = keepsOriginal(item) && item.input !== null ? item.input : source;
  const step = await client.steps.create({ kind: "upload", input, options });
  const done = await waitForStep(client, step, signal, onProgress);
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

async function waitForStep(
  client: Client,
  step: Step,
  signal: AbortSignal,
  onProgress: Watch["onProgress"],
): Promise<Step> {
  const stop = client.on(step, "update", ({ record }) => onProgress(record.progress ?? 0, 100));
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

// The form contains a secret key, so only memory keeps it for the next file.
const lastForm = signal(EMPTY_FORM);

const FIELDS = {
  endpoint: [strings.endpoint, "https://s3.eu-central-1.amazonaws.com"],
  region: [strings.region, "eu-central-1"],
  bucket: [strings.bucket, "my-bucket"],
  prefix: [strings.folderInBucket, "films/"],
  access_key_id: [strings.accessKey, ""],
  secret_access_key: [strings.secretKey, ""],
} as const;

const PLAIN = { type: "text" } as const;
const SECRET = { type: "password" } as const;

export function S3Dialog({ item, output, onClose }: { item: Item; output: Output; onClose: () => void }) {
  const workbench = useWorkbench();
  const connections = useConnections();
  const [draft, setForm] = useState(lastForm.value);
  const [isTried, setTried] = useState(false);
  const operation = useOperation();
  const isHere = filesOf(output).length > 0;
  // Browsers tell a page nothing more about a response that it may not read.
  const isUnreached = operation.fault?.reason?.code === "no_answer";
  const first = isHere ? null : (connections[0]?.id ?? null);
  const isKnown = connections.some(({ id }) => id === draft.connection_id);
  const form: S3Form = isKnown ? draft : { ...draft, connection_id: first };
  const faults = isTried ? faultsOf(form) : {};
  const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
  const requiredFields =
    form.connection_id === null ? names : names.filter((name) => name === "bucket" || name === "prefix");
  const set = (changes: Partial<S3Form>) => {
    lastForm.value = { ...form, ...changes };
    setForm(lastForm.value);
  };
  const send = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faultsOf(form)).length > 0 || operation.progress) return;
    operation.begin(async (watch) =>
      strings.sentTo({ url: await sendToS3(workbench, item, output, form, watch) }),
    );
  };
  if (!isHere && connections.length === 0) {
    return (
      <Dialog title={strings.sendToS3} onClose={onClose}>
        <p>{strings.needsConnection}</p>
      </Dialog>
    );
  }
  return (
    <Dialog title={strings.sendToS3} onClose={onClose}>
      <form class="stack s3" noValidate onSubmit={send}>
        {connections.length > 0 && (
          <Field label={strings.access}>
            {(control) => (
              <select
                {...control}
                value={form.connection_id ?? ""}
                onChange={({ currentTarget }) => set({ connection_id: currentTarget.value || null })}
              >
                {isHere && <option value="">{strings.myOwnKeys}</option>}
                {connections.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {strings.signedByService({ name })}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <div class="fields">
          {requiredFields.map((name) => {
            const [label, placeholder] = FIELDS[name];
            return (
              <Field key={name} label={label} fault={faults[name]}>
                {(control) => (
                  <input
                    {...control}
                    {...(name === "secret_access_key" ? SECRET : PLAIN)}
                    name={name}
                    placeholder={placeholder}
                    value={form[name]}
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck={false}
                    onInput={({ currentTarget }) => set({ [name]: currentTarget.value.trim() })}
                  />
                )}
              </Field>
            );
          })}
        </div>
        {form.connection_id === null && <p class="small soft">{strings.keysStay}</p>}
        <details open={isUnreached}>
          <summary>{strings.corsTitle}</summary>
          <p>{strings.corsHint}</p>
          <pre>
            <code>{corsRules(location.origin)}</code>
          </pre>
        </details>
        <div class="row end">
          <button type="submit" class="primary" disabled={operation.progress !== null}>
            <Icon name="upload" />
            {strings.send}
          </button>
        </div>
      </form>
      <OperationView operation={operation} label={strings.sending} />
      {operation.progress && <p class="small soft">{strings.closingStops}</p>}
      {isUnreached && <Notice>{strings.bucketUnreached}</Notice>}
    </Dialog>
  );
}

function useConnections(): readonly Connection[] {
  const { edge } = useWorkbench();
  const client = edge.connection.value?.client;
  const [connections, setConnections] = useState<readonly Connection[]>([]);
  useEffect(() => {
    setConnections([]);
    client?.connections.list({ limit: 100 }).then(
      ({ records }) => setConnections(records),
      () => {},
    );
  }, [client]);
  return connections;
}
