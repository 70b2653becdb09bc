import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { createIds } from "../../src/core/ids.ts";
import { KeyRecord } from "../auth/key-ring.ts";
import { createKey, hashKey } from "../auth/keys.ts";
import { runMain, wrong } from "./cli.ts";
import { dataOf } from "./service.ts";
import { parseSettings } from "./settings.ts";
import { runWrangler } from "./wrangler.ts";

const USAGE = `npm run keys -- create NAME [--project PROJECT]   makes a key and shows it, this once
npm run keys -- list                              ids, projects and names of the keys
npm run keys -- revoke ID                         removes a key; it stops working within half a minute

They are keys of the local service (STATE_DIR); with --remote, of the deployed one that wrangler.toml names.`;

const Listed = z.array(z.object({ name: z.string(), metadata: KeyRecord }));

// npm run keys: only the SHA-256 of a key is kept, in KV, where the service looks for it.
runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      project: { type: "string" },
      remote: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  const [command, argument, ...rest] = positionals;
  const where = values.remote
    ? ["--remote"]
    : ["--local", "--persist-to", dataOf(parseSettings(process.env))];
  const kv = (...args: string[]) => runPatiently(["kv", "key", ...args, "--binding", "KV", ...where]);
  if (values.help || rest.length > 0) console.log(USAGE);
  else if (command === "create" && argument) await create(argument, values.project, kv);
  else if (command === "list" && !argument) await list(kv);
  else if (command === "revoke" && argument) await revoke(argument, kv);
  else wrong(`What is to be done is not clear.\n\n${USAGE}`);
});

type Kv = (...args: string[]) => Promise<string>;

const TRIES = 5;

// The running service may have the same file in use for a moment. Each of these commands may be repeated.
async function runPatiently(args: string[]): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await runWrangler(args);
    } catch (thrown) {
      if (tries === TRIES || args.includes("--remote")) throw thrown;
      await sleep(Math.random() * 500 * tries);
    }
  }
}

async function create(name: string, project: string | undefined, kv: Kv): Promise<void> {
  if (name.length > 100) wrong("NAME must not be longer than 100 characters.");
  if (project !== undefined && !/^[\w-]{1,64}$/.test(project)) {
    wrong("--project must be 1 to 64 letters, digits, _ or -.", "project");
  }
  const now = Date.now();
  const id = createIds(Math.random)("key", now);
  const key = await createKey();
  const record: KeyRecord = { id, name, project: project ?? id.replace("key_", "proj_"), created_at: now };
  const json = JSON.stringify(record);
  // The metadata is what a list gives without reading each key.
  await kv("put", `key:${await hashKey(key)}`, json, "--metadata", json);
  console.error(`${id}, project ${record.project}. Keep the key: it is not shown again.`);
  console.log(key);
}

async function list(kv: Kv): Promise<void> {
  for (const { metadata } of await read(kv)) {
    const made = new Date(metadata.created_at).toISOString();
    console.log(`${metadata.id}  ${made}  ${metadata.project}  ${metadata.name}`);
  }
}

async function revoke(id: string, kv: Kv): Promise<void> {
  const found = (await read(kv)).find(({ metadata }) => metadata.id === id);
  if (!found) wrong(`There is no key ${id}; npm run keys -- list shows them all.`);
  await kv("delete", found.name);
  console.error(`${id} is revoked.`);
}

async function read(kv: Kv): Promise<z.infer<typeof Listed>> {
  return Listed.parse(JSON.parse(await kv("list", "--prefix", "key:")));
}
