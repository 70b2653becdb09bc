import { useSignal } from "@preact/signals";
import { Icon } from "../../ui/icon.tsx";
import { Confirm } from "../shared/confirm.tsx";
import { SecretDialog } from "../shared/secret-dialog.tsx";
import { useService } from "../shared/service.ts";

/** The secret that signs what goes to the `webhook_url` of a task. */
export function ProjectSecret() {
  const { client } = useService();
  const open = useSignal<{ what: "ask" } | { what: "secret"; secret: string } | null>(null);
  const close = () => {
    open.value = null;
  };
  return (
    <section class="stack tight" aria-label="Webhooks of single tasks">
      <h2>Webhooks of single tasks</h2>
      <div class="row bar">
        <p class="soft">What goes to the webhook that a task names is signed by a secret of the project.</p>
        <button
          type="button"
          onClick={() => {
            open.value = { what: "ask" };
          }}
        >
          <Icon name="key" />
          New project secret
        </button>
      </div>
      {open.value?.what === "ask" && (
        <Confirm
          title="Make a new secret?"
          action="Make a new secret"
          act={async () => {
            const { secret } = await client.webhooks.rotateSecret();
            open.value = { what: "secret", secret };
          }}
          onClose={close}
        >
          The one so far, if there is any, is good for one more day beside it.
        </Confirm>
      )}
      {open.value?.what === "secret" && (
        <SecretDialog
          title="The project's secret"
          secret={open.value.secret}
          use="It signs what is posted to the webhook of a task or step: give it to verifyWebhook."
          onClose={close}
        />
      )}
    </section>
  );
}
