import { createLocalClient } from "../../src/browser/page/local-client.ts";
import { CLIENT_CONTRACT, type ClientCase } from "../client/contract.ts";
import { type Cases, casesOf } from "./cases.ts";
import { CORE } from "./client-core.ts";

// The query of this module's URL holds the URLs of the inputs.
const inputs: ClientCase["inputs"] = JSON.parse(
  atob(new URL(import.meta.url).searchParams.get("given") ?? ""),
);
const client = createLocalClient({ name: "contract", core: CORE, workers: "/workers/", allowPrivate: true });

/** The client contract, run on the local client. */
export const CASES: Cases = casesOf(CLIENT_CONTRACT, () => ({ client, inputs }));
