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
  return (
    <a class="button quiet" href={addressOf(path, query)}>
      {text}
    </a>
  )
}

/** The address of a list with this filter. Empty values are left out. */
export function addressOf(path: string, query: PageLinkProps['query']): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return `${path}?${new URLSearchParams(given)}`
}
