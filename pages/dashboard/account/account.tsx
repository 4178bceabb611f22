import type { UserProfile } from '../../../lib/contract/account/account-schemas.ts'
import { FactList } from '../../fact-list.tsx'
import { Form, PostButton } from '../parts/form.tsx'
import { Block, Group } from '../parts/group.tsx'
import { type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { EmailForm } from './email.tsx'
import { CurrentPassword, NameField, NewPassword, UserName } from './fields.tsx'
import { DeleteBlock, ExportBlock } from './leaving.tsx'
import { SecondFactorBlock } from './second-factor.tsx'
import { Sessions, type SessionsProps } from './sessions.tsx'

export interface AccountProps extends PageProps {
  readonly me: UserProfile
  /** Address of the remote auth service; null if this instance keeps names and passwords. */
  readonly authUrl: string | null
  readonly canMail: boolean
  readonly sessions: SessionsProps['sessions']
  /** Whether forms that ask for the password ask for a code, too. */
  readonly asksCode: boolean
}

const DONE: Readonly<Record<string, string>> = {
  name: 'Name changed.',
  password: 'Password changed. You are signed out on all other devices.',
  sent: 'We have sent you an e-mail with a link.',
  mailed: 'We have sent an e-mail to the new address. Open the link in it to confirm the change.',
  email: 'E-mail address changed. You are signed out on all other devices.',
  ended: 'You are signed out on that device.',
  'factor-off': 'The second factor is off.',
  'ended-others': 'You are signed out on all other devices.',
}

export function Account(props: AccountProps) {
  const { base, sessions, authUrl, asksCode, done = '', error, problem } = props
  return (
    <>
      <Result error={error} done={DONE[done]} />
      <Group id="profile" title="Profile" help="Who you are here, and where mails go.">
        <Profile {...props} />
        {authUrl === null ? <ProfileForms {...props} /> : <Elsewhere authUrl={authUrl} />}
      </Group>
      {authUrl === null && (
        <Group id="security" title="Security" help="How you sign in, and where you are signed in.">
          <PasswordBlock {...props} />
          <SecondFactorBlock base={base} isOn={asksCode} />
          <Sessions base={base} sessions={sessions} />
        </Group>
      )}
      <Group id="data" title="Data" help="Everything that is stored about this account.">
        <ExportBlock base={base} />
      </Group>
      {authUrl === null && (
        <Group id="danger" title="Danger zone" help="This cannot be undone." kind="danger">
          <DeleteBlock base={base} asksCode={asksCode} problem={problem} />
        </Group>
      )}
    </>
  )
}

function Profile({ base, me, canMail, authUrl }: AccountProps) {
  // Without mail there is nothing that a user could do about it.
  const unverified = canMail ? 'No' : undefined
  return (
    <section class="block" aria-label="About you">
      <FactList
        facts={[
          ['E-mail address', me.email ?? '–'],
          ['Verified', me.emailVerified ? 'Yes' : unverified],
          ['Account created', <Time at={me.createdAt} precision="day" />],
          ['User ID', <code>{me.id}</code>],
          [
            'Mails about usage',
            canMail ? <a href={`${base}/app/usage/mails`}>When, and to whom</a> : undefined,
          ],
        ]}
      />
      {canMail && authUrl === null && !me.emailVerified && (
        <PostButton
          action={`${base}/app/account/verify`}
          text="Send a verification e-mail"
          kind="quiet"
        />
      )}
    </section>
  )
}

function ProfileForms({ base, me, canMail, asksCode, problem }: AccountProps) {
  return (
    <>
      <Block id="name-title" title="Name">
        <Form action={`${base}/app/account/name`} text="Save name" kind="quiet">
          <NameField label="Your name" value={me.name ?? ''} problem={problem} />
        </Form>
      </Block>
      <EmailForm base={base} canMail={canMail} asksCode={asksCode} problem={problem} />
    </>
  )
}

function Elsewhere({ authUrl }: { readonly authUrl: string }) {
  return (
    <p>
      Manage your name, e-mail address, password and devices at <a href={authUrl}>{authUrl}</a>. To
      delete your account, delete it there, then ask the administrator to delete its data here.
    </p>
  )
}

function PasswordBlock({ base, me, problem }: AccountProps) {
  return (
    <Block id="password-title" title="Password">
      <Form action={`${base}/app/account/password`} text="Change password" kind="quiet">
        <UserName email={me.email ?? ''} />
        <CurrentPassword name="current" label="Current password" problem={problem} />
        <NewPassword problem={problem} />
      </Form>
    </Block>
  )
}
