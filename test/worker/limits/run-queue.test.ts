import { expect, test, vi } from "vitest";
import { createRunQueue, type RunLimits, type RunQueue } from "../../../worker/limits/run-queue.ts";
import { createHeavyTurn, type TurnStep } from "../../../worker/run/workflow-instance.ts";
import { createMemorySql } from "../api/memory-connections.ts";

const NOW = 1000;

function open(limits: Partial<RunLimits> = {}, sql = createMemorySql()) {
  const queue = createRunQueue(sql, { per_project: 25, total: 1000, ...limits });
  return { queue, sql };
}

/** Enters runs named `project/key/number`; returns those that may start at once. */
function enter(queue: RunQueue, ...names: string[]): string[] {
  return names.filter((name) => {
    const [project = "", key = ""] = name.split("/");
    return queue.enter({ run_id: name, project, key_id: `${project}/${key}` }, NOW);
  });
}

/** Ends a run; returns those whose turn it is then. */
function leave(queue: RunQueue, name: string): string[] {
  queue.leave(name);
  queue.fill(NOW);
  const turns = queue.toNotify();
  for (const each of turns) queue.markNotified(each);
  return turns;
}

test("starts as many runs of a project as its limit, and the others in order of arrival", () => {
  const { queue } = open({ per_project: 2 });
  expect(enter(queue, "p/a/1", "p/a/2", "p/a/3", "p/a/4", "q/a/1")).toEqual(["p/a/1", "p/a/2", "q/a/1"]);
  expect([queue.waiting("p"), queue.waiting("q")]).toEqual([2, 0]);
  expect(leave(queue, "q/a/1")).toEqual([]);
  expect(leave(queue, "p/a/2")).toEqual(["p/a/3"]);
  expect(leave(queue, "p/a/1")).toEqual(["p/a/4"]);
  expect(queue.waiting("p")).toBe(0);
});

test.each(["light", "heavy"] as const)(
  "5,000 runs of a project, under forty keys, leave room for the first %s run of another",
  (load) => {
    const queue = createRunQueue(createMemorySql(), { per_project: 8, total: 16 }, load);
    const flood = Array.from({ length: 5000 }, (_, index) => `p/k${index % 40}/${index}`);
    expect(enter(queue, ...flood)).toHaveLength(8);
    expect(enter(queue, "q/a/1")).toEqual(["q/a/1"]);
    expect([queue.waiting("p"), queue.waiting("q")]).toEqual([4992, 0]);
  },
);

test("light and heavy work wait in queues of their own", () => {
  const sql = createMemorySql();
  const { queue: light } = open({ per_project: 1 }, sql);
  const heavy = createRunQueue(sql, { per_project: 25, total: 1 }, "heavy");
  expect(enter(light, "p/a/1", "p/a/2")).toEqual(["p/a/1"]);
  expect(enter(heavy, "p/a/1")).toEqual(["p/a/1"]);
  expect(leave(light, "p/a/1")).toEqual(["p/a/2"]);
  expect([enter(heavy, "p/a/2", "q/a/1"), light.waiting("p"), heavy.waiting("p")]).toEqual([[], 0, 1]);
  // The project without a running run is next.
  expect(leave(heavy, "p/a/1")).toEqual(["q/a/1"]);
});

test("asking whether anything is in the queue reads one row, however many wait", () => {
  const sql = createMemorySql();
  const exec = vi.spyOn(sql, "exec");
  const { queue } = open({}, sql);
  expect(queue.isBusy()).toBe(false);
  enter(queue, "p/a/1", "p/a/2");
  expect(queue.isBusy()).toBe(true);
  expect(exec).toHaveBeenLastCalledWith("SELECT 1 AS n FROM turn LIMIT 1");
});

test("entering again returns the current answer", () => {
  const { queue } = open({ per_project: 1 });
  expect(enter(queue, "p/a/1", "p/a/2", "p/a/1", "p/a/2")).toEqual(["p/a/1", "p/a/1"]);
  expect(leave(queue, "p/a/1")).toEqual(["p/a/2"]);
  expect(enter(queue, "p/a/2")).toEqual(["p/a/2"]);
});

test("a waiting run may leave, and an unknown run changes nothing", () => {
  const { queue } = open({ per_project: 1 });
  enter(queue, "p/a/1", "p/a/2", "p/a/3");
  expect(leave(queue, "p/a/2")).toEqual([]);
  expect(leave(queue, "p/a/9")).toEqual([]);
  expect(leave(queue, "p/a/1")).toEqual(["p/a/3"]);
  expect(leave(queue, "p/a/3")).toEqual([]);
  expect(queue.isBusy()).toBe(false);
});

test("runs that are held back count as waiting, take no place, and enter or leave", () => {
  const { queue } = open({ per_project: 3, total: 3 });
  const run = (run_id: string) => ({ run_id, project: "p", key_id: "p/a" });
  for (const id of ["1", "2", "1"]) queue.hold(run(id), NOW);
  expect([queue.waiting("p"), queue.isBusy()]).toEqual([2, true]);
  expect(enter(queue, "p/a/3", "p/a/4")).toEqual(["p/a/3", "p/a/4"]);
  // A held-back run may be lost, so it is checked like a running one.
  expect(queue.toCheck(NOW)).toEqual(["1", "2", "p/a/3", "p/a/4"]);
  expect([queue.enter(run("2"), NOW), queue.waiting("p")]).toEqual([true, 1]);
  queue.hold(run("2"), NOW);
  expect([leave(queue, "p/a/3"), leave(queue, "1"), queue.waiting("p")]).toEqual([[], [], 0]);
});

