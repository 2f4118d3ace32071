/** Whole numbers from 0 as bytes of seven bits each, the low ones first. */
export class NumberWriter {
  readonly #bytes: number[] = [];

  add(...numbers: number[]): void {
    for (let number of numbers) {
      while (number >= 128) {
        this.#bytes.push((number % 128) + 128);
        number = Math.floor(number / 128);
      }
      this.#bytes.push(number);
    }
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

export class NumberReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): number {
    let number = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new Error('The model file is cut off');
      number += (byte % 128) * unit;
      if (byte < 128) return number;
    }
  }
}
