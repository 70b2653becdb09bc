import { DEFAULT_FORMAT } from "../media/formats.ts";
import type { Source } from "../media/source.ts";
import type { Client, FilmstripOptions, FilmstripPicture, NewTask } from "./client.ts";
import * as errors from "./errors.ts";
import { discard, outputSource } from "./methods.ts";

const STRIP = { count: 10, height: 90 } as const;

/** Returns the request for the pictures of a filmstrip. */
export function filmstripRequest(
  input: NewTask["input"],
  options: Omit<FilmstripOptions, "signal">,
): NewTask<"image"> {
  const { count = STRIP.count, height = STRIP.height, partial, ...rest } = options;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw errors.filmstripOptionUnknown({ name: unknown });
  return {
    input,
    kind: "image",
    options: { format: DEFAULT_FORMAT.image, count, height, ...(partial !== undefined && { partial }) },
  };
}

/** Implements {@link Client.filmstrip} with a task, which it deletes afterwards. */
export async function* taskFilmstrip(
  { tasks }: Pick<Client, "tasks">,
  input: NewTask["input"],
  { signal, ...options }: FilmstripOptions,
  read: (url: string, source: Source) => Promise<Blob>,
): AsyncGenerator<FilmstripPicture, void> {
  signal?.throwIfAborted();
  const task = await tasks.create(filmstripRequest(input, options), signal && { signal });
  try {
    const source = outputSource(await tasks.wait(task, signal && { signal }));
    const { files = [], width = 0, height = 0 } = source;
    for (const { url, time = 0 } of files) yield { at: time, blob: await read(url, source), width, height };
  } finally {
    await discard(tasks, task.id);
  }
}
