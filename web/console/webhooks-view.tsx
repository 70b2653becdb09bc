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
import {
  ActButton,
  Badge,
  Choices,
  Confirm,
  CopyButton,
  SecretDialog,
  SendRow,
  useSending,
  When,
  wordOf,
} from "./controls.tsx";
import { type Column, createPaged, type Paged, Records } from "./records.tsx";
import { usePolling, useService } from "./service.ts";
import * as strings from "./strings.ts";
import { placeOf } from "./task-words.ts";

const POLL_MS = 15_000;

const COLUMNS: Column<WebhookEndpoint>[] = [
  { title: strings.url, cell: ({ url }) => <strong class="wrap">{url}</strong> },
  {
    title: strings.events,
    cell: ({ topics }) => (
      <span class="small wrap">{topics.includes("*") ? strings.everything : topics.join(", ")}</span>
    ),
  },
  { title: strings.status, cell: ({ status }) => <Badge state={status} /> },
  { title: strings.created, cell: ({ created_at }) => <When at={created_at} /> },
];

export function Endpoints() {
  const { client, explain } = useService();
  const { endpoints } = client.webhooks;
  const list = useMemo(
    () => createPaged<WebhookEndpoint>((query) => endpoints.list(query), explain),
    [endpoints, explain],
  );
  const open = useSignal<EndpointDialog | null>(null);
  usePolling(list.refresh, POLL_MS);
  const show = (what: EndpointDialog | null) => {
    open.value = what;
  };
  return (
    <Records
      title={strings.endpoints}
      isPart
      add={{ label: strings.newEndpoint, onClick: () => show({ what: "new" }) }}
      list={list}
      empty={strings.noEndpoints}
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
  const changeStatus = (to: WebhookEndpoint["status"]) => async () =>
    list.put(await endpoints.update(id, { status: to }));
  return (
    <>
      {status === "active" ? (
        <ActButton {...{ label: strings.pause, of, icon: "pause" }} act={changeStatus("disabled")} />
      ) : (
        <ActButton {...{ label: strings.resume, of, icon: "play" }} act={changeStatus("active")} />
      )}
      <ActButton
        {...{ label: strings.newSecret, of, icon: "key" }}
        act={async () => show({ what: "rotate", endpoint })}
      />
      <ActButton
        {...{ label: strings.remove, of, icon: "remove", variant: "icon" }}
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
  const { client, explain } = useService();
  const all = useSignal(true);
  const form = useSending(
    async (data) => {
      const topics: Topic[] = all.value ? ["*"] : (data.getAll("topics") as Topic[]);
      onMade(await client.webhooks.endpoints.create({ url: String(data.get("url")).trim(), topics }));
    },
    ["url", "topics"],
    explain,
  );
  return (
    <Dialog title={strings.newEndpoint} onClose={onClose}>
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label={strings.url} hint={strings.endpointUrlHint} fault={form.at("url")}>
          {(control) => (
            <input {...control} name="url" inputMode="url" autoComplete="off" spellcheck={false} />
          )}
        </Field>
        <Choices legend={strings.events} fault={form.at("topics")}>
          <label class="choice">
            <input
              type="checkbox"
              checked={all.value}
              onChange={({ currentTarget }) => {
                all.value = currentTarget.checked;
              }}
            />
            {strings.everything}
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
        <SendRow form={form} label={strings.create} busy={strings.creating} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

type EndpointDialog =
  | { what: "new" }
  | { what: "secret"; secret: string }
  | { what: "rotate" | "delete"; endpoint: WebhookEndpoint };

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
          title={strings.endpointSecret}
          secret={open.secret}
          variable="FRAMEWRIGHT_WEBHOOK_SECRET"
          use={strings.endpointSecretUse}
          onClose={close}
        />
      );
    case "rotate":
      return (
        <Confirm
          title={strings.createSecretTitle}
          action={strings.createSecret}
          act={async () => {
            const { secret } = await endpoints.rotate(open.endpoint.id);
            show({ what: "secret", secret });
          }}
          onClose={close}
        >
          {strings.secretRotation}
        </Confirm>
      );
    case "delete":
      return (
        <Confirm
          title={strings.deleteEndpoint}
          action={strings.remove}
          act={async () => {
            await endpoints.delete(open.endpoint.id);
            list.drop(open.endpoint.id);
            close();
          }}
          onClose={close}
        >
          {strings.endpointDeletion({ url: open.endpoint.url })}
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
    <section class="stack tight" aria-label={strings.taskWebhooks}>
      <h2>{strings.taskWebhooks}</h2>
      <div class="row bar">
        <p class="soft">{strings.taskWebhooksPurpose}</p>
        <button
          type="button"
          onClick={() => {
            open.value = { what: "ask" };
          }}
        >
          <Icon name="key" />
          {strings.newProjectSecret}
        </button>
      </div>
      {open.value?.what === "ask" && (
        <Confirm
          title={strings.createSecretTitle}
          action={strings.createSecret}
          act={async () => {
            const { secret } = await client.webhooks.rotateSecret();
            open.value = { what: "secret", secret };
          }}
          onClose={close}
        >
          {strings.projectSecretRotation}
        </Confirm>
      )}
      {open.value?.what === "secret" && (
        <SecretDialog
          title={strings.projectSecret}
          secret={open.value.secret}
          variable="FRAMEWRIGHT_WEBHOOK_SECRET"
          use={strings.projectSecretUse}
          onClose={close}
        />
      )}
    </section>
  );
}

const EVENT_POLL_MS = 10_000;

const EVENT_COLUMNS: Column<WebhookEvent>[] = [
  { title: strings.event, wide: true, cell: ({ kind }) => <code>{kind}</code> },
  {
    title: strings.of,
    wide: true,
    cell: ({ data }) => (
      <span class="id">
        <code>{data.id}</code>
        <CopyButton text={data.id} label={strings.copyId({ id: data.id })} />
      </span>
    ),
  },
  { title: strings.at, cell: ({ created_at }) => <When at={created_at} /> },
];

/** Everything that happened in the project, posted or not. */
export function Events() {
  const { client, explain } = useService();
  const { events } = client.webhooks;
  const list = useMemo(
    () => createPaged<WebhookEvent>((query) => events.list(query), explain),
    [events, explain],
  );
  usePolling(list.refresh, EVENT_POLL_MS);
  return (
    <Records
      title={strings.events}
      isPart
      list={list}
      empty={strings.noEvents}
      columns={EVENT_COLUMNS}
      nameOf={({ kind }) => kind}
    />
  );
}

const DELIVERY_POLL_MS = 5000;
const STATES = { pending: "pending", succeeded: "delivered", failed: "given_up" } as const;

const DELIVERY_COLUMNS: Column<WebhookDelivery>[] = [
  { title: strings.event, wide: true, cell: ({ kind }) => <code>{kind}</code> },
  {
    title: strings.to,
    wide: true,
    cell: ({ url }) => {
      const { host, name } = placeOf(url);
      return <span class="wrap">{name ? `${host}/…/${name}` : host}</span>;
    },
  },
  { title: strings.status, cell: ({ status }) => <Badge state={STATES[status]} /> },
  {
    title: strings.tries,
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return (
        <span class="numbers nowrap">
          {attempts.length}
          {last && <span class="soft small"> · {last.response_status ?? strings.noAnswer}</span>}
        </span>
      );
    },
  },
  { title: strings.created, cell: ({ created_at }) => <When at={created_at} /> },
];

export function Deliveries() {
  const { client, explain } = useService();
  const { deliveries } = client.webhooks;
  const status = useSignal<DeliveryStatus | "">("");
  const filter = status.value;
  const list = useMemo(
    () =>
      createPaged<WebhookDelivery>(
        (query) => deliveries.list({ ...pageOf(query), ...(filter && { status: filter }) }),
        explain,
      ),
    [deliveries, explain, filter],
  );
  usePolling(list.refresh, DELIVERY_POLL_MS);
  return (
    <Records
      title={strings.deliveries}
      isPart
      bar={
        <div class="filters">
          <Field label={strings.status}>
            {(control) => (
              <select
                {...control}
                value={status.value}
                onChange={({ currentTarget }) => {
                  status.value = currentTarget.value as DeliveryStatus | "";
                }}
              >
                <option value="">{strings.all}</option>
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
      empty={strings.noDeliveries}
      columns={DELIVERY_COLUMNS}
      nameOf={({ kind, url }) => strings.deliveryTo({ kind, host: placeOf(url).host })}
      details={(delivery) => <Attempts delivery={delivery} />}
      actions={({ id, kind: of }) => (
        <ActButton
          {...{ label: strings.replay, of, icon: "refresh" }}
          act={async () => list.put(await deliveries.replay(id))}
        />
      )}
    />
  );
}

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
              <When at={at} /> ·{" "}
              {response_status === null ? strings.noAnswer : strings.answered({ status: response_status })} ·{" "}
              {strings.milliseconds({ duration })}
              {fault && <span class="bad"> · {fault}</span>}
            </li>
          ))}
        </ol>
      )}
      {next_attempt_at !== null && (
        <p class="small">
          {strings.nextTry} <When at={next_attempt_at} />
        </p>
      )}
      <p class="small soft wrap">
        <code>{id}</code> {strings.ofTheEvent} <code>{event_id}</code>
      </p>
    </div>
  );
}
