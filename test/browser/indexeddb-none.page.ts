import assert from "node:assert/strict";
import { openIndexedDb } from "../../src/stores/indexeddb.ts";
import type { Cases } from "./cases.ts";

const REFUSED = {
  kind: "service_unavailable",
  retryable: false,
  message: "The browser denies this page a database, as in some private windows.",
};

/** Stores in browsers without a database; each case breaks its own worker. */
export const CASES: Cases = {
  "rejects where the browser has no IndexedDB": async () => {
    Object.defineProperty(globalThis, "indexedDB", { value: undefined });
    await assert.rejects(openIndexedDb({ name: "none" }), REFUSED);
  },
  "rejects where access to IndexedDB is denied": async () => {
    Object.defineProperty(globalThis, "indexedDB", {
      get() {
        throw new DOMException("Not here.", "SecurityError");
      },
    });
    await assert.rejects(openIndexedDb({ name: "none" }), REFUSED);
  },
  "rejects where opening a database fails": async () => {
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
