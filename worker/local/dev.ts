import { once } from "node:events";
import { parseArgs } from "node:util";
import { runMain, stopSignal } from "./cli.ts";
import { startService } from "./service.ts";
import { parseSettings } from "./settings.ts";

runMain(async () => {
  const { values } = parseArgs({ options: { watch: { type: "boolean", default: false } } });
  const settings = parseSettings(process.env);
  const signal = stopSignal();
  console.log("building the page and the files that it loads; the first build takes several minutes");
  const starting = startService({ ...settings, watch: values.watch, page: true, signal });
  const service = await starting.catch((thrown: unknown) => {
    if (signal.aborted) return null;
    throw thrown;
  });
  if (!service) return;
  console.log(`state and logs in ${settings.state_dir}`);
  // A browser sends no fragment, so the key gets into no log.
  if (service.key !== null) console.log(`sign in ${service.url}/#key=${service.key}`);
  console.log(`ready ${service.url}`);
  if (!signal.aborted) await once(signal, "abort");
  await service.stop();
});
