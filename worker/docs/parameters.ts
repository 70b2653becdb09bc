import { LIST_LIMIT, type ListSort } from "../../src/core/lists.ts";
import type { Parameter } from "./operation.ts";

/** The id in a path. */
export function idParameter(sort: ListSort, example: string): Parameter[] {
  return [
    {
      name: "id",
      in: "path",
      required: true,
      description: `Id of the ${sort}.`,
      schema: { type: "string" },
      example,
    },
  ];
}

/** The header that resumes a stream of events. */
export const lastEventId: Parameter[] = [
  {
    name: "Last-Event-ID",
    in: "header",
    description: "The last event seen.",
    schema: { type: "string", examples: ["3"] },
  },
];

/** The query of a list. */
export function listParameters(
  sort: ListSort,
  statuses: readonly string[] | null,
  kinds: readonly string[] | null,
  example: string,
): Parameter[] {
  const query = (name: string, description: string, schema: object) =>
    ({ name, in: "query", required: false, description, schema }) as const;
  // Examples go into the schema: the reference page would fill in those of the parameter.
  const cursor = { type: "string", examples: [example] };
  return [
    query("limit", "Records on the page.", {
      type: "integer",
      minimum: LIST_LIMIT.min,
      maximum: LIST_LIMIT.max,
      default: LIST_LIMIT.default,
    }),
    query("after", `Id of a ${sort}: the page starts after it. Not together with \`before\`.`, cursor),
    query("before", `Id of a ${sort}: the page ends before it.`, cursor),
    query("order", "By time of creation.", { type: "string", enum: ["asc", "desc"], default: "desc" }),
    ...(statuses
      ? [query("status", "Only records in this state.", { type: "string", enum: [...statuses] })]
      : []),
    ...(kinds ? [query("kind", "Only records of this kind.", { type: "string", enum: [...kinds] })] : []),
  ];
}
