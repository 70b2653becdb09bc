import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import {
  type Connection,
  type ConnectionRequest,
  type ConnectionTest,
  SIGNED_METHODS,
  type SigningRule,
} from "../../src/client/index.ts";
import { MediaError } from "../../src/index.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { ActButton, Confirm, SendRow, useSending, When } from "./controls.tsx";
import { type Column, createPaged, type Paged, Records } from "./records.tsx";
import { usePolling, useService } from "./service.ts";
import * as strings from "./strings.ts";

/** Writes rules as lines such as `GET,PUT my-bucket/films/`. */
export function writeSigning(rules: readonly SigningRule[]): string {
  return rules.map(({ bucket, prefix = "", methods }) => `${methods.join()} ${bucket}/${prefix}`).join("\n");
}

/** Parses the lines that {@link writeSigning} writes; throws `request_invalid` with a message for the visitor. */
export function parseSigning(text: string): SigningRule[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [, list = "", bucket, prefix = ""] = /^\s*(\S+)\s+([^/\s]+)\/?(.*?)\s*$/.exec(line) ?? [];
    const names = list.toUpperCase().split(",");
    const methods = SIGNED_METHODS.filter((method) => names.includes(method));
    if (bucket !== undefined && methods.length === names.length) return { bucket, prefix, methods };
    const message = strings.invalidSigningRule({ methods: SIGNED_METHODS.join(", ") });
    throw new MediaError("request_invalid", message, { param: "signing" });
  });
}

const POLL_MS = 15_000;

const COLUMNS: Column<Connection>[] = [
  {
    title: strings.name,
    cell: ({ name, is_default }) => (
      <span class="row">
        <strong class="wrap">{name}</strong>
        {is_default && <span class="badge good">{strings.byDefault}</span>}
      </span>
    ),
  },
  {
    title: strings.storage,
    cell: ({ endpoint, region, access_key_id }) => (
      <div class="place">
        <span>{endpoint}</span>
        <span class="soft small">{strings.storageAccess({ region, access_key_id })}</span>
      </div>
    ),
  },
  { title: strings.changed, cell: ({ updated_at }) => <When at={updated_at} /> },
];

type Open =
  | { what: "form"; connection: Connection | null }
  | { what: "try" | "delete"; connection: Connection };

/** The S3-compatible storage that the service may read from and write to. */
export function ConnectionsView() {
  const { client, explain } = useService();
  const list = useMemo(
    () => createPaged<Connection>((query) => client.connections.list(query), explain),
    [client, explain],
  );
  const open = useSignal<Open | null>(null);
  usePolling(list.refresh, POLL_MS);
  const close = () => {
    open.value = null;
  };
  const show = (what: Open) => {
    open.value = what;
  };

  return (
    <Records
      title={strings.connections}
      bar={<p class="soft">{strings.connectionsPurpose}</p>}
      add={{ label: strings.newConnection, onClick: () => show({ what: "form", connection: null }) }}
      list={list}
      empty={strings.noConnections}
      columns={COLUMNS}
      nameOf={({ name }) => name}
      actions={(connection) => <Actions connection={connection} list={list} open={show} />}
    >
      <Dialogs open={open.value} list={list} close={close} />
    </Records>
  );
}

function Dialogs({ open, list, close }: { open: Open | null; list: Paged<Connection>; close: () => void }) {
  const { connections } = useService().client;
  if (!open) return null;
  if (open.what === "form")
    return (
      <ConnectionForm connection={open.connection} onSaved={() => void list.refresh()} onClose={close} />
    );
  const { connection } = open;
  if (open.what === "try") return <ConnectionTry connection={connection} onClose={close} />;
  const act = async () => {
    await connections.delete(connection.id);
    list.drop(connection.id);
    close();
    await list.refresh();
  };
  return (
    <Confirm title={strings.deleteConnection} action={strings.remove} act={act} onClose={close}>
      {strings.connectionDeletion({ name: connection.name })}
    </Confirm>
  );
}

function Actions({
  connection,
  list,
  open,
}: {
  connection: Connection;
  list: Paged<Connection>;
  open: (what: Open) => void;
}) {
  const { connections } = useService().client;
  const of = connection.name;
  const makeDefault = async () => {
    list.put(await connections.update(connection.id, { is_default: true }));
    await list.refresh();
  };
  return (
    <>
      <ActButton
        {...{ label: strings.test, of, icon: "play" }}
        act={async () => open({ what: "try", connection })}
      />
      {!connection.is_default && (
        <ActButton {...{ label: strings.makeDefault, of, icon: "check" }} act={makeDefault} />
      )}
      <ActButton
        {...{ label: strings.edit, of, icon: "options" }}
        act={async () => open({ what: "form", connection })}
      />
      <ActButton
        {...{ label: strings.remove, of, icon: "remove", variant: "icon" }}
        act={async () => open({ what: "delete", connection })}
      />
    </>
  );
}

