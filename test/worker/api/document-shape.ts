// The parts of the OpenAPI document that the tests read.

export interface Media {
  schema: { $ref?: string; type?: string; items?: { $ref?: string } };
  examples?: Record<string, { value: unknown }>;
}
export interface Schema {
  examples?: unknown[];
  default?: unknown;
  enum?: unknown[];
}
export interface Answer {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
}
export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: object[];
  parameters?: { name: string; in: string; schema: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Answer>;
}
export interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    headers: Record<string, object>;
    responses: Record<string, Answer>;
  };
}
