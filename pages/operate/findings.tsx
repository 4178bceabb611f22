/** A finding of the doctor. */
export interface DoctorFinding {
  /** The name of the check. */
  readonly check: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

const BADGES = { ok: 'good', warning: 'near', wrong: 'error' } as const

export function Findings({ findings }: { readonly findings: readonly DoctorFinding[] }) {
  return (
    <ul class="findings">
      {findings.map(({ check, state, text, advice }) => (
        <li>
          <span class={`badge ${BADGES[state]}`}>{state}</span>
          <div>
            <strong>{check}</strong> {text}
            {advice !== undefined && <p class="soft">{advice}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}
