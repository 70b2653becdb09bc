import { Agent, request } from "node:http";
import { percentile } from "./measure.ts";

export interface LoadRequest {
  method: "GET" | "POST";
  url: string;
  key: string;
  /** Sent as JSON. */
  body?: unknown;
  status: number;
}

export interface Load {
  rate: number;
  /** Milliseconds from sending to the last byte of the response. */
  p50: number;
  p99: number;
}

/**
 * Sends `total` requests over `connections` kept-alive connections, each sending its next one when the last is answered;
 * rejects at the first unexpected status.
 */
export async function runLoad(request: LoadRequest, total: number, connections: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let remaining = total;
  const started = performance.now();
  const connection = async () => {
    while (remaining-- > 0) {
      const start = performance.now();
      await send(request, agent);
      times.push(performance.now() - start);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, connection));
  } finally {
    remaining = 0;
    agent.destroy();
  }
  const rate = total / ((performance.now() - started) / 1000);
  return { rate, p50: percentile(times, 50), p99: percentile(times, 99) };
}

// Node's plain client; fetch would cost more than the measured request.
function send({ method, url, key, body, status }: LoadRequest, agent: Agent): Promise<void> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(text !== undefined && {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(text),
    }),
  };
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, agent, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part)).on("error", reject);
      answer.on("end", () => {
        const answerText = Buffer.concat(parts).toString();
        if (answer.statusCode === status) resolve();
        else reject(new Error(`${method} ${url} answered ${answer.statusCode}: ${answerText.slice(0, 200)}`));
      });
    });
    sending.on("error", reject).end(text);
  });
}
