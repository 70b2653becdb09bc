import assert from "node:assert/strict";
import { openIndexedDb } from "../../src/stores/indexeddb.ts";
import type { Cases } from "./cases.ts";

const REFUSED = {
  kind: "service_unavailable",
  retryable: false,
  message: "The browser denies this page a database, as in some private windows.",
};

/** Stores in browsers that give no database; each case spoils its worker. */
export const CASES: Cases = {
  "says that there is no database where the browser has none": async () => {
    Object.defineProperty(globalThis, "indexedDB", { value: undefined });
    await assert.rejects(openIndexedDb({ name: "none" }), REFUSED);
  },
  "says that there is no database where access is refused": async () => {
    Object.defineProperty(globalThis, "indexedDB", {
      get() {
        throw new DOMException("Not here.", "SecurityError");
      },
    });
    await assert.rejects(openIndexedDb({ name: "none" }), REFUSED);
  },
  "says that there is no database where opening one fails": async () => {
    IDBFactory.prototype.open = () => {
      const request = new EventTarget();
      setTimeout(() => {
        const error = new DOMException("Internal error.", "UnknownError");
        Object.defineProperty(request, "error", { value: error });
        request.dispatchEvent(new Event("error"));
      });
      return Object.setPrototypeOf(request, IDBOpenDBRequest.prototype);
    };
    await assert.rejects(openIndexedDb({ name: "none" }), REFUSED);
  },
};
