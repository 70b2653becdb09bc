import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useWorkbench } from "../workbench.ts";
import { Connect } from "./connect.tsx";
import "./console.css";
import { ConnectionsView } from "./connections/connections-view.tsx";
import { ConsoleHead } from "./console-head.tsx";
import { isRefusal } from "./create-edge.ts";
import type { EdgeConnection } from "./edge.ts";
import { KeysView } from "./keys/keys-view.tsx";
import { type Service, ServiceContext, toFault } from "./shared/service.ts";
import { TasksView } from "./tasks/tasks-view.tsx";
import { Deliveries } from "./webhooks/deliveries.tsx";
import { Endpoints } from "./webhooks/endpoints.tsx";
import { Events } from "./webhooks/events.tsx";
import { ProjectSecret } from "./webhooks/project-secret.tsx";

const TABS = {
  tasks: { title: "Tasks", View: TasksView },
  connections: { title: "Connections", View: ConnectionsView },
  webhooks: { title: "Webhooks", View: WebhooksView },
  keys: { title: "Keys", View: KeysView },
} as const;

type Tab = keyof typeof TABS;

/** The console of a service: the form to connect, then its tasks, connections, webhooks and keys. */
export function Console() {
  const { edge } = useWorkbench();
  const connection = edge.connection.value;
  if (edge.restoring.value)
    return (
      <p class="soft" role="status">
        Reconnecting…
      </p>
    );
  return connection ? <Connected key={connection.base_url} connection={connection} /> : <Connect />;
}

function Connected({ connection }: { connection: EdgeConnection }) {
  const { edge } = useWorkbench();
  const tab = useTab();
  const service = useMemo<Service>(
    () => ({
      ...connection,
      tell(thrown) {
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
        <nav class="tabs" aria-label="The service">
          {Object.entries(TABS).map(([name, { title }]) => (
            <a key={name} href={`#/edge/${name}`} aria-current={name === tab ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <View />
      </div>
    </ServiceContext.Provider>
  );
}

// The tab that the address names.
function useTab(): Tab {
  const tab = useSignal(tabOf(location.hash));
  useEffect(() => {
    const turn = () => {
      tab.value = tabOf(location.hash);
    };
    addEventListener("hashchange", turn);
    return () => removeEventListener("hashchange", turn);
  }, [tab]);
  return tab.value;
}

function tabOf(hash: string): Tab {
  const name = hash.split("/")[2] ?? "";
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
