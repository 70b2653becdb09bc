import { z } from "zod";
import { MediaError } from "../src/media/errors.ts";

/** The facts of a setting for messages and documentation. */
interface SettingFacts {
  /** The meaning of the setting, in Markdown. */
  meaning: string;
  /** The values that it accepts: the end of "NAME must be …". */
  accepts: string;
  unit?: "seconds" | "bytes";
  /** The value may hold a secret, so no message shows it. */
  hidden?: true;
}

/** The facts of each setting, kept for the schema inside `optional()` or `prefault()`. */
const FACTS = z.registry<SettingFacts>();

/** Describes the behavior of a setting without a default while it is not set. */
export const UNSET = z.registry<{ meaning: string }>();

/** A whole number. */
const whole = (meaning: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  integer(min, max).register(FACTS, { meaning, accepts: `a whole number ${between(min, max)}` });

/** A whole number of seconds. */
const seconds = (meaning: string, min: number, max: number) =>
  integer(min, max).register(FACTS, {
    meaning,
    accepts: `a whole number of seconds ${between(min, max)}`,
    unit: "seconds",
  });

/** A number of seconds that may have a fraction. */
const fineSeconds = (meaning: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .register(FACTS, {
      meaning,
      accepts: `a number of seconds ${between(min, max)}`,
      unit: "seconds",
    });

/** A number of bytes: digits, with or without a unit. */
const size = (meaning: string, min: string, max: string) =>
  z
    .string()
    .transform(parseSize)
    .pipe(z.int().min(parseSize(min)).max(parseSize(max)))
    .register(FACTS, {
      meaning,
      accepts: `a number of bytes, or a size such as 500 MB or 2 GiB, from ${min} to ${max}`,
      unit: "bytes",
    });

/** `true` or `false`. */
const flag = (meaning: string) =>
  z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .register(FACTS, { meaning, accepts: "true or false" });

/** One word of a fixed set. */
const choice = <const T extends readonly [string, ...string[]]>(meaning: string, words: T) =>
  z.enum(words).register(FACTS, { meaning, accepts: words.join(" or ") });

/** Any text. */
const text = (meaning: string, accepts: string) => z.string().register(FACTS, { meaning, accepts });

/** A text that must stay secret. */
const secret = (meaning: string) =>
  z.string().register(FACTS, { meaning, accepts: "a secret", hidden: true });

/** Comma-separated keys that requests carry as bearer tokens, all of them accepted. */
const bearerKeys = (meaning: string, min: number) =>
  z
    .string()
    .transform(split)
    .pipe(
      z.array(
        z
          .string()
          .min(min)
          .regex(/^[!-~]+$/),
      ),
    )
    .register(FACTS, {
      meaning,
      accepts: `comma-separated keys of at least ${min} printable characters without spaces`,
      hidden: true,
    });

/** A base URL; parsed, it has no slash at the end. A password in it is refused, but must not end up in a log either. */
const baseUrl = (meaning: string) =>
  url().register(FACTS, {
    meaning,
    accepts: "an http or https URL without a query or a password",
    hidden: true,
  });

/** Comma-separated base URLs. */
const baseUrls = (meaning: string) =>
  list(url()).register(FACTS, {
    meaning,
    accepts: "comma-separated http or https URLs without a query or a password",
    hidden: true,
  });

/** Comma-separated origins, as browsers write them. */
const origins = (meaning: string) =>
  list(z.string().refine(isOrigin)).register(FACTS, {
    meaning,
    accepts: "comma-separated origins such as https://media.example, without a path",
  });

/** Comma-separated origins of pages; `*` stands for any, `loopback` for those of this machine. */
const pageOrigins = (meaning: string) =>
  list(z.string().refine((text) => text === "*" || text === "loopback" || isOrigin(text))).register(FACTS, {
    meaning,
    accepts: "*, or comma-separated loopback and origins such as https://shop.example",
  });

/** Comma-separated hosts, in the form that `URL` returns. */
const hosts = (meaning: string) =>
  list(z.string().transform(parseHost).pipe(z.string())).register(FACTS, {
    meaning,
    accepts: "comma-separated hosts such as nas.local or 10.0.0.7:9000",
  });

/** Comma-separated API keys. */
const apiKeys = (meaning: string) =>
  list(
    z
      .string()
      .transform(parseKey)
      .pipe(z.object({ key: z.string(), project: z.string().nullable() })),
  ).register(FACTS, { meaning, accepts: "comma-separated KEY or PROJECT:KEY", hidden: true });

/** Comma-separated secrets of which the newest is used and the others are still accepted. */
const secrets = (meaning: string, min: number) =>
  z
    .string()
    // A blank entry is refused: it may stand for an older secret that is not set.
    .transform(split)
    .pipe(z.array(z.string().min(min)))
    .register(FACTS, {
      meaning,
      accepts: `comma-separated secrets of at least ${min} characters, the newest first`,
      hidden: true,
    });

/** An API key in the settings. */
export interface ListedKey {
  key: string;
  /** The project of the key; null if it is derived from the key. */
  project: string | null;
}

const url = () => z.string().transform(parseBaseUrl).pipe(z.string());

function integer(min: number, max: number) {
  return z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(min).max(max));
}

function list<T extends z.ZodType<unknown, string>>(entry: T) {
  return z
    .string()
    .transform((text) => split(text).filter((each) => each !== ""))
    .pipe(z.array(entry).min(1));
}

function split(text: string): string[] {
  return text.split(",").map((each) => each.trim());
}

function between(min: number, max: number): string {
  return max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
}

// Returns NaN for a malformed size, which fails every bound.
function parseSize(text: string): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?) ?(b|[kmgt]i?b)?$/i.exec(text) ?? [];
  const power = " kmgt".indexOf(unit.toLowerCase().charAt(0) || " ");
  const bytes = Number(digits) * (/i/i.test(unit) ? 1024 : 1000) ** Math.max(0, power);
  return power > 0 ? Math.round(bytes) : bytes;
}

function parseBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return /[?#]/.test(text) ? undefined : text.replace(/\/+$/, "");
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.parse(text)?.origin === text;
}

function parseHost(text: string): string | undefined {
  const [, port = ""] = /(:\d+)$/.exec(text) ?? [];
  const { hostname } = (/[/\\?#@*\s]/.test(text) ? null : URL.parse(`http://${text}`)) ?? {};
  return hostname ? hostname + port : undefined;
}

function parseKey(text: string): ListedKey | undefined {
  const [, project = null, key, alone] = /^(?:([\w-]{1,64}):([!-~]+)|([!-9;-~]+))$/.exec(text) ?? [];
  const secret = key ?? alone;
  return secret === undefined ? undefined : { key: secret, project };
}

const DAY = 86_400;
const YEARS = 3650 * DAY;
// Cloudflare runs 50,000 Workflow instances per account at once: half of them for each kind of work.
const MAX_INSTANCES = 50_000;
const NONE = { meaning: "none" };

const LOG_LEVELS = ["info", "error"] as const;

/** Settings of the service Worker: variables of its `wrangler.toml`, or secrets. The encoder Worker has none. */
export const ServiceSettings = z.object({
  API_KEYS: apiKeys(
    "Secret. API keys, each with a project of its own or that of `PROJECT:`, accepted beside those that `npm run keys` creates.",
  )
    .optional()
    .register(UNSET, NONE),
  OPERATOR_KEY: bearerKeys("Secret. Lets `npm run keys` manage the keys of all projects.", 32)
    .optional()
    .register(UNSET, { meaning: "none: only the keys of a project manage its keys" }),
  MAX_KEYS: whole("Keys of one project, but for those of `API_KEYS`.", 1, 10_000).prefault("100"),
  MEDIA_SIGNING_KEY: secrets("Secret. Signs media URLs; those signed with an older key stay valid.", 32),
  CONNECTION_KEYS: secrets(
    "Secret. Encrypts the secrets of connections and webhooks, and the keys of streams.",
    16,
  )
    .optional()
    .register(UNSET, { meaning: "none: no connections, webhooks or encrypted streams" }),
  ALLOW_PRIVATE_NETWORK: flag(
    "Whether inputs, webhooks and connections may be on loopback and private hosts.",
  ).prefault("false"),
  ALLOWED_HOSTS: hosts("Private hosts that are allowed as exceptions, with or without a port.")
    .optional()
    .register(UNSET, NONE),
  DNS_RESOLVER: baseUrl(
    "Resolver that callers' hosts are looked up with over HTTPS; it must answer `application/dns-json`. `wrangler.toml` sets Cloudflare's.",
  )
    .optional()
    .register(UNSET, { meaning: "none: names are not looked up" }),
  PUBLIC_URL: baseUrl("Base of the URLs that the service returns.")
    .optional()
    .register(UNSET, { meaning: "the request's origin" }),
  CORS_ORIGINS: pageOrigins(
    "Origins whose pages may call the API (with a key) and read media; `loopback` stands for those of this machine, `*` for any.",
  ).prefault("*"),
  IMAGE_ORIGINS: origins(
    "Origins whose pictures image URLs may use without a signature, such as the site's own.",
  )
    .optional()
    .register(UNSET, { meaning: "none: every image URL is signed" }),
  IMAGE_FRESH_SECONDS: seconds(
    "Time for which the picture of an image URL is served without asking its source whether it changed. One that nobody asks for is dropped `MEDIA_TTL` later.",
    1,
    YEARS,
  ).prefault("3600"),
  SERVICE_HOSTS: hosts(
    "Hosts that requests may name beside that of `PUBLIC_URL`, against DNS rebinding; `loopback` stands for the names and addresses of this machine.",
  )
    .optional()
    .register(UNSET, { meaning: "any" }),
  MEDIA_TTL: seconds("Lifetime of an output and its URL.", 1, YEARS).prefault("604800"),
  // R2 allows 10,000 parts per upload, and ours have 5 MiB.
  MAX_INPUT_BYTES: size("Largest input.", "1 B", "50 GB").prefault("5 GB"),
  DAILY_FETCHED_BYTES: size(
    "Bytes that one project may fetch from other hosts in a day, which ends at midnight UTC.",
    "1 B",
    "1000 TB",
  ).prefault("1 TB"),
  DAILY_STORED_BYTES: size(
    "Bytes of outputs and uploads that one project may store in a day.",
    "1 B",
    "1000 TB",
  ).prefault("500 GB"),
  MAX_INPUT_SECONDS: seconds("Longest input.", 1, 7 * DAY).prefault("21600"),
  // A step of the Workflow times out after 6 hours.
  INGEST_SECONDS: seconds("Time limit for fetching an input.", 1, 21_600).prefault("3600"),
  WATCH_SECONDS: seconds("Silence after which a run is checked and, if need be, woken.", 1, 3600).prefault(
    "30",
  ),
  STALL_SECONDS: seconds("Time without progress after which a run fails as `stalled`.", 1, DAY).prefault(
    "300",
  ),
  NATIVE_ENCODER_URL: baseUrls("Native encoders elsewhere, used instead of the service's own.")
    .optional()
    .register(UNSET, NONE),
  NATIVE_ENCODER_TOKEN: secret("Secret. Bearer token for the native encoders.")
    .optional()
    .register(UNSET, NONE),
  NATIVE_INSTANCES: whole(
    "Containers with the native encoder, used at once; `wrangler.toml` sets 4.",
    0,
    1000,
  ).prefault("0"),
  ENCODER_AWAY_SECONDS: seconds(
    "Time for which each of a task's three attempts awaits encoders that are away, such as while they restart, before it counts as lost.",
    0,
    3600,
  ).prefault("120"),
  MAX_CHUNKS_IN_FLIGHT: whole("Chunks of one encode that native encoders encode at once.", 1, 1000).prefault(
    "8",
  ),
  MAX_REQUESTS: whole("Requests per key and minute.", 1).prefault("300"),
  MAX_CREATIONS: whole("Requests per key and minute that create something.", 1).prefault("60"),
  MAX_RUNNING: whole("Tasks and standalone steps of one project that run at once; more wait.", 1).prefault(
    "25",
  ),
  MAX_RUNNING_TOTAL: whole(
    "Tasks and standalone steps of all projects that run at once, but for those on native encoders.",
    1,
    MAX_INSTANCES / 2,
  ).prefault("1000"),
  MAX_HEAVY_TOTAL: whole(
    "Tasks and standalone steps of all projects that use native encoders at once, half of them of one project; more wait, and hold up no other work.",
    1,
    MAX_INSTANCES / 2,
  )
    .optional()
    .register(UNSET, { meaning: "8 for each container, 16 for each of `NATIVE_ENCODER_URL`" }),
  MAX_WAITING: whole("Tasks and standalone steps of one project that may wait.", 1).prefault("1000"),
  EVENT_TTL: seconds("Lifetime of events and their deliveries.", 1, YEARS).prefault("604800"),
  RECORD_TTL: seconds(
    "Time for which lists hold a finished task, job or standalone step, at least `MEDIA_TTL`. Then it moves to an archive, from which `GET` still returns it.",
    1,
    YEARS,
  ).prefault("7776000"),
  LISTED_BYTES: size(
    "Size of a project's database above which its oldest finished tasks and standalone steps move to the archive before `RECORD_TTL`, once their output has expired. A Durable Object holds 10 GB.",
    "1 B",
    "9 GB",
  ).prefault("8 GB"),
  WEBHOOK_TIMEOUT_SECONDS: seconds("Time limit for a webhook's receiver to answer.", 1, 300).prefault("10"),
  WEBHOOK_RETRY_SECONDS: fineSeconds(
    "Delay before a delivery's second attempt; each further one is four times as long.",
    0.01,
    3600,
  ).prefault("5"),
  LOG_LEVEL: choice(
    "`error` logs faults only; `info` adds a line of JSON for every request and every finished run.",
    LOG_LEVELS,
  ).prefault("info"),
});
/** Settings of the service Worker, parsed. */
export type ServiceSettings = z.output<typeof ServiceSettings>;

const { shape } = ServiceSettings;

/**
 * Settings of the local service: environment variables of `npm run dev`, `demo` and `keys`. It passes those of the service Worker on to
 * the Worker.
 */
export const LocalSettings = ServiceSettings.omit({
  MEDIA_SIGNING_KEY: true,
  NATIVE_INSTANCES: true,
  DNS_RESOLVER: true,
}).extend({
  PORT: whole("Port on 127.0.0.1; 0 for any free one.", 0, 65_535).prefault("8787"),
  STATE_DIR: text(
    "Folder of everything that the service stores, logs included; one service at a time can use it.",
    "a folder",
  ).prefault(".framewright"),
  API_KEYS: shape.API_KEYS.unwrap()
    .optional()
    .register(UNSET, { meaning: "one, generated once, kept in `STATE_DIR`" }),
  OPERATOR_KEY: shape.OPERATOR_KEY.unwrap()
    .optional()
    .register(UNSET, { meaning: "generated once, kept in `STATE_DIR`" }),
  CONNECTION_KEYS: shape.CONNECTION_KEYS.unwrap()
    .optional()
    .register(UNSET, { meaning: "generated once, kept in `STATE_DIR`" }),
  NATIVE_ENCODER_TOKEN: shape.NATIVE_ENCODER_TOKEN.unwrap().optional().register(UNSET, { meaning: "random" }),
  // Any page in the user's browser can reach this machine.
  CORS_ORIGINS: shape.CORS_ORIGINS.unwrap().prefault("loopback"),
  SERVICE_HOSTS: shape.SERVICE_HOSTS.unwrap().prefault("loopback"),
  ALLOW_PRIVATE_NETWORK: shape.ALLOW_PRIVATE_NETWORK.unwrap().prefault("true"),
  // After a restart, local Workflows sleep until the watch wakes them, so it checks more often than at the edge.
  WATCH_SECONDS: shape.WATCH_SECONDS.unwrap().prefault("5"),
  LOG_LEVEL: shape.LOG_LEVEL.unwrap().prefault("error"),
});

/** Settings of the native encoder: environment variables of its container or process. */
export const NativeSettings = z.object({
  PORT: whole("Port; 0 for any free one.", 0, 65_535).prefault("8080"),
  HOST: text("Address to listen on; the image sets 0.0.0.0.", "an address of this machine").prefault(
    "127.0.0.1",
  ),
  NATIVE_ENCODER_TOKEN: secret(
    "Bearer token that requests must carry; required where `HOST` is not a loopback address.",
  )
    .optional()
    .register(UNSET, NONE),
  SERVICE_ORIGINS: origins(
    "Origins that jobs may read from and write to; required, as the token, where `HOST` is not a loopback address.",
  )
    .optional()
    .register(UNSET, { meaning: "any" }),
  PLACES: whole("Video jobs that run at once; one more place is for images and sound.", 1, 256)
    .optional()
    .register(UNSET, { meaning: "half the cores" }),
  LEASE_SECONDS: seconds("Time after which a job that no caller polls is ended.", 1, DAY).prefault("120"),
  GRACE_SECONDS: seconds("Time that running jobs have to finish after SIGTERM.", 0, DAY).prefault("600"),
  STALL_SECONDS: seconds("Time without progress after which an ffmpeg process is ended.", 1, DAY).prefault(
    "60",
  ),
  MAX_FILE_BYTES: size("Largest single file of an output.", "4 KiB", "1024 TiB").prefault("64 GiB"),
  MAX_MEMORY_BYTES: size(
    "Memory that all ffmpeg processes may take together. A job that does not fit beside the others is left to another encoder, or to later.",
    "64 MiB",
    "1024 TiB",
  )
    .optional()
    .register(UNSET, { meaning: "nine tenths of that of the machine or container" }),
  FFMPEG_USER: text(
    "User, by name or number, that ffmpeg runs as, apart from the server, whose secrets it then cannot read. The server needs the right to change users; the image sets `ffmpeg`.",
    "a user of this machine",
  )
    .optional()
    .register(UNSET, { meaning: "the server's own" }),
  TMPDIR: text("Folder in which jobs store their files.", "a folder")
    .optional()
    .register(UNSET, { meaning: "the system's" }),
});
/** Settings of the native encoder, parsed. */
export type NativeSettings = z.output<typeof NativeSettings>;

/** The variables of a host: texts, or the numbers and booleans of `wrangler.toml`. */
export type Variables = Readonly<Record<string, unknown>>;

/** Thrown for missing or malformed settings. The message is one line and shows the values, except those that may hold a secret. */
export class SettingsError extends MediaError {
  /** The message without values, for responses that anybody may read. */
  readonly summary: string;

  constructor(problems: readonly Problem[]) {
    const message = problems.map((problem) => explain(problem, true)).join(" ");
    super("request_invalid", message, { param: problems[0]?.name });
    this.summary = problems.map((problem) => explain(problem, false)).join(" ");
  }
}

/** Reads and checks all settings of a schema. An empty text counts as not set. Throws a {@link SettingsError} that names every missing or malformed setting. */
export function readSettings<T extends z.ZodObject>(schema: T, variables: Variables): z.output<T> {
  const texts = textsOf(schema, variables);
  const { success, data, error } = schema.safeParse(texts);
  if (success) return data;
  const problems = new Map<string, Problem>();
  for (const { path } of error.issues) {
    const [name = "", entry] = path.map(String);
    if (problems.has(name)) continue;
    problems.set(name, { name, facts: factsOf(schema.shape[name]), value: texts[name], entry });
  }
  throw new SettingsError([...problems.values()]);
}

/** Returns the texts of a schema's settings that are set. */
export function textsOf(schema: z.ZodObject, variables: Variables): Record<string, string> {
  const texts = Object.keys(schema.shape).map((name) => [name, textOf(variables[name])] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== "")) as Record<string, string>;
}

/** Returns the facts of a setting. */
export function factsOf(field: unknown): SettingFacts {
  const inner = field instanceof z.ZodPrefault || field instanceof z.ZodOptional ? field.unwrap() : field;
  // Every field of a schema is made by a function of fields.ts, which registers its facts.
  return FACTS.get(inner as z.ZodType) as SettingFacts;
}

/** Returns the text of a setting's default; undefined for none. */
export function defaultOf(field: unknown): string | undefined {
  return field instanceof z.ZodPrefault ? String(field.def.defaultValue) : undefined;
}

interface Problem {
  name: string;
  facts: SettingFacts;
  /** The text as given; undefined when the setting is absent. */
  value: string | undefined;
  /** Index in a list. */
  entry: string | undefined;
}

const MAX_SHOWN = 100;

function explain({ name, facts, value, entry }: Problem, show: boolean): string {
  if (value === undefined) return `${name} must be set to ${facts.accepts}.`;
  const rule = `${name} must be ${facts.accepts}`;
  if (show && !facts.hidden) return `${rule}, not ${JSON.stringify(value.slice(0, MAX_SHOWN))}.`;
  return entry === undefined ? `${rule}.` : `${rule}; entry ${Number(entry) + 1} is not.`;
}

function textOf(value: unknown): string {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value).trim() : "";
}

const parsed = new WeakMap<object, { settings: ServiceSettings } | { error: unknown }>();

/**
 * Reads the settings of the service Worker, once per isolate; throws a {@link SettingsError}. Durable Objects with alarms must not call it in
 * their constructor, because the platform gives up an alarm whose object fails to start.
 */
export function serviceSettings(env: object): ServiceSettings {
  const result = parsed.get(env) ?? parse(env);
  parsed.set(env, result);
  if ("error" in result) throw result.error;
  return result.settings;
}

function parse(env: object): { settings: ServiceSettings } | { error: unknown } {
  try {
    return { settings: readSettings(ServiceSettings, { ...env }) };
  } catch (error) {
    return { error };
  }
}
