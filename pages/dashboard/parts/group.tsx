import type { Child } from 'hono/jsx'

interface GroupProps {
  /** The id of the heading. */
  readonly id: string
  readonly title: string
  readonly help?: string
  /** `danger`: what cannot be undone. */
  readonly kind?: 'danger'
  /** Blocks, or lines without a heading. */
  readonly children?: Child
}

/** Settings of one subject in a box, with their title and help at its left. */
export function Group({ id, title, help, kind, children }: GroupProps) {
  return (
    <section class={kind === undefined ? 'group' : `group ${kind}`} aria-labelledby={id}>
      <div>
        <h2 id={id}>{title}</h2>
        {help !== undefined && <p class="soft small">{help}</p>}
      </div>
      <div class="card">{children}</div>
    </section>
  )
}

interface BlockProps {
  /** The id of the heading. */
  readonly id: string
  readonly title: string
  readonly children?: Child
}

/** A part of a group with a heading of its own. */
export function Block({ id, title, children }: BlockProps) {
  return (
    <section class="block" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}
