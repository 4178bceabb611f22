import type { Child } from 'hono/jsx'

const BADGES = {
  ok: { look: 'good', text: 'Fine' },
  warning: { look: 'near', text: 'Warning' },
  wrong: { look: 'error', text: 'Wrong' },
} as const

/** A finding of the doctor. */
export interface DoctorFinding {
  /** The name of the check. */
  readonly check: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

/** The page on which an operator goes on, by the name of the check. */
const NEXT: Readonly<Record<string, readonly [path: `/app/operate/${string}`, text: string]>> = {
  Health: ['/app/operate/system', 'System'],
  Errors: ['/app/operate/usage', 'Usage by status'],
  Disk: ['/app/operate/system', 'System'],
  'Geo files': ['/app/operate/databases', 'Databases'],
  Backups: ['/app/operate/system#backups-title', 'Back up now'],
  Copy: ['/app/operate/system#backups-title', 'System'],
  Billing: ['/app/operate/billing', 'Billing'],
  Mail: ['/app/operate/system#mail', 'Send a test mail'],
  Inquiries: ['/app/operate/inquiries?state=dead', 'Failed inquiries'],
  Deliveries: ['/app/operate/notices?state=dead', 'Failed deliveries'],
}

interface FindingsProps {
  readonly findings: readonly DoctorFinding[]
  /** Base path of the instance, to link each problem to the page about it; absent: no links. */
  readonly base?: string
}

/** Shows the findings by check. Many warnings need no badge each. */
export function Findings({ findings, base }: FindingsProps) {
  const isUniform = findings.length > 1 && new Set(findings.map(({ state }) => state)).size === 1
  return (
    <ul class="findings">
      {groupsOf(findings, ({ check, state }) => `${state} ${check}`).map((group) => (
        <CheckView
          base={base}
          findings={group}
          hasBadge={!isUniform || group[0].state === 'wrong'}
        />
      ))}
    </ul>
  )
}

type Group = readonly [DoctorFinding, ...DoctorFinding[]]

function groupsOf(
  findings: readonly DoctorFinding[],
  keyOf: (finding: DoctorFinding) => string | undefined,
): Group[] {
  const groups = Map.groupBy(findings, keyOf)
  return [...groups.values()].flatMap(([first, ...rest]) => {
    return first === undefined ? [] : [[first, ...rest] satisfies Group]
  })
}

interface CheckViewProps {
  readonly base: string | undefined
  /** With the same check and the same state. */
  readonly findings: Group
  readonly hasBadge: boolean
}

function CheckView({ base, findings, hasBadge }: CheckViewProps) {
  const [{ check, state }] = findings
  const { look, text } = BADGES[state]
  return (
    <li>
      <div class="item-head">
        <strong>{check}</strong>
        {hasBadge && <span class={`badge ${look}`}>{text}</span>}
        {base !== undefined && state !== 'ok' && <Next base={base} check={check} />}
      </div>
      {groupsOf(findings, ({ advice }) => advice).map((alike) => (
        <div>
          {alike.map((finding) => (
            <p>
              <Coded base={base} text={finding.text} />
            </p>
          ))}
          {alike[0].advice !== undefined && (
            <p class="soft">
              <Coded base={base} text={toSentence(alike[0].advice)} />
            </p>
          )}
        </div>
      ))}
    </li>
  )
}

function Next({ base, check }: { readonly base: string; readonly check: string }) {
  const next = NEXT[check]
  if (next === undefined) return null
  const [path, text] = next
  return <a href={`${base}${path}`}>{text}</a>
}

/** Commands with their options, settings with their values, and absolute paths. */
const CODE =
  /((?:npm run|npx meridian) [a-z-]+(?: --[a-z-]*)*|chmod \d+|\b[A-Z]+(?:_[A-Z]+)+(?:=[\w./:-]*\w)?|(?<=^|\s)\/[\w./-]*\w)/

interface CodedProps {
  readonly base: string | undefined
  readonly text: string
}

/** A text of the doctor, which is plain because terminals and programs read it as well. */
function Coded({ base, text }: CodedProps): Child {
  // The separators are captured: every second part is code.
  return text.split(CODE).map((part, at) => {
    if (at % 2 === 0) return part
    const next = Object.values(NEXT).find(([path]) => path === part)
    if (base === undefined || next === undefined) return <code>{part}</code>
    return <a href={`${base}${next[0]}`}>{next[1]}</a>
  })
}

/** Begins with a capital, unless with code. */
function toSentence(advice: string): string {
  if (CODE.exec(advice)?.index === 0) return advice
  return `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
}
