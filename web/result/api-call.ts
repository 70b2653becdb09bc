import type { EncodeKind } from "../../src/index.ts";

/** The parameters of an API call that matches an item. */
export interface ApiCall {
  /** Base URL of the service; null when the page knows none. */
  readonly base_url: string | null;
  /** URL of the input; null for a file on the visitor's machine. */
  readonly url: string | null;
  readonly name: string;
  /** The outputs of the input; several are a job. */
  readonly outputs: readonly ApiOutput[];
}

/** An output, with the fields of a task. */
export interface ApiOutput {
  readonly kind: EncodeKind;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Stands for the key, which never appears in the text. */
export const KEY_PLACEHOLDER = "YOUR_API_KEY";
const SERVICE_PLACEHOLDER = "https://media.example.com";

/** Writes the call as a shell command; a visitor's file becomes a placeholder URL with a comment. */
export function asCurl({ base_url, url, name, outputs: requests }: ApiCall): string {
  const input = url ?? `https://example.com/${encodeURIComponent(name)}`;
  const outputs = requests.map(({ kind, options }) => ({ kind, ...optionsOf(options) }));
  const isJob = outputs.length > 1;
  const body = JSON.stringify({ input, ...(isJob ? { outputs } : outputs[0]) }, null, 2);
  const note = [
    "# The service reads the file itself: put it at a URL",
    "# that it can reach, or upload it with POST /uploads first,",
    "# which returns a URL for it.",
    "",
  ];
  return [
    ...(url === null ? note : []),
    `curl ${quote(`${base_url ?? SERVICE_PLACEHOLDER}/${isJob ? "jobs" : "tasks"}`)} \\`,
    `  -H 'Authorization: Bearer ${KEY_PLACEHOLDER}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quote(body)}`,
  ].join("\n");
}

/**
 * Writes the call, the wait for its end and the URL of the output in TypeScript for Node; a visitor's file is read and
 * uploaded.
 */
export function asTypeScript({ base_url, url, name, outputs }: ApiCall): string {
  const input = url === null ? `input: file,` : `input: ${JSON.stringify(url)},`;
  const output = ({ kind, options }: ApiOutput) => [
    `kind: ${JSON.stringify(kind)}`,
    ...Object.values(optionsOf(options)).map((value) => `options: ${literal(value)}`),
  ];
  const file = `const file = new File([await openAsBlob(${JSON.stringify(name)})], ${JSON.stringify(name)});`;
  return [
    ...(url === null ? [`import { openAsBlob } from "node:fs";`] : []),
    `import { createRemoteClient } from "framewright/client";`,
    "",
    "const client = createRemoteClient({",
    `  baseUrl: ${JSON.stringify(base_url ?? SERVICE_PLACEHOLDER)},`,
    `  apiKey: ${JSON.stringify(KEY_PLACEHOLDER)},`,
    "});",
    ...(url === null ? ["// It is sent to the service first.", file] : []),
    ...(outputs.length > 1 ? job() : task()),
  ].join("\n");

  function task(): string[] {
    return [
      "const task = await client.tasks.create({",
      `  ${input}`,
      ...outputs.flatMap(output).map((line) => `  ${line},`),
      "});",
      "const done = await client.tasks.wait(task);",
      'if (done.status !== "succeeded") throw new Error(done.error?.message);',
      "console.log(await (await client.output(done)).url());",
    ];
  }

  function job(): string[] {
    return [
      "const job = await client.jobs.create({",
      `  ${input}`,
      "  outputs: [",
      ...outputs.map((each) => `    { ${output(each).join(", ")} },`),
      "  ],",
      "});",
      "for (const task of (await client.jobs.wait(job)).tasks) {",
      '  if (task.status !== "succeeded") throw new Error(task.error?.message);',
      "  console.log(await (await client.output(task)).url());",
      "}",
    ];
  }
}

function optionsOf(options: Readonly<Record<string, unknown>>): { options?: Record<string, unknown> } {
  const defined = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return Object.keys(defined).length > 0 ? { options: defined } : {};
}

function literal(options: Record<string, unknown>): string {
  const pairs = Object.entries(options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${pairs.join(", ")} }`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
