import { MediaError } from "../../../src/index.ts";

// Missing in some browsers, and in TypeScript's own types.
interface Pickers {
  showSaveFilePicker?(options: { suggestedName: string; id: string }): Promise<FileSystemFileHandle>;
  showDirectoryPicker?(options: { mode: "readwrite"; id: string }): Promise<FileSystemDirectoryHandle>;
}

const ID = "framewright";

const pickers = () => globalThis as Pickers;

/** Returns whether the visitor can choose a folder to save to. */
export function canPickFolder(): boolean {
  return pickers().showDirectoryPicker !== undefined;
}

/** Returns whether the visitor can choose where to save a file, so that it can be written piece by piece. */
export function canPickFile(): boolean {
  return pickers().showSaveFilePicker !== undefined;
}

/** Asks where to save a file, which needs a click; resolves to null when the visitor closes the dialog. */
export function pickFile(suggestedName: string): Promise<FileSystemFileHandle | null> {
  return asked(pickers().showSaveFilePicker?.({ suggestedName, id: ID }));
}

/** Asks for a writable folder, which needs a click; resolves to null when the visitor closes the dialog. */
export function pickFolder(): Promise<FileSystemDirectoryHandle | null> {
  return asked(pickers().showDirectoryPicker?.({ mode: "readwrite", id: ID }));
}

async function asked<T>(answer: Promise<T> | undefined): Promise<T | null> {
  try {
    return (await answer) ?? null;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") return null;
    throw new MediaError(
      "forbidden",
      "The browser does not let this page save there. Choose another folder.",
      {
        cause,
      },
    );
  }
}
