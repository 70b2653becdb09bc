import { type NewApiKey, SCOPES, type Scope } from "../../../src/client/index.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Choices } from "../shared/choices.tsx";
import { SendRow } from "../shared/feedback.tsx";
import { useService } from "../shared/service.ts";
import { useSending } from "../shared/use-sending.ts";

const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  read: "See tasks, files and settings",
  write: "Create, change and delete them",
  admin: "Manage keys and see the service's metrics",
  "connections.sign": "Sign requests to your storage, for pages without its keys",
  "connections.manage": "Create, change and delete connections",
};

export function KeyForm({ onMade, onClose }: { onMade: (key: NewApiKey) => void; onClose: () => void }) {
  const { client, tell } = useService();
  const form = useSending(
    async (given) => {
      const scopes = given.getAll("scopes") as Scope[];
      onMade(await client.keys.create({ name: String(given.get("name")).trim(), scopes }));
    },
    ["name", "scopes"],
    tell,
  );
  return (
    <Dialog title="New key" onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label="Name" hint="Who or what uses it, such as Web shop." fault={form.at("name")}>
          {(control) => <input {...control} name="name" autoComplete="off" />}
        </Field>
        <Choices legend="It may" fault={form.at("scopes")}>
          {SCOPES.map((scope) => (
            <label key={scope} class="choice">
              <input
                type="checkbox"
                name="scopes"
                value={scope}
                defaultChecked={scope === "read" || scope === "write"}
              />
              <span>
                <code>{scope}</code> <span class="soft">· {SCOPE_WORDS[scope]}</span>
              </span>
            </label>
          ))}
        </Choices>
        <SendRow form={form} label="Create" busy="Creating…" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
