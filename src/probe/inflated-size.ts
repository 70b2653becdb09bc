// RFC 1951, 3.2.5 to 3.2.7.
const LENGTH_BASES = Uint16Array.of(
  ...[
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  ],
  ...[227, 258, 0, 0],
);
const LENGTH_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0, 0, 0],
);
const DISTANCE_BITS = Uint8Array.from({ length: 32 }, (_, code) => Math.max(0, (code >> 1) - 1));
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const END_OF_BLOCK = 256;
const MAX_BITS = 15;
const ZLIB_HEADER_BITS = 16;
// Upper bounds of the bytes that the header of a block and a symbol take.
const NEEDED = { block: 1024, symbol: 16 } as const;
const QUICK_BITS = 9;

/** A Huffman code: how many codes have each length, and their symbols in order. */
interface Code {
  counts: Uint16Array;
  symbols: Uint16Array;
  /** For each value of the next nine bits, a symbol times 16 and its length; 0 for a longer one. */
  quick: Uint16Array;
}

function codeOf(lengths: readonly number[]): Code {
  const counts = new Uint16Array(MAX_BITS + 1);
  for (const length of lengths) if (length > 0) counts[length] = (counts[length] as number) + 1;
  const [codes, offsets] = [new Uint16Array(MAX_BITS + 2), new Uint16Array(MAX_BITS + 2)];
  for (let bits = 1; bits <= MAX_BITS; bits++) {
    offsets[bits + 1] = (offsets[bits] as number) + (counts[bits] as number);
    codes[bits + 1] = ((codes[bits] as number) + (counts[bits] as number)) << 1;
  }
  const symbols = new Uint16Array(lengths.length);
  const quick = new Uint16Array(1 << QUICK_BITS);
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue;
    const [place, code] = [offsets[length] as number, codes[length] as number];
    offsets[length] = place + 1;
    codes[length] = code + 1;
    symbols[place] = symbol;
    if (length > QUICK_BITS) continue;
    let reversed = 0;
    for (let bit = 0; bit < length; bit++) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
    for (let at = reversed; at < quick.length; at += 1 << length) quick[at] = (symbol << 4) | length;
  }
  return { counts, symbols, quick };
}

const FIXED = {
  literals: codeOf([...Array(144).fill(8), ...Array(112).fill(9), ...Array(24).fill(7), ...Array(8).fill(8)]),
  distances: codeOf(Array(30).fill(5)),
};

/** Reads the loaded bytes bit by bit; after their end, it reads zeros. */
class BitReader {
  bytes: Uint8Array = new Uint8Array();
  at = 0;
  private buffer = 0;
  private bufferBits = 0;

  /** Number of loaded bytes that are still unread. */
  get rest(): number {
    return this.bytes.length - this.at + (this.bufferBits >> 3);
  }

  add(more: Uint8Array): void {
    this.release();
    const rest = this.bytes.subarray(this.at);
    this.bytes = new Uint8Array(rest.length + more.length);
    this.bytes.set(rest);
    this.bytes.set(more, rest.length);
    this.at = 0;
  }

  read(count: number): number {
    this.fill();
    const value = this.buffer & ((1 << count) - 1);
    this.buffer >>>= count;
    this.bufferBits -= count;
    return value;
  }

  /** Returns the next symbol; null for bits that stand for none. */
  readSymbol({ counts, symbols, quick }: Code): number | null {
    this.fill();
    const entry = quick[this.buffer & ((1 << QUICK_BITS) - 1)] as number;
    if (entry > 0) {
      this.buffer >>>= entry & 15;
      this.bufferBits -= entry & 15;
      return entry >> 4;
    }
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length <= MAX_BITS; length++) {
      code |= (this.buffer >> (length - 1)) & 1;
      const count = counts[length] as number;
      if (code - count < first) {
        this.buffer >>>= length;
        this.bufferBits -= length;
        return symbols[index + code - first] ?? null;
      }
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return null;
  }

  /** Goes to the next whole byte. */
  align(): void {
    this.release();
    this.buffer = 0;
    this.bufferBits = 0;
  }

