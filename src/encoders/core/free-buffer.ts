// What is sent to where nobody is goes nowhere, and its memory with it; a transfer to oneself would leave it to the garbage collector.
const { port1: nowhere, port2 } = new MessageChannel();
port2.close();

/**
 * Gives the memory of bytes back now, which nobody may use any more. The garbage collector would leave some 64 MB in each worker for as long
 * as wasm runs there.
 */
export function giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
  // What is gone already cannot be sent.
  if (buffer.byteLength > 0) nowhere.postMessage(null, [buffer]);
}
