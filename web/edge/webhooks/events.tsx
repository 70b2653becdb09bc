import { useMemo } from "preact/hooks";
import type { WebhookEvent } from "../../../src/client/index.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { createPaged } from "../shared/paged.ts";
import type { Column } from "../shared/record-table.tsx";
import { Records } from "../shared/records.tsx";
import { useService } from "../shared/service.ts";
import { When } from "../shared/when.tsx";
import { usePolling } from "../shared/while-visible.ts";

const POLL_MS = 10_000;

const COLUMNS: Column<WebhookEvent>[] = [
  { title: "Event", wide: true, cell: ({ kind }) => <code>{kind}</code> },
  {
    title: "Of",
    wide: true,
    cell: ({ data }) => (
      <span class="id">
        <code>{data.id}</code>
        <CopyButton text={data.id} label={`Copy the id ${data.id}`} />
      </span>
    ),
  },
  { title: "At", cell: ({ created_at }) => <When at={created_at} /> },
];

/** Everything that happened in the project, posted or not. */
export function Events() {
  const { client, tell } = useService();
  const { events } = client.webhooks;
  const list = useMemo(() => createPaged<WebhookEvent>((asked) => events.list(asked), tell), [events, tell]);
  usePolling(list.refresh, POLL_MS);
  return (
    <Records
      title="Events"
      isPart
      list={list}
      empty="No events yet. Every change of a task is listed here."
      columns={COLUMNS}
      nameOf={({ kind }) => kind}
    />
  );
}
