import type { Child } from 'hono/jsx'

interface FoldProps {
  /** The id of the heading. */
  readonly id: string
  readonly title: Child
  /** What it contains in a few words, shown beside the heading. */
  readonly glance?: string | undefined
  /** Whether to show it without opening it first. */
  readonly isOpen?: boolean | undefined
  readonly children?: Child
}

/** A section in a box that shows only its heading until it is opened. */
export function Fold({ id, title, glance = '', isOpen = false, children }: FoldProps) {
  return (
    <section class="card fold" aria-labelledby={id}>
      <details open={isOpen}>
        <summary>
          <h2 id={id}>{title}</h2> {glance !== '' && <span class="soft small">{glance}</span>}
        </summary>
        {children}
      </details>
    </section>
  )
}
