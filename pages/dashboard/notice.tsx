import type { Child } from 'hono/jsx'

interface NoticeProps {
  /** `done`: what was asked is done. `trouble`: it is not. `hint`: something to know. */
  readonly kind: 'done' | 'trouble' | 'hint'
  readonly children?: Child
}

/** One message above the content, read out at once where it answers what was just done. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === 'trouble' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}
