import { z } from "zod";
import { MediaError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { ListOptions, Page } from "../client.ts";
import { eachRecord } from "../methods.ts";
import type { Ask, Call } from "./http.ts";

const FOLDERS = {
  task: "/tasks",
  job: "/jobs",
  step: "/steps",
  connection: "/connections",
  upload: "/uploads",
  endpoint: "/webhooks/endpoints",
  delivery: "/webhooks/deliveries",
  event: "/events",
  key: "/keys",
} as const;

export type RecordType = keyof typeof FOLDERS;

export interface Records<T> {
  get(id: string, more?: Pick<Ask, "signal" | "patient">): Promise<T>;
  list(asked?: ListOptions): Promise<Page<T>>;
  each(asked?: ListOptions): AsyncGenerator<T, void>;
  /** Creates a record, exactly one however often the request is retried. */
  create<R = T>(request: unknown, schema?: z.ZodType<R>): Promise<R>;
  update(id: string, change: unknown): Promise<T>;
  delete(id: string): Promise<void>;
  act<R = T>(
    id: string,
    action: string,
    given?: Pick<Ask, "body" | "creates" | "repeats" | "signal">,
    schema?: z.ZodType<R>,
  ): Promise<R>;
}

/** Creates {@link Records} with the schema of one record; malformed ids are rejected without a request. */
export function createRecords<T extends { id: string }>(
  call: Call,
  type: RecordType,
  schema: z.ZodType<T>,
): Records<T> {
  const ask = async <R>(given: Ask, answer: z.ZodType<R>) => (await call(given, answer)).value;

  async function list({ signal, ...asked }: ListOptions = {}): Promise<Page<T>> {
    const given = Object.entries(asked).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const path = query.size > 0 ? `${FOLDERS[type]}?${query}` : FOLDERS[type];
    const { value, headers } = await call({ method: "GET", path, signal }, z.array(schema));
    return { records: value, more: headers.get("Has-More") === "true" };
  }

  return {
    get: async (id, { signal, patient = false } = {}) =>
      ask({ method: "GET", path: pathOf(type, id), signal, patient }, schema),
    list,
    each: (asked) => eachRecord(list, asked),
    create: (body, answer = schema as z.ZodType<never>) =>
      ask({ method: "POST", path: FOLDERS[type], body, creates: true }, answer),
    update: async (id, body) => ask({ method: "PATCH", path: pathOf(type, id), body }, schema),
    async delete(id) {
      await call({ method: "DELETE", path: pathOf(type, id) }, z.null());
    },
    act: async (id, action, given = {}, answer = schema as z.ZodType<never>) =>
      ask({ method: "POST", path: `${pathOf(type, id)}/${action}`, ...given }, answer),
  };
}

/** Returns the path of a record; throws its not-found error for a malformed id, which could lead elsewhere. */
export function pathOf(type: RecordType, id: string): string {
  if (isId(type, id)) return `${FOLDERS[type]}/${id}`;
  const kind = type === "upload" ? "media_not_found" : (`${type}_not_found` as const);
  throw new MediaError(kind, `There is no ${type} with that id.`);
}
