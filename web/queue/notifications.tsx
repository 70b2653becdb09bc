import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import type { Item } from "./item.ts";
import * as strings from "./list-strings.ts";
import { stateOf } from "./queue.ts";

const LONG_MS = 30_000;
const KEY = "framewright no notifications";

/**
 * Offers notifications once something takes long, and shows one when such work ends while the tab is hidden. Asks for
 * permission only on a click.
 */
export function Notify() {
  const { queue } = useWorkbench();
  const permission = useSignal("Notification" in globalThis ? Notification.permission : "denied");
  const isLong = useSignal(false);
  const refused = useSignal(wasRefused());
  useEffect(() => {
    let before: readonly Item[] = queue.items.peek();
    return queue.items.subscribe((items) => {
      isLong.value = items.some((item) => stateOf(item) === "processing" && takesLong(item));
      const previous = new Map(before.map((item) => [item.id, item]));
      before = items;
      if (!document.hidden || permission.peek() !== "granted") return;
      for (const item of items) {
        const was = previous.get(item.id);
        if (was && stateOf(was) === "processing") tellEnd(item);
      }
    });
  }, [queue, isLong, permission]);
  if (permission.value !== "default" || refused.value || !isLong.value) return null;
  const ask = async () => {
    permission.value = await Notification.requestPermission();
  };
  const refuse = () => {
    refused.value = true;
    keepRefusal();
  };
  return (
    <section class="notify" aria-label={strings.notifications}>
      <Icon name="clock" />
      <p>{strings.offerNotification}</p>
      <button type="button" onClick={() => void ask()}>
        {strings.notifyMe}
      </button>
      <button type="button" class="quiet" onClick={refuse}>
        {strings.noThanks}
      </button>
    </section>
  );
}

function wasRefused(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

function keepRefusal(): void {
  try {
    localStorage.setItem(KEY, "yes");
  } catch {}
}

function takesLong({ task, pace }: Item): boolean {
  const began = task?.started_at ?? null;
  return (pace?.eta ?? 0) * 1000 > LONG_MS || (began !== null && Date.now() - began > LONG_MS);
}

function tellEnd({ name, task, id }: Item): void {
  const { status, started_at } = task ?? {};
  if (status !== "succeeded" && status !== "failed") return;
  if (!started_at || Date.now() - started_at < LONG_MS) return;
  const title = status === "succeeded" ? strings.itemDone({ name }) : strings.itemFailed({ name });
  const options = { body: "Framewright", icon: "/icon.svg", tag: id };
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      window.focus();
      notification.close();
    };
  } catch {
    // Mobile browsers notify through a service worker only.
    void navigator.serviceWorker
      ?.getRegistration()
      .then((registration) => registration?.showNotification(title, options));
  }
}
