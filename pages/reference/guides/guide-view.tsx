import { Table } from '../../table.tsx'
import { FieldList } from '../field-list.tsx'
import { Line } from '../prose.tsx'
import type { Block } from './block.ts'
import type { GuideText } from './guides.ts'

interface GuideViewProps {
  /** Base path of the service. */
  readonly base: string
  readonly text: GuideText
}

export function GuideView({ base, text: { title, blocks } }: GuideViewProps) {
  return (
    <main id="content" class="guide">
      <section>
        <h1>{title}</h1>
        {blocks.map((block) => (
          <BlockView base={base} block={block} />
        ))}
      </section>
    </main>
  )
}

function BlockView({ base, block }: { readonly base: string; readonly block: Block }) {
  const line = (text: string) => <Line base={base} text={text} />
  if (typeof block === 'string') return <p>{line(block)}</p>
  if ('heading' in block) return <h2>{block.heading}</h2>
  if ('code' in block) return <pre tabindex={0}>{block.code}</pre>
  if ('fields' in block) return <FieldList fields={block.fields} of="answer" />
  if ('list' in block) {
    return (
      <ul>
        {block.list.map((text) => (
          <li>{line(text)}</li>
        ))}
      </ul>
    )
  }
  return <Table heads={block.heads} rows={block.rows.map((cells) => cells.map(line))} />
}
