const TYPES = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/**
 * Writes a message of protobuf from its end to its beginning: so the length of each part is known when it has to be
 * written. Fields of a message are therefore written in reverse order, and repeated ones too.
 */
export function createProtobuf() {
  let bytes = Buffer.allocUnsafe(16_384);
  /** What is behind this place has been written. */
  let at = bytes.length;

  function reserve(length: number): void {
    if (at < length) {
      const larger = Buffer.allocUnsafe(2 * bytes.length + length);
      at += larger.length - bytes.length;
      bytes.copy(larger, at, at - (larger.length - bytes.length));
      bytes = larger;
    }
    at -= length;
  }

  /** `value`: whole, at least 0 and less than 2^53. */
  function putVarint(value: number): void {
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length += 1;
    reserve(length);
    let rest = value;
    for (let place = at; place < at + length - 1; place += 1) {
      bytes[place] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    bytes[at + length - 1] = rest;
  }

  function putTag(field: number, type: keyof typeof TYPES): void {
    putVarint(field * 8 + TYPES[type]);
  }

  function putBytes(field: number, text: string, encoding: "utf8" | "hex"): void {
    const length = Buffer.byteLength(text, encoding);
    reserve(length);
    bytes.write(text, at, encoding);
    putVarint(length);
    putTag(field, "bytes");
  }

  return {
    varint(field: number, value: number): void {
      putVarint(value);
      putTag(field, "varint");
    },
    fixed32(field: number, value: number): void {
      reserve(4);
      bytes.writeUInt32LE(value, at);
      putTag(field, "fixed32");
    },
    fixed64(field: number, value: bigint): void {
      reserve(8);
      bytes.writeBigUInt64LE(value, at);
      putTag(field, "fixed64");
    },
    text: (field: number, text: string): void => putBytes(field, text, "utf8"),
    hex: (field: number, digits: string): void => putBytes(field, digits, "hex"),
    /** A message within this one. */
    part(field: number, write: () => void): void {
      const before = bytes.length - at;
      write();
      putVarint(bytes.length - at - before);
      putTag(field, "bytes");
    },
    finish: (): Uint8Array<ArrayBuffer> => bytes.subarray(at),
  };
}

/** The numbers and parts of a message by their field, as far as it can be read. */
export function readProtobuf(bytes: Uint8Array): ReadonlyMap<number, number | Uint8Array> {
  const fields = new Map<number, number | Uint8Array>();
  let at = 0;

  function takeVarint(): number {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at]!;
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) break;
    }
    return value;
  }

  while (at < bytes.length) {
    const tag = takeVarint();
    const type = tag % 8;
    if (type !== TYPES.varint && type !== TYPES.bytes) break;
    const value = takeVarint();
    const field = Math.floor(tag / 8);
    if (type === TYPES.varint) fields.set(field, value);
    else {
      fields.set(field, bytes.subarray(at, at + value));
      at += value;
    }
  }
  return fields;
}
