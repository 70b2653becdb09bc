import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { LAB_VITE, type LabVite, startLabVite } from "./lab-vite.ts";
import { answerFile } from "./serve-files.ts";

const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;
// No module changes while a lab is open, but every worker of a page loads up to two hundred of them.
const KEPT = { "cache-control": "max-age=86400" } as const;
// Vitest turns `import(…)` into a call of this name, even in the functions that a test sends to the page.
const PAGE = `<!doctype html><title>lab</title><link rel="icon" href="data:,">
<script>globalThis.__vite_ssr_dynamic_import__ = (url) => import(url);</script>`;

export interface LabServerOptions {
  /** Sends the headers of a cross-origin isolated page, which has SharedArrayBuffer; off by default. */
  isolated?: boolean | undefined;
  /** A folder served at `/files/`, with ranges and CORS. */
  files?: string | undefined;
}

/** Starts a server on a free port: a blank page at `/`, and every module of the repository at its own path, from the shared Vite if there is one. */
export async function startLabServer({ isolated, files }: LabServerOptions) {
  const shared = process.env[LAB_VITE];
  const modules = shared ? passTo(shared) : await startLabVite();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://lab");
    if (isolated) for (const [name, value] of Object.entries(ISOLATED)) response.setHeader(name, value);
    if (pathname === "/") return void response.setHeader("Content-Type", "text/html").end(PAGE);
    if (files && pathname.startsWith("/files/")) {
      return answerFile(files, pathname.slice("/files".length), request, response);
    }
    modules.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.close();
      server.closeAllConnections();
      await modules.close();
    },
  };
}

function passTo(url: string): LabVite {
  const agent = new Agent({ keepAlive: true });
  return {
    answer(asked, response) {
      const { method, headers, url: path } = asked;
      const passed = request(new URL(path ?? "/", url), { method, headers, agent }, (answer) => {
        const { statusCode = 502, headers } = answer;
        response.writeHead(statusCode, statusCode === 200 ? { ...headers, ...KEPT } : headers);
        pipeline(answer, response, () => {});
      });
      passed.on("error", () => response.destroy());
      response.on("close", () => passed.destroy());
      passed.end();
    },
    close: async () => agent.destroy(),
  };
}
