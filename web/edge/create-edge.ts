import { signal } from "@preact/signals";
import type { RemoteClient } from "../../src/client/index.ts";
import { MediaError } from "../../src/index.ts";
import type { Edge, EdgeConnection, EdgeLoss } from "./edge.ts";
import { takeLinkedKey } from "./key-link.ts";
import { parseAddress, parseKey, reachService } from "./reach-service.ts";
import { onServiceSaved, readService, type SavedService, saveService } from "./saved-service.ts";

/**
 * Creates the page's {@link Edge}. After the first paint it connects by the key in the page's address, or reconnects to the service
 * of an earlier visit.
 */
export function createEdge(): Edge {
  const connection = signal<EdgeConnection | null>(null);
  const restoring = signal(readService() !== null);
  const loss = signal<EdgeLoss | null>(null);
  // A restored connection gives way to one made in the meantime.
  let turn = 0;

  function become(next: EdgeConnection | null, lost: EdgeLoss | null = null): void {
    const before = connection.value;
    turn++;
    connection.value = next;
    restoring.value = false;
    loss.value = lost;
    void before?.client.close();
  }

  async function restore(): Promise<void> {
    const mine = ++turn;
    const saved = readService();
    if (!saved) return become(null);
    try {
      const client = await clientOf(saved);
      if (mine !== turn) return void client.close();
      const made = { base_url: saved.base_url, client };
      // A service that is away for a while should not be forgotten.
      become(made);
      await checkKey(client).catch((thrown) => isRefusal(thrown) && edge.lose(made));
    } catch {
      if (mine === turn) become(null, { base_url: saved.base_url, message: UNLOADED });
    }
  }

  const edge: Edge = {
    connection,
    restoring,
    loss,
    async connect(address, key) {
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
    lose(lost) {
      if (connection.value !== lost) return;
      saveService(null);
      become(null, { base_url: lost.base_url, message: LOST });
    },
  };
  async function followLink(key: string): Promise<void> {
    restoring.value = true;
    await edge.connect(location.origin, key).catch((thrown: unknown) => {
      const message = thrown instanceof MediaError ? thrown.message : UNLOADED;
      become(null, { base_url: location.origin, message });
    });
  }

  const linked = takeLinkedKey();
  if (linked !== null) setTimeout(followLink, 0, linked);
  else if (restoring.value) setTimeout(restore);
  // The link was opened in a tab that has the page already.
  addEventListener("hashchange", () => {
    const key = takeLinkedKey();
    if (key !== null) void followLink(key);
  });
  onServiceSaved(restore);
  return edge;
}

const LOST = "The service no longer accepts this page's key; it may have been revoked. Enter another.";
const UNLOADED = "A part of the page is missing, so it could not reconnect. Reload the page.";

// Loaded later, because the first view does not need the client and its schemas.
async function clientOf({ base_url, api_key }: SavedService): Promise<RemoteClient> {
  const { createRemoteClient } = await import("../../src/client/index.ts");
  return createRemoteClient({ baseUrl: base_url, apiKey: api_key });
}

async function checkKey(client: RemoteClient): Promise<void> {
  await client.tasks.list({ limit: 1 }).catch((thrown: unknown) => {
    // A key that is forbidden this request is still a known key.
    if (!(thrown instanceof MediaError) || thrown.kind !== "forbidden") throw thrown;
  });
}

/** Returns whether an error means that the service does not know its key. */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof MediaError && (thrown.kind === "token_invalid" || thrown.kind === "token_missing");
}

function unknownKey(): MediaError {
  return new MediaError(
    "token_invalid",
    "The service does not know this key. Check it, or ask for another.",
    {
      param: "api_key",
    },
  );
}
