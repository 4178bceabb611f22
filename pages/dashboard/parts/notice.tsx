import type { Child } from 'hono/jsx'
import type { Problem } from './field.tsx'

interface NoticeProps {
  /** `done`: the action succeeded. `error`: it failed. `hint`: information. */
  readonly kind: 'done' | 'error' | 'hint'
  readonly children?: Child
}

/** A message above the content. Screen readers announce a failure at once. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** The props that most pages share. */
export interface PageProps {
  readonly base: string
  /** The name of the action that was just completed, from the query of the page. */
  readonly done?: string | undefined
  /** Why the last action failed. */
  readonly error?: string | undefined
  /** What is wrong with the form that was refused. */
  readonly problem?: Problem | undefined
}

/** The result of the last action: why it failed, or else what was done. */
export function Result({ error, done }: Pick<PageProps, 'error' | 'done'>) {
  if (error !== undefined) return <Notice kind="error">{error}</Notice>
  return done === undefined ? null : <Notice kind="done">{done}</Notice>
}
