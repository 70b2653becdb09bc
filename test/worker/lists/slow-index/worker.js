import service, * as parts from "../../../../worker/index.ts";

// Anything not overridden below is exported unchanged.
export * from "../../../../worker/index.ts";

// All classes of a Worker share one isolate, so this state applies to each of them.
let hangs = false;
let evicts = false;
const puts = {};

const hanging = (stub) =>
  new Proxy(stub, {
    get: (_, name) => {
      if (name !== "put") return stub[name];
      return async (...args) => {
        // workerd ends no promise of another request, so each one looks for itself.
        while (hangs) await new Promise((resolve) => setTimeout(resolve, 20));
        return stub.put(...args);
      };
    },
  });

/** The object of a run, whose project's index hangs on demand, and whose writes to KV are counted. */
export class TaskObject extends parts.TaskObject {
  constructor(ctx, env) {
    const KV = {
      put(key, ...rest) {
        puts[key] = (puts[key] ?? 0) + 1;
        return env.KV.put(key, ...rest);
      },
      delete: (key) => env.KV.delete(key),
    };
    const PROJECT = { getByName: (name) => hanging(env.PROJECT.getByName(name)) };
    super(ctx, { ...env, KV, PROJECT });
  }
  async report(event) {
    if (evicts) {
      evicts = false;
      this.ctx.abort("evicted by a test");
    }
    return super.report(event);
  }
}

/**
 * The service plus `/index/hang` and `/index/answer`, `/index/evict`, which evicts the object of the next report, and
 * `/index/puts`; each returns how often each key of KV was written.
 */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  fetch(request, env, context) {
    const [, what] = /\/index\/(hang|answer|evict|puts)$/.exec(request.url) ?? [];
    if (!what) return service.fetch(request, env, context);
    if (what === "hang" || what === "answer") hangs = what === "hang";
    if (what === "evict") evicts = true;
    return Response.json(puts);
  },
};
