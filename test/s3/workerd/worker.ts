import { createS3Storage, type S3Options } from "../../../src/storage/s3/s3.ts";
import { STORAGE_CONTRACT } from "../../storage/contract.ts";

/** Runs clauses of the contract inside workerd, on the S3 storage that the request names. */
export default {
  async fetch(request: Request): Promise<Response> {
    const { name, options } = (await request.json()) as { name: string; options: S3Options };
    const check = STORAGE_CONTRACT.find((clause) => clause.name === name)?.check(createS3Storage(options));
    if (!check) return new Response("no such clause", { status: 404 });
    return check.then(
      () => new Response("kept"),
      (thrown) => new Response(String(thrown?.stack ?? thrown), { status: 500 }),
    );
  },
};
