import type { UserProfile } from '../../lib/contract/account-schemas.ts'
import { Field } from './field.tsx'
import { Notice } from './notice.tsx'
import { NewPassword } from './sign-up.tsx'
import { Time } from './time.tsx'

export interface AccountProps {
  readonly base: string
  readonly me: UserProfile
  /** Of the service that keeps names and passwords; null: this one. */
  readonly authUrl: string | null
  readonly canMail: boolean
  readonly done?: string | undefined
  readonly trouble?: string
}

const DONE: Readonly<Record<string, string>> = {
  name: 'The name is changed.',
  password: 'The password is changed. All other devices are signed out.',
  sent: 'A mail with a link is on its way to you.',
  verified: 'The e-mail address is verified.',
}

export function Account({ base, me, authUrl, canMail, done = '', trouble }: AccountProps) {
  const said = DONE[done]
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      {trouble === undefined && said !== undefined && <Notice kind="done">{said}</Notice>}
      <Profile base={base} me={me} canMail={canMail && authUrl === null} />
      {authUrl === null ? (
        <>
          <Name base={base} me={me} />
          <Password base={base} />
          <Sessions base={base} />
        </>
      ) : (
        <p>
          Your name and password are kept by <a href={authUrl}>{authUrl}</a>.
        </p>
      )}
    </>
  )
}

function Profile({ base, me, canMail }: Pick<AccountProps, 'base' | 'me' | 'canMail'>) {
  return (
    <section class="card" aria-labelledby="profile">
      <h2 id="profile">Profile</h2>
      <dl class="facts">
        <div>
          <dt>E-mail address</dt>
          <dd>{me.email ?? '–'}</dd>
        </div>
        <div>
          <dt>Verified</dt>
          <dd>{me.emailVerified ? 'Yes' : 'No'}</dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>
            <Time at={me.createdAt} precision="day" />
          </dd>
        </div>
        <div>
          <dt>User id</dt>
          <dd>
            <code>{me.id}</code>
          </dd>
        </div>
      </dl>
      {canMail && !me.emailVerified && (
        <form method="post" action={`${base}/app/account/verify`}>
          <button type="submit" class="quiet">
            Send a mail to verify the address
          </button>
        </form>
      )}
    </section>
  )
}

function Name({ base, me }: Pick<AccountProps, 'base' | 'me'>) {
  return (
    <section class="card" aria-labelledby="name-title">
      <h2 id="name-title">Name</h2>
      <form class="stack" method="post" action={`${base}/app/account/name`}>
        <Field
          name="name"
          label="Your name"
          value={me.name ?? ''}
          maxlength={100}
          autocomplete="name"
          required
        />
        <button type="submit" class="quiet">
          Save the name
        </button>
      </form>
    </section>
  )
}

function Password({ base }: Pick<AccountProps, 'base'>) {
  return (
    <section class="card" aria-labelledby="password-title">
      <h2 id="password-title">Password</h2>
      <form class="stack" method="post" action={`${base}/app/account/password`}>
        <Field
          name="current"
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
        />
        <NewPassword />
        <button type="submit" class="quiet">
          Change the password
        </button>
      </form>
    </section>
  )
}

function Sessions({ base }: Pick<AccountProps, 'base'>) {
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">Devices</h2>
      <p>Ends every session of yours, this one too. Keys go on working.</p>
      <form method="post" action={`${base}/app/account/sign-out-everywhere`}>
        <button type="submit" class="quiet">
          Sign out on all devices
        </button>
      </form>
    </section>
  )
}
