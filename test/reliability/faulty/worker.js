import service, * as parts from "../../../worker/index.ts";

// Anything not overridden below is exported unchanged.
export * from "../../../worker/index.ts";

// All classes of a Worker share one isolate, so this state applies to each of them.
let failing = "nothing";
const struck = {};
const calls = {};
// Reads change nothing, so losing their answer would be the same as failing before.
const READS = new Set(["get", "head", "list"]);

// While a part fails, two of three calls to it do: one before it runs, the other after, losing its answer.
async function call(thing, method, run) {
  if (failing !== thing) return run();
  calls[thing] = (calls[thing] ?? 0) + 1;
  const turn = calls[thing] % 3;
  if (turn === 0) return run();
  struck[thing] = (struck[thing] ?? 0) + 1;
  if (turn === 1 && !READS.has(method)) await run().catch(() => {});
  throw new Error(`${thing} ${method} failed: internal error (injected by a test)`);
}

// R2's multipart uploads have methods of their own.
const wrapping = (thing, value) => (typeof value?.uploadPart === "function" ? wrap(thing, value, []) : value);

function wrap(thing, target, plain) {
  return new Proxy(target, {
    get(_, name) {
      const value = target[name];
      if (typeof value !== "function" || name === "then") return value;
      const run = (...args) => target[name](...args);
      if (plain.includes(name)) return (...args) => wrapping(thing, run(...args));
      return async (...args) => wrapping(thing, await call(thing, name, async () => run(...args)));
    },
  });
}

// A stub cannot tell a method from a table of methods, so each name acts as both.
const wrapStub = (thing, name, owner) =>
  new Proxy(() => {}, {
    get: (_, inner) => (inner === "then" ? undefined : wrapStub(thing, inner, name ? owner[name] : owner)),
    apply: (_, __, args) => call(thing, name, async () => owner[name](...args)),
  });

const wrapObjects = (thing, namespace) => ({
  getByName: (name) => wrapStub(thing, "", namespace.getByName(name)),
});

const wrapEnv = (env) => ({
  ...env,
  KV: wrap("KV", env.KV, []),
  MEDIA: wrap("MEDIA", env.MEDIA, ["resumeMultipartUpload"]),
  TASK: wrapObjects("TASK", env.TASK),
  JOB: wrapObjects("JOB", env.JOB),
  PROJECT: wrapObjects("PROJECT", env.PROJECT),
  QUEUE: wrapObjects("QUEUE", env.QUEUE),
  // What an engine does that starts no more instances at the moment.
  ...Object.fromEntries(["RUN", "RUN_2", "RUN_3"].map((name) => [name, wrap("RUN", env[name], [])])),
});

/** The object of a run, which may be evicted in the middle of its work. */
export class TaskObject extends parts.TaskObject {
  constructor(ctx, env) {
    super(ctx, wrapEnv(env));
  }
  async report(event) {
    const kept = await call("eviction", "report", async () => true).catch(() => false);
    if (!kept) this.ctx.abort("evicted by a test");
    return super.report(event);
  }
}

/** The object of a job, with bindings that fail on demand. */
export class JobObject extends parts.JobObject {
  constructor(ctx, env) {
    super(ctx, wrapEnv(env));
  }
}

/** The object of a project, with bindings that fail on demand. */
export class ProjectObject extends parts.ProjectObject {
  constructor(ctx, env) {
    super(ctx, wrapEnv(env));
  }
}

/** The object that runs wait in, with bindings that fail on demand. */
export class QueueObject extends parts.QueueObject {
  constructor(ctx, env) {
    super(ctx, wrapEnv(env));
  }
}

/** The object of an upload, with bindings that fail on demand. */
export class UploadObject extends parts.UploadObject {
  constructor(ctx, env) {
    super(ctx, wrapEnv(env));
  }
}

/** The engine of a run, with bindings that fail on demand. */
export class TaskWorkflow extends parts.TaskWorkflow {
  constructor(ctx, env) {
    super(ctx, wrapEnv(env));
  }
}

/** The service plus `PUT /failing/<thing>`, which sets what fails and answers how often each thing did. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  fetch(request, env) {
    const [, thing] = /\/failing\/(\w+)$/.exec(request.url) ?? [];
    if (!thing) return service.fetch(request, wrapEnv(env));
    failing = thing;
    return Response.json(struck);
  },
};
