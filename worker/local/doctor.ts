import { execFile } from "node:child_process";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import { unstable_readConfig as readConfig } from "wrangler";
import { createRemoteClient, type RemoteClient, type Task } from "../../src/client/index.ts";
import { toMediaError } from "../../src/media/errors.ts";
import { runMain } from "./cli.ts";
import * as errors from "./errors.ts";
import { WORKERS } from "./service.ts";
import { ROOT } from "./settings.ts";
import { runWrangler } from "./system.ts";

/** The checked parts of wrangler's configuration. */
export interface Config {
  kv_namespaces: { binding: string; id?: string }[];
  r2_buckets: { binding: string; bucket_name?: string }[];
  durable_objects: { bindings: { name: string }[] };
  workflows: { binding: string }[];
  services?: { binding: string }[] | undefined;
  assets?: { binding?: string } | undefined;
  containers?: { image?: string }[] | undefined;
}

const PLACEHOLDER = /^0+$/;
const BINDINGS = [
  "KV",
  "MEDIA",
  "ASSETS",
  "ENCODER",
  "RUN",
  "RUN_2",
  "RUN_3",
  "TASK",
  "JOB",
  "PROJECT",
  "KEYS",
  "QUEUE",
  "UPLOAD",
  "IMAGE",
  "NATIVE",
] as const;
const SECRETS = {
  MEDIA_SIGNING_KEY: "without it the service answers every request with 503",
  CONNECTION_KEYS: "without it there are no connections, webhooks or encrypted streams",
} as const;

/** Checks the account that wrangler is logged in to against `wrangler.toml`. Changes nothing. */
async function checkAccount(): Promise<Finding[]> {
  const config: Config = readConfig({ config: join(ROOT, WORKERS.framewright) });
  const account = await tryWrangler(["whoami", "--json"]);
  if (account === null) {
    const words = "wrangler is not logged in: run npx wrangler login, or set CLOUDFLARE_API_TOKEN";
    return [...checkConfig(config), { what: "Account", state: "missing", words }, await checkDocker(config)];
  }
  const findings = await Promise.all([
    checkPlan(account),
    checkNamespace(config),
    checkBucket(config),
    checkEncoder(),
    checkSecrets(),
    checkDocker(config),
  ]);
  const login: Finding = { what: "Account", state: "ok", words: "wrangler is logged in" };
  return [...checkConfig(config), login, ...findings.flat()];
}

/** Checks that a configuration has the bindings and ids that the service needs. */
export function checkConfig(config: Config): Finding[] {
  const { kv_namespaces, r2_buckets, durable_objects, workflows, services = [], assets = {} } = config;
  const bound = [kv_namespaces, r2_buckets, durable_objects.bindings, workflows, services, assets].flat();
  const names = new Set(
    bound.map((each) => ("binding" in each ? each.binding : "name" in each ? each.name : "")),
  );
  const lacking = BINDINGS.filter((name) => !names.has(name));
  const placeholder = kv_namespaces.some(({ id }) => PLACEHOLDER.test(id ?? ""));
  return [
    lacking.length === 0
      ? { what: "Bindings", state: "ok", words: "wrangler.toml has all of them" }
      : { what: "Bindings", state: "missing", words: `wrangler.toml lacks ${lacking.join(", ")}` },
    ...(placeholder
      ? [
          {
            what: "KV id",
            state: "missing" as const,
            words:
              "run npx wrangler kv namespace create KV, and put the id that it prints into wrangler.toml",
          },
        ]
      : []),
  ];
}

