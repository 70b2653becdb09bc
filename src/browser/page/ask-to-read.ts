import { MediaError } from "../../core/errors.ts";

/**
 * Asks the visitor to allow reading a file again; rejects with `input_unreachable` without a click, or when the visitor
 * refuses.
 */
export async function askToRead(handle: FileSystemFileHandle | null): Promise<void> {
  const ask = handle && (Reflect.get(handle, "requestPermission") as (() => Promise<string>) | undefined);
  if (!ask) return;
  const isGranted = await ask.call(handle).then(
    (state) => state === "granted",
    (thrown: unknown) => {
      if (!(thrown instanceof DOMException) || thrown.name !== "SecurityError") return false;
      const message = `The browser asks whether ${handle.name} may be read only after a click: call resume() from its handler, or pass the file, chosen again.`;
      throw new MediaError("input_unreachable", message, { cause: thrown, retryable: false });
    },
  );
  if (isGranted) return;
  const message = `The visitor did not allow ${handle.name} to be read: pass the file, chosen again, to resume().`;
  throw new MediaError("input_unreachable", message, { retryable: false });
}
