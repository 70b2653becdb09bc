import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { unstable_readConfig as readConfig } from "wrangler";
import { WORKERS } from "../service.ts";
import { ROOT } from "../settings.ts";
import { runWrangler } from "../wrangler.ts";
import type { Finding } from "./finding.ts";

/** The parts of wrangler's configuration that are looked at. */
export interface Config {
  kv_namespaces: { binding: string; id?: string }[];
  r2_buckets: { binding: string; bucket_name?: string }[];
  durable_objects: { bindings: { name: string }[] };
  workflows: { binding: string }[];
  services?: { binding: string }[] | undefined;
  assets?: { binding?: string } | undefined;
  containers?: { image?: string }[] | undefined;
}

// The id in the repository's wrangler.toml, which no account has.
const PLACEHOLDER = /^0+$/;
/** The bindings that the service asks for. */
const BINDINGS = [
  ...["KV", "MEDIA", "ASSETS", "ENCODER", "RUN", "RUN_2", "RUN_3"],
  ...["TASK", "JOB", "PROJECT", "KEYS", "QUEUE", "UPLOAD", "IMAGE", "NATIVE"],
] as const;
const SECRETS = {
  MEDIA_SIGNING_KEY: "without it the service answers every request with 503",
  CONNECTION_KEYS: "without it there are no connections, webhooks or encrypted streams",
} as const;

/** Checks what `wrangler.toml` names against the account that wrangler is logged in to. Changes nothing. */
export async function checkAccount(): Promise<Finding[]> {
  const config: Config = readConfig({ config: join(ROOT, WORKERS.framewright) });
  const account = await asks(["whoami", "--json"]);
  if (account === null) {
    const words = "wrangler is not logged in: run npx wrangler login, or set CLOUDFLARE_API_TOKEN";
    return [...checkConfig(config), { what: "Account", state: "missing", words }, await checkDocker(config)];
  }
  const found = await Promise.all([
    checkPlan(account),
    checkNamespace(config),
    checkBucket(config),
    checkEncoder(),
    checkSecrets(),
    checkDocker(config),
  ]);
  const login: Finding = { what: "Account", state: "ok", words: "wrangler is logged in" };
  return [...checkConfig(config), login, ...found.flat()];
}

/** Checks that a configuration has what the service asks for. */
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
            ...{ what: "KV id", state: "missing" as const },
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
  const { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_ACCOUNT_ID: chosen } = process.env;
  const { accounts = [] } = JSON.parse(account) as { accounts?: { id: string }[] };
  const id = chosen || (accounts.length === 1 ? accounts[0]?.id : undefined);
  const base = process.env.CLOUDFLARE_API_BASE_URL ?? "https://api.cloudflare.com/client/v4";
  const headers = { Authorization: `Bearer ${token}` };
  const asked = token && id && fetch(`${base}/accounts/${id}/subscriptions`, { headers });
  const answer = await Promise.resolve(asked || null).catch(() => null);
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
  const listed = await asks(["kv", "namespace", "list"]);
  if (listed === null)
    return { what, state: "unknown", words: "the account's namespaces could not be listed" };
  const ids = new Set((JSON.parse(listed) as { id: string }[]).map(({ id }) => id));
  const lacking = kv_namespaces.map(({ id }) => id ?? "").filter((id) => !ids.has(id));
  if (lacking.length === 0) return { what, state: "ok", words: "it is in the account" };
  return { what, state: "missing", words: `the account has none with the id ${lacking.join(", ")}` };
}

async function checkBucket({ r2_buckets }: Config): Promise<Finding> {
  const names = r2_buckets.map(({ bucket_name }) => bucket_name ?? "");
  for (const name of names) {
    if ((await asks(["r2", "bucket", "info", name])) === null) {
      const words = `run npx wrangler r2 bucket create ${name}`;
      return { what: "R2 bucket", state: "missing", words };
    }
  }
  return { what: "R2 bucket", state: "ok", words: names.join(", ") };
}

async function checkEncoder(): Promise<Finding> {
  const what = "Encoder Worker";
  const config = WORKERS["framewright-encoder"];
  if ((await asks(["deployments", "list", "--config", config])) !== null) {
    return { what, state: "ok", words: "it is deployed" };
  }
  return { what, state: "missing", words: `run npm run build, then npx wrangler deploy --config ${config}` };
}

async function checkSecrets(): Promise<Finding[]> {
  const listed = await asks(["secret", "list", "--format", "json"]);
  if (listed === null) {
    const words = "the service is not deployed yet: run npx wrangler deploy";
    return [{ what: "Service Worker", state: "missing", words }];
  }
  const names = new Set((JSON.parse(listed) as { name: string }[]).map(({ name }) => name));
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

function asks(args: readonly string[]): Promise<string | null> {
  return runWrangler(args).catch(() => null);
}
