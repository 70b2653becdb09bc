import { useSignal } from "@preact/signals";
import type { Connection, ConnectionTest } from "../../../src/client/index.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { SendRow } from "../shared/feedback.tsx";
import { useService } from "../shared/service.ts";
import { useSending } from "../shared/use-sending.ts";

export function ConnectionTry({ connection, onClose }: { connection: Connection; onClose: () => void }) {
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
