import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { DELIVERY_STATUSES, type DeliveryStatus, type WebhookDelivery } from "../../../src/client/index.ts";
import { Field } from "../../ui/field.tsx";
import { ActButton } from "../shared/act-button.tsx";
import { Badge, wordOf } from "../shared/badge.tsx";
import { createPaged } from "../shared/paged.ts";
import { placeOf } from "../shared/place.ts";
import type { Column } from "../shared/record-table.tsx";
import { Records } from "../shared/records.tsx";
import { useService } from "../shared/service.ts";
import { When } from "../shared/when.tsx";
import { usePolling } from "../shared/while-visible.ts";

const POLL_MS = 5000;
const STATES = { pending: "pending", succeeded: "delivered", failed: "given_up" } as const;

const COLUMNS: Column<WebhookDelivery>[] = [
  { title: "Event", wide: true, cell: ({ kind }) => <code>{kind}</code> },
  {
    title: "To",
    wide: true,
    cell: ({ url }) => {
      const { host, name } = placeOf(url);
      return <span class="wrap">{name ? `${host}/…/${name}` : host}</span>;
    },
  },
  { title: "Status", cell: ({ status }) => <Badge state={STATES[status]} /> },
  {
    title: "Tries",
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return (
        <span class="numbers nowrap">
          {attempts.length}
          {last && <span class="soft small"> · {last.response_status ?? "no answer"}</span>}
        </span>
      );
    },
  },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
];

export function Deliveries() {
  const { client, tell } = useService();
  const { deliveries } = client.webhooks;
  const status = useSignal<DeliveryStatus | "">("");
  const wanted = status.value;
  const list = useMemo(
    () =>
      createPaged<WebhookDelivery>(
        (asked) => deliveries.list({ ...pageOf(asked), ...(wanted && { status: wanted }) }),
        tell,
      ),
    [deliveries, tell, wanted],
  );
  usePolling(list.refresh, POLL_MS);
  return (
    <Records
      title="Deliveries"
      isPart
      bar={
        <div class="filters">
          <Field label="Status">
            {(control) => (
              <select
                {...control}
                value={status.value}
                onChange={({ currentTarget }) => {
                  status.value = currentTarget.value as DeliveryStatus | "";
                }}
              >
                <option value="">All</option>
                {DELIVERY_STATUSES.map((each) => (
                  <option key={each} value={each}>
                    {wordOf(STATES[each])}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      }
      list={list}
      empty="No deliveries yet. They appear here when a task changes and an endpoint has subscribed to it."
      columns={COLUMNS}
      nameOf={({ kind, url }) => `${kind} to ${placeOf(url).host}`}
      details={(delivery) => <Attempts delivery={delivery} />}
      actions={({ id, kind: of }) => (
        <ActButton
          {...{ label: "Replay", of, icon: "refresh" }}
          act={async () => list.put(await deliveries.replay(id))}
        />
      )}
    />
  );
}

// The list of deliveries has its own filters.
function pageOf({ limit, after }: { limit?: number; after?: string }): { limit?: number; after?: string } {
  return { ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) };
}

function Attempts({ delivery }: { delivery: WebhookDelivery }) {
  const { attempts, error, next_attempt_at, event_id, id } = delivery;
  return (
    <div class="stack tight">
      {error && <p class="small bad">{error}</p>}
      {attempts.length > 0 && (
        <ol class="attempts">
          {attempts.map(({ at, duration, response_status, error: fault }) => (
            <li key={at} class="small">
              <When at={at} /> · {response_status === null ? "no answer" : `answered ${response_status}`} ·{" "}
              {duration} ms
              {fault && <span class="bad"> · {fault}</span>}
            </li>
          ))}
        </ol>
      )}
      {next_attempt_at !== null && (
        <p class="small">
          Next try: <When at={next_attempt_at} />
        </p>
      )}
      <p class="small soft wrap">
        <code>{id}</code> of the event <code>{event_id}</code>
      </p>
    </div>
  );
}