// wrangler does not read the plan. https://developers.cloudflare.com/api/resources/accounts/subresources/subscriptions/
async function checkPlan(account: string): Promise<Finding> {
  const what = "Workers Paid";
  const { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_ACCOUNT_ID: accountId } = process.env;
  const { accounts = [] } = JSON.parse(account) as { accounts?: { id: string }[] };
  const id = accountId || (accounts.length === 1 ? accounts[0]?.id : undefined);
  const base = process.env.CLOUDFLARE_API_BASE_URL ?? "https://api.cloudflare.com/client/v4";
  const headers = { Authorization: `Bearer ${token}` };
  const request = token && id && fetch(`${base}/accounts/${id}/subscriptions`, { headers });
  const answer = await Promise.resolve(request || null).catch(() => null);
  if (!answer?.ok) {
    const words =
      "set CLOUDFLARE_API_TOKEN to a token that may read billing to see the plan; on the free one, deploying ends with an error about cpu_ms";
    return { what, state: "unknown", words };
  }
  const { result = [] } = (await answer.json()) as { result?: { rate_plan?: { id?: string } }[] };
  if (result.some(({ rate_plan }) => /^workers_paid/.test(rate_plan?.id ?? "")))
    return { what, state: "ok", words: "the account has it" };
  return { what, state: "missing", words: "the account is on the free plan, which has no containers" };
}

async function checkNamespace({ kv_namespaces }: Config): Promise<Finding> {
  const what = "KV namespace";
  const output = await tryWrangler(["kv", "namespace", "list"]);
  if (output === null)
    return { what, state: "unknown", words: "the account's namespaces could not be listed" };
  const ids = new Set((JSON.parse(output) as { id: string }[]).map(({ id }) => id));
  const lacking = kv_namespaces.map(({ id }) => id ?? "").filter((id) => !ids.has(id));
  if (lacking.length === 0) return { what, state: "ok", words: "it is in the account" };
  return { what, state: "missing", words: `the account has none with the id ${lacking.join(", ")}` };
}

async function checkBucket({ r2_buckets }: Config): Promise<Finding> {
  const names = r2_buckets.map(({ bucket_name }) => bucket_name ?? "");
  for (const name of names) {
    if ((await tryWrangler(["r2", "bucket", "info", name])) === null) {
      const words = `run npx wrangler r2 bucket create ${name}`;
      return { what: "R2 bucket", state: "missing", words };
    }
  }
  return { what: "R2 bucket", state: "ok", words: names.join(", ") };
}

async function checkEncoder(): Promise<Finding> {
  const what = "Encoder Worker";
  const config = WORKERS["framewright-encoder"];
  if ((await tryWrangler(["deployments", "list", "--config", config])) !== null) {
    return { what, state: "ok", words: "it is deployed" };
  }
  return { what, state: "missing", words: `run npm run build, then npx wrangler deploy --config ${config}` };
}

async function checkSecrets(): Promise<Finding[]> {
  const output = await tryWrangler(["secret", "list", "--format", "json"]);
  if (output === null) {
    const words = "the service is not deployed yet: run npx wrangler deploy";
    return [{ what: "Service Worker", state: "missing", words }];
  }
  const names = new Set((JSON.parse(output) as { name: string }[]).map(({ name }) => name));
  const keys = ["API_KEYS", "OPERATOR_KEY"].some((name) => names.has(name));
  const findings: Finding[] = Object.entries(SECRETS).map(([name, without]) =>
    names.has(name)
      ? { what: name, state: "ok", words: "it is set" }
      : { what: name, state: "missing", words: `${without}: run npx wrangler secret put ${name}` },
  );
  const what = "API_KEYS or OPERATOR_KEY";
  if (keys) return [...findings, { what, state: "ok", words: "one is set" }];
  const words = "without either nobody has a key: run npx wrangler secret put OPERATOR_KEY";
  return [...findings, { what, state: "missing", words }];
}

