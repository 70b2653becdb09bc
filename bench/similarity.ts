import { runCommand } from "./run-command.ts";

/** Returns the SSIM of every frame of an output against its source, scaled to the output's width. */
export async function similarities(output: string, source: string, width: number): Promise<number[]> {
  // Full and limited range would otherwise be compared as they are stored.
  const paired = "format=yuv420p,settb=1/1000,setpts=N*40";
  const graph = `[0:v:0]scale=out_range=tv,${paired}[got];[1:v:0]scale=${width}:-2:flags=bicubic:out_range=tv,${paired}[wanted];[got][wanted]ssim=stats_file=-`;
  const { stdout } = await runCommand("ffmpeg", [
    ...["-nostdin", "-loglevel", "error", "-i", output, "-i", source],
    ...["-filter_complex", graph, "-an", "-f", "null", "-"],
  ]);
  const values = [...stdout.matchAll(/All:(inf|[\d.]+)/g)].map(([, value]) => Number(value));
  if (values.length === 0) throw new Error("No frame was compared.");
  return values;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
