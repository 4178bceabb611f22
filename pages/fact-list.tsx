import type { Child } from 'hono/jsx'

interface FactListProps {
  /** Facts without a value are not shown. */
  readonly facts: readonly (readonly [name: string, value: Child])[]
}

/** Names with their values. */
export function FactList({ facts }: FactListProps) {
  const known = facts.filter(([, value]) => value !== undefined)
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
