import { parseArgs } from "node:util";
import { createIds } from "../../src/runs/ids.ts";
import { type NewApiKey, parseKeyRequest, parseRollRequest } from "../../src/runs/key.ts";
import { runMain } from "./cli.ts";
import { errors } from "./errors.ts";
import { createOperator, type Operator } from "./operator.ts";
import { startService } from "./service.ts";
import { parseSettings } from "./settings.ts";
import { findService } from "./state.ts";

const USAGE = `npm run keys -- create NAME [--project PROJECT] [--scopes read,write,admin,…]
                                    creates a key and prints it once; default read,write in a new project
npm run keys -- list                lists the keys: id, creation time, project, scopes, last use and name
npm run keys -- roll ID [--keep SECONDS]
                                    prints a new secret for a key, once; the old one keeps working for a day
npm run keys -- revoke ID           revokes a key; it stops working within five seconds

The keys are those of the local service (STATE_DIR) or, with --url URL, of the one deployed there, whose OPERATOR_KEY must be set here too.`;

// npm run keys: asks the service, which alone keeps keys. A local one that does not run is started for it.
runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      project: { type: "string" },
      scopes: { type: "string" },
      keep: { type: "string" },
      url: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  const [command, argument, ...rest] = positionals;
  const { project, scopes, keep } = values;
  if (values.help || rest.length > 0) console.log(USAGE);
  else if (command === "create" && argument) {
    const own = parseProject(project);
    const request = parseKeyRequest({
      name: argument,
      ...(scopes !== undefined && { scopes: scopes.split(",") }),
    });
    await using service = await reach(values.url);
    const made = await service.operator.create(own, request);
    show(made, `${made.id}, project ${own}.`);
  } else if (command === "list" && !argument) {
    await using service = await reach(values.url);
    await list(service.operator);
  } else if (command === "roll" && argument) {
    const request = parseRollRequest(keep === undefined ? {} : { keep_seconds: numberOf(keep) });
    await using service = await reach(values.url);
    const { operator } = service;
    show(
      await operator.roll(await operator.projectOf(argument), argument, request),
      `${argument} has a new secret.`,
    );
  } else if (command === "revoke" && argument) {
    await using service = await reach(values.url);
    const { operator } = service;
    await operator.revoke(await operator.projectOf(argument), argument);
    console.error(`${argument} is revoked.`);
  } else throw errors.argumentsUnknown({ usage: USAGE });
});

async function reach(url: string | undefined): Promise<AsyncDisposable & { operator: Operator }> {
  if (url !== undefined) {
    const key = process.env.OPERATOR_KEY;
    if (key === undefined) throw errors.operatorKeyMissing();
    return { operator: createOperator(url, newest(key)), [Symbol.asyncDispose]: async () => {} };
  }
  const settings = parseSettings(process.env);
  const own = settings.operator_key === undefined ? {} : { operator_key: newest(settings.operator_key) };
  const running = findService(settings.state_dir);
  if (running) {
    const { url: base, operator_key } = { ...running, ...own };
    return { operator: createOperator(base, operator_key), [Symbol.asyncDispose]: async () => {} };
  }
  const service = await startService({ ...settings, port: 0, native: 0 });
  const { operator_key = "" } = { ...findService(settings.state_dir), ...own };
  return {
    operator: createOperator(service.url, operator_key),
    [Symbol.asyncDispose]: () => service.stop(),
  };
}

function newest(keys: string): string {
  return keys.split(",")[0]?.trim() ?? "";
}

function parseProject(project: string | undefined): string {
  const own = project ?? createIds(Math.random)("key", Date.now()).replace("key_", "proj_");
  if (!/^[\w-]{1,64}$/.test(own)) throw errors.projectMalformed();
  return own;
}

// NaN fails the validation that follows.
function numberOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function show({ secret }: NewApiKey, told: string): void {
  console.error(`${told} Store the key now: it is not shown again.`);
  console.log(secret);
}

async function list(operator: Operator): Promise<void> {
  for (const { project, key } of await operator.list()) {
    const { id, created_at, scopes, last_used_at, name } = key;
    const last = last_used_at === null ? "never used" : `used ${new Date(last_used_at).toISOString()}`;
    console.log([id, new Date(created_at).toISOString(), project, scopes.join(","), last, name].join("  "));
  }
}
