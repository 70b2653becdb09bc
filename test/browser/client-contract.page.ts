import { createLocalClient } from "../../src/browser/local-client.ts";
import { CLIENT_CONTRACT, type ClientCase } from "../client/contract.ts";
import { FAST_KINDS } from "../client/kinds/contract-kinds.ts";
import { type Cases, casesOf } from "./cases.ts";
import { CORE } from "./client-core.ts";

// The query of this module's URL holds the URLs of the inputs.
const inputs: ClientCase["inputs"] = JSON.parse(
  atob(new URL(import.meta.url).searchParams.get("hosts") ?? ""),
);
const options = { core: CORE, workers: "/workers/", allowPrivate: true } as const;
const client = createLocalClient({ name: "contract", ...options });
const fast = createLocalClient({ name: "fast", prefer: "speed", ...options });

/** The client contract, run on the local client; its kinds also with the browser's own encoders. */
export const CASES: Cases = {
  ...casesOf(CLIENT_CONTRACT, () => ({ client, inputs })),
  ...casesOf(FAST_KINDS, () => ({ client: fast, inputs })),
};
