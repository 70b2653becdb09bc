import { parseArgs } from "node:util";
import { runMain } from "./cli.ts";
import { checkAccount } from "./doctor/account.ts";
import { type Finding, lineOf } from "./doctor/finding.ts";
import { checkService } from "./doctor/service.ts";
import { errors } from "./errors.ts";

const USAGE = `npm run doctor                         checks the account that wrangler is logged in to against wrangler.toml
API_KEY=… npm run doctor -- --url URL  checks the service at that URL too, with a task on each of its encoders
API_KEY=… npm run doctor -- --url URL --service
                                       checks the service alone

It prints a line for each check and exits with code 1 if something is missing. It changes nothing but the tasks, which it deletes.`;

async function checkDeployment(): Promise<void> {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      service: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { API_KEY } = process.env;
  if (values.service && values.url === undefined) throw errors.urlMissing();
  if (values.url !== undefined && !API_KEY) throw errors.apiKeyMissing();
  const findings: Finding[] = [];
  const report = (found: Finding[]) => {
    for (const finding of found) console.log(lineOf(finding));
    findings.push(...found);
  };
  if (!values.service) report(await checkAccount());
  if (values.url !== undefined && API_KEY) report(await checkService(values.url, API_KEY));
  if (findings.some(({ state }) => state === "missing")) process.exitCode = 1;
}

if (import.meta.main) runMain(checkDeployment);
