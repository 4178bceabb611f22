import { FORM_ID } from '../../../lib/contract/pages.ts'
import { PostButton } from '../parts/form.tsx'

export interface SignedOutProps {
  readonly base: string
  /** Path to which the form was sent. */
  readonly path: string
  /** What was sent, to send it again; null if it must be typed again. */
  readonly fields: readonly (readonly [name: string, value: string])[] | null
  /** The page with the form. */
  readonly page: string
  readonly allowSignUp: boolean
}

/** Answers a form that was sent without a session: keeps what was typed until the visitor has signed in. */
export function SignedOut({ base, path, fields, page, allowSignUp }: SignedOutProps) {
  return (
    <>
      <p>You are not signed in, so nothing has been changed yet.</p>
      <p class="ways">
        <a href={`${base}/app/sign-in`} target="_blank" rel="noopener">
          Sign in (opens a new tab)
        </a>
        {allowSignUp && (
          <a href={`${base}/app/sign-up`} target="_blank" rel="noopener">
            Create an account (opens a new tab)
          </a>
        )}
      </p>
      {fields === null ? (
        <p>
          Then <a href={`${base}${page}`}>go back to the form</a> and fill it in again.
        </p>
      ) : (
        <>
          <p>Then come back to this tab, and go on with what you entered.</p>
          <PostButton action={`${base}${path}`} text="Continue">
            {fields
              .filter(([name]) => name !== FORM_ID)
              .map(([name, value]) => (
                <input type="hidden" name={name} value={value} />
              ))}
          </PostButton>
        </>
      )}
    </>
  )
}
