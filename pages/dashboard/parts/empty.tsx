import type { Child } from 'hono/jsx'
import { Icon, type IconName } from '../../icon.tsx'

interface EmptyProps {
  readonly icon: IconName
  /** What there is none of. */
  readonly title: string
  /** Why, and what to do next. */
  readonly children?: Child
}

/** In the place of a list, table or chart that has nothing to show. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <section class="card empty" aria-labelledby="empty">
      <Icon name={icon} />
      <h2 id="empty">{title}</h2>
      {children}
    </section>
  )
}
