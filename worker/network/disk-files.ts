import { errors } from "../errors.ts";

/** The directory of workerd's own disk service, as a binding of the local service. */
export interface DiskService {
  fetch(url: string, init?: RequestInit): Promise<Response>;
}

/** A file that holds bytes of an object. */
export interface DiskFile {
  path: string;
  size: number;
}

/** Bytes to write. */
export type DiskBody = ReadableStream | ArrayBuffer | ArrayBufferView;

/** The files of a directory. */
export interface DiskFiles {
  /** Returns a file's size; null when there is none. */
  size(path: string): Promise<number | null>;
  /** Reads a small file; null when there is none. */
  read(path: string): Promise<string | null>;
  /** Reads a range of files, one after another. */
  join(files: readonly DiskFile[], start: number, end: number): Promise<ReadableStream>;
  /** Writes a file, whole or not at all. */
  write(path: string, body: DiskBody): Promise<DiskFile>;
  /** Lists a folder, sorted; empty when there is none. */
  list(folder: string): Promise<{ name: string; type: string }[]>;
  /** Removes a file, or a folder with all that it holds. */
  remove(path: string): Promise<void>;
}

/** Reaches the files of a directory through workerd, which reads and writes them itself. */
export function createDiskFiles(disk: DiskService): DiskFiles {
  const ask = (method: string, path: string, init: RequestInit = {}) =>
    disk.fetch(`http://disk/${path}`, { method, ...init });

  async function size(path: string): Promise<number | null> {
    const { status, headers } = await ask("HEAD", path);
    return status === 200 ? Number(headers.get("Content-Length")) : null;
  }

  async function remove(path: string): Promise<void> {
    await ask("DELETE", path);
  }

  async function openRange({ path }: DiskFile, start: number, end: number): Promise<ReadableStream> {
    // A range of the whole file is answered with 200, as any other request for it.
    const response = await ask("GET", path, { headers: { Range: `bytes=${start}-${end - 1}` } });
    const length = Number(response.headers.get("Content-Length"));
    if (response.ok && response.body && length === end - start) return response.body;
    await response.body?.cancel();
    throw errors.diskObjectLost();
  }

  return {
    size,
    remove,
    async read(path) {
      const response = await ask("GET", path);
      if (response.status === 200) return response.text();
      await response.body?.cancel();
      return null;
    },
    async join(files, start, end) {
      const parts: (() => Promise<ReadableStream>)[] = [];
      let offset = 0;
      for (const file of files) {
        const from = Math.max(0, start - offset);
        const to = Math.min(file.size, end - offset);
        if (from < to) parts.push(() => openRange(file, from, to));
        offset += file.size;
      }
      const [first, ...more] = parts;
      if (!first) return new Blob([]).stream();
      const opened = await first();
      if (more.length === 0) return opened;
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const pipeAll = async () => {
        await opened.pipeTo(writable, { preventClose: true });
        for (const open of more) await (await open()).pipeTo(writable, { preventClose: true });
        await writable.close();
      };
      pipeAll().catch((thrown: unknown) => writable.abort(thrown).catch(() => {}));
      return readable;
    },
    async write(path, body) {
      const fault = watchEnd(body);
      const response = await ask("PUT", path, { body: fault.body as BodyInit });
      const written = await size(path);
      const whole = fault.size() === written;
      if (response.ok && whole && written !== null) return { path, size: written };
      await remove(path);
      throw whole ? errors.diskFailed({ status: response.status }) : errors.diskFull();
    },
    async list(folder) {
      const response = await ask("GET", folder);
      if (response.headers.get("Content-Type") !== "application/json") {
        await response.body?.cancel();
        return [];
      }
      const listed = (await response.json()) as { name: string; type: string }[];
      return listed.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
}

// The disk service keeps what came of a stream that broke off, and calls that a success.
function watchEnd(body: DiskBody): { body: DiskBody; size(): number | null } {
  if (!(body instanceof ReadableStream)) return { body, size: () => body.byteLength };
  let passed = 0;
  let ended = false;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        passed += bytes.byteLength;
        controller.enqueue(bytes);
      },
      flush() {
        ended = true;
      },
    }),
  );
  return { body: counted, size: () => (ended ? passed : null) };
}
