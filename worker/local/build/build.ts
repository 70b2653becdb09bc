import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../../src/util/bytes.ts";
import { runMain } from "../cli.ts";
import { WORKERS } from "../service.ts";
import { ROOT } from "../settings.ts";
import { runWrangler } from "../system.ts";
import { buildAssets } from "./build-assets.ts";
import { buildCore } from "./build-core.ts";
import { buildPage } from "./build-page.ts";

runMain(async () => {
  await buildAssets();
  await buildPage(join(ROOT, "dist", "assets"));
  await buildCore(undefined, console.error);
  for (const [worker, config] of Object.entries(WORKERS)) {
    const folder = join(ROOT, "dist", worker);
    rmSync(folder, { recursive: true, force: true });
    // The container's image needs Docker: `wrangler deploy` builds it.
    const only = ["--dry-run", "--containers-rollout=none"];
    await runWrangler(["deploy", ...only, "--outdir", folder, "--config", config]);
    const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    const mib = bytes.reduce((a, b) => a + b, 0) / MIB;
    console.log(`dist/${worker}  ${mib.toFixed(1)} MiB, source map included`);
  }
});
