const FIRST_EXTENDED = 0x100;
const SERIAL_NUMBER = 0x0003;
/** Extended capabilities lie in 4 KiB, so a chain longer than this turns in a circle. */
const MOST_CAPABILITIES = 64;

/** The serial number that a PCI Express card says of itself in its configuration space, as lspci prints it. */
export function pciSerialNumber(config: Buffer | null): string | null {
  let at = FIRST_EXTENDED;
  for (let step = 0; config && step < MOST_CAPABILITIES && at >= FIRST_EXTENDED; step += 1) {
    if (at + 12 > config.length) return null;
    const header = config.readUInt32LE(at);
    if ((header & 0xffff) === SERIAL_NUMBER) return written(config.readBigUInt64LE(at + 4));
    at = (header >>> 20) & ~3;
  }
  return null;
}

function written(serial: bigint): string | null {
  if (serial === 0n || serial === 0xffff_ffff_ffff_ffffn) return null;
  return serial
    .toString(16)
    .padStart(16, '0')
    .replaceAll(/..(?=.)/g, '$&-');
}
