import { z } from "zod";
import type { Route } from "../http/context.ts";
import { routeNotFound } from "./operation.ts";

/** Version of the API, the same as the package's. */
const API_VERSION = "0.1.0";

/** Body of `GET /health`. */
export const Health = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

const INFO = {
  title: "Framewright",
  version: API_VERSION,
  description:
    "Media processing with one task model. A **task** takes the URL of a media file and a kind and runs probe, ingest, encode and upload; a **step** is one of these operations alone. Every request carries `Authorization: Bearer <API_KEY>`; every answer carries `Request-Id`.",
  license: { name: "MIT", identifier: "MIT" },
};

const TAGS = [
  { name: "Tasks", description: "A whole pipeline over one media file." },
  { name: "Jobs", description: "Several outputs of one media file, which is read once." },
  { name: "Steps", description: "One operation, to compose your own pipeline." },
  { name: "Connections", description: "Storage of your own, S3-compatible, for inputs and outputs." },
  { name: "Uploads", description: "Files from a page straight to storage, to create a task from." },
  { name: "Webhooks", description: "What happened, and telling it to URLs of your own." },
  { name: "Keys", description: "The project's API keys." },
  { name: "Media", description: "What came out." },
  { name: "Images", description: "Pictures in the size and format that a page asks for, by their URL." },
  { name: "Service", description: "The service itself." },
];

const HEADERS = {
  "Request-Id": "Id of the request, for support.",
  Link: 'The pages beside this one: `<url>; rel="next"`, `<url>; rel="prev"` (RFC 8288).',
  "Has-More": "`true` when more records follow in the same direction.",
  "Retry-After": "Seconds to wait.",
  RateLimit:
    'How the key stands with its limits: `"requests";r=299;t=60` leaves 299 until 60 seconds from now. Requests that make a record tell their own, `"creations"`, too.',
  "RateLimit-Policy": 'The limits of a key: `"requests";q=300;w=60` are 300 in 60 seconds.',
  "WWW-Authenticate": "The scheme to use, and the scope that is lacking.",
  ETag: "Version of the file.",
  "Accept-Ranges": "`bytes`.",
  "Content-Range": "Which bytes of how many.",
  "Cache-Control": "How long it may be kept.",
  "Cache-Status": "Whether it was stored, or had to be made (RFC 9211).",
};

/** Creates the OpenAPI 3.1 document of routes, with the zod schemas that have an id. */
export function createDocument(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, operation } of routes) paths[path] = { ...paths[path], [method]: operation };
  const headers = Object.entries(HEADERS).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  return {
    openapi: "3.1.0",
    info: INFO,
    tags: TAGS,
    components: {
      securitySchemes: { api_key: { type: "http", scheme: "bearer" } },
      headers: Object.fromEntries(headers),
      responses: { RouteNotFound: routeNotFound },
      schemas: jsonSchemas(),
    },
    paths,
  };
}

// Zod writes its own schemas as JSON Schema 2020-12, the dialect of OpenAPI 3.1, nulls and references included.
function jsonSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // The registry's order is that in which modules happen to load.
  const names = Object.keys(schemas).sort();
  return Object.fromEntries(
    names.map((name) => {
      const { $schema, $id, ...schema } = schemas[name] ?? {};
      return [name, schema];
    }),
  );
}
