import type { Nodes, Root, Table, TableRow } from 'mdast';
import { type ComponentChildren, createElement } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { parseMarkdown } from './parse-markdown.ts';
import { PlainText } from './plain-text.tsx';
import './markdown-text.css';

const maxDepth = 64; // levels of nested nodes, such as lists and their items; deeper nodes are left out
const linkProtocols = ['http:', 'https:', 'mailto:'];

type Definitions = ReadonlyMap<string, string>;

/** Where a node is, and the addresses of links that are defined elsewhere in the text, by their identifiers. */
interface Context {
  readonly definitions: Definitions;
  readonly depth: number;
}

/** Finds the addresses of links that are defined in a text. The first definition of an identifier counts. */
function definitionsIn(tree: Root): Definitions {
  const definitions = new Map<string, string>();
  const remaining: Nodes[] = [tree];
  for (let node = remaining.pop(); node; node = remaining.pop()) {
    if (node.type === 'definition' && !definitions.has(node.identifier)) definitions.set(node.identifier, node.url);
    if ('children' in node) remaining.push(...node.children.toReversed());
  }
  return definitions;
}

/** Links a text to an absolute address. Other addresses, such as those of scripts, and paths, are not linked. */
function Link({ url, children }: { url: string; children: ComponentChildren }) {
  if (!URL.canParse(url) || !linkProtocols.includes(new URL(url).protocol)) return <>{children}</>;
  return (
    <a href={new URL(url).href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function TableElement({ table: { align = [], children }, context }: { table: Table; context: Context }) {
  const [head, ...rows] = children;
  const cellsOf = (row: TableRow, element: 'th' | 'td') =>
    row.children.map((cell, column) =>
      createElement(
        element,
        { key: column, dir: 'auto', class: `align-${align?.[column] ?? 'start'}` },
        childrenOf(cell.children, context),
      ),
    );
  return (
    <table>
      <thead>
        <tr>{head && cellsOf(head, 'th')}</tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>{cellsOf(row, 'td')}</tr>
        ))}
      </tbody>
    </table>
  );
}

const childrenOf = (nodes: readonly Nodes[], context: Context) =>
  nodes.map((node, index) => <Node key={index} node={node} context={{ ...context, depth: context.depth + 1 }} />);

/** Shows one node. HTML is shown as text, and images by their description: nothing in the file can run or load anything. */
function Node({ node, context }: { node: Nodes; context: Context }) {
  if (context.depth > maxDepth) return null;
  const children = () => ('children' in node ? childrenOf(node.children, context) : null);
  switch (node.type) {
    case 'heading':
      return createElement(`h${Math.min(6, node.depth + 1)}`, { dir: 'auto' }, children());
    case 'paragraph':
      return <p dir="auto">{children()}</p>;
    case 'blockquote':
      return <blockquote>{children()}</blockquote>;
    case 'list':
      return node.ordered ? <ol start={node.start ?? 1}>{children()}</ol> : <ul>{children()}</ul>;
    case 'listItem':
      return (
        <li dir="auto">
          {typeof node.checked === 'boolean' && (node.checked ? '☑ ' : '☐ ')}
          {children()}
        </li>
      );
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        <pre tabIndex={0}>{node.value}</pre>
      );
    case 'table':
      return <TableElement table={node} context={context} />;
    case 'thematicBreak':
      return <hr />;
    case 'break':
      return <br />;
    case 'strong':
    case 'emphasis':
    case 'delete':
      return createElement({ strong: 'strong', emphasis: 'em', delete: 'del' }[node.type], null, children());
    case 'inlineCode':
      return <code>{node.value}</code>;
    case 'link':
      return <Link url={node.url}>{children()}</Link>;
    case 'linkReference':
      return <Link url={context.definitions.get(node.identifier) ?? ''}>{children()}</Link>;
    case 'image':
    case 'imageReference':
      return <span class="muted">[{node.alt || '…'}]</span>;
    case 'definition':
    case 'footnoteReference':
      return null;
    default:
      return <>{'value' in node ? node.value : children()}</>;
  }
}

/** Shows a text in Markdown, with tables and task lists as on GitHub. Shows it as plain text if it is not parsed in time, or not at all. */
export function MarkdownText({ name, text }: { name: string; text: string }) {
  /** undefined: the text is being parsed; null: it cannot be parsed. */
  const [tree, setTree] = useState<Root | null | undefined>(undefined);
  useEffect(() => {
    const parsing = parseMarkdown(text);
    void parsing.tree.then(setTree);
    return parsing.stop;
  }, [text]);
  if (tree === undefined) return <LoadingRows />;
  if (tree === null) return <PlainText text={text} />;
  const context = { definitions: definitionsIn(tree), depth: 0 };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <article class="markdown" tabIndex={0} aria-label={name}>
      {childrenOf(tree.children, context)}
    </article>
  );
}
