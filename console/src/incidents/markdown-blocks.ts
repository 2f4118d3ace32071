/** The pieces of Markdown that runbooks are written in. */
export type Block =
  | { kind: 'heading' | 'paragraph' | 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] };

const ITEM = /^(?:[-*]|(\d+)\.)\s+/;

/** Splits a runbook into blocks. Its first heading is left out, because the page has one. */
export function markdownBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let code: string[] | null = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) {
      if (code) blocks.push({ kind: 'code', text: code.join('\n') });
      code = code ? null : [];
    } else if (code) code.push(line);
    else if (!line.startsWith('# ')) addLine(blocks, line);
  }
  return blocks.filter((block) => block.kind === 'list' || block.text !== '');
}

function addLine(blocks: Block[], line: string): void {
  const last = blocks.at(-1);
  const item = ITEM.exec(line);
  if (line.startsWith('#')) blocks.push({ kind: 'heading', text: line.replace(/^#+\s*/, '') });
  else if (item) {
    const words = line.slice(item[0].length);
    if (last?.kind === 'list') last.items.push(words);
    else blocks.push({ kind: 'list', ordered: item[1] !== undefined, items: [words] });
  } else if (line.trim() === '') blocks.push({ kind: 'paragraph', text: '' });
  else if (last?.kind === 'list') last.items.push(`${last.items.pop() ?? ''} ${line.trim()}`);
  else if (last?.kind === 'paragraph') last.text = `${last.text} ${line}`.trim();
  else blocks.push({ kind: 'paragraph', text: line });
}
