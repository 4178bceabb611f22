import { Choice, Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import {
  CodeField,
  CurrentPassword,
  EmailField,
  NameField,
  NewPassword,
  UserName,
} from './fields.tsx'

export interface SignInProps extends PageProps {
  /** The path to open after signing in. */
  readonly next: string
  /** The other ways in that this instance offers. */
  readonly offers: {
    readonly signUp: boolean
    readonly reset: boolean
    readonly verification: boolean
  }
  readonly email?: string
  /** The token in the link that verifies the address, if it led here. */
  readonly verify?: string | undefined
  /** The address of the dashboard over https, if the browser must use that. */
  readonly secureUrl?: string
}

const DONE: Readonly<Record<string, string>> = {
  'signed-up':
    'We have sent an e-mail to your address. Open the link in it and sign in to verify the address.',
  reset: 'Your new password is set. Sign in with it.',
  everywhere: 'You are signed out on all devices.',
  deleted: 'Your account is deleted.',
  asked: 'If an account has your address, we have sent an e-mail with a link.',
  'verification-asked':
    'If an account has your address and waits for its verification, we have sent a new link.',
}

const TO_VERIFY = 'Sign in to verify your e-mail address.'

export function SignIn({ base, next, offers, email = '', verify, ...result }: SignInProps) {
  const { error, done = '', secureUrl } = result
  if (secureUrl !== undefined) return <OverHttps url={secureUrl} />
  const isSent = next !== '/app' && error === undefined && done === ''
  return (
    <>
      <Result error={error} done={verify === undefined ? DONE[done] : TO_VERIFY} />
      {isSent && <Notice kind="hint">Sign in to open the page that you asked for.</Notice>}
      <Form action={`${base}/app/sign-in`} text="Sign in" field={{ name: 'next', value: next }}>
        {verify !== undefined && <input type="hidden" name="verify" value={verify} />}
        <EmailField value={email} />
        <CurrentPassword name="password" label="Password" />
      </Form>
      <p class="ways">
        {offers.signUp && <a href={`${base}/app/sign-up`}>Create an account</a>}
        {offers.reset && <a href={`${base}/app/forgot`}>Forgot your password?</a>}
        {offers.verification && <a href={`${base}/app/verify`}>New verification link</a>}
      </p>
    </>
  )
}

function OverHttps({ url }: { readonly url: string }) {
  const reason = 'You opened this page over http. Browsers keep you signed in here only over https.'
  return (
    <>
      <Result error={reason} />
      <p>
        Go to <a href={url}>{url}</a>.
      </p>
    </>
  )
}

export interface SecondStepProps extends PageProps {
  readonly next: string
  /** Proves that the password was given. */
  readonly challenge: string
}

export function SecondStep({ base, next, challenge, error, problem }: SecondStepProps) {
  const form = { action: `${base}/app/sign-in/code`, text: 'Sign in' }
  const fields = (
    <>
      <input type="hidden" name="challenge" value={challenge} />
      <input type="hidden" name="next" value={next} />
    </>
  )
  return (
    <>
      <Result error={error} />
      <Form {...form}>
        {fields}
        <CodeField problem={problem} />
      </Form>
      <details class="confirm quiet" open={problem?.field === 'recoveryCode'}>
        <summary>Use a recovery code</summary>
        <Form {...form} kind="quiet">
          {fields}
          <Field
            name="recoveryCode"
            label="Recovery code"
            autocomplete="off"
            problem={problem}
            required
          />
        </Form>
      </details>
      <p class="ways">
        <a href={`${base}/app/sign-in`}>Start again</a>
      </p>
    </>
  )
}

export interface SignUpProps extends PageProps {
  readonly typed?: { readonly name: string; readonly email: string }
}

export function SignUp({ base, typed, error, problem }: SignUpProps) {
  return (
    <>
      <Result error={error} />
      <Form action={`${base}/app/sign-up`} text="Create account">
        <NameField label="Name" value={typed?.name ?? ''} problem={problem} />
        <EmailField value={typed?.email ?? ''} problem={problem} />
        <NewPassword problem={problem} />
      </Form>
      <p class="ways">
        <a href={`${base}/app/sign-in`}>Sign in instead</a>
        {problem?.field === 'email' && <a href={`${base}/app/forgot`}>Forgot your password?</a>}
      </p>
    </>
  )
}

export interface ForgotPasswordProps extends PageProps {
  /** The command that makes a link to set a new password. */
  readonly linkCommand: string
  /** Whether this instance sends e-mail. */
  readonly canMail: boolean
  readonly email?: string
}

export function ForgotPassword(props: ForgotPasswordProps) {
  const { base, linkCommand, canMail, email = '', error, problem } = props
  if (!canMail) {
    return (
      <>
        <p>
          This instance does not send e-mail. Ask the administrator for a link to set a new
          password. Administrators make one with this command:
        </p>
        <pre tabindex={0}>{linkCommand}</pre>
        <BackToSignIn base={base} />
      </>
    )
  }
  return (
    <>
      <Result error={error} />
      <Form action={`${base}/app/forgot`} text="Send link">
        <EmailField
          value={email}
          problem={problem}
          hint="We will send you a link to choose a new password. It is valid for one hour."
        />
      </Form>
      <BackToSignIn base={base} />
    </>
  )
}

function BackToSignIn({ base }: Pick<PageProps, 'base'>) {
  return (
    <p class="ways">
      <a href={`${base}/app/sign-in`}>Back to sign-in</a>
    </p>
  )
}

export interface NewVerificationProps extends PageProps {
  readonly email?: string
}

export function NewVerification({ base, email = '', error, problem }: NewVerificationProps) {
  return (
    <>
      <Result error={error} />
      <Form action={`${base}/app/verify`} text="Send link">
        <EmailField
          value={email}
          problem={problem}
          hint="If you signed up with this address and have not verified it, we will send you a new link. It is valid for one hour."
        />
      </Form>
      <BackToSignIn base={base} />
    </>
  )
}

export interface ResetPasswordProps extends PageProps {
  /** From the link in the e-mail; null if the link is invalid. */
  readonly token: string | null
  /** Of the user whose password is set; undefined: unknown. */
  readonly email: string | undefined
  /** Whether the box to revoke the keys is ticked. */
  readonly revokeKeys: boolean
}

export function ResetPassword(props: ResetPasswordProps) {
  const { base, token, email, revokeKeys, error, problem } = props
  if (token === null) {
    return (
      <>
        <Result error="This link has expired or has already been used." />
        <p class="ways">
          <a href={`${base}/app/forgot`}>Request a new link</a>
        </p>
      </>
    )
  }
  const field = { name: 'token', value: token }
  return (
    <>
      <Result error={error} />
      <Form action={`${base}/app/reset`} text="Set password" field={field}>
        {email !== undefined && <UserName email={email} />}
        <NewPassword problem={problem} />
        <Choice type="checkbox" name="revokeKeys" value="yes" checked={revokeKeys}>
          Revoke all API keys of this account
        </Choice>
      </Form>
    </>
  )
}

interface StopMailsProps {
  readonly action: string
  /** From the link in the mail. */
  readonly id: string
  /** Who gets which mails. */
  readonly sentence: string
}

/** For all mails that have a link to stop them. */
export function StopMails({ action, id, sentence }: StopMailsProps) {
  return (
    <>
      <p>{sentence}</p>
      <Form action={action} text="Get no more of them" field={{ name: 'id', value: id }} />
    </>
  )
}
