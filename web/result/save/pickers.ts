import { MediaError } from "../../../src/index.ts";

// Not every browser has them, and TypeScript's own types do not.
interface Pickers {
  showSaveFilePicker?(options: { suggestedName: string; id: string }): Promise<FileSystemFileHandle>;
  showDirectoryPicker?(options: { mode: "readwrite"; id: string }): Promise<FileSystemDirectoryHandle>;
}

const ID = "framewright";

const pickers = () => globalThis as Pickers;

/** True where the visitor can choose a folder to save to. */
export function canPickFolder(): boolean {
  return pickers().showDirectoryPicker !== undefined;
}

/** True where the visitor can choose where a file is saved, so that it can be written piece by piece. */
export function canPickFile(): boolean {
  return pickers().showSaveFilePicker !== undefined;
}

/** Asks for a place for a file, which needs a click; gives null when the visitor closes the dialog. */
export function pickFile(suggestedName: string): Promise<FileSystemFileHandle | null> {
  return asked(pickers().showSaveFilePicker?.({ suggestedName, id: ID }));
}

/** Asks for a folder that may be written to, which needs a click; gives null when the visitor closes the dialog. */
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