const STYLES = [
  ["", strings.byDefault],
  ["true", strings.inPath],
  ["false", strings.inHostName],
] as const;

const FIELDS = [
  "name",
  "endpoint",
  "region",
  "access_key_id",
  "secret_access_key",
  "force_path_style",
  "signing",
] as const satisfies readonly (keyof ConnectionRequest)[];

function ConnectionForm({
  connection,
  onSaved,
  onClose,
}: {
  connection: Connection | null;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { connections } = useService().client;
  const { explain } = useService();
  const form = useSending(
    async (data) => {
      const { secret_access_key, ...rest } = requestOf(data);
      const secret = secret_access_key ? { secret_access_key } : {};
      if (connection) await connections.update(connection.id, { ...rest, ...secret });
      else await connections.create({ kind: "s3", ...rest, secret_access_key });
      onSaved();
      onClose();
    },
    FIELDS,
    explain,
  );
  const text = (name: "name" | "endpoint" | "region" | "access_key_id", label: string, hint: string) => (
    <Field label={label} hint={hint} fault={form.at(name)}>
      {(control) => (
        <input
          {...control}
          name={name}
          autoComplete="off"
          spellcheck={false}
          defaultValue={connection?.[name] ?? ""}
        />
      )}
    </Field>
  );
  // The API cannot reset an explicit choice to undefined.
  const style = connection?.force_path_style ?? null;
  const styles = STYLES.filter(([value]) => style === null || value !== "");
  return (
    <Dialog
      title={connection ? strings.editConnection({ name: connection.name }) : strings.newConnection}
      onClose={onClose}
    >
      <form class="stack" onSubmit={form.send} noValidate>
        {text("name", strings.name, strings.connectionNameHint)}
        {text("endpoint", strings.endpoint, strings.endpointHint)}
        <div class="columns">
          {text("region", strings.region, strings.regionHint)}
          <Field
            label={strings.bucketInUrls}
            hint={strings.bucketInUrlsHint}
            fault={form.at("force_path_style")}
          >
            {(control) => (
              <select {...control} name="force_path_style">
                {styles.map(([value, words]) => (
                  <option key={value} value={value} selected={value === String(style ?? "")}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        {text("access_key_id", strings.keyId, strings.keyIdHint)}
        <Field
          label={strings.secret}
          hint={connection ? strings.secretKept : strings.secretHint}
          fault={form.at("secret_access_key")}
        >
          {(control) => (
            <input {...control} name="secret_access_key" type="password" autoComplete="new-password" />
          )}
        </Field>
        <Field label={strings.signedRequests} hint={strings.signedRequestsHint} fault={form.at("signing")}>
          {(control) => (
            <textarea
              {...control}
              name="signing"
              rows={2}
              spellcheck={false}
              defaultValue={writeSigning(connection?.signing ?? [])}
            />
          )}
        </Field>
        <SendRow
          form={form}
          label={connection ? strings.save : strings.create}
          busy={strings.saving}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

function requestOf(form: FormData): Omit<ConnectionRequest, "kind"> {
  const text = (name: (typeof FIELDS)[number]) => String(form.get(name) ?? "").trim();
  const style = text("force_path_style");
  return {
    name: text("name"),
    endpoint: text("endpoint"),
    region: text("region"),
    access_key_id: text("access_key_id"),
    secret_access_key: text("secret_access_key"),
    ...(style && { force_path_style: style === "true" }),
    signing: parseSigning(text("signing")),
  };
}

function ConnectionTry({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const { client, explain } = useService();
  const result = useSignal<ConnectionTest | null>(null);
  const form = useSending(
    async (data) => {
      result.value = null;
      const prefix = String(data.get("prefix")).trim();
      const bucket = String(data.get("bucket")).trim();
      result.value = await client.connections.test(connection.id, { bucket, ...(prefix && { prefix }) });
    },
    ["bucket", "prefix"],
    explain,
  );
  return (
    <Dialog title={strings.testConnection({ name: connection.name })} onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <p class="soft">{strings.connectionTest}</p>
        <div class="columns">
          <Field label={strings.bucket} fault={form.at("bucket")}>
            {(control) => <input {...control} name="bucket" autoComplete="off" spellcheck={false} />}
          </Field>
          <Field label={strings.folderOptional} fault={form.at("prefix")}>
            {(control) => (
              <input {...control} name="prefix" placeholder="media/" autoComplete="off" spellcheck={false} />
            )}
          </Field>
        </div>
        <div role="status">{result.value?.ok && <Notice tone="good">{strings.connectionWorks}</Notice>}</div>
        {result.value?.error && <Notice tone="bad">{result.value.error.message}</Notice>}
        <SendRow
          {...{ form, label: strings.test, busy: strings.testing, onCancel: onClose }}
          leave={result.value?.ok ? strings.done : strings.cancel}
        />
      </form>
    </Dialog>
  );
}
