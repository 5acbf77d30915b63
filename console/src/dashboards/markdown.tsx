// Text of a markdown card: headings, paragraphs, lists, code, emphasis and links. It is built of
// elements, never of HTML text.
import { Fragment, type ReactNode } from 'react';
import style from './markdown.module.css';

type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: string[] }
  | { readonly kind: 'paragraph'; text: string };

const ITEM = /^\s*(?:([-*+])|\d+[.)])\s+(.*)$/;

function blocksOf(source: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = source.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const last = blocks.at(-1);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = ITEM.exec(line);
    if (line.startsWith('```')) {
      const end = lines.findIndex((each, at) => at > index && each.startsWith('```'));
      blocks.push({ kind: 'code', text: lines.slice(index + 1, end === -1 ? undefined : end).join('\n') });
      index = end === -1 ? lines.length : end;
    } else if (heading) blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' });
    else if (item) {
      const isOrdered = item[1] === undefined;
      if (last?.kind === 'list' && last.isOrdered === isOrdered) last.items.push(item[2] ?? '');
      else blocks.push({ kind: 'list', isOrdered, items: [item[2] ?? ''] });
    } else if (line.trim() === '') blocks.push({ kind: 'paragraph', text: '' });
    else if (last?.kind === 'paragraph' && last.text !== '') last.text += `\n${line}`;
    else blocks.push({ kind: 'paragraph', text: line });
  }
  return blocks.filter((block) => block.kind !== 'paragraph' || block.text !== '');
}

const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|(?<![\w*])[*_](?=\S)(.+?)(?<=\S)[*_](?![\w*])|\[([^\]]*)\]\(([^)\s]+)\)/g;

/** Marks stand side by side: a tree that is as deep as they are many would not be drawn. */
function inline(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { index, 0: whole, 1: code, 2: strong, 3: emphasis, 4: label, 5: address } of text.matchAll(INLINE)) {
    if (index > at) parts.push(text.slice(at, index));
    at = index + whole.length;
    if (code !== undefined) parts.push(<code key={index}>{code}</code>);
    else if (strong !== undefined) parts.push(<strong key={index}>{inline(strong)}</strong>);
    else if (emphasis !== undefined) parts.push(<em key={index}>{inline(emphasis)}</em>);
    else {
      parts.push(
        <Anchor key={index} address={address ?? ''}>
          {inline(label ?? '')}
        </Anchor>,
      );
    }
  }
  return parts.length === 0 ? text : [...parts, text.slice(at)];
}

/** Other schemes, such as javascript:, stay text. */
function Anchor({ address, children }: { readonly address: string; readonly children: ReactNode }) {
  if (!/^(?:https?:\/\/|mailto:|\/(?!\/))/i.test(address)) return <>{children}</>;
  return (
    <a href={address} rel="noreferrer">
      {children}
    </a>
  );
}

export function Markdown({ source }: { readonly source: string }) {
  return (
    <div className={style.markdown}>
      {blocksOf(source).map((block, index) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a text keep their places
        return <Fragment key={index}>{elementOf(block)}</Fragment>;
      })}
    </div>
  );
}

function elementOf(block: Block): ReactNode {
  switch (block.kind) {
    case 'heading': {
      // Below the heading of the card.
      const Heading = block.level === 1 ? 'h4' : block.level === 2 ? 'h5' : 'h6';
      return <Heading>{inline(block.text)}</Heading>;
    }
    case 'code':
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      );
    case 'list': {
      const List = block.isOrdered ? 'ol' : 'ul';
      return (
        <List>
          {block.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items of a text keep their places
            <li key={index}>{inline(item)}</li>
          ))}
        </List>
      );
    }
    default:
      return <p>{inline(block.text)}</p>;
  }
}
