import type { Lab } from "./lab.ts";

/** Lets the lab's origin store only so many bytes more (at least 1) while the work is done; files and databases count together. */
export async function withRoom<T>(lab: Lab, bytes: number, work: () => Promise<T>): Promise<T> {
  const devtools = await lab.context.newCDPSession(lab.page);
  const { origin } = new URL(lab.url);
  try {
    const { usage } = await devtools.send("Storage.getUsageAndQuota", { origin });
    await devtools.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: usage + bytes });
    return await work();
  } finally {
    await devtools.send("Storage.overrideQuotaForOrigin", { origin });
    await devtools.detach();
  }
}
