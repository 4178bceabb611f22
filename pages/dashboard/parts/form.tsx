import type { Child } from 'hono/jsx'
import { PostForm } from '../../post-form.tsx'

interface PostButtonProps {
  readonly action: string
  readonly text: string
  /** Default: the main action of the page. */
  readonly kind?: 'quiet' | 'danger'
  /** Read out instead of `text`. */
  readonly label?: string
  /** A hidden field that is sent along. */
  readonly field?: { readonly name: string; readonly value: string }
  /** Where to go without sending the form, beside its button. */
  readonly instead?: WayOut
  readonly class?: 'stack'
  /** Shown above the button. */
  readonly children?: Child
}

/** A form that consists of one button. */
export function PostButton({ action, text, kind, label, field, ...form }: PostButtonProps) {
  const button = (
    <button type="submit" class={kind} aria-label={label}>
      {text}
    </button>
  )
  return (
    <PostForm action={action} class={form.class}>
      {field !== undefined && <input type="hidden" {...field} />}
      {form.children}
      {form.instead === undefined ? (
        button
      ) : (
        <div class="actions">
          {button}
          <Instead {...form.instead} />
        </div>
      )}
    </PostForm>
  )
}

interface WayOut {
  readonly href: string
  readonly text: string
}

/** A link that leaves a form or a question. */
export function Instead({ href, text }: WayOut) {
  return (
    <a class="button quiet" href={href}>
      {text}
    </a>
  )
}

/** A form with one field per line above the button. */
export function Form(props: Omit<PostButtonProps, 'class' | 'label'>) {
  return <PostButton class="stack" {...props} />
}

interface ConfirmProps extends Pick<PostButtonProps, 'action' | 'text' | 'children'> {
  /** The text that opens the form. */
  readonly summary: string
  /** Read out instead of `summary`. */
  readonly label?: string
  /** Whether to show the form without opening it first. */
  readonly isOpen?: boolean | undefined
}

/** A dangerous action, behind a summary that must be opened first. */
export function Confirm({ summary, label, isOpen = false, ...button }: ConfirmProps) {
  return (
    <details class="confirm" open={isOpen}>
      <summary class="button danger quiet" aria-label={label}>
        {summary}
      </summary>
      <PostButton {...button} kind="danger" />
    </details>
  )
}
