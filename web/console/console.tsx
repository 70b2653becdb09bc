import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { isLoopback } from "../../src/util/text.ts";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { useWorkbench } from "../workbench.ts";
import { ConnectionsView } from "./connections-view.tsx";
import { SendRow, useSending } from "./controls.tsx";
import { type EdgeConnection, isRefusal } from "./edge.ts";
import { KeysView } from "./keys-view.tsx";
import { type Service, ServiceContext, toFault, usePolling, useService } from "./service.ts";
import { parseAddress, reachService } from "./service-address.ts";
import * as strings from "./strings.ts";
import { TasksView } from "./tasks-view.tsx";
import { Deliveries, Endpoints, Events, ProjectSecret } from "./webhooks-view.tsx";
import "./console.css";

const TABS = {
  tasks: { title: strings.tasks, View: TasksView },
  connections: { title: strings.connections, View: ConnectionsView },
  webhooks: { title: strings.webhooks, View: WebhooksView },
  keys: { title: strings.keys, View: KeysView },
} as const;

type Tab = keyof typeof TABS;

/** The console of a service: the form to connect, then its tasks, connections, webhooks and keys. */
export function Console() {
  const { edge } = useWorkbench();
  const connection = edge.connection.value;
  if (edge.restoring.value)
    return (
      <p class="soft" role="status">
        {strings.reconnecting}
      </p>
    );
  return connection ? <Connected key={connection.base_url} connection={connection} /> : <Connect />;
}

function Connected({ connection }: { connection: EdgeConnection }) {
  const { edge, address } = useWorkbench();
  const tab = tabOf(address.value.path);
  const service = useMemo<Service>(
    () => ({
      ...connection,
      explain(thrown) {
        if (isRefusal(thrown)) edge.lose(connection);
        return toFault(thrown);
      },
    }),
    [connection, edge],
  );
  const { View } = TABS[tab];
  return (
    <ServiceContext.Provider value={service}>
      <div class="console stack">
        <ConsoleHead />
        <nav class="tabs" aria-label={strings.theService}>
          {Object.entries(TABS).map(([name, { title }]) => (
            <a key={name} href={`/console/${name}`} aria-current={name === tab ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <View />
      </div>
    </ServiceContext.Provider>
  );
}

function tabOf(path: string): Tab {
  const name = path.split("/")[2] ?? "";
  return Object.hasOwn(TABS, name) ? (name as Tab) : "tasks";
}

function WebhooksView() {
  return (
    <div class="stack">
      <Endpoints />
      <Deliveries />
      <Events />
      <ProjectSecret />
    </div>
  );
}

const POLL_MS = 30_000;

function ConsoleHead() {
  const { edge } = useWorkbench();
  const { base_url, client } = useService();
  const answers = useSignal<boolean | null>(null);
  const checkHealth = useCallback(async () => {
    answers.value = await client.service.health().then(
      () => true,
      () => false,
    );
  }, [client, answers]);
  usePolling(checkHealth, POLL_MS);
  const disconnect = () => {
    edge.disconnect();
    document.querySelector("main")?.focus();
  };
  return (
    <header class="console-head">
      <div class="place">
        <h1>{new URL(base_url).host}</h1>
        <p class="row small" role="status">
          {answers.value === null && <span class="soft">{strings.checking}</span>}
          {answers.value === true && <span class="badge good">{strings.connected}</span>}
          {answers.value === false && <span class="badge bad">{strings.notResponding}</span>}
        </p>
      </div>
      <div class="row">
        <a class="button quiet" href={`${base_url}/docs`} target="_blank" rel="noreferrer">
          <Icon name="info" />
          {strings.apiReference}
        </a>
        <button type="button" onClick={disconnect}>
          {strings.disconnect}
        </button>
      </div>
    </header>
  );
}

function Connect() {
  const { edge } = useWorkbench();
  const loss = edge.loss.value;
  const address = useSignal(loss?.base_url ?? "");
  const form = useSending(
    async (data) => {
      await edge.connect(String(data.get("base_url")), String(data.get("api_key")));
      document.querySelector("main")?.focus();
    },
    ["base_url", "api_key"],
  );
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (address.value || !/^https?:$/.test(location.protocol)) return;
    reachService(location.origin).then(
      () => {
        const input = field.current;
        // A render would come too late if the visitor begins to type another address.
        if (!input || input.value || document.activeElement === input) return;
        input.value = address.value = location.origin;
      },
      () => {},
    );
  }, [address]);

  return (
    <section class="connect panel stack" aria-labelledby="connect-title">
      <h1 id="connect-title">{strings.connectService}</h1>
      <p class="soft">{strings.servicePurpose}</p>
      {loss && <Notice tone="bad">{loss.message}</Notice>}
      <form class="stack" onSubmit={form.send} noValidate>
        <Field label={strings.address} hint={strings.addressHint} fault={form.at("base_url")}>
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
        {isOpenToAll(address.value) && <Notice tone="warn">{strings.insecureAddress}</Notice>}
        <Field label={strings.key} hint={strings.keyHint} fault={form.at("api_key")}>
          {(control) => (
            <input {...control} name="api_key" type="password" autoComplete="off" spellcheck={false} />
          )}
        </Field>
        <SendRow form={form} label={strings.connect} busy={strings.connecting} />
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
