import type { ReadonlySignal } from "@preact/signals";
import type { RemoteClient } from "../../src/client/index.ts";

/** A service that the visitor connected the page with. */
export interface EdgeConnection {
  readonly base_url: string;
  readonly client: RemoteClient;
}

/** The page's connection with a service. Its key is kept in this browser alone, and never in a URL. */
export interface Edge {
  /** Null while there is none. */
  readonly connection: ReadonlySignal<EdgeConnection | null>;
  /** Connects, and keeps address and key for the next visit; rejects with a MediaError when the service does not answer or does not know the key. */
  connect(base_url: string, api_key: string): Promise<void>;
  /** Forgets address and key. */
  disconnect(): void;
}
