// A message to a closed port frees its transferred memory at once; other transfers leave it to the garbage collector.
const { port1: nowhere, port2 } = new MessageChannel();
port2.close();

/**
 * Frees the memory of `bytes` at once; they must not be used afterwards. The garbage collector would leave some 64 MB in each worker
 * for as long as wasm runs there.
 */
export function freeBuffer({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (buffer.byteLength > 0) nowhere.postMessage(null, [buffer]);
}
