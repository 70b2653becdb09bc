import { toMediaError } from "../../media/errors.ts";
import { extraInputs, mapExtraInputs } from "../../media/extra-inputs.ts";
import { ENCODE_KINDS, type EncodeKind } from "../../media/formats.ts";
import { type JobRequest, parseJobRequest } from "../../runs/job-request.ts";
import { type ListQuery, type ListType, parseListQuery } from "../../runs/lists.ts";
import {
  parseStepRequest,
  parseTaskRequest,
  type StepRequest,
  type TaskRequest,
} from "../../runs/requests.ts";
import { checkHost, type HostRules } from "../../storage/http/host-guard.ts";
import { parseS3Url } from "../../storage/s3/s3-connection.ts";
import type { Connections } from "../connections.ts";
import * as errors from "../errors.ts";
import { extraFileIndex, isOpfsPath } from "./local-files.ts";

const PLACEHOLDER_URL = "https://local.invalid/input";

/** The rules for a request beyond its schema. */
export interface LocalRules extends HostRules {
  connections: Pick<Connections, "check">;
}

/**
 * Parses the request of a task; `local` is the URL of an input on this machine, null for one on the network. Throws as the service
 * does.
 */
export function parseLocalTask(body: unknown, local: string | null, rules: LocalRules): TaskRequest {
  const { masked, restore } = maskExtraInputs(body);
  const request = restore(
    parseTaskRequest(local === null ? masked : { ...Object(masked), input: PLACEHOLDER_URL }),
  );
  refuseWebhook(request);
  checkExtraInputs(request, rules);
  if (local === null) checkInput(request.input, "input", rules);
  checkOutput(request, rules);
  return local === null ? request : { ...request, input: local };
}

/** Parses the request of a job like that of a task. */
export function parseLocalJob(body: unknown, local: string | null, rules: LocalRules): JobRequest {
  const { masked, restore } = maskExtraInputs(body);
  const request = parseJobRequest(local === null ? masked : { ...Object(masked), input: PLACEHOLDER_URL });
  refuseWebhook(request);
  if (local === null) checkInput(request.input, "input", rules);
  const outputs = request.outputs.map((output, index) => {
    const at = `outputs.${index}.`;
    const restored = restore(output.request, at);
    checkExtraInputs(restored, rules, at);
    checkOutput(restored, rules, at);
    return { ...output, request: local === null ? restored : { ...restored, input: local } };
  });
  return { ...request, input: local ?? request.input, outputs };
}

/** Parses the options of a list; undefined options count as absent. */
export function parseLocalList(sort: ListType, options: unknown): ListQuery {
  const defined = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return parseListQuery(sort, new Map(defined));
}

/** Parses the request of a standalone step like that of a task; an encode accepts a file that was not probed. */
export function parseLocalStep(body: unknown, local: string | null, rules: LocalRules): StepRequest {
  const { masked, restore } = maskExtraInputs(body);
  const request = restore(parseStepRequest(local === null ? masked : withPlaceholderInput(Object(masked))));
  refuseWebhook(request);
  checkExtraInputs(request, rules);
  if (local === null) checkInput(request.input.url, "input.url", rules);
  if (request.kind === "upload") {
    const { url, connection_id = null } = request.options;
    rules.connections.check(connection_id, "options.connection_id", "upload");
    parseS3Url(url);
  }
  if (local === null) return request;
  if (request.kind === "probe" || request.kind === "ingest")
    return { ...request, input: { ...request.input, url: local } };
  return { ...request, input: { ...request.input, url: local } };
}

function withPlaceholderInput(body: Record<string, unknown>): Record<string, unknown> {
  const { input } = body;
  if (typeof input === "object" && input !== null)
    return { ...body, input: { ...input, url: PLACEHOLDER_URL } };
  const encodes = ENCODE_KINDS.includes(body.kind as EncodeKind) || body.kind === "upload";
  // The file is probed before the encode, so these facts are never used.
  const source = { object: "source", url: PLACEHOLDER_URL, kind: "video", format: "unknown" };
  return { ...body, input: encodes ? source : { url: PLACEHOLDER_URL } };
}

function maskExtraInputs(body: unknown) {
  const local = new Map<string, string>();
  const masked = mapExtraInputs(Object(body), (url, _, param) => {
    if (typeof url !== "string" || !isLocal(url)) return url;
    local.set(param, url);
    return PLACEHOLDER_URL;
  });
  const restore = <T extends { options?: unknown }>(request: T, at = ""): T =>
    local.size === 0 ? request : mapExtraInputs(request, (url, _, param) => local.get(at + param) ?? url);
  return { masked: typeof body === "object" && body !== null ? masked : body, restore };
}

function checkExtraInputs(request: { options?: unknown }, rules: LocalRules, at = ""): void {
  for (const { url, param } of extraInputs(request)) if (!isLocal(url)) checkInput(url, at + param, rules);
}

function checkOutput({ output }: TaskRequest, rules: LocalRules, at = ""): void {
  if (output === undefined) return;
  rules.connections.check(null, `${at}output`, "output");
  parseS3Url(output);
}

function isLocal(url: string): boolean {
  return extraFileIndex(url) !== null || isOpfsPath(url);
}

// A page may close at any time, and its visitor could forge the events.
function refuseWebhook({ webhook_url }: { webhook_url?: string | undefined }): void {
  if (webhook_url !== undefined) throw errors.webhookUnsupported();
}

function checkInput(url: string, param: string, rules: LocalRules): void {
  if (/^s3:/i.test(url)) {
    rules.connections.check(null, param, "input");
    return;
  }
  try {
    checkHost(url, rules);
  } catch (thrown) {
    throw errors.inputRefused({ param, message: toMediaError(thrown).message });
  }
}
