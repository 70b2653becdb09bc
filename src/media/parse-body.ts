import type { z } from "zod";
import { clip } from "../util/text.ts";
import { type ErrorKind, MediaError } from "./errors.ts";
import * as errors from "./plan-errors.ts";

type Issue = z.core.$ZodIssue;

/** Options of {@link parseBody}. */
export interface BodyParsing {
  /** Returns messages for the faults that the schema does not describe. */
  explain?: z.core.$ZodErrorMap;
  /** Whether the values were parsed from text, so that a wrong type is a wrong value. */
  isText?: boolean;
}

/** Parses the body of a request; throws the {@link MediaError} of its first fault, preferring an unknown field. */
export function parseBody<T extends z.ZodType>(
  schema: T,
  body: unknown,
  { explain, isText = false }: BodyParsing = {},
): z.output<T> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw errors.notObject();
  }
  const parsed = schema.safeParse(body, { reportInput: true, ...(explain && { error: explain }) });
  if (parsed.success) return parsed.data;
  throw errorOf(issueToReport(parsed.error.issues), isText);
}

function issueToReport(issues: readonly Issue[]): Issue | undefined {
  const [first] = issues;
  // No member of the union has this kind, so report the faults of the first member.
  const own = first?.code === "invalid_union" && first.path.length === 0 ? (first.errors[0] ?? []) : issues;
  return own.find(({ code, path }) => code === "unrecognized_keys" && path.length === 0) ?? own[0];
}

function errorOf(issue: Issue | undefined, isText: boolean): MediaError {
  if (!issue) return errors.wrongBody();
  const { message } = issue;
  const kind = kindOf(issue, isText);
  const param = paramOf(issue);
  const whole: unknown = issue.code === "custom" ? issue.params?.whole : undefined;
  const sentence = issue.code === "unrecognized_keys" || kind === "invalid_kind" || whole === true;
  if (sentence || param === undefined) return new MediaError(kind, message, { param });
  const reason = { code: "field", field: param, rule: message } as const;
  return new MediaError(kind, typeof whole === "string" ? whole : `${param} ${message}`, { param, reason });
}

function paramOf({ path, ...issue }: Issue): string | undefined {
  const field = issue.code === "unrecognized_keys" ? [...path, clip(issue.keys[0] ?? "")] : path;
  const param = field[0] === "input" || field[0] === "options" ? field : field.slice(0, 1);
  return param.length > 0 ? param.join(".") : undefined;
}

function kindOf(issue: Issue, isText: boolean): ErrorKind {
  const { code, path, input: value } = issue;
  const [field, name] = path;
  const address = field === "input" && (path.length === 1 || name === "url");
  if (address && (value == null || value === "")) return "input_required";
  if (code === "unrecognized_keys" || (!isText && isWrongType(issue))) return "request_invalid";
  switch (field) {
    case "kind":
      return "invalid_kind";
    case "input":
      return "invalid_input";
    case "output":
      return "invalid_output";
    case "options":
      return optionKind(name, value);
    default:
      return "request_invalid";
  }
}

function optionKind(name: PropertyKey | undefined, value: unknown): ErrorKind {
  if (name === "format") return "invalid_format";
  if (name === "codec" || name === "audio_codec") return "invalid_codec";
  return name === "url" && value !== undefined ? "invalid_output" : "invalid_options";
}

function isWrongType(issue: Issue): boolean {
  const { input: value } = issue;
  switch (issue.code) {
    case "invalid_type":
      return value !== undefined && !(issue.expected === "int" && typeof value === "number");
    case "invalid_value":
      // A Source may come from a later version, so any unknown value counts as an invalid input.
      return issue.path[0] !== "input" && issue.values.every((each) => typeof each !== typeof value);
    case "invalid_union":
      return issue.errors.every(([first]) => first !== undefined && isWrongType(first));
    default:
      return false;
  }
}
