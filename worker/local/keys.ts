import { parseArgs } from "node:util";
import { createIds } from "../../src/core/ids.ts";
import { type NewApiKey, parseKeyRequest, parseRollRequest } from "../../src/core/key.ts";
import { createKeyStore, type KeyStore } from "../auth/key-store.ts";
import { createKeys, type Keys } from "../auth/manage-keys.ts";
import { runMain, wrong } from "./cli.ts";
import { wranglerNamespace } from "./keys-namespace.ts";
import { dataOf } from "./service.ts";
import { parseSettings } from "./settings.ts";

const USAGE = `npm run keys -- create NAME [--project PROJECT] [--scopes read,write,admin]
                                    creates a key and prints it once; default read,write in a new project
npm run keys -- list                lists the keys: id, creation time, project, scopes, last use and name
npm run keys -- roll ID [--keep SECONDS]
                                    prints a new secret for a key, once; the old one keeps working for a day
npm run keys -- revoke ID           revokes a key; it stops working within half a minute

The keys are those of the local service (STATE_DIR) or, with --remote, of the deployed one that wrangler.toml names.`;

// npm run keys: stores only the SHA-256 of a key, in KV, where the service looks it up.
runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      project: { type: "string" },
      scopes: { type: "string" },
      keep: { type: "string" },
      remote: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  const [command, argument, ...rest] = positionals;
  const where = values.remote
    ? ["--remote"]
    : ["--local", "--persist-to", dataOf(parseSettings(process.env))];
  const store = listedOnce(createKeyStore(wranglerNamespace(where)));
  // The output of create and roll has no last use.
  const keys = createKeys({ ...store, uses: async () => new Map() }, Date.now);
  if (values.help || rest.length > 0) console.log(USAGE);
  else if (command === "create" && argument) await create(keys, argument, values);
  else if (command === "list" && !argument) await list(store);
  else if (command === "roll" && argument)
    await roll(keys, await projectOf(store, argument), argument, values);
  else if (command === "revoke" && argument) {
    await keys.revoke(await projectOf(store, argument), argument);
    console.error(`${argument} is revoked.`);
  } else wrong(`Unknown command or wrong arguments.\n\n${USAGE}`);
});

async function create(
  keys: Keys,
  name: string,
  { project, scopes }: { project?: string; scopes?: string },
): Promise<void> {
  if (project !== undefined && !/^[\w-]{1,64}$/.test(project)) {
    wrong("--project must be 1 to 64 letters, digits, _ or -.", "project");
  }
  const request = parseKeyRequest({ name, ...(scopes !== undefined && { scopes: scopes.split(",") }) });
  const id = createIds(Math.random)("key", Date.now());
  const own = project ?? id.replace("key_", "proj_");
  show(await keys.create(own, id, request), `${id}, project ${own}.`);
}

async function roll(keys: Keys, project: string, id: string, { keep }: { keep?: string }): Promise<void> {
  const { keep_seconds } = parseRollRequest(keep === undefined ? {} : { keep_seconds: numberOf(keep) });
  show(await keys.roll(project, id, keep_seconds), `${id} has a new secret.`);
}

// NaN fails the validation that follows.
function numberOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function show({ secret }: NewApiKey, told: string): void {
  console.error(`${told} Store the key now: it is not shown again.`);
  console.log(secret);
}

async function list(store: KeyStore): Promise<void> {
  const [all, uses] = await Promise.all([store.list(), store.uses()]);
  for (const { record } of all) {
    if (record.expires_at !== undefined) continue;
    const { id, created_at, project, scopes, name } = record;
    const used = uses.get(id);
    const last = used === undefined ? "never used" : `used ${new Date(used).toISOString()}`;
    const parts = [id, new Date(created_at).toISOString(), project, scopes.join(","), last, name];
    console.log(parts.join("  "));
  }
}

async function projectOf(store: KeyStore, id: string): Promise<string> {
  const found = (await store.list()).find(({ record }) => record.id === id);
  return found?.record.project ?? wrong(`There is no key ${id}; npm run keys -- list shows them all.`);
}

// Each listing starts a process, so the first result is reused.
function listedOnce(store: KeyStore): KeyStore {
  let listed: ReturnType<KeyStore["list"]> | undefined;
  return {
    ...store,
    list() {
      listed ??= store.list();
      return listed;
    },
  };
}
