import type { Lab } from "./lab.ts";

/** Limits the lab's origin to `bytes` more bytes of storage (at least 1) during the work; files and databases both count. */
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
