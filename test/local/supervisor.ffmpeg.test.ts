import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openState } from "../../worker/local/state.ts";
import { createHost } from "../../worker/local/supervisor.ts";

// Less than the minute after which a start gives up on a silent program.
const LIMIT = { timeout: 50_000 };

test.for([
  { script: "exit 3", how: "code 3" },
  { script: "kill -9 $$", how: "SIGKILL" },
] as const)("reports at once a program that has already ended: $script", LIMIT, async ({ script, how }) => {
  const folder = await mkdtemp(join(tmpdir(), "framewright-supervisor-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const child = spawn("sh", ["-c", script], { detached: true, stdio: "ignore" });
  const program = { name: "short", spawn: () => child, begin: () => new Promise<string>(() => {}) };
  const state = await openState(folder);
  const host = createHost(program, state, () => {});
  await once(child, "exit");
  await expect(host.start({ port: 0 })).rejects.toThrow(
    `short did not start: it exited with ${how}; see ${state.log("short")}.`,
  );
});