  private release(): void {
    this.at -= this.bufferBits >> 3;
    this.bufferBits &= 7;
    this.buffer &= (1 << this.bufferBits) - 1;
  }

  private fill(): void {
    while (this.bufferBits <= 16) {
      this.buffer |= (this.bytes[this.at++] ?? 0) << this.bufferBits;
      this.bufferBits += 8;
    }
  }
}

function readCodes(bits: BitReader): typeof FIXED {
  const [literals, distances, count] = [bits.read(5) + 257, bits.read(5) + 1, bits.read(4) + 4];
  const own = Array<number>(CODE_ORDER.length).fill(0);
  for (const place of CODE_ORDER.slice(0, count)) own[place] = bits.read(3);
  const code = codeOf(own);
  const lengths: number[] = [];
  while (lengths.length < literals + distances) {
    const symbol = bits.readSymbol(code);
    if (symbol === null) throw new RangeError();
    const repeats =
      symbol < 16
        ? 1
        : symbol === 16
          ? 3 + bits.read(2)
          : symbol === 17
            ? 3 + bits.read(3)
            : 11 + bits.read(7);
    const value = symbol < 16 ? symbol : symbol === 16 ? (lengths.at(-1) ?? 0) : 0;
    for (let index = 0; index < repeats; index++) lengths.push(value);
  }
  const end = literals + distances;
  return { literals: codeOf(lengths.slice(0, literals)), distances: codeOf(lengths.slice(literals, end)) };
}

/** Counts the bytes that symbols stand for, up to the end of the block or to damage, while they are at most `max` and `keep` bytes are loaded. */
function countSymbols(
  bits: BitReader,
  { literals, distances }: typeof FIXED,
  max: number,
  keep: number,
): { size: number; end: "block" | "damage" | null } {
  let size = 0;
  while (size <= max && bits.rest >= keep) {
    const symbol = bits.readSymbol(literals);
    if (symbol === END_OF_BLOCK) return { size, end: "block" };
    if (symbol === null) return { size, end: "damage" };
    if (symbol < END_OF_BLOCK) size++;
    else {
      const length = symbol - END_OF_BLOCK - 1;
      size += (LENGTH_BASES[length] as number) + bits.read(LENGTH_BITS[length] as number);
      const distance = bits.readSymbol(distances);
      if (distance === null) return { size, end: "damage" };
      bits.read(DISTANCE_BITS[distance] as number);
    }
  }
  return { size, end: null };
}

/**
 * Returns the number of bytes to which zlib data expand, without expanding them: a few megabytes of crafted data can expand to gigabytes.
 * Stops beyond `max` and at damage. Rejects as `pieces` does.
 */
export async function inflatedSize(pieces: AsyncIterable<Uint8Array>, max: number): Promise<number> {
  const source = pieces[Symbol.asyncIterator]();
  const bits = new BitReader();
  let [size, isWhole] = [0, false];
  const load = async (needed: number) => {
    while (!isWhole && bits.rest < needed) {
      const { done, value } = await source.next();
      if (done) isWhole = true;
      else bits.add(value);
    }
    return bits.rest >= (isWhole ? 0 : needed);
  };
  const countStored = async () => {
    bits.align();
    const length = bits.read(16);
    bits.read(16);
    bits.align();
    size += length;
    for (let left = length; left > 0; ) {
      if (!(await load(1)) || bits.rest === 0) throw new RangeError();
      const step = Math.min(left, bits.rest);
      bits.at += step;
      left -= step;
    }
  };
  try {
    await load(NEEDED.block);
    bits.read(ZLIB_HEADER_BITS);
    for (let isLast = false; !isLast && size <= max && (await load(NEEDED.block)); ) {
      isLast = bits.read(1) === 1;
      const kind = bits.read(2);
      if (kind === 3) return size;
      if (kind === 0) {
        await countStored();
        continue;
      }
      const codes = kind === 1 ? FIXED : readCodes(bits);
      while (size <= max && (await load(NEEDED.symbol))) {
        const part = countSymbols(bits, codes, max - size, isWhole ? 0 : NEEDED.symbol);
        size += part.size;
        if (part.end === "damage") return size;
        if (part.end) break;
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  return size;
}
