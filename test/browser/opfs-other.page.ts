import assert from "node:assert/strict";
import { createOpfsStorage } from "../../src/storage/opfs.ts";
import { STORAGE_CONTRACT } from "../storage/contract.ts";
import { type Cases, casesOf } from "./cases.ts";

const without = (owner: object, name: string, value?: unknown) =>
  Object.defineProperty(owner, name, { value, configurable: true });
const name = () => `framewright-${crypto.randomUUID()}`;

const refused = (message: RegExp) => ({ kind: "service_unavailable", retryable: false, message });

// A thousand objects take long and prove nothing more here.
const CONTRACT = STORAGE_CONTRACT.filter((clause) => !clause.name.startsWith("clears more"));

/** OPFS in browsers that lack a part of it; each case breaks its own worker. */
export const CASES: Cases = {
  ...casesOf(CONTRACT, () => {
    without(FileSystemFileHandle.prototype, "move");
    return createOpfsStorage(name());
  }),
  "rejects where access to OPFS is denied": async () => {
    const refuse = () => Promise.reject(new DOMException("Not here.", "SecurityError"));
    without(StorageManager.prototype, "getDirectory", refuse);
    await assert.rejects(
      createOpfsStorage(name()),
      refused(/denies this page a file system of its own, as in some private windows/),
    );
  },
  "rejects where the browser has no OPFS": async () => {
    without(StorageManager.prototype, "getDirectory");
    await assert.rejects(createOpfsStorage(name()), refused(/denies this page a file system of its own/));
    without(Object.getPrototypeOf(navigator), "storage");
    await assert.rejects(createOpfsStorage(name()), refused(/denies this page a file system of its own/));
  },
};
