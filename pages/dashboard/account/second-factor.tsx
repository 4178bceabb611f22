import encodeQR from 'qr'
import type { SecondFactor } from '../../../lib/contract/account/second-factor.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Confirm, Form } from '../parts/form.tsx'
import { Block } from '../parts/group.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import { CodeField, CurrentPassword, OwnerCode } from './fields.tsx'

/** Modules around the code: ISO/IEC 18004, section 5.3.8. */
const QR_BORDER = 4

const PATH = '/app/account/second-factor'

/** The second factor on the account page. */
export function SecondFactorBlock({ base, isOn }: { base: string; isOn: boolean }) {
  return (
    <Block id="factor-title" title="Second factor">
      <p>
        {isOn
          ? 'On: signing in also asks for a code of your authenticator app.'
          : 'Off: your password is enough to sign in.'}
      </p>
      <p>
        <a class="button quiet" href={`${base}${PATH}`}>
          {isOn ? 'Manage the second factor' : 'Turn it on'}
        </a>
      </p>
    </Block>
  )
}

export interface SecondFactorProps extends PageProps {
  readonly factor: SecondFactor
}

export function SecondFactorPage({ base, factor, error, problem }: SecondFactorProps) {
  return (
    <>
      <Result error={error} />
      {factor.isOn ? (
        <Manage base={base} factor={factor} problem={problem} />
      ) : (
        <Begin base={base} problem={problem} />
      )}
      <p>
        <a href={`${base}/app/account`}>Back to the account</a>
      </p>
    </>
  )
}

function Begin({ base, problem }: Pick<PageProps, 'base' | 'problem'>) {
  return (
    <Card id="begin-title" title="Turn on the second factor">
      <p>
        You need an authenticator app on your phone or computer. Signing in then asks for your
        password and for a code that the app shows.
      </p>
      <Form action={`${base}${PATH}`} text="Continue">
        <CurrentPassword name="password" label="Your password" problem={problem} />
      </Form>
    </Card>
  )
}

function Manage({ base, factor, problem }: SecondFactorProps) {
  return (
    <>
      <Card id="state-title" title="The second factor is on">
        <FactList
          facts={[
            ['Since', <Time at={factor.since ?? null} precision="day" />],
            ['Recovery codes left', String(factor.recoveryCodes ?? 0)],
          ]}
        />
      </Card>
      <Card id="codes-title" title="New recovery codes">
        <Form action={`${base}${PATH}/recovery-codes`} text="Replace the codes" kind="quiet">
          <CurrentPassword name="codesPassword" label="Your password" problem={problem} />
          <OwnerCode name="codesCode" problem={problem} />
        </Form>
      </Card>
      <Card id="off-title" title="Turn off">
        <p>Your password is then enough to sign in.</p>
        <Confirm
          action={`${base}${PATH}/remove`}
          summary="Turn off the second factor"
          text="Turn off"
          isOpen={problem?.field.startsWith('off')}
        >
          <CurrentPassword name="offPassword" label="Your password" problem={problem} />
          <OwnerCode name="offCode" problem={problem} />
        </Confirm>
      </Card>
    </>
  )
}

export interface OfferProps extends PageProps {
  /** For the authenticator app. The form sends it along, so that it can be shown again after a wrong code. */
  readonly uri: string
  readonly secret: string
}

export function OfferedSecret({ base, uri, secret, error, problem }: OfferProps) {
  return (
    <>
      <Result error={error} />
      <Card id="scan-title" title="1. Add Meridian to your app">
        <p>Scan this code, or type the secret.</p>
        <QrCode text={uri} label="QR code with the secret below" />
        <Copyable id="secret" text={secret} />
      </Card>
      <Card id="confirm-title" title="2. Enter the code that the app shows">
        <Form action={`${base}${PATH}/confirm`} text="Turn on" field={{ name: 'uri', value: uri }}>
          <CodeField problem={problem} />
        </Form>
        <p>You are signed out on all other devices.</p>
      </Card>
    </>
  )
}

export function RecoveryCodes({ base, codes }: { base: string; codes: readonly string[] }) {
  return (
    <>
      <Notice kind="done">The second factor is on.</Notice>
      <Card id="recovery-title" title="Your recovery codes">
        <p>
          Copy or print these codes now, and keep them apart from your phone. You cannot see them
          again. If you lose the app, each code signs you in once.
        </p>
        <Copyable id="recovery-codes" text={codes.join('\n')} />
        <p>
          <a href={`${base}/app/account`}>I have saved the codes</a>
        </p>
      </Card>
    </>
  )
}

/** The text as a QR code, black on white in every colour scheme, so that all cameras read it. */
function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { border: QR_BORDER })
  const size = rows.length
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  )
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
