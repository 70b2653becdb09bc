import { useSignal, useSignalEffect } from "@preact/signals";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import * as strings from "./strings.ts";
import "./tokens.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./app.css";
import { DropAnywhere } from "./queue/add-inputs.tsx";
import { Announcer, Notify } from "./queue/notifications.tsx";
import { totalsOf } from "./queue/queue.ts";
import { QueueView } from "./queue/queue-view.tsx";
import { Icon } from "./ui/icon.tsx";
import { useWorkbench } from "./workbench.ts";

const Console = lazy(async () => ({ default: (await import("./console/console.tsx")).Console }));

const VIEWS = {
  workbench: { hash: "#/", title: strings.workbench, icon: "options" },
  edge: { hash: "#/edge", title: strings.edge, icon: "edge" },
} as const;

export function App() {
  const { queue } = useWorkbench();
  const view = useSignal(viewOf(location.hash));
  useEffect(() => {
    const update = () => {
      view.value = viewOf(location.hash);
    };
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, [view]);
  useSignalEffect(() => {
    const { percent } = totalsOf(queue.items.value);
    const title = `${VIEWS[view.value].title} · Framewright`;
    document.title = percent === null ? title : `${percent} % · ${title}`;
  });
  return (
    <div class="app">
      <button type="button" class="skip" onClick={skip}>
        {strings.skipToContent}
      </button>
      <header>
        <div>
          <span class="brand">
            <img src="/icon.svg" width={28} height={28} alt="" />
            Framewright
          </span>
          <nav aria-label={strings.views}>
            {Object.entries(VIEWS).map(([name, { hash, title, icon }]) => (
              <a key={name} href={hash} aria-current={view.value === name ? "page" : undefined}>
                <Icon name={icon} />
                {title}
              </a>
            ))}
          </nav>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {view.value === "workbench" ? (
          <QueueView />
        ) : (
          <Suspense fallback={null}>
            <Console />
          </Suspense>
        )}
      </main>
      <footer class="small">
        <a href="/LICENSES.txt">{strings.licenses}</a>
      </footer>
      <Notify />
      <Announcer />
      <DropAnywhere />
    </div>
  );
}

function viewOf(hash: string): keyof typeof VIEWS {
  return hash.startsWith(VIEWS.edge.hash) ? "edge" : "workbench";
}

function skip(): void {
  document.querySelector("main")?.focus();
}
