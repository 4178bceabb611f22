import type { Child } from 'hono/jsx'

type CardSize = 'brief'

/** What fits into half of the width of a small phone in the size of figures. Letters are wider. */
const BRIEF = /^([\d.,%]{0,7}|.{0,4})$/u

interface CardProps {
  /** The id of the heading. */
  readonly id: string
  readonly title: Child
  /** `brief`: phones show it beside another brief one. */
  readonly size?: CardSize | undefined
  readonly children?: Child
}

/** A section in a box, with a heading. */
export function Card({ id, title, size, children }: CardProps) {
  return (
    <section class={size === undefined ? 'card' : `card ${size}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

/** The size of cards that stand beside each other, by their figures. */
export function sizeOf(...figures: readonly string[]): CardSize | undefined {
  return figures.every((figure) => BRIEF.test(figure)) ? 'brief' : undefined
}
