import type { OnProgress } from '../files/prepare.ts'

/** How to fetch networks that a list or geofeed names. */
export interface NetworksOptions {
  /** Whether to accept less than half of the networks that the source had. */
  readonly acceptSmaller: boolean
  /** Epoch milliseconds. */
  readonly now: number
  readonly onProgress: OnProgress
  /** How long to wait for more data; default: half a minute. */
  readonly idleMs?: number | undefined
}

/** What became of the source with this name. */
export type FetchedNetworks = { readonly name: string } & (
  | { readonly outcome: 'accepted'; readonly networks: number }
  | { readonly outcome: 'up-to-date' }
  | { readonly outcome: 'failed'; readonly reason: string }
)
