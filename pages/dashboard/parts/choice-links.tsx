import type { Child } from 'hono/jsx'

export interface ChoiceLink {
  readonly text: Child
  readonly href: string
  readonly isChosen: boolean
}

interface ChoiceLinksProps {
  /** What is chosen, for those who hear the page. */
  readonly label: string
  /** `tabs` choose what a part of the page shows, a `switch` what all of it shows; `groups` are long lists. */
  readonly look: 'tabs' | 'switch' | 'groups'
  /** `true`: the chosen link leads to the first of several pages. */
  readonly current?: 'page' | 'true'
  readonly links: readonly ChoiceLink[]
}

/** Links to the same page, of which one is chosen. */
export function ChoiceLinks({ label, look, current = 'page', links }: ChoiceLinksProps) {
  return (
    <nav class={look} aria-label={label}>
      {links.map(({ text, href, isChosen }) => (
        <a href={href} aria-current={isChosen ? current : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

export interface Chip {
  /** What is filtered by, such as Page. */
  readonly name: string
  readonly value: string
  /** The same page without this filter. */
  readonly href: string
}

/** The filters in force that have no field of their own. A click takes one away. */
export function Chips({ chips }: { readonly chips: readonly Chip[] }) {
  if (chips.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {chips.map(({ name, value, href }) => (
        <li>
          <a href={href}>
            <span class="soft">{name}</span> {value} <span aria-hidden="true">×</span>
            <span class="unseen">Remove this filter</span>
          </a>
        </li>
      ))}
    </ul>
  )
}
