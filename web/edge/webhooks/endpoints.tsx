import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { WebhookEndpoint } from "../../../src/client/index.ts";
import { Icon } from "../../ui/icon.tsx";
import { ActButton } from "../shared/act-button.tsx";
import { Badge } from "../shared/badge.tsx";
import { Confirm } from "../shared/confirm.tsx";
import { createPaged, type Paged } from "../shared/paged.ts";
import { RecordList } from "../shared/record-list.tsx";
import { type Column, RecordTable } from "../shared/record-table.tsx";
import { SecretDialog } from "../shared/secret-dialog.tsx";
import { useService } from "../shared/service.ts";
import { When } from "../shared/when.tsx";
import { usePolling } from "../shared/while-visible.ts";
import { EndpointForm } from "./endpoint-form.tsx";

const POLL_MS = 15_000;

const COLUMNS: Column<WebhookEndpoint>[] = [
  { title: "URL", wide: true, cell: ({ url }) => <strong class="wrap">{url}</strong> },
  {
    title: "Told of",
    wide: true,
    cell: ({ topics }) => (
      <span class="small wrap">{topics.includes("*") ? "Everything" : topics.join(", ")}</span>
    ),
  },
  { title: "Status", cell: ({ status }) => <Badge state={status} /> },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
];

type Open =
  | { what: "new" }
  | { what: "secret"; secret: string }
  | { what: "rotate" | "delete"; endpoint: WebhookEndpoint };

/** The URLs that events are posted to. */
export function Endpoints() {
  const { client, tell } = useService();
  const { endpoints } = client.webhooks;
  const list = useMemo(
    () => createPaged<WebhookEndpoint>((asked) => endpoints.list(asked), tell),
    [endpoints, tell],
  );
  const open = useSignal<Open | null>(null);
  usePolling(list.refresh, POLL_MS);
  const show = (what: Open | null) => {
    open.value = what;
  };
  return (
    <section class="stack tight" aria-label="Endpoints">
      <div class="row bar">
        <h2>Endpoints</h2>
        <button type="button" class="primary" onClick={() => show({ what: "new" })}>
          <Icon name="add" />
          New endpoint
        </button>
      </div>
      <RecordList
        list={list}
        empty="Nothing is posted anywhere yet. Make an endpoint, and your server is told when a task is done."
      >
        {(records) => (
          <RecordTable
            caption="Endpoints, the newest first"
            columns={COLUMNS}
            records={records}
            nameOf={({ url }) => url}
            actions={(endpoint) => <Actions endpoint={endpoint} list={list} show={show} />}
          />
        )}
      </RecordList>
      <Dialogs open={open.value} list={list} show={show} />
    </section>
  );
}

interface Shared {
  list: Paged<WebhookEndpoint>;
  show: (what: Open | null) => void;
}

function Dialogs({ open, list, show }: Shared & { open: Open | null }) {
  const { endpoints } = useService().client.webhooks;
  const close = () => show(null);
  switch (open?.what) {
    case undefined:
      return null;
    case "new":
      return (
        <EndpointForm
          onMade={({ secret, ...endpoint }) => {
            list.put(endpoint);
            show({ what: "secret", secret });
          }}
          onClose={close}
        />
      );
    case "secret":
      return (
        <SecretDialog
          title="The endpoint's secret"
          secret={open.secret}
          use="Your server checks by it that what is posted comes from this service: give it to verifyWebhook."
          onClose={close}
        />
      );
    case "rotate":
      return (
        <Confirm
          title="Make a new secret?"
          action="Make a new secret"
          act={async () => {
            const { secret } = await endpoints.rotate(open.endpoint.id);
            show({ what: "secret", secret });
          }}
          onClose={close}
        >
          The one so far is good for one more day beside it.
        </Confirm>
      );
    case "delete":
      return (
        <Confirm
          title="Delete this endpoint?"
          action="Delete"
          act={async () => {
            await endpoints.delete(open.endpoint.id);
            list.drop(open.endpoint.id);
            close();
          }}
          onClose={close}
        >
          Nothing more is posted to {open.endpoint.url}.
        </Confirm>
      );
  }
}

function Actions({ endpoint, list, show }: Shared & { endpoint: WebhookEndpoint }) {
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
