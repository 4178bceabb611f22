import type { Child } from 'hono/jsx'

interface MenuProps {
  /** Read out for the button, such as “Actions for Shop”. */
  readonly label: string
  /** Links and forms of one button; null and false are left out. */
  readonly items: readonly Child[]
}

/** A button that opens a list of actions. Of several menus only one is open. */
export function Menu({ label, items }: MenuProps) {
  return (
    <details class="menu" name="menu">
      <summary class="button quiet bare" aria-label={label}>
        <span aria-hidden="true">•••</span>
      </summary>
      <ul>
        {items.filter(Boolean).map((item) => (
          <li>{item}</li>
        ))}
      </ul>
    </details>
  )
}
