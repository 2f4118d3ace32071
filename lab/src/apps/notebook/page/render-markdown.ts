/** Headings, lists, code blocks, paragraphs, and inline code, emphasis and links. Makes elements, never HTML. */
export function renderMarkdown(text: string): HTMLElement[] {
  const blocks: HTMLElement[] = [];
  for (const part of text.split(/^(```[\s\S]*?^```\s*$)/m)) {
    if (part.startsWith('```')) {
      const code = element('pre', part.replace(/^```[^\n]*\n/, '').replace(/\n?```\s*$/, ''));
      blocks.push(code);
    } else for (const block of part.split(/\n\s*\n/)) blocks.push(...renderBlock(block.trim()));
  }
  return blocks;
}

function renderBlock(block: string): HTMLElement[] {
  if (block === '') return [];
  const heading = /^(#{1,6})\s+(.*)$/m.exec(block);
  if (heading && block.startsWith('#')) {
    const [line = '', ...rest] = block.split('\n');
    const title = inline(`h${heading[1]?.length ?? 1}`, line.replace(/^#+\s+/, ''));
    return [title, ...renderBlock(rest.join('\n').trim())];
  }
  const ordered = /^\d+\. /.test(block);
  if (!ordered && !/^[-*] /.test(block)) return [inline('p', block.replaceAll('\n', ' '))];
  const list = document.createElement(ordered ? 'ol' : 'ul');
  for (const item of block.split(/\n(?=(?:[-*]|\d+\.) )/))
    list.append(inline('li', item.replace(/^(?:[-*]|\d+\.) /, '').replaceAll('\n', ' ')));
  return [list];
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\((https?:\/\/[^)\s]+)\)/g;

function inline(tag: string, text: string): HTMLElement {
  const block = document.createElement(tag);
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, code, strong, emphasis, label, address] = match;
    block.append(text.slice(end, match.index));
    if (code) block.append(element('code', code));
    else if (strong) block.append(element('strong', strong));
    else if (emphasis) block.append(element('em', emphasis));
    else if (label && address) block.append(link(label, address));
    end = match.index + all.length;
  }
  block.append(text.slice(end));
  return block;
}

function element(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function link(label: string, address: string): HTMLElement {
  const made = document.createElement('a');
  made.textContent = label;
  made.href = address;
  made.rel = 'noopener noreferrer';
  made.target = '_blank';
  return made;
}