async function checkDocker({ containers = [] }: Config): Promise<Finding> {
  const what = "Docker";
  const built = containers.some(({ image = "" }) => /Dockerfile$|^\.?\//.test(image));
  if (!built) return { what, state: "ok", words: "no image is built here" };
  const answer = await promisify(execFile)("docker", ["info"]).catch(() => null);
  if (answer) return { what, state: "ok", words: "its engine runs" };
  const words =
    "wrangler deploy builds the native encoder's image with it; start it, or deploy without containers";
  return { what, state: "missing", words };
}

function tryWrangler(args: readonly string[]): Promise<string | null> {
  return runWrangler(args).catch(() => null);
}

/** The trial of each encoder: a picture in a format that only this encoder writes. */
const TRIALS = {
  light: { format: "jpeg", begins: /^\xff\xd8\xff/ },
  native: { format: "avif", begins: /^....ftypavif/s },
} as const;

/** Uploads a picture to a deployed service, encodes it on each encoder and checks the outputs; deletes everything that it created. */
async function checkService(baseUrl: string, apiKey: string): Promise<Finding[]> {
  const client = createRemoteClient({ baseUrl, apiKey });
  const findings: Finding[] = [];
  try {
    const upload = await client.uploads.send(new Blob([drawPicture()], { type: "image/png" }));
    findings.push({ what: "Upload", state: "ok", words: "a picture is in storage" });
    for (const [encoder, trial] of Object.entries(TRIALS)) {
      findings.push(await tryEncoder(client, encoder, upload.url ?? "", trial));
    }
    await client.uploads.delete(upload.id);
  } catch (thrown) {
    findings.push({ what: "Service", state: "missing", words: wordsOf(thrown) });
  } finally {
    client.close();
  }
  return findings;
}

async function tryEncoder(
  client: RemoteClient,
  encoder: string,
  input: string,
  { format, begins }: (typeof TRIALS)[keyof typeof TRIALS],
): Promise<Finding> {
  const what = `Task on the ${encoder} encoder`;
  let task: Task | undefined;
  try {
    task = await client.tasks.create({ input, kind: "image", options: { format } });
    const done = await client.tasks.wait(task);
    if (done.error) return { what, state: "missing", words: done.error.message };
    const bytes = await (await client.output(done)).blob();
    const start = Buffer.from(await bytes.arrayBuffer()).toString("latin1", 0, 16);
    if (!begins.test(start)) return { what, state: "missing", words: `the output is no ${format}` };
    const used = done.steps.find(({ kind }) => kind === "image")?.output;
    const by = used && "encoder" in used ? used.encoder : "unknown";
    return by === encoder
      ? { what, state: "ok", words: `${format} of ${bytes.size} bytes` }
      : { what, state: "missing", words: `the ${by} encoder did the work` };
  } catch (thrown) {
    return { what, state: "missing", words: wordsOf(thrown) };
  } finally {
    if (task) await client.tasks.delete(task.id).catch(() => {});
  }
}

function wordsOf(thrown: unknown): string {
  return toMediaError(thrown).message;
}

const SIDE = 64;

function drawPicture(): Buffer<ArrayBuffer> {
  const rows = Buffer.alloc(SIDE * (1 + SIDE * 3));
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      rows.set([x * 4, y * 4, 128], y * (1 + SIDE * 3) + 1 + x * 3);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIDE, 0);
  head.writeUInt32BE(SIDE, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

interface Finding {
  /** The subject of the check, such as `R2 bucket`. */
  what: string;
  /** `unknown` when it cannot be checked from here; only `missing` makes the doctor fail. */
  state: "ok" | "missing" | "unknown";
  /** The result, and what to do if something is missing. */
  words: string;
}

const MARKS = { ok: "ok     ", missing: "MISSING", unknown: "unknown" } as const;

function lineOf({ what, state, words }: Finding): string {
  return `${MARKS[state]}  ${what}: ${words}`;
}

const USAGE = `npm run doctor                         checks the account that wrangler is logged in to against wrangler.toml
API_KEY=… npm run doctor -- --url URL  checks the service at that URL too, with a task on each of its encoders
API_KEY=… npm run doctor -- --url URL --service
                                       checks the service alone

It prints a line for each check and exits with code 1 if something is missing. It changes nothing but the tasks, which it deletes.`;

async function checkDeployment(): Promise<void> {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      service: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { API_KEY } = process.env;
  if (values.service && values.url === undefined) throw errors.urlMissing();
  if (values.url !== undefined && !API_KEY) throw errors.apiKeyMissing();
  const findings: Finding[] = [];
  const report = (results: Finding[]) => {
    for (const finding of results) console.log(lineOf(finding));
    findings.push(...results);
  };
  if (!values.service) report(await checkAccount());
  if (values.url !== undefined && API_KEY) report(await checkService(values.url, API_KEY));
  if (findings.some(({ state }) => state === "missing")) process.exitCode = 1;
}

if (import.meta.main) runMain(checkDeployment);
