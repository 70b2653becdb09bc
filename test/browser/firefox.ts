import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

/** A page in a real Firefox, driven by WebDriver BiDi, which Firefox speaks itself. */
export interface FirefoxPage {
  goto(url: string): Promise<void>;
  /** Evaluates an expression in the page; resolves with its value, which must be JSON. Rejects with what it throws. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

// Nothing of its own goes to the network.
const SETTINGS = {
  "app.normandy.enabled": false,
  "browser.safebrowsing.downloads.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.healthreport.uploadEnabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,",
  "toolkit.telemetry.enabled": false,
} as const;

const LISTENS = /WebDriver BiDi listening on (ws:\S+)/;

const Answer = z.union([
  z.object({ id: z.number(), type: z.literal("success"), result: z.record(z.string(), z.unknown()) }),
  z.object({ id: z.number(), type: z.literal("error"), error: z.string(), message: z.string() }),
]);
const Tree = z.object({ contexts: z.array(z.object({ context: z.string() })).min(1) });
const Evaluated = z.union([
  z.object({ type: z.literal("success"), result: z.object({ value: z.string().optional() }) }),
  z.object({ type: z.literal("exception"), exceptionDetails: z.object({ text: z.string() }) }),
]);

/** Opens a Firefox with a profile of its own. */
export async function openFirefox(): Promise<FirefoxPage> {
  const profile = await mkdtemp(join(tmpdir(), "framewright-firefox-"));
  const lines = Object.entries(SETTINGS).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  );
  await writeFile(join(profile, "user.js"), lines.join("\n"));
  const args = ["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile];
  const firefox = spawn("firefox-esr", [...args, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const send = await connect(`${await addressOf(firefox)}/session`);
  await send("session.new", { capabilities: {} });
  const [tab] = Tree.parse(await send("browsingContext.getTree", {})).contexts;
  const context = tab?.context ?? "";
  return {
    async goto(url) {
      await send("browsingContext.navigate", { context, url, wait: "complete" });
    },
    async evaluate(expression) {
      // One encoding for all values, in place of BiDi's own.
      const wrapped = `(async () => JSON.stringify((await (${expression})) ?? null))()`;
      const target = { context };
      const done = Evaluated.parse(
        await send("script.evaluate", { expression: wrapped, target, awaitPromise: true }),
      );
      if (done.type === "exception") throw new Error(done.exceptionDetails.text);
      return JSON.parse(done.result.value ?? "null");
    },
    async close() {
      const ended = once(firefox, "exit");
      firefox.kill();
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function addressOf({ stderr }: ChildProcess): Promise<string> {
  if (!stderr) throw new Error("Firefox has no error stream.");
  for await (const line of createInterface({ input: stderr })) {
    const [, address] = LISTENS.exec(line) ?? [];
    if (address) {
      stderr.resume();
      return address;
    }
  }
  throw new Error("Firefox ended before it listened.");
}

async function connect(address: string) {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("Firefox refused the connection."));
  });
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { success, data: answer } = Answer.safeParse(JSON.parse(String(data)));
    // The rest are events.
    if (!success) return;
    if (answer.type === "success") waiting.get(answer.id)?.resolve(answer.result);
    else waiting.get(answer.id)?.reject(new Error(`${answer.error}: ${answer.message}`));
    waiting.delete(answer.id);
  };
  socket.onclose = () => {
    for (const { reject } of waiting.values()) reject(new Error("Firefox went away."));
  };
  return (method: string, params: object): Promise<Record<string, unknown>> => {
    const id = ++last;
    const reply = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(id, reply);
    socket.send(JSON.stringify({ id, method, params }));
    return reply.promise;
  };
}
