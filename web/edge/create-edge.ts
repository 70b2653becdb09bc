import { signal } from "@preact/signals";
import { createRemoteClient } from "../../src/client/index.ts";
import type { Edge, EdgeConnection } from "./edge.ts";

/** Builds the page's {@link Edge}. */
export function createEdge(): Edge {
  const connection = signal<EdgeConnection | null>(null);
  return {
    connection,
    async connect(base_url, api_key) {
      const client = createRemoteClient({ baseUrl: base_url, apiKey: api_key });
      await client.tasks.list({ limit: 1 });
      connection.value = { base_url, client };
    },
    disconnect() {
      void connection.value?.client.close();
      connection.value = null;
    },
  };
}
