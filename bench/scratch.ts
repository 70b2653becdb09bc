import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates a folder that is deleted with `ends`, or earlier if the process exits. */
export async function makeScratch(ends: AsyncDisposableStack): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "framewright-bench-"));
  const remove = () => rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  process.once("exit", remove);
  ends.defer(() => {
    process.off("exit", remove);
    remove();
  });
  return dir;
}
