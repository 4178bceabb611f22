import type { Site } from '../../../lib/contract/account/account-schemas.ts'
import type { SiteProof } from '../../../lib/contract/account/site-proof.ts'
import { Copyable } from '../parts/copyable.tsx'
import { PostButton } from '../parts/form.tsx'
import { Time } from '../parts/time.tsx'

interface ProofProps {
  readonly base: string
  readonly site: Site
  readonly proof: SiteProof
  /** Whether the last check, just now, found no record. */
  readonly isMissed: boolean
}

/** Which account gets the beacons of the site, and the DNS record that proves its domain. */
export function Proof({ base, site, proof, isMissed }: ProofProps) {
  const { record, receives, missingSince, checkedAt } = proof
  const [text] = describe(proof)
  if (record === null) return <p class="soft">{text}</p>
  return (
    <details open={!receives || isMissed || missingSince !== null}>
      <summary>Prove the domain</summary>
      <p>{text}</p>
      <p>
        Add this TXT record to the DNS, at <strong>{record.names.join(' or ')}</strong>:
      </p>
      <Copyable id={`record-${site.id}`} text={record.value} />
      <p class="soft small">
        Then keep it: it is checked once a day, and the proof ends after a week without it. Last
        check: <Time at={checkedAt} />
      </p>
      <PostButton
        action={`${base}/app/sites/${site.id}/proof`}
        text="Check now"
        label={`Check now the DNS record of ${site.name}`}
        kind="quiet"
      />
    </details>
  )
}

export function ProofBadge({ proof }: Pick<ProofProps, 'proof'>) {
  const [, badge, kind = ''] = describe(proof)
  return <span class={`badge ${kind}`}>{badge}</span>
}

type Description = readonly [text: string, badge: string, kind?: 'good' | 'near']

function describe({ state, receives, missingSince }: SiteProof): Description {
  if (!receives) return [ELSEWHERE[state], 'Not receiving', 'near']
  if (state === 'impossible') return [IMPOSSIBLE, 'Unproven']
  if (state === 'unproven') return [UNPROVEN, 'Unproven']
  if (missingSince !== null) return [MISSING, 'Record missing', 'near']
  return ['The DNS shows that this domain is yours.', 'Proven', 'good']
}

const ELSEWHERE = {
  proven:
    'Another account proved this domain after you. To prove it again, remove the site, add it again and change the record.',
  unproven:
    'Another account registered this origin first or proved its domain. Prove the domain to get its beacons.',
  impossible:
    'Another account registered this origin first. Or this server has several accounts and a public name: no account then gets beacons of hosts outside the public DNS.',
} as const
const IMPOSSIBLE =
  'You get the beacons because nobody registered this origin before you. Hosts outside the public DNS cannot be proved.'
const UNPROVEN =
  'You get the beacons because you registered this origin first. An account that proves the domain takes them over.'
const MISSING =
  'The last check did not find the DNS record. The proof ends after a week without it.'
