import { useQuery } from '@tanstack/react-query';
import { Code } from '../ui/values/facts.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { markdownBlocks, type Block } from './markdown-blocks.ts';
import { readRunbook } from './runbooks.ts';

/** The runbook, beside the incident that links to it. */
export function RunbookPanel({ path }: { path: string }) {
  const query = useQuery({
    queryKey: ['runbook', path],
    queryFn: () => readRunbook(path),
    staleTime: Infinity,
  });
  return (
    <Panel title="Runbook" aside={<span className="font-mono text-xs text-ink-faint">{path}</span>}>
      <QueryBoundary query={query} loading={<Skeleton label="Loading the runbook" />}>
        {(text) =>
          text === null ? (
            <p className="text-sm text-ink-muted">No runbook in this build.</p>
          ) : (
            <div className="flex max-w-prose flex-col gap-3 text-sm">
              {markdownBlocks(text).map((block, index) => (
                // The text of a runbook never changes its order.
                <BlockView key={index} block={block} />
              ))}
            </div>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return <h3 className="pt-1 font-semibold">{block.text}</h3>;
    case 'paragraph':
      return (
        <p>
          <Inline text={block.text} />
        </p>
      );
    case 'code':
      return <pre className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs">{block.text}</pre>;
    case 'list': {
      const List = block.ordered ? 'ol' : 'ul';
      return (
        <List className={`flex flex-col gap-1.5 pl-5 ${block.ordered ? 'list-decimal' : 'list-disc'}`}>
          {block.items.map((item) => (
            <li key={item}>
              <Inline text={item} />
            </li>
          ))}
        </List>
      );
    }
  }
}

/** `code`, **bold** and the text of [links](…). */
function Inline({ text }: { text: string }) {
  const parts = text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return parts.map((part, index) => {
    if (part.startsWith('`')) return <Code key={index}>{part.slice(1, -1)}</Code>;
    if (part.startsWith('**')) return <strong key={index}>{part.slice(2, -2)}</strong>;
    return part;
  });
}
