import type { SessionInfo } from '../../../lib/contract/account/sessions.ts'
import { Table } from '../../table.tsx'
import { PostButton } from '../parts/form.tsx'
import { Block } from '../parts/group.tsx'
import { Time } from '../parts/time.tsx'

/** The first match names the browser: most also claim to be Chrome, and Chrome to be Safari. */
const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:(?:Headless)?Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

/** Phones come first: Android also claims to be Linux, and iPhones to be like Mac OS X. */
const SYSTEMS = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

export interface SessionsProps {
  readonly base: string
  /** null: they could not be read now. */
  readonly sessions: readonly SessionInfo[] | null
}

/** Where the user is signed in, with buttons to end each session or all. */
export function Sessions({ base, sessions }: SessionsProps) {
  const root = `${base}/app/account/sessions`
  return (
    <Block id="sessions" title="Devices">
      {sessions === null ? (
        <p>The list cannot be read now.</p>
      ) : (
        <figure class="wide stacked" aria-labelledby="sessions" tabindex={0}>
          <Table
            isStacked
            heads={['Device', 'Address', 'Last used', 'Action']}
            rows={sessions.map((session) => [
              nameOf(session),
              session.address ?? '–',
              <Time at={session.lastUsedAt} />,
              <EndButton root={root} session={session} />,
            ])}
          />
        </figure>
      )}
      <p>Ending a session signs you out there. Your keys keep working.</p>
      <div class="actions">
        <PostButton
          action={`${root}/end-others`}
          text="Sign out on all other devices"
          kind="quiet"
        />
        <PostButton
          action={`${base}/app/account/sign-out-everywhere`}
          text="Sign out on all devices"
          kind="quiet"
        />
      </div>
    </Block>
  )
}

/** `Firefox on Linux` for a browser's User-Agent; other programs as they call themselves. */
export function deviceName(userAgent: string): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser === undefined) return userAgent
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}

function EndButton({ root, session }: { root: string; session: SessionInfo }) {
  if (session.isCurrent) return <span class="soft">This device</span>
  return (
    <PostButton
      action={`${root}/end`}
      text="Sign out"
      label={`Sign out on ${nameOf(session)}`}
      kind="quiet"
      field={{ name: 'session', value: session.id }}
    />
  )
}

function nameOf({ app, userAgent }: SessionInfo): string {
  if (userAgent !== null) return deviceName(userAgent)
  return app === 'api' ? 'A program' : 'A browser'
}
