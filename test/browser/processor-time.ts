import type { Lab } from "./lab.ts";

/** Processor time that the browser's pages and their workers have used so far, in seconds. */
export async function processorSeconds({ context }: Lab): Promise<number> {
  const browser = context.browser();
  if (!browser) throw new Error("The browser is not there.");
  const devtools = await browser.newBrowserCDPSession();
  const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
  await devtools.detach();
  const pages = processInfo.filter(({ type }) => type === "renderer");
  return pages.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}
