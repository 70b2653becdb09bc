import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createDocument } from "../../api/openapi.ts";
import { createApp } from "../../app.ts";
import type { Services } from "../../services.ts";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";
import { type OpenApi, writeHttpPage } from "./reference/http-page.ts";
import { type Entry, writeLibraryPage } from "./reference/library-page.ts";

const ENTRIES: readonly Entry[] = [
  {
    name: "framewright",
    path: join(ROOT, "src", "index.ts"),
    about: "Types of tasks and steps, errors, and functions that need no I/O.",
  },
  {
    name: "framewright/browser",
    path: join(ROOT, "src", "browser", "index.ts"),
    about: "Tasks on the page's own machine. See [In a page](../page.md).",
  },
  {
    name: "framewright/client",
    path: join(ROOT, "src", "client", "index.ts"),
    about: "Tasks at a service. See [The service](../service.md).",
  },
  {
    name: "framewright/webhooks",
    path: join(ROOT, "src", "webhooks", "verify.ts"),
    about: "See [Webhooks](../webhooks.md).",
  },
];

/** Writes the reference pages to a folder. */
export async function writeReference(folder: string): Promise<void> {
  // Routes are registered but never called, so no services are needed.
  const app = createApp({ settings: {}, limits: {} } as unknown as Services);
  const document = createDocument(app.described) as OpenApi;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "library.md"), writeLibraryPage(ENTRIES));
  await writeFile(join(folder, "http-api.md"), writeHttpPage(document));
}

// npm run docs:api: generates the site's reference from the types and the OpenAPI document.
if (import.meta.main) runMain(() => writeReference(join(ROOT, "docs", "reference")));
