import type { Child } from 'hono/jsx'
import { FORM_ID } from '../lib/contract/pages.ts'

interface PostFormProps {
  readonly action: string
  readonly id?: string
  readonly class?: string | undefined
  readonly 'data-size'?: number
  readonly 'data-world'?: string
  readonly children?: Child
}

/**
 * A form that changes something. All are made here, because each needs an id of its own: browsers send a form twice
 * after a double click, and drop the first answer.
 */
export function PostForm({ action, children, ...more }: PostFormProps) {
  return (
    <form method="post" action={action} {...more}>
      <input type="hidden" name={FORM_ID} value={crypto.randomUUID()} />
      {children}
    </form>
  )
}
