import { type ReadonlySignal, signal } from "@preact/signals";
import type { RemoteClient } from "../../src/client/index.ts";
import { MediaError } from "../../src/index.ts";
import { isLoopback } from "../../src/util/text.ts";
import * as strings from "../strings.ts";

export interface EdgeConnection {
  /** URL of the service, without a trailing slash. */
  readonly base_url: string;
  readonly client: RemoteClient;
}

/** A connection that ended without the visitor's action, and why. */
interface EdgeLoss {
  readonly base_url: string;
  readonly message: string;
}

/**
 * The page's connection to a service. Only this browser stores the key; a sign-in link carries it in the fragment, which the page
 * removes at once.
 */
export interface Edge {
  /** The connection; null while there is none. */
  readonly connection: ReadonlySignal<EdgeConnection | null>;
  /** True while the connection of an earlier visit is being restored. */
  readonly restoring: ReadonlySignal<boolean>;
  /** Why the connection ended, if the visitor did not end it. */
  readonly loss: ReadonlySignal<EdgeLoss | null>;
  /**
   * Connects, and stores address and key for the next visit. Rejects with a MediaError when the service does not respond or
   * does not know the key.
   */
  connect(base_url: string, api_key: string): Promise<void>;
  disconnect(): void;
  /** Forgets a key that the connection's service no longer accepts, and records why in `loss`. */
  lose(connection: EdgeConnection): void;
}

/**
 * Creates the page's {@link Edge}. After the first paint it connects by the key in the page's address, or reconnects to the service
 * of an earlier visit.
 */
export function createEdge(): Edge {
  const connection = signal<EdgeConnection | null>(null);
  const restoring = signal(readService() !== null);
  const loss = signal<EdgeLoss | null>(null);
  // A connection made during a restore wins.
  let attempts = 0;

  function become(next: EdgeConnection | null, nextLoss: EdgeLoss | null = null): void {
    const before = connection.value;
    attempts++;
    connection.value = next;
    restoring.value = false;
    loss.value = nextLoss;
    void before?.client.close();
  }

  async function restore(): Promise<void> {
    const attempt = ++attempts;
    const saved = readService();
    if (!saved) return become(null);
    try {
      const client = await clientOf(saved);
      if (attempt !== attempts) return void client.close();
      const restored = { base_url: saved.base_url, client };
      become(restored);
      await checkKey(client).catch((thrown) => isRefusal(thrown) && edge.lose(restored));
    } catch {
      if (attempt === attempts) become(null, { base_url: saved.base_url, message: strings.partMissing });
    }
  }

  const edge: Edge = {
    connection,
    restoring,
    loss,
    async connect(address, key) {
      const { parseAddress, parseKey, reachService } = await import("./service-address.ts");
      const service = { base_url: parseAddress(address, location.protocol), api_key: parseKey(key) };
      await reachService(service.base_url);
      const client = await clientOf(service);
      try {
        await checkKey(client);
      } catch (thrown) {
        void client.close();
        throw isRefusal(thrown) ? unknownKey() : thrown;
      }
      saveService(service);
      become({ base_url: service.base_url, client });
    },
    disconnect() {
      saveService(null);
      become(null);
    },
    lose(closed) {
      if (connection.value !== closed) return;
      saveService(null);
      become(null, { base_url: closed.base_url, message: strings.keyRevoked });
    },
  };
  async function followLink(key: string): Promise<void> {
    restoring.value = true;
    await edge.connect(location.origin, key).catch((thrown: unknown) => {
      const message = thrown instanceof MediaError ? thrown.message : strings.partMissing;
      become(null, { base_url: location.origin, message });
    });
  }

  const linked = consumeLinkedKey();
  if (linked !== null) setTimeout(followLink, 0, linked);
  else if (restoring.value) setTimeout(restore);
  addEventListener("hashchange", () => {
    const key = consumeLinkedKey();
    if (key !== null) void followLink(key);
  });
  onServiceSaved(restore);
  return edge;
}

async function clientOf({ base_url, api_key }: SavedService): Promise<RemoteClient> {
  const { createRemoteClient } = await import("../../src/client/index.ts");
  return createRemoteClient({ baseUrl: base_url, apiKey: api_key });
}

async function checkKey(client: RemoteClient): Promise<void> {
  await client.tasks.list({ limit: 1 }).catch((thrown: unknown) => {
    // A valid key may lack the scope for this request.
    if (!(thrown instanceof MediaError) || thrown.kind !== "forbidden") throw thrown;
  });
}

/** Returns whether an error means that the service does not know its key. */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof MediaError && (thrown.kind === "token_invalid" || thrown.kind === "token_missing");
}

function unknownKey(): MediaError {
  return new MediaError("token_invalid", strings.unknownKey, {
    param: "api_key",
  });
}

interface SavedService {
  base_url: string;
  api_key: string;
}

const NAME = "framewright-edge";

function readService(): SavedService | null {
  try {
    const { base_url, api_key } = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return typeof base_url === "string" && typeof api_key === "string" ? { base_url, api_key } : null;
  } catch {
    return null;
  }
}

/** Stores a service for the next visit, or forgets it; in a browser that stores nothing it lasts for this visit. */
function saveService(service: SavedService | null): void {
  try {
    if (service) localStorage.setItem(NAME, JSON.stringify(service));
    else localStorage.removeItem(NAME);
  } catch {}
}

function onServiceSaved(changed: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === NAME || key === null) changed();
  });
}

/**
 * Removes the key (`#key=…`, as in the link that `npm run dev` prints) from the page's address, opens the console, and returns
 * the key; null when there is none. Ignores the key on another machine's page: the link may come from a stranger, who would see
 * what the visitor does with it.
 */
function consumeLinkedKey(): string | null {
  const key = /^#key=([\x21-\x7e]{1,512})$/.exec(location.hash)?.[1];
  if (key === undefined) return null;
  // The key must not stay in the tab's history.
  history.replaceState(history.state, "", "/console");
  return isLoopback(location.hostname) ? key : null;
}
