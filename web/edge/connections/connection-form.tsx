import type { Connection, ConnectionRequest } from "../../../src/client/index.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { SendRow } from "../shared/feedback.tsx";
import { useService } from "../shared/service.ts";
import { useSending } from "../shared/use-sending.ts";
import { parseSigning, writeSigning } from "./signing-rules.ts";

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
export function ConnectionForm({
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
