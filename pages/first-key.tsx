import { PostForm } from './post-form.tsx'

/**
 * Creates a key for look-ups with one click. A visitor who is not signed in is asked to sign in first.
 * Other permissions are chosen on the page of the keys.
 */
export function FirstKeyButton({ base }: { readonly base: string }) {
  return (
    <PostForm action={`${base}/app/keys`}>
      <input type="hidden" name="name" value="My first key" />
      <input type="hidden" name="type" value="secret" />
      <input type="hidden" name="access" value="look-ups" />
      <button type="submit" class="button quiet">
        Create a key
      </button>
    </PostForm>
  )
}
