import * as v from 'valibot'
import { flag, strictObject, Timestamp, text } from '../common.ts'

const Record = v.strictObject({
  type: v.pipe(v.literal('TXT'), v.description('Always TXT')),
  names: v.pipe(v.array(v.string()), v.description('Either name will do')),
  value: text('The text of the record'),
})

export const SiteProof = strictObject(
  'Who gets the telemetry of an origin, and the DNS record that proves its host, for all schemes and ports',
  {
    state: v.pipe(
      v.picklist(['proven', 'unproven', 'impossible']),
      v.description(
        'impossible: the public DNS has no records for IP addresses, localhost and the like',
      ),
    ),
    receives: flag(
      'Whether this site gets the telemetry of its origin. If several accounts have registered the origin, the one with the newest proof of its host gets it; without proofs, the one that registered first. On a server with a public name and sites of several accounts, localhost, IP addresses and names outside the public DNS get none.',
    ),
    record: v.pipe(v.nullable(Record), v.description('null: the state is impossible')),
    provenAt: v.nullable(v.pipe(Timestamp, v.description('The newest proof; null: not proven'))),
    missingSince: v.pipe(
      v.nullable(Timestamp),
      v.description(
        'The first check that missed the record; the proof ends a week later unless the record is back; null: not missing',
      ),
    ),
    checkedAt: v.pipe(
      v.nullable(Timestamp),
      v.description('The last check; a proof is checked once a day; null: never checked'),
    ),
  },
)
export type SiteProof = v.InferOutput<typeof SiteProof>

export const siteProofExample = {
  state: 'proven',
  receives: true,
  record: {
    type: 'TXT',
    names: ['shop.example', '_meridian.shop.example'],
    value: 'meridian-site=2f0c9a54-8d2e-4c58-9f5a-3c1b7f6e4d20',
  },
  provenAt: '2026-01-15T12:00:00.000Z',
  missingSince: null,
  checkedAt: '2026-01-16T12:00:00.000Z',
} satisfies SiteProof
