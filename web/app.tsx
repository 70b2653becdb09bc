import { useSignal, useSignalEffect } from "@preact/signals";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import type { Address } from "./address.ts";
import { Home } from "./home/home.tsx";
import * as home from "./home/strings.ts";
import { DropAnywhere } from "./queue/add-inputs.tsx";
import type { Item } from "./queue/item.ts";
import { totalsOf } from "./queue/queue.ts";
import * as queueStrings from "./queue/strings.ts";
import * as strings from "./strings.ts";
import { ThemeButton } from "./ui/theme.tsx";
import { useWorkbench } from "./workbench.ts";
import "./queue/queue.css";
import "./tokens.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./app.css";

const FileList = lazy(async () => ({ default: (await import("./queue/file-list.tsx")).FileList }));
const Notify = lazy(async () => ({ default: (await import("./queue/notifications.tsx")).Notify }));
const Console = lazy(async () => ({ default: (await import("./console/console.tsx")).Console }));

const VIEWS = {
  files: { href: "/files", title: strings.files },
  console: { href: "/console", title: strings.console },
} as const;

/** The whole page at its address; `prerender.tsx` writes its first state for every address. */
export function App() {
  const { queue, address } = useWorkbench();
  const { view } = address.value;
  useSignalEffect(() => {
    const { percent } = totalsOf(queue.items.value);
    const title = titleOf(address.value, queue.items.value);
    document.title = percent === null ? title : `${percent} % · ${title}`;
  });
  return (
    <div class="app">
      <button type="button" class="skip" onClick={skip}>
        {strings.skipToContent}
      </button>
      <header>
        <div>
          <a class="brand" href="/" aria-label={strings.startPage}>
            <svg class="mark" width={24} height={24} viewBox="0 0 24 24" aria-hidden="true">
              <path d="M5 20.5V4.5h14M5 11.5h8" />
              <path class="end" d="M20 13.5v7h-7" />
            </svg>
            <span>Framewright</span>
          </a>
          <nav aria-label={strings.views}>
            {Object.entries(VIEWS).map(([name, { href, title }]) => (
              <a key={name} href={href} aria-current={view === name ? "page" : undefined}>
                {title}
              </a>
            ))}
          </nav>
          <ThemeButton />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {view === "files" ? (
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
      {queue.items.value.length > 0 && (
        <Suspense fallback={null}>
          <Notify />
        </Suspense>
      )}
      <Announcer />
      <DropAnywhere />
    </div>
  );
}

/** The visitor's files, or what the page is for while there are none. */
function QueueView() {
  const { queue, address } = useWorkbench();
  const { job, path } = address.value;
  if (queue.items.value.length === 0) {
    // The start page must not flash before the list of an earlier visit.
    return path === "/files" && !queue.loaded.value ? null : <Home job={job} />;
  }
  return (
    <Suspense fallback={null}>
      <FileList job={job} />
    </Suspense>
  );
}

/** Returns the title of the document at an address: the name of the open file, the job, or the view; `items` are the files. */
export function titleOf({ view, job, path, file }: Address, items: readonly Item[]): string {
  if (path === "/" && items.length === 0) return home.title;
  const open = file === null ? null : items.find(({ id }) => id === file);
  return `${open?.name ?? job?.title ?? VIEWS[view].title} · Framewright`;
}

function skip(): void {
  document.querySelector("main")?.focus();
}

const MOMENT_MS = 500;

/** Announces changes in the queue to screen readers, politely. */
function Announcer() {
  const { queue } = useWorkbench();
  const words = useSignal("");
  useEffect(() => {
    let announced: readonly Item[] = queue.items.peek();
    let timer: number | null = null;
    const tell = async () => {
      timer = null;
      const [before, items] = [announced, queue.items.peek()];
      if (before.length + items.length === 0) return;
      announced = items;
      const { announce } = await import("./queue/announcements.ts");
      words.value = announce(before, items) || words.value;
    };
    const stop = queue.items.subscribe(() => {
      timer ??= setTimeout(() => void tell(), MOMENT_MS);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [queue, words]);
  return (
    <p class="visually-hidden" role="status" aria-label={queueStrings.newsOfQueue}>
      {words.value}
    </p>
  );
}
