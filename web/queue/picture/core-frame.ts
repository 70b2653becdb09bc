import type { LocalClient } from "../../../src/browser/index.ts";
import { MediaError, type MediaInput } from "../../../src/index.ts";
import { createTurns } from "../turns.ts";

/** A visitor's file; a URL would have to be downloaded for one frame. */
export type OwnFile = Exclude<MediaInput, string>;

export interface WantedFrame {
  /** In seconds; absent for a still picture. */
  at?: number;
  /** In pixels; absent for its own height. */
  height?: number;
  /** What keeps transparency; JPEG when absent. */
  format?: "png";
}

// Each one reloads the file, and the visitor's encodes come first.
const inTurn = createTurns(1);

/**
 * Decodes a frame of a file with the core, for what the browser cannot show; rejects with a MediaError, or when `signal`
 * aborts.
 */
export function coreFrame(
  device: LocalClient,
  input: OwnFile,
  { at, height, format }: WantedFrame,
  signal: AbortSignal = new AbortController().signal,
): Promise<Blob> {
  return inTurn(async () => {
    signal.throwIfAborted();
    const options = {
      format: format ?? "jpeg",
      ...(at && { start: at }),
      ...(height && { height }),
    } as const;
    const { id } = await device.tasks.create({ kind: "image", input, options });
    try {
      const { error } = await device.tasks.wait(id, { signal: signal });
      if (error) throw new MediaError(error.kind, error.message, error);
      const output = await device.output(id);
      // Read before its file is deleted.
      return new Blob([await (await output.blob()).arrayBuffer()], { type: `image/${options.format}` });
    } finally {
      await device.tasks.cancel(id).catch(() => {});
      void device.tasks.delete(id).catch(() => {});
    }
  });
}
