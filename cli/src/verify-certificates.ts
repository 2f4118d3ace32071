import { readFile } from 'node:fs/promises';
import {
  checkCertificate,
  checkChain,
  type CertificateFinding,
  type PublishedKey,
  type SignedWipeCertificate,
} from '@gpuaas/sdk/wipe-certificates';

export interface Verdict {
  checked: number;
  findings: CertificateFinding[];
  /** Head of a chain: store it, and the next check can start here. */
  head: { sequence: number; hash: string } | null;
}

/** Reads files only, without the platform. */
export async function verifyFiles(
  files: readonly string[],
  keysFile: string,
  chain: boolean,
): Promise<Verdict> {
  const keys = await readKeys(keysFile);
  const certificates = (await Promise.all(files.map(readCertificates))).flat();
  if (chain) {
    const { findings, head } = checkChain(certificates, keys);
    return { checked: certificates.length, findings, head };
  }
  const findings = certificates.flatMap((certificate) => checkCertificate(certificate, keys) ?? []);
  return { checked: certificates.length, findings, head: null };
}

/** The keys as `gpuaas certificates keys` saves them. */
async function readKeys(file: string): Promise<PublishedKey[]> {
  const content: { items?: PublishedKey[] } = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(content.items)) throw new Error(`${file} contains no published keys.`);
  return content.items;
}

/** One certificate, or one on each line. */
async function readCertificates(file: string): Promise<SignedWipeCertificate[]> {
  const text = (await readFile(file, 'utf8')).trim();
  const parsed = whole(text) ?? text.split('\n').map((line) => JSON.parse(line) as unknown);
  const certificates = Array.isArray(parsed) ? parsed : [parsed];
  if (certificates.some((one) => !one.certificate || typeof one.signature !== 'string')) {
    throw new Error(`${file} is not a wipe certificate.`);
  }
  return certificates;
}

function whole(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
