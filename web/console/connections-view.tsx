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
import { ActButton, Confirm, When } from "./controls.tsx";
import { type Column, createPaged, type Paged, Records } from "./records.tsx";
import { SendRow, useSending } from "./sending.tsx";
import { usePolling, useService } from "./service.ts";

/** Writes rules as lines such as `GET,PUT my-bucket/films/`. */
export function writeSigning(rules: readonly SigningRule[]): string {
  return rules.map(({ bucket, prefix = "", methods }) => `${methods.join()} ${bucket}/${prefix}`).join("\n");
}

/** Parses the lines that {@link writeSigning} writes; throws `request_invalid` with a message for the visitor. */
export function parseSigning(text: string): SigningRule[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [, given = "", bucket, prefix = ""] = /^\s*(\S+)\s+([^/\s]+)\/?(.*?)\s*$/.exec(line) ?? [];
    const names = given.toUpperCase().split(",");
    const methods = SIGNED_METHODS.filter((method) => names.includes(method));
    if (bucket !== undefined && methods.length === names.length) return { bucket, prefix, methods };
    const message = `Write each line as GET,PUT my-bucket/films/, with ${SIGNED_METHODS.join(", ")} or several of them.`;
    throw new MediaError("request_invalid", message, { param: "signing" });
  });
}

const POLL_MS = 15_000;

const COLUMNS: Column<Connection>[] = [
  {
    title: "Name",
    cell: ({ name, is_default }) => (
      <span class="row">
        <strong class="wrap">{name}</strong>
        {is_default && <span class="badge good">Default</span>}
      </span>
    ),
  },
  {
    title: "Storage",
    cell: ({ endpoint, region, access_key_id }) => (
      <div class="place">
        <span>{endpoint}</span>
        <span class="soft small">
          {region} · key {access_key_id}
        </span>
      </div>
    ),
  },
  { title: "Changed", cell: ({ updated_at }) => <When at={updated_at} /> },
];

type Open =
  | { what: "form"; connection: Connection | null }
  | { what: "try" | "delete"; connection: Connection };

/** The S3-compatible storage that the service may read from and write to. */
export function ConnectionsView() {
  const { client, tell } = useService();
  const list = useMemo(
    () => createPaged<Connection>((asked) => client.connections.list(asked), tell),
    [client, tell],
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
      title="Connections"
      bar={<p class="soft">Storage of your own (S3), for inputs and destinations that begin with s3://.</p>}
      add={{ label: "New connection", onClick: () => show({ what: "form", connection: null }) }}
      list={list}
      empty="There are no connections yet. Add one with “New connection”, and tasks can read from and write to your own bucket."
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
    // The default may have moved to another connection.
    await list.refresh();
  };
  return (
    <Confirm title="Delete this connection?" action="Delete" act={act} onClose={close}>
      The service forgets the keys of {connection.name}. Tasks that need it fail from then on; what is in the
      storage stays.
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
    // The previous default is none any longer.
    await list.refresh();
  };
  return (
    <>
      <ActButton
        {...{ label: "Test", of, icon: "play" }}
        act={async () => open({ what: "try", connection })}
      />
      {!connection.is_default && (
        <ActButton {...{ label: "Make default", of, icon: "check" }} act={makeDefault} />
      )}
      <ActButton
        {...{ label: "Edit", of, icon: "options" }}
        act={async () => open({ what: "form", connection })}
      />
      <ActButton
        {...{ label: "Delete", of, icon: "remove", look: "icon" }}
        act={async () => open({ what: "delete", connection })}
      />
    </>
  );
}

const STYLES = [
  ["", "Default"],
  ["true", "In the path"],
  ["false", "In the host name"],
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

/** Creates or edits a connection; its secret is write-only. */
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
  const { tell } = useService();
  const form = useSending(
    async (given) => {
      const { secret_access_key, ...rest } = requestOf(given);
      // Empty means that the stored secret stays.
      const secret = secret_access_key ? { secret_access_key } : {};
      if (connection) await connections.update(connection.id, { ...rest, ...secret });
      else await connections.create({ kind: "s3", ...rest, secret_access_key });
      onSaved();
      onClose();
    },
    FIELDS,
    tell,
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
  // The API can change an explicit choice but not make it undefined again.
  const style = connection?.force_path_style ?? null;
  const styles = STYLES.filter(([value]) => style === null || value !== "");
  return (
    <Dialog title={connection ? `Edit ${connection.name}` : "New connection"} onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        {text("name", "Name", "Any name, such as Archive.")}
        {text(
          "endpoint",
          "Endpoint",
          "Of the storage, without a bucket, such as https://s3.eu-central-1.amazonaws.com.",
        )}
        <div class="columns">
          {text("region", "Region", "Such as eu-central-1; auto on R2.")}
          <Field
            label="Bucket in URLs"
            hint="Most storage works with the default."
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
        {text("access_key_id", "Key id", "The public part of the access key.")}
        <Field
          label="Secret"
          hint={
            connection
              ? "Leave it empty to keep the stored one."
              : "It is stored encrypted, and never shown again."
          }
          fault={form.at("secret_access_key")}
        >
          {(control) => (
            <input {...control} name="secret_access_key" type="password" autoComplete="new-password" />
          )}
        </Field>
        <Field
          label="Signed requests"
          hint="What pages without the keys may do, one rule a line, such as GET,PUT my-bucket/films/. Leave it empty for nothing."
          fault={form.at("signing")}
        >
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
        <SendRow form={form} label={connection ? "Save" : "Create"} busy="Saving…" onCancel={onClose} />
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
  const { client, tell } = useService();
  const result = useSignal<ConnectionTest | null>(null);
  const form = useSending(
    async (given) => {
      result.value = null;
      const prefix = String(given.get("prefix")).trim();
      const bucket = String(given.get("bucket")).trim();
      result.value = await client.connections.test(connection.id, { bucket, ...(prefix && { prefix }) });
    },
    ["bucket", "prefix"],
    tell,
  );
  return (
    <Dialog title={`Test ${connection.name}`} onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <p class="soft">The service writes a small object there, reads it back and deletes it.</p>
        <div class="columns">
          <Field label="Bucket" fault={form.at("bucket")}>
            {(control) => <input {...control} name="bucket" autoComplete="off" spellcheck={false} />}
          </Field>
          <Field label="Folder (optional)" fault={form.at("prefix")}>
            {(control) => (
              <input {...control} name="prefix" placeholder="media/" autoComplete="off" spellcheck={false} />
            )}
          </Field>
        </div>
        <div role="status">
          {result.value?.ok && (
            <Notice tone="good">It works: an object was written, read and deleted.</Notice>
          )}
        </div>
        {result.value?.error && <Notice tone="bad">{result.value.error.message}</Notice>}
        <SendRow
          {...{ form, label: "Test", busy: "Testing…", onCancel: onClose }}
          leave={result.value?.ok ? "Done" : "Cancel"}
        />
      </form>
    </Dialog>
  );
}
