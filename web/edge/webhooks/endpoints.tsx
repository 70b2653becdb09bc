import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { WebhookEndpoint } from "../../../src/client/index.ts";
import { ActButton } from "../shared/act-button.tsx";
import { Badge } from "../shared/badge.tsx";
import { createPaged } from "../shared/paged.ts";
import type { Column } from "../shared/record-table.tsx";
import { Records } from "../shared/records.tsx";
import { useService } from "../shared/service.ts";
import { When } from "../shared/when.tsx";
import { usePolling } from "../shared/while-visible.ts";
import { type EndpointDialog, EndpointDialogs, type EndpointParts } from "./endpoint-dialogs.tsx";

const POLL_MS = 15_000;

const COLUMNS: Column<WebhookEndpoint>[] = [
  { title: "URL", cell: ({ url }) => <strong class="wrap">{url}</strong> },
  {
    title: "Events",
    cell: ({ topics }) => (
      <span class="small wrap">{topics.includes("*") ? "Everything" : topics.join(", ")}</span>
    ),
  },
  { title: "Status", cell: ({ status }) => <Badge state={status} /> },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
];

export function Endpoints() {
  const { client, tell } = useService();
  const { endpoints } = client.webhooks;
  const list = useMemo(
    () => createPaged<WebhookEndpoint>((asked) => endpoints.list(asked), tell),
    [endpoints, tell],
  );
  const open = useSignal<EndpointDialog | null>(null);
  usePolling(list.refresh, POLL_MS);
  const show = (what: EndpointDialog | null) => {
    open.value = what;
  };
  return (
    <Records
      title="Endpoints"
      isPart
      add={{ label: "New endpoint", onClick: () => show({ what: "new" }) }}
      list={list}
      empty="There are no endpoints yet. Create one to be notified when tasks change."
      columns={COLUMNS}
      nameOf={({ url }) => url}
      actions={(endpoint) => <Actions endpoint={endpoint} list={list} show={show} />}
    >
      <EndpointDialogs open={open.value} list={list} show={show} />
    </Records>
  );
}

function Actions({ endpoint, list, show }: EndpointParts & { endpoint: WebhookEndpoint }) {
  const { endpoints } = useService().client.webhooks;
  const { id, url: of, status } = endpoint;
  const turn = (to: WebhookEndpoint["status"]) => async () =>
    list.put(await endpoints.update(id, { status: to }));
  return (
    <>
      {status === "active" ? (
        <ActButton {...{ label: "Pause", of, icon: "pause" }} act={turn("disabled")} />
      ) : (
        <ActButton {...{ label: "Resume", of, icon: "play" }} act={turn("active")} />
      )}
      <ActButton
        {...{ label: "New secret", of, icon: "key" }}
        act={async () => show({ what: "rotate", endpoint })}
      />
      <ActButton
        {...{ label: "Delete", of, icon: "remove", look: "icon" }}
        act={async () => show({ what: "delete", endpoint })}
      />
    </>
  );
}
