/**
 * Orders to the worker: open an empty file, append bytes to it, close it. It answers each with null, or with the name of the
 * error.
 */
export type StashOrder = { readonly path: readonly [folder: string, name: string] } | Uint8Array | "close";

interface SyncAccess {
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}
interface WorkerScope {
  onmessage: ((event: MessageEvent<StashOrder>) => void) | null;
  postMessage(answer: string | null): void;
}
type SyncFile = FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncAccess> };

const scope = globalThis as unknown as WorkerScope;
let access: SyncAccess | null = null;
let at = 0;

scope.onmessage = ({ data }) =>
  void carryOut(data).then(
    () => scope.postMessage(null),
    (thrown: unknown) => {
      // The page cannot delete an open file.
      access?.close();
      scope.postMessage(thrown instanceof Error ? thrown.name : "UnknownError");
    },
  );

async function carryOut(order: StashOrder): Promise<void> {
  if (order === "close") {
    access?.flush();
    access?.close();
  } else if (order instanceof Uint8Array) write(order);
  else access = await open(order.path);
}

async function open([folder, name]: readonly [string, string]): Promise<SyncAccess> {
  const root = await navigator.storage.getDirectory();
  const file = await (await root.getDirectoryHandle(folder)).getFileHandle(name);
  return (file as SyncFile).createSyncAccessHandle();
}

function write(bytes: Uint8Array): void {
  for (let rest = bytes; rest.length > 0; ) {
    const written = access?.write(rest, { at }) ?? 0;
    if (written === 0) throw new DOMException("There is no space left.", "QuotaExceededError");
    at += written;
    rest = rest.subarray(written);
  }
}
