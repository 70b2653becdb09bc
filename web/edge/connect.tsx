import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isLoopback } from "../../src/util/loopback.ts";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWorkbench } from "../workbench.ts";
import { parseAddress, reachService } from "./reach-service.ts";
import { SendRow } from "./shared/feedback.tsx";
import { useSending } from "./shared/use-sending.ts";

export function Connect() {
  const { edge } = useWorkbench();
  const loss = edge.loss.value;
  const address = useSignal(loss?.base_url ?? "");
  const form = useSending(
    async (given) => {
      await edge.connect(String(given.get("base_url")), String(given.get("api_key")));
      // The form is gone, and the focus with it.
      document.querySelector("main")?.focus();
    },
    ["base_url", "api_key"],
  );
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (address.value || !/^https?:$/.test(location.protocol)) return;
    // On a page served by a service, that is most likely the one meant.
    reachService(location.origin).then(
      () => {
        const input = field.current;
        // Unless the visitor is about to type or paste another; and directly, not with the next render.
        if (!input || input.value || document.activeElement === input) return;
        input.value = address.value = location.origin;
      },
      () => {},
    );
  }, [address]);

  return (
    <section class="connect panel stack" aria-labelledby="connect-title">
      <h1 id="connect-title">Connect a service</h1>
      <p class="soft">
        A Framewright service runs what is too heavy for this device, and keeps tasks going while the page is
        closed. Here you see and manage all of it.
      </p>
      {loss && <Notice tone="bad">{loss.message}</Notice>}
      <form class="stack" onSubmit={form.send} noValidate>
        <Field
          label="Address"
          hint="Where the service is, such as https://media.example.com."
          fault={form.at("base_url")}
        >
          {(control) => (
            <input
              {...control}
              ref={field}
              name="base_url"
              inputMode="url"
              autoComplete="off"
              spellcheck={false}
              value={address.value}
              onInput={({ currentTarget }) => {
                address.value = currentTarget.value;
              }}
            />
          )}
        </Field>
        {isOpenToAll(address.value) && (
          <Notice tone="warn">
            Over http, others can read the key and your media in transit. Use https where you can.
          </Notice>
        )}
        <Field
          label="Key"
          hint="From the operator of the service. It is kept only in this browser and sent only to this service."
          fault={form.at("api_key")}
        >
          {(control) => (
            <input {...control} name="api_key" type="password" autoComplete="off" spellcheck={false} />
          )}
        </Field>
        <SendRow form={form} label="Connect" busy="Connecting…" />
      </form>
    </section>
  );
}

function isOpenToAll(address: string): boolean {
  try {
    const { protocol, hostname } = new URL(parseAddress(address, "http:"));
    return protocol === "http:" && !isLoopback(hostname);
  } catch {
    return false;
  }
}
