import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  EVENT_KINDS,
  type NewWebhookEndpoint,
  type Topic,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
} from "../../src/client/index.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { ActButton, Badge, Choices, Confirm, CopyButton, SecretDialog, When, wordOf } from "./controls.tsx";
import { type Column, createPaged, type Paged, Records } from "./records.tsx";
import { SendRow, useSending } from "./sending.tsx";
import { usePolling, useService } from "./service.ts";
import { placeOf } from "./task-words.ts";

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

function EndpointForm({
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

type EndpointDialog =
  | { what: "new" }
  | { what: "secret"; secret: string }
  | { what: "rotate" | "delete"; endpoint: WebhookEndpoint };

/** What the parts of the endpoint list share. */
interface EndpointParts {
  list: Paged<WebhookEndpoint>;
  /** Opens another dialog; null closes it. */
  show: (what: EndpointDialog | null) => void;
}

function EndpointDialogs({ open, list, show }: EndpointParts & { open: EndpointDialog | null }) {
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
          use="Your server uses it to verify that posts come from this service: pass it to verifyWebhook."
          onClose={close}
        />
      );
    case "rotate":
      return (
        <Confirm
          title="Create a new secret?"
          action="Create a new secret"
          act={async () => {
            const { secret } = await endpoints.rotate(open.endpoint.id);
            show({ what: "secret", secret });
          }}
          onClose={close}
        >
          The current one stays valid for one more day.
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

const EVENT_POLL_MS = 10_000;

const EVENT_COLUMNS: Column<WebhookEvent>[] = [
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
  usePolling(list.refresh, EVENT_POLL_MS);
  return (
    <Records
      title="Events"
      isPart
      list={list}
      empty="No events yet. Every change of a task is listed here."
      columns={EVENT_COLUMNS}
      nameOf={({ kind }) => kind}
    />
  );
}

const DELIVERY_POLL_MS = 5000;
const STATES = { pending: "pending", succeeded: "delivered", failed: "given_up" } as const;

const DELIVERY_COLUMNS: Column<WebhookDelivery>[] = [
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
  usePolling(list.refresh, DELIVERY_POLL_MS);
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
      columns={DELIVERY_COLUMNS}
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
