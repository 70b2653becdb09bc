import {
  createLocalClient,
  type LocalClient,
  type LocalClientOptions,
} from "../../src/browser/local-client.ts";
import { CORE } from "./client-core.ts";

/** The page's globals for tests of the local client. */
export interface ClientKit {
  client: LocalClient;
  /** Fetches a file of the lab as if a visitor had chosen it. */
  file(path: string, name?: string): Promise<File>;
  base64(blob: Blob): Promise<string>;
  /** Paths of all OPFS files below the client's folder. */
  stored(): Promise<string[]>;
}

declare global {
  var kit: ClientKit;
}

/** Opens a client and publishes it as `kit`. */
export function openClientKit(options: LocalClientOptions & { name: string }): void {
  globalThis.kit = {
    // The workers as the package ships them: each is one file, and starts much sooner than its modules one by one.
    client: createLocalClient({ core: CORE, allowPrivate: true, workers: "/workers/", ...options }),
    async file(path, name = path.slice(path.lastIndexOf("/") + 1)) {
      const blob = await (await fetch(path)).blob();
      return new File([blob], name, { type: blob.type, lastModified: 1 });
    },
    async base64(blob) {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      let text = "";
      for (let at = 0; at < bytes.length; at += 0x8000) {
        text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
      }
      return btoa(text);
    },
    async stored() {
      const origin = await navigator.storage.getDirectory();
      return list(await origin.getDirectoryHandle(options.name, { create: true }));
    },
  };
}

async function list(folder: FileSystemDirectoryHandle): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const [name, handle] of folder.entries()) {
      if (handle.kind === "file") names.push(name);
      else names.push(...(await list(handle as FileSystemDirectoryHandle)).map((each) => `${name}/${each}`));
    }
  } catch (thrown) {
    // A folder may be removed while it is listed.
    if ((thrown as DOMException).name !== "NotFoundError") throw thrown;
  }
  return names.sort();
}
