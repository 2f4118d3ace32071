import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Corpus {
  training: string[];
  /** Never trained on: every tenth paragraph, chosen by its own digest, so that other edits do not move it. */
  heldOut: string[];
}

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const FOLDERS = ['.', 'docs', 'docs/decisions', 'docs/handbook', 'docs/runbooks'];

/** Prose of the repository's documents. Another seed holds other paragraphs out. */
export async function readCorpus(seed: number, root = ROOT): Promise<Corpus> {
  const paragraphs = new Set<string>();
  for (const folder of FOLDERS) {
    const names = (await readdir(join(root, folder))).filter((name) => name.endsWith('.md')).toSorted();
    for (const name of names)
      for (const paragraph of paragraphsOf(await readFile(join(root, folder, name), 'utf8')))
        paragraphs.add(paragraph);
  }
  const corpus: Corpus = { training: [], heldOut: [] };
  for (const paragraph of paragraphs)
    (isHeldOut(paragraph, seed) ? corpus.heldOut : corpus.training).push(paragraph);
  return corpus;
}

/** Paragraphs and list items on one line each, without code blocks, tables, headings and marks of emphasis. */
export function paragraphsOf(markdown: string): string[] {
  return markdown
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((block) => block.trim())
    .filter((block) => !/^[#|]/.test(block))
    .map((block) =>
      block
        .replace(/^(?:[-*]|\d+\.) /, '')
        .replaceAll(/[*`]/g, '')
        .replaceAll(/\s+/g, ' '),
    )
    .filter((block) => block.length > 30);
}

function isHeldOut(paragraph: string, seed: number): boolean {
  return createHash('sha256').update(`${seed}\n${paragraph}`).digest().readUInt32BE(0) % 10 === 0;
}
