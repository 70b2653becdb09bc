import { crc32, deflateSync } from "node:zlib";
import { createRemoteClient, type RemoteClient, type Task } from "../../../src/client/index.ts";
import { toMediaError } from "../../../src/media/errors.ts";
import type { Finding } from "./finding.ts";

/** What each encoder is tried with: a picture of which only that encoder makes the format. */
const TRIALS = {
  light: { format: "jpeg", begins: /^\xff\xd8\xff/ },
  native: { format: "avif", begins: /^....ftypavif/s },
} as const;

/** Uploads a picture to a deployed service, encodes it on each encoder and checks what comes out; deletes what it made. */
export async function checkService(baseUrl: string, apiKey: string): Promise<Finding[]> {
  const client = createRemoteClient({ baseUrl, apiKey });
  const findings: Finding[] = [];
  try {
    const upload = await client.uploads.send(new Blob([drawPicture()], { type: "image/png" }));
    findings.push({ what: "Upload", state: "ok", words: "a picture is in storage" });
    for (const [encoder, trial] of Object.entries(TRIALS)) {
      findings.push(await tryEncoder(client, encoder, upload.url ?? "", trial));
    }
    await client.uploads.delete(upload.id);
  } catch (thrown) {
    findings.push({ what: "Service", state: "missing", words: wordsOf(thrown) });
  } finally {
    client.close();
  }
  return findings;
}

async function tryEncoder(
  client: RemoteClient,
  encoder: string,
  input: string,
  { format, begins }: (typeof TRIALS)[keyof typeof TRIALS],
): Promise<Finding> {
  const what = `Task on the ${encoder} encoder`;
  let task: Task | undefined;
  try {
    task = await client.tasks.create({ input, kind: "image", options: { format } });
    const done = await client.tasks.wait(task);
    if (done.error) return { what, state: "missing", words: done.error.message };
    const bytes = await (await client.output(done)).blob();
    const start = Buffer.from(await bytes.arrayBuffer()).toString("latin1", 0, 16);
    if (!begins.test(start)) return { what, state: "missing", words: `the output is no ${format}` };
    const used = done.steps.find(({ kind }) => kind === "image")?.output;
    const by = used && "encoder" in used ? used.encoder : "unknown";
    return by === encoder
      ? { what, state: "ok", words: `${format} of ${bytes.size} bytes` }
      : { what, state: "missing", words: `the ${by} encoder did the work` };
  } catch (thrown) {
    return { what, state: "missing", words: wordsOf(thrown) };
  } finally {
    if (task) await client.tasks.delete(task.id).catch(() => {});
  }
}

function wordsOf(thrown: unknown): string {
  return toMediaError(thrown).message;
}

const SIDE = 64;

// A PNG of a gradient (https://www.w3.org/TR/png-3/): 8 bits of RGB, each row unfiltered.
function drawPicture(): Buffer<ArrayBuffer> {
  const rows = Buffer.alloc(SIDE * (1 + SIDE * 3));
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      rows.set([x * 4, y * 4, 128], y * (1 + SIDE * 3) + 1 + x * 3);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIDE, 0);
  head.writeUInt32BE(SIDE, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(named, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}
