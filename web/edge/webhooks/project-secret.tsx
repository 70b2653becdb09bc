import { useSignal } from "@preact/signals";
import { Icon } from "../../ui/icon.tsx";
import { Confirm } from "../shared/confirm.tsx";
import { SecretDialog } from "../shared/secret-dialog.tsx";
import { useService } from "../shared/service.ts";

/** The secret that signs posts to a task's `webhook_url`. */
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
        <p class="soft">Posts to the webhook of a single task are signed with the secret of the project.</p>
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
          title="Create a new secret?"
          action="Create a new secret"
          act={async () => {
            const { secret } = await client.webhooks.rotateSecret();
            open.value = { what: "secret", secret };
          }}
          onClose={close}
        >
          The current one, if any, stays valid for one more day.
        </Confirm>
      )}
      {open.value?.what === "secret" && (
        <SecretDialog
          title="The project's secret"
          secret={open.value.secret}
          use="It signs posts to the webhook of a task or step: pass it to verifyWebhook."
          onClose={close}
        />
      )}
    </section>
  );
}
