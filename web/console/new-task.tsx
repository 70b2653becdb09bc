import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import {
  ENCODE_KINDS,
  type EncodeKind,
  MediaError,
  QUALITIES,
  type NewTask as Request,
  type Task,
} from "../../src/index.ts";
import { optionNames } from "../../src/media/option-groups.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { SendRow, useSending } from "./controls.tsx";
import { useService } from "./service.ts";
import * as strings from "./strings.ts";
import { formatsOf, KIND_WORDS, QUALITY_WORDS } from "./task-words.ts";

const FIELDS = ["input", "kind", "options.format", "options.quality", "output", "webhook_url"] as const;

export function NewTask({ onMade, onClose }: { onMade: (task: Task) => void; onClose: () => void }) {
  const { client, explain } = useService();
  const kind = useSignal<EncodeKind>("video");
  const form = useSending(
    async (data) => {
      onMade(await client.tasks.create(requestOf(data)));
      onClose();
    },
    FIELDS,
    explain,
  );
  return (
    <Dialog title={strings.newTask} onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label={strings.source} hint={strings.sourceHint} fault={form.at("input")}>
          {(control) => (
            <input {...control} name="input" inputMode="url" autoComplete="off" spellcheck={false} />
          )}
        </Field>
        <div class="columns">
          <Field label={strings.output} fault={form.at("kind")}>
            {(control) => (
              <select
                {...control}
                name="kind"
                value={kind.value}
                onChange={({ currentTarget }) => {
                  kind.value = currentTarget.value as EncodeKind;
                }}
              >
                {ENCODE_KINDS.map((each) => (
                  <option key={each} value={each}>
                    {KIND_WORDS[each]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={strings.format} fault={form.at("options.format")}>
            {(control) => (
              <select {...control} name="format" key={kind.value}>
                {kind.value === "image" && <option value="">{strings.keepOriginal}</option>}
                {formatsOf(kind.value).map((format) => (
                  <option key={format} value={format}>
                    {format.toUpperCase()}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {hasQuality(kind.value) && (
            <Field label={strings.quality} fault={form.at("options.quality")}>
              {(control) => (
                <select {...control} name="quality">
                  {QUALITIES.map((quality) => (
                    <option key={quality} value={quality} selected={quality === "medium"}>
                      {QUALITY_WORDS[quality]}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
        </div>
        <Field label={strings.destinationOptional} hint={<ConnectionHint />} fault={form.at("output")}>
          {(control) => (
            <input
              {...control}
              name="output"
              placeholder="s3://bucket/folder/file"
              autoComplete="off"
              spellcheck={false}
            />
          )}
        </Field>
        <Field label={strings.webhookOptional} hint={strings.webhookHint} fault={form.at("webhook_url")}>
          {(control) => (
            <input {...control} name="webhook_url" inputMode="url" autoComplete="off" spellcheck={false} />
          )}
        </Field>
        <SendRow form={form} label={strings.create} busy={strings.creating} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function hasQuality(kind: EncodeKind): boolean {
  return optionNames(kind).includes("quality");
}

function requestOf(form: FormData): Request {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const input = text("input");
  // The client would resolve it against this page.
  if (!URL.canParse(input))
    throw new MediaError("invalid_input", strings.enterFullAddress, { param: "input" });
  const [format, quality, output, webhook_url] = ["format", "quality", "output", "webhook_url"].map(text);
  return {
    input,
    kind: text("kind") as EncodeKind,
    options: { ...(format && { format }), ...(quality && { quality }) } as Request["options"] & object,
    ...(output && { output }),
    ...(webhook_url && { webhook_url }),
  };
}

function ConnectionHint() {
  const { client } = useService();
  const by = useSignal<string | null>(null);
  useEffect(() => {
    const loadDefault = async () => {
      const { records } = await client.connections.list({ limit: 100 });
      const name = records.find(({ is_default }) => is_default)?.name;
      by.value = name ? strings.storedThrough({ name }) : strings.needsConnection;
    };
    loadDefault().catch(() => {});
  }, [client, by]);
  return (
    <>
      {strings.withoutDestination} {by.value}
    </>
  );
}
