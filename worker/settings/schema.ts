import { z } from "zod";
import {
  apiKeys,
  baseUrl,
  baseUrls,
  bearerKeys,
  choice,
  fineSeconds,
  flag,
  hosts,
  origins,
  pageOrigins,
  seconds,
  secret,
  secrets,
  size,
  text,
  UNSET,
  whole,
} from "./fields.ts";

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
