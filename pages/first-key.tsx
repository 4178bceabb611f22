import { PostForm } from './post-form.tsx'

interface FirstKeyButtonProps {
  readonly base: string
  /** `quiet` beside an action that comes first; default: the action of its page. */
  readonly kind?: 'quiet'
}

/**
 * Creates a key for look-ups with one click. A visitor who is not signed in is asked to sign in first.
 * Other permissions are chosen on the page of the keys.
 */
export function FirstKeyButton({ base, kind }: FirstKeyButtonProps) {
  return (
    <PostForm action={`${base}/app/keys`}>
      <input type="hidden" name="name" value="My first key" />
      <input type="hidden" name="type" value="secret" />
      <input type="hidden" name="access" value="look-ups" />
      <button type="submit" class={kind === undefined ? 'button' : `button ${kind}`}>
        Create a key
      </button>
    </PostForm>
  )
}
