import type { Child } from 'hono/jsx'

interface CardProps {
  /** The id of the heading. */
  readonly id: string
  readonly title: Child
  readonly children?: Child
}

/** A section in a box, with a heading. */
export function Card({ id, title, children }: CardProps) {
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}
