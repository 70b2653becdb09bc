import { useSignal } from "@preact/signals";
import { EVENT_KINDS, type NewWebhookEndpoint, type Topic } from "../../../src/client/index.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Choices } from "../shared/choices.tsx";
import { SendRow } from "../shared/feedback.tsx";
import { useService } from "../shared/service.ts";
import { useSending } from "../shared/use-sending.ts";

export function EndpointForm({
  onMade,
  onClose,
}: {
  onMade: (endpoint: NewWebhookEndpoint) => void;
  onClose: () => void;
}) {
  const { client, tell } = useService();
  const all = useSignal(true);
  const form = useSending(
    async (given) => {
      const topics: Topic[] = all.value ? ["*"] : (given.getAll("topics") as Topic[]);
      onMade(await client.webhooks.endpoints.create({ url: String(given.get("url")).trim(), topics }));
    },
    ["url", "topics"],
    tell,
  );
  return (
    <Dialog title="New endpoint" onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label="URL" hint="Where your server receives events, https://." fault={form.at("url")}>
          {(control) => (
            <input {...control} name="url" inputMode="url" autoComplete="off" spellcheck={false} />
          )}
        </Field>
        <Choices legend="Events" fault={form.at("topics")}>
          <label class="choice">
            <input
              type="checkbox"
              checked={all.value}
              onChange={({ currentTarget }) => {
                all.value = currentTarget.checked;
              }}
            />
            Everything
          </label>
          {!all.value && (
            <div class="choices">
              {EVENT_KINDS.map((kind) => (
                <label key={kind} class="choice">
                  <input
                    type="checkbox"
                    name="topics"
                    value={kind}
                    defaultChecked={/^task\.(succ|fail)/.test(kind)}
                  />
                  <code>{kind}</code>
                </label>
              ))}
            </div>
          )}
        </Choices>
        <SendRow form={form} label="Create" busy="Creating…" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
