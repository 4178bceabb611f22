import type { UserProfile } from '../../../lib/contract/account/account-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import { type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { CurrentPassword, NameField, NewPassword } from './fields.tsx'

export interface AccountProps extends PageProps {
  readonly me: UserProfile
  /** Address of the remote auth service; null if this instance keeps names and passwords. */
  readonly authUrl: string | null
  readonly canMail: boolean
}

const DONE: Readonly<Record<string, string>> = {
  name: 'Name changed.',
  password: 'Password changed. You are signed out on all other devices.',
  sent: 'We have sent you an e-mail with a link.',
}

export function Account({ base, me, authUrl, canMail, done = '', error }: AccountProps) {
  return (
    <>
      <Result error={error} done={DONE[done]} />
      <Profile base={base} me={me} canMail={canMail && authUrl === null} />
      {authUrl === null ? (
        <>
          <Card id="name-title" title="Name">
            <Form action={`${base}/app/account/name`} text="Save name" kind="quiet">
              <NameField label="Your name" value={me.name ?? ''} />
            </Form>
          </Card>
          <Card id="password-title" title="Password">
            <Form action={`${base}/app/account/password`} text="Change password" kind="quiet">
              <CurrentPassword name="current" label="Current password" />
              <NewPassword />
            </Form>
          </Card>
          <Card id="sessions" title="Devices">
            <p>This ends all your sessions, including this one. Your keys keep working.</p>
            <PostButton
              action={`${base}/app/account/sign-out-everywhere`}
              text="Sign out on all devices"
              kind="quiet"
            />
          </Card>
        </>
      ) : (
        <p>
          Manage your name and password at <a href={authUrl}>{authUrl}</a>.
        </p>
      )}
    </>
  )
}

function Profile({ base, me, canMail }: Pick<AccountProps, 'base' | 'me' | 'canMail'>) {
  return (
    <Card id="profile" title="Profile">
      <FactList
        facts={[
          ['E-mail address', me.email ?? '–'],
          ['Verified', me.emailVerified ? 'Yes' : 'No'],
          ['Account created', <Time at={me.createdAt} precision="day" />],
          ['User ID', <code>{me.id}</code>],
        ]}
      />
      {canMail && !me.emailVerified && (
        <PostButton
          action={`${base}/app/account/verify`}
          text="Send a verification e-mail"
          kind="quiet"
        />
      )}
    </Card>
  )
}
