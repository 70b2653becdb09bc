import service, * as parts from "../../worker/index.ts";

export * from "../../worker/index.ts";

// All classes of a Worker share one isolate, so this counts the calls that any of them makes.
const calls = {};
const count = (name) => {
  calls[name] = (calls[name] ?? 0) + 1;
};

const METHODS = { KV: ["put", "get"], MEDIA: ["put", "get", "head", "list", "delete"], RUN: ["create"] };
const ENGINES = ["RUN", "RUN_2", "RUN_3"];

function countMethods(name, target) {
  return new Proxy(target, {
    get(_, method) {
      const value = target[method];
      if (typeof value !== "function") return value;
      return (...args) => {
        if (METHODS[name].includes(method)) count(`${name}.${method}`);
        return target[method](...args);
      };
    },
  });
}

const countObjects = (name, namespace) => ({
  getByName(id) {
    count(name);
    return namespace.getByName(id);
  },
});

const wrapEnv = (env) => ({
  ...env,
  ...Object.fromEntries(Object.keys(METHODS).map((name) => [name, countMethods(name, env[name])])),
  ...Object.fromEntries(ENGINES.map((name) => [name, countMethods("RUN", env[name])])),
  ...Object.fromEntries(
    ["TASK", "PROJECT", "KEYS", "QUEUE"].map((name) => [name, countObjects(name, env[name])]),
  ),
});

const counted = (Part) =>
  class extends Part {
    constructor(ctx, env) {
      super(ctx, wrapEnv(env));
    }
  };

export const TaskObject = counted(parts.TaskObject);
export const ProjectObject = counted(parts.ProjectObject);
export const QueueObject = counted(parts.QueueObject);
export const TaskWorkflow = counted(parts.TaskWorkflow);

const AT_ONCE = 32;

async function drive(total, work) {
  let next = 0;
  const lane = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

// What one object bears, called as a run does.
const DRIVES = {
  queue: (env) => (index) => {
    const run = { run_id: `run_${index}`, project: `p${index % 100}`, key_id: `k${index % 100}` };
    const queue = () => env.QUEUE.getByName("driven");
    return queue()
      .enter(run)
      .then(() => queue().enter(run, "heavy"))
      .then(() => queue().leave(run.run_id));
  },
  project: (env, record) => (index) => {
    const run_id = record.id.slice(0, -6) + String(100_000 + (index % 1000));
    const set = { run_id, changes: [], webhook_url: null };
    const version = Math.floor(index / 1000) + 1;
    return env.PROJECT.getByName("driven").put({ ...record, id: run_id, status: "processing" }, version, set);
  },
};

/** The service, with `GET /calls`, which answers what was called since the last time, and `POST /drive/<object>?total=N`. */
// biome-ignore lint/style/noDefaultExport: workerd asks for it
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/calls") {
      const answer = Response.json(calls);
      for (const name of Object.keys(calls)) delete calls[name];
      return answer;
    }
    const [, driven] = /^\/drive\/(\w+)$/.exec(pathname) ?? [];
    if (!driven) return service.fetch(request, wrapEnv(env));
    const record = await request.json();
    await drive(Number(searchParams.get("total")), DRIVES[driven](env, record));
    return new Response("done");
  },
};
