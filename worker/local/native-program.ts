import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HostReply } from "./host.ts";
import { ROOT } from "./settings.ts";
import { spawnScript } from "./spawn.ts";
import type { State } from "./state.ts";
import type { Program } from "./supervisor.ts";

/** Where a native encoder listens. */
export interface NativeOrder {
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
}

/** Describes the native encoder as a local program; its requests need the token. */
export function nativeProgram(name: string, token: string, state: State): Program<NativeOrder> {
  const temp = join(state.scratch, name);
  return {
    name,
    spawn(port) {
      mkdirSync(temp, { recursive: true });
      return spawnScript(join(ROOT, "worker", "container", "main.ts"), name, state, {
        HOST: "127.0.0.1",
        PORT: String(port),
        TMPDIR: temp,
        NATIVE_ENCODER_TOKEN: token,
      });
    },
    begin: (child) =>
      new Promise<string>((resolve, reject) => {
        child.once("message", (reply: HostReply) => {
          if (reply.type === "ready") resolve(reply.url);
          else reject(new Error(reply.message));
        });
      }),
    clear: () => rmSync(temp, { recursive: true, force: true }),
  };
}
