import type { ReadonlySignal } from "@preact/signals";
import type { RemoteClient } from "../../src/client/index.ts";

export interface EdgeConnection {
  /** Without a trailing slash. */
  readonly base_url: string;
  readonly client: RemoteClient;
}

/** A connection that ended without the visitor's action, and why. */
export interface EdgeLoss {
  readonly base_url: string;
  readonly message: string;
}

/** The page's connection to a service. Its key is stored in this browser only; a link that signs in has it in its fragment, which is removed at once. */
export interface Edge {
  /** Null while there is none. */
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
