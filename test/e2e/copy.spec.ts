import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Task } from "../../src/index.ts";
import { ROOT } from "../../worker/local/settings.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { convert, named } from "./result-flow.ts";
import { expect, test } from "./workbench.ts";

const run = promisify(execFile);

// The tsconfig of a project that has installed the package.
const PROJECT = {
  compilerOptions: {
    ...{ target: "esnext", module: "esnext", moduleResolution: "bundler", strict: true, noEmit: true },
    ...{ skipLibCheck: true, allowImportingTsExtensions: true, types: ["node"] },
    lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"],
    typeRoots: [join(ROOT, "node_modules", "@types")],
    paths: { "framewright/client": [join(ROOT, "src", "client", "index.ts")] },
  },
  files: ["call.mts"],
};

test("copies a conversion as curl and TypeScript, and both run it on a service", async ({
  workbench,
  served,
  folder,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const tone = "-f lavfi -i sine=frequency=440:duration=1:sample_rate=48000 -ac 1";
  const clip = await named(await makeClip("wav", tone.split(" ")), folder, "it's a tone.wav");
  const card = await convert(workbench, clip, "Lossless audio");
  await card.getByRole("button", { name: "Copy as code" }).click();
  const copied = async (name: string) => {
    const section = workbench.getByRole("region", { name });
    await section.getByRole("button").click();
    await expect(section.getByText("Copied")).toBeVisible();
    return workbench.evaluate(() => navigator.clipboard.readText());
  };
  const [curl, code] = [await copied("curl"), await copied("TypeScript")];
  for (const text of [curl, code]) expect(text).toContain("YOUR_API_KEY");
  const real = (text: string) =>
    text.replaceAll("YOUR_API_KEY", served.key).replaceAll("https://media.example.com", served.url);

  const { stdout } = await run("bash", ["-c", real(curl)]);
  const task: Task = JSON.parse(stdout);
  expect(task).toMatchObject({
    object: "task",
    kind: "audio",
    input: "https://example.com/it's%20a%20tone.wav",
    options: { format: "flac" },
  });
  await fetch(`${served.url}/tasks/${task.id}/cancel`, {
    method: "POST",
    headers: { Authorization: `Bearer ${served.key}` },
  });

  await writeFile(join(folder, "call.mts"), code);
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(PROJECT));
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  expect((await run(tsc, ["-p", folder], { cwd: folder }).catch((thrown) => thrown)).stdout).toBe("");
  const client = pathToFileURL(join(ROOT, "src", "client", "index.ts")).href;
  await writeFile(join(folder, "run.mts"), real(code).replace("framewright/client", client));
  const { stdout: url } = await run(process.execPath, ["run.mts"], { cwd: folder });
  const output = join(folder, "out.flac");
  await writeFile(output, Buffer.from(await (await fetch(url.trim())).arrayBuffer()));
  expect((await readFacts(output)).sound).toMatchObject({ codec: "flac", sample_rate: 48_000, channels: 1 });
});
