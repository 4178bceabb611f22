const BADGES = { ok: 'good', warning: 'near', wrong: 'error' } as const

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

export function Findings({ findings, base }: FindingsProps) {
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li>
          <span class={`badge ${BADGES[finding.state]}`}>{finding.state}</span>
          <div>
            <strong>{finding.check}</strong> {finding.text}
            {finding.advice !== undefined && <p class="soft">{finding.advice}</p>}
            {base !== undefined && <Next base={base} finding={finding} />}
          </div>
        </li>
      ))}
    </ul>
  )
}

function Next({ base, finding: { check, state } }: { base: string; finding: DoctorFinding }) {
  const next = NEXT[check]
  if (next === undefined || state === 'ok') return null
  const [path, text] = next
  return (
    <p>
      <a href={`${base}${path}`}>{text}</a>
    </p>
  )
}
