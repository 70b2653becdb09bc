import { sideBySide } from "../../util/async.ts";
import { requirePrefix } from "../storage.ts";
import type { Asked, S3Bucket } from "./s3-send.ts";
import { lackingAnswer } from "./s3-send.ts";
import { childrenOf, textOf } from "./s3-xml.ts";

const DELETES_AT_ONCE = 16;

/** Lists the keys that start with a prefix, in pages of up to a thousand. */
async function* listKeys(bucket: S3Bucket, prefix: string, asked: Asked): AsyncGenerator<string[]> {
  for (let after = ""; ; ) {
    const query = {
      "list-type": "2",
      // Keys may contain characters that XML cannot.
      "encoding-type": "url",
      prefix,
      ...(after !== "" && { "continuation-token": after }),
    };
    const { xml } = await bucket.ask({ method: "GET", key: "", query }, asked);
    if (!xml) throw lackingAnswer("list of keys");
    const encoded = textOf(xml, "EncodingType") === "url";
    yield childrenOf(xml, "Contents").map((each) => {
      const key = textOf(each, "Key");
      return encoded ? decodeURIComponent(key.replaceAll("+", " ")) : key;
    });
    const next = textOf(xml, "NextContinuationToken");
    if (textOf(xml, "IsTruncated") !== "true" || next === "" || next === after) return;
    after = next;
  }
}

/**
 * Deletes every object whose key starts with a prefix, one by one: deleting many at once requires an MD5, which browsers
 * cannot compute.
 */
export async function clearObjects(bucket: S3Bucket, prefix: string): Promise<void> {
  requirePrefix(prefix);
  const asked: Asked = { purpose: "write" };
  for await (const keys of listKeys(bucket, prefix, asked)) {
    // Some servers ignore a prefix that they do not understand.
    const own = keys.filter((key) => key.startsWith(prefix));
    await sideBySide(own, DELETES_AT_ONCE, async (key) => {
      await bucket.ask({ method: "DELETE", key }, { ...asked, expected: [404] });
    });
  }
}
