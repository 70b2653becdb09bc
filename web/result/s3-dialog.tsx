import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../../src/client/index.ts";
import type { Output } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWorkbench } from "../workbench.ts";
import { DoingView, useDoing } from "./operation.tsx";
import { filesOf } from "./output-files.ts";
import "./s3-dialog.css";
import { corsRules, EMPTY_FORM, faultsOf, type S3Form, sendToS3 } from "./s3-upload.ts";

// Prefills the dialog for the next file; kept in memory only.
const lastForm = signal(EMPTY_FORM);

const FIELDS = {
  endpoint: ["Endpoint", "https://s3.eu-central-1.amazonaws.com"],
  region: ["Region", "eu-central-1"],
  bucket: ["Bucket", "my-bucket"],
  prefix: ["Folder in the bucket (optional)", "films/"],
  access_key_id: ["Access key", ""],
  secret_access_key: ["Secret key", ""],
} as const;

const PLAIN = { type: "text" } as const;
const SECRET = { type: "password" } as const;

export function S3Dialog({ item, output, onClose }: { item: Item; output: Output; onClose: () => void }) {
  const workbench = useWorkbench();
  const connections = useConnections();
  const [kept, setForm] = useState(lastForm.value);
  const [isTried, setTried] = useState(false);
  const doing = useDoing();
  const isHere = filesOf(output).length > 0;
  // A browser tells a page no more about a response that it may not read.
  const isUnreached = doing.fault?.reason?.code === "no_answer";
  const first = isHere ? null : (connections[0]?.id ?? null);
  const isKnown = connections.some(({ id }) => id === kept.connection_id);
  const form: S3Form = isKnown ? kept : { ...kept, connection_id: first };
  const faults = isTried ? faultsOf(form) : {};
  const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
  const needed =
    form.connection_id === null ? names : names.filter((name) => name === "bucket" || name === "prefix");
  const set = (changes: Partial<S3Form>) => {
    lastForm.value = { ...form, ...changes };
    setForm(lastForm.value);
  };
  const send = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faultsOf(form)).length > 0 || doing.progress) return;
    doing.begin(async (watch) => `Sent to ${await sendToS3(workbench, item, output, form, watch)}`);
  };
  if (!isHere && connections.length === 0) {
    return (
      <Dialog title="Send to S3" onClose={onClose}>
        <p>
          This file is at the service, which sends it through one of its own connections. Add one under Edge.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Send to S3" onClose={onClose}>
      <form class="stack s3" noValidate onSubmit={send}>
        {connections.length > 0 && (
          <Field label="Access">
            {(control) => (
              <select
                {...control}
                value={form.connection_id ?? ""}
                onChange={({ currentTarget }) => set({ connection_id: currentTarget.value || null })}
              >
                {isHere && <option value="">My own keys</option>}
                {connections.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}, signed by the service
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <div class="fields">
          {needed.map((name) => {
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
        {form.connection_id === null && (
          <p class="small soft">
            The keys stay in the memory of this page until it is closed. Only signatures made with them leave
            it.
          </p>
        )}
        <details open={isUnreached}>
          <summary>What the bucket must allow</summary>
          <p>Its CORS rules must allow this page, or the browser cannot reach it:</p>
          <pre>
            <code>{corsRules(location.origin)}</code>
          </pre>
        </details>
        <div class="row end">
          <button type="submit" class="primary" disabled={doing.progress !== null}>
            <Icon name="upload" />
            Send
          </button>
        </div>
      </form>
      <DoingView doing={doing} label="Sending" />
      {doing.progress && <p class="small soft">Closing this dialog stops it.</p>}
      {isUnreached && (
        <Notice>
          Usually the bucket blocks this page: check its CORS rules. Some storage responds the same way to
          wrong keys, so check those and the endpoint too.
        </Notice>
      )}
    </Dialog>
  );
}

function useConnections(): readonly Connection[] {
  const { edge } = useWorkbench();
  const client = edge.connection.value?.client;
  const [found, setFound] = useState<readonly Connection[]>([]);
  useEffect(() => {
    setFound([]);
    client?.connections.list({ limit: 100 }).then(
      ({ records }) => setFound(records),
      () => {},
    );
  }, [client]);
  return found;
}
