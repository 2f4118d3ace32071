const BLOCK = 512;

/** A tar archive of plain files, in the ustar format. */
export function tarOf(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    return [header(name, content.length), content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string => value.toString(8).padStart(length - 1, '0');
  block.write(name, 0);
  block.write(octal(0o644, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)}\0 `, 148);
  return block;
}
