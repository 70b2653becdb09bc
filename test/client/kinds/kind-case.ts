import type { Client, RunResult } from "../../../src/client/client.ts";
import type { EncodeKind } from "../../../src/media/formats.ts";
import type { OptionsOf } from "../../../src/media/option-types.ts";
import type { Source } from "../../../src/media/source.ts";
import { deepEqual, equal, ok } from "../../browser/assert.ts";
import type { ClientCase, ClientClauses } from "../contract-case.ts";

/** An output of the dubbed video, and the facts that hold for it on every host. */
export type KindCase = {
  [K in EncodeKind]: { kind: K; options: OptionsOf<K> | ((inputs: ClientCase["inputs"]) => OptionsOf<K>) };
}[EncodeKind] & {
  /** Completes the sentence "it makes …". */
  makes: string;
  /** Fields of the output, and all that they contain. */
  source: Partial<Source>;
  /** Duration in seconds, within what the frames of lossy sound add. */
  seconds?: number;
  /** Asserts what the record does not say. */
  check?(result: RunResult, client: Client): void | Promise<void>;
};

const FRAME_SECONDS = 0.06;

/** Turns cases into clauses. */
export function clausesOf(cases: readonly KindCase[]): ClientClauses {
  return cases.map(({ makes, kind, options, source: expected, seconds, check }) => ({
    name: `makes ${makes}`,
    async check({ client, inputs, encoder }) {
      const caseOptions = typeof options === "function" ? options(inputs) : options;
      const result = await client.run({ input: inputs.dubbed, kind, options: caseOptions });
      const { source, blob } = result;
      for (const [name, value] of Object.entries(expected)) {
        const actual = Reflect.get(source, name);
        deepEqual(actual, value, `${name} is ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`);
      }
      if (seconds !== undefined) {
        const { duration = 0 } = source;
        ok(Math.abs(duration - seconds) < FRAME_SECONDS, `it lasts ${duration} s, not ${seconds} s`);
      }
      if (encoder && hasEncodedPictures(kind, caseOptions)) equal(source.encoder, encoder);
      // Node writes no space before a parameter.
      equal(blob.type.replaceAll(" ", ""), source.mime?.replaceAll(" ", ""));
      // The size of several files is that of all.
      if (!source.files && !source.renditions) equal(blob.size, source.filesize);
      await check?.(result, client);
    },
  }));
}

function hasEncodedPictures(kind: EncodeKind, options: object): boolean {
  return kind !== "audio" && kind !== "waveform" && !("mode" in options && options.mode === "copy");
}
