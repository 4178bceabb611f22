import type { Child } from 'hono/jsx'

/** The links to other pages of a list. */
export function PageLinks({ children }: { readonly children?: Child }) {
  return (
    <nav class="actions pages" aria-label="Pages">
      {children}
    </nav>
  )
}

interface PageLinkProps {
  /** Path of the list. */
  readonly path: string
  /** The filter of the list and the page; empty values are left out. */
  readonly query: Readonly<Record<string, string>>
  readonly text: string
}

export function PageLink({ path, query, text }: PageLinkProps) {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return (
    <a class="button quiet" href={`${path}?${new URLSearchParams(given)}`}>
      {text}
    </a>
  )
}
