import { useSignal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { useService } from "./shared/service.ts";
import { usePolling } from "./shared/while-visible.ts";

const POLL_MS = 30_000;

/** The connected service, whether it responds, and the button that disconnects it. */
export function ConsoleHead() {
  const { edge } = useWorkbench();
  const { base_url, client } = useService();
  const answers = useSignal<boolean | null>(null);
  const look = useCallback(async () => {
    answers.value = await client.service.health().then(
      () => true,
      () => false,
    );
  }, [client, answers]);
  usePolling(look, POLL_MS);
  const disconnect = () => {
    edge.disconnect();
    // The button is gone, and the focus with it.
    document.querySelector("main")?.focus();
  };
  return (
    <header class="console-head">
      <div class="place">
        <h1>{new URL(base_url).host}</h1>
        <p class="row small" role="status">
          {answers.value === null && <span class="soft">Checking…</span>}
          {answers.value === true && <span class="badge good">Connected</span>}
          {answers.value === false && <span class="badge bad">Not responding</span>}
        </p>
      </div>
      <div class="row">
        <a class="button quiet" href={`${base_url}/docs`} target="_blank" rel="noreferrer">
          <Icon name="info" />
          API reference
        </a>
        <button type="button" onClick={disconnect}>
          Disconnect
        </button>
      </div>
    </header>
  );
}
