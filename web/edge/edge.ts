import type { ReadonlySignal } from "@preact/signals";
import type { RemoteClient } from "../../src/client/index.ts";

/** A service that the visitor connected the page with. */
export interface EdgeConnection {
  /** Without a slash at its end. */
  readonly base_url: string;
  readonly client: RemoteClient;
}

/** A connection that ended without the visitor's doing, and why. */
export interface EdgeLoss {
  readonly base_url: string;
  readonly message: string;
}

/** The page's connection with a service. Its key is kept in this browser alone, and never in a URL. */
export interface Edge {
  /** Null while there is none. */
  readonly connection: ReadonlySignal<EdgeConnection | null>;
  /** True while the connection of an earlier visit is made again. */
  readonly restoring: ReadonlySignal<boolean>;
  /** Why there is no connection any more, where the visitor did not end it. */
  readonly loss: ReadonlySignal<EdgeLoss | null>;
  /** Connects, and keeps address and key for the next visit; rejects with a MediaError when the service does not answer or does not know the key. */
  connect(base_url: string, api_key: string): Promise<void>;
  /** Forgets address and key. */
  disconnect(): void;
  /** Forgets a key that the service of this connection knows no more, and keeps why as `loss`. */
  lose(connection: EdgeConnection): void;
}