test("a busy project does not keep another waiting", () => {
  const { queue } = open({ total: 2 });
  enter(queue, ...Array.from({ length: 6 }, (_, index) => `many/a/${index + 1}`));
  enter(queue, "few/a/1", "few/a/2");
  // One of the two places goes to the project without any, and stays with it while it has more runs.
  expect(leave(queue, "many/a/1")).toEqual(["few/a/1"]);
  expect(leave(queue, "few/a/1")).toEqual(["few/a/2"]);
  expect(leave(queue, "few/a/2")).toEqual(["many/a/3"]);
});

test("with a single place, projects alternate, and so do the keys within a project", () => {
  const { queue } = open({ total: 1 });
  const runs = ["a/k/1", "a/k/2", "a/k/3", "a/l/1", "a/l/2", "b/k/1", "b/k/2", "b/k/3"];
  const order = enter(queue, ...runs);
  while (order.length < runs.length) order.push(...leave(queue, order.at(-1) ?? ""));
  expect(order.map((name) => name[0]).join("")).toBe("abababaa");
  expect(order.filter((name) => name.startsWith("a"))).toEqual(["a/k/1", "a/l/1", "a/k/2", "a/l/2", "a/k/3"]);
});

test("a project that returns queues behind those already waiting", () => {
  const { queue } = open({ total: 1 });
  enter(queue, "guest/a/1", "b/a/1", "c/a/1");
  expect(leave(queue, "guest/a/1")).toEqual(["b/a/1"]);
  enter(queue, "guest/a/2");
  expect(leave(queue, "b/a/1")).toEqual(["c/a/1"]);
  expect(leave(queue, "c/a/1")).toEqual(["guest/a/2"]);
});

test("a project at its limit does not hold back others, and its keys take turns", () => {
  const { queue } = open({ per_project: 2, total: 3 });
  expect(enter(queue, "p/a/1", "p/a/2", "p/b/1", "q/a/1", "p/b/2")).toEqual(["p/a/1", "p/a/2", "q/a/1"]);
  expect(leave(queue, "q/a/1")).toEqual([]);
  expect(leave(queue, "p/a/1")).toEqual(["p/b/1"]);
});

test("a key that moved to another project loses none of its runs", () => {
  const { queue } = open({ per_project: 1 });
  const run = (run_id: string, project: string) => queue.enter({ run_id, project, key_id: "key" }, NOW);
  expect([run("1", "old"), run("2", "old"), run("3", "new")]).toEqual([true, false, true]);
  expect(leave(queue, "3")).toEqual(["2"]);
  expect(leave(queue, "1")).toEqual([]);
});

test("the queue survives a restart, and new limits apply from then on", () => {
  const { queue, sql } = open({ per_project: 1 });
  enter(queue, "p/a/1", "p/a/2", "p/a/3");
  const { queue: later } = open({ per_project: 2 }, sql);
  later.fill(NOW);
  expect(later.toNotify()).toEqual(["p/a/2"]);
  expect(later.waiting("p")).toBe(1);
});

test("returns running runs that were not seen lately", () => {
  const { queue } = open({ per_project: 1 });
  enter(queue, "p/a/1", "q/b/1", "q/b/2");
  expect(queue.toCheck(NOW - 1)).toEqual([]);
  expect(queue.toCheck(NOW)).toEqual(["p/a/1", "q/b/1"]);
  queue.markSeen("p/a/1", NOW + 1);
  expect(queue.toCheck(NOW)).toEqual(["q/b/1"]);
});

test("serves a hundred projects with a thousand runs equally, within one turn", () => {
  const { queue } = open({ total: 10 });
  const running: string[] = [];
  for (let index = 0; index < 1000; index++) running.push(...enter(queue, `p${index % 100}/k/${index}`));
  const served = new Map<string, number>();
  for (let turn = 0; turn < 500; turn++) {
    const over = running.shift() ?? "";
    const project = over.split("/")[0] ?? "";
    served.set(project, (served.get(project) ?? 0) + 1);
    running.push(...leave(queue, over));
  }
  expect(served.size).toBe(100);
  expect([...new Set(served.values())].toSorted()).toEqual([4, 5, 6]);
});

test("a run whose wait for heavy work times out asks again", async () => {
  const answers: ("granted" | "waits")[] = ["waits", "waits", "granted"];
  const waits: string[] = [];
  const step: TurnStep = {
    do: (_, ask) => ask(),
    async waitForEvent(name) {
      waits.push(name);
      throw new Error("Execution timed out after 604800000ms");
    },
  };
  await createHeavyTurn(step, () => ({ askHeavy: async () => answers.shift() ?? "over" }))();
  expect([answers, waits]).toEqual([[], ["turn", "turn"]]);
});
