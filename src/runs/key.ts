import { z } from "zod";
import { closed, timestamp, wholeWithin } from "../media/fields.ts";
import { parseBody } from "../media/parse-body.ts";

/**
 * The permissions of keys, none of which includes another: read, change, manage keys and read metrics, sign requests to the storage
 * of connections, and manage connections.
 */
export const SCOPES = ["read", "write", "admin", "connections.sign", "connections.manage"] as const;
/** A permission of a key. */
export type Scope = (typeof SCOPES)[number];

/** The default permissions, and those of keys older than scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ["read", "write"];

/** Bounds of keys: characters of a name, and seconds for which a replaced secret stays valid. */
export const KEY_BOUNDS = {
  name: { max: 100 },
  keep_seconds: { min: 0, max: 604_800, default: 86_400 },
} as const;

const name = z
  .string(`must be a text of 1 to ${KEY_BOUNDS.name.max} characters, none of them a control character.`)
  .min(1)
  .max(KEY_BOUNDS.name.max)
  // Names are also printed to terminals.
  .refine((text) => !/\p{Cc}/u.test(text))
  .meta({ description: "A name of your choice.", example: "Web shop" });

const CHOICE = `must be a list of at least one of ${SCOPES.join(", ")}.`;

/** Body of `POST /keys`. */
export const KeyRequest = closed({
  name,
  scopes: z
    .array(z.enum(SCOPES, CHOICE), CHOICE)
    .min(1)
    .optional()
    .meta({
      description: `The permissions of the key: \`read\` is GET and HEAD, \`write\` is every other method, \`admin\` manages keys and reads metrics, \`connections.sign\` signs requests to the storage of connections, \`connections.manage\` creates, changes and deletes connections. A key can only grant scopes that it has itself. Default ${DEFAULT_SCOPES.join(", ")}, if the requesting key has them.`,
      example: ["read"],
    }),
}).meta({ id: "KeyRequest" });
/** A valid request for a key. */
export type KeyRequest = z.infer<typeof KeyRequest>;

/** Body of `POST /keys/{id}/roll`. */
export const RollRequest = closed({
  keep_seconds: wholeWithin(KEY_BOUNDS.keep_seconds)
    .optional()
    .meta({
      description: `Seconds for which the old secret stays valid beside the new one; default ${KEY_BOUNDS.keep_seconds.default}, a day. 0 revokes it at once.`,
    }),
}).meta({ id: "RollRequest" });
/** How to replace a key's secret. */
export type RollRequest = z.infer<typeof RollRequest>;

/** An API key of a project, without its secret. */
export const ApiKey = z
  .object({
    id: z.string().meta({ example: "key_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("key"),
    name,
    scopes: z.array(z.enum(SCOPES)),
    created_at: timestamp,
    last_used_at: timestamp
      .nullable()
      .meta({ description: "Time of the last use, which may be a few minutes old; null before the first." }),
  })
  .meta({ id: "Key" });
/** An API key of a project, without its secret. */
export type ApiKey = z.infer<typeof ApiKey>;

/** The response to `POST /keys` and `POST /keys/{id}/roll`, the only one with the secret. */
export const NewApiKey = ApiKey.extend({
  secret: z.string().optional().meta({
    description:
      "The secret that a request sends after `Bearer`. It is returned only once: the repeated response to an `Idempotency-Key` lacks it.",
    example: "fw_live_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABCDEFGHIJ01234",
  }),
}).meta({ id: "NewKey" });
/** The response to `POST /keys` and `POST /keys/{id}/roll`, the only one with the secret. */
export type NewApiKey = z.infer<typeof NewApiKey>;

/** Parses the body of `POST /keys`; throws `request_invalid` with the field at fault. */
export function parseKeyRequest(body: unknown): KeyRequest {
  return parseBody(KeyRequest, body);
}

/** Parses the body of `POST /keys/{id}/roll`; throws `request_invalid` with the field at fault. */
export function parseRollRequest(body: unknown): RollRequest {
  return parseBody(RollRequest, body);
}
