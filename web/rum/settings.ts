const ENDPOINT_PATH = '/v1/telemetry/rum'

export interface Settings {
  readonly endpoint: string
  /** Share of page loads that are measured, 0 to 1. */
  readonly sample: number
}

/** The data attributes of the script tag, as `dataset` names them. */
interface Attributes {
  readonly [name: string]: string | undefined
}

/** Where the script came from and where it runs, as URLs. */
interface Place {
  readonly script: string
  readonly page: string
}

/** What the script tag asks for: without attributes, all beacons to the origin of the script. */
export function readSettings(attributes: Attributes, { script, page }: Place): Settings {
  const { endpoint, sample } = attributes
  const url = endpoint ? new URL(endpoint, page) : new URL(ENDPOINT_PATH, script)
  const share = sample ? Number(sample) : 1
  return { endpoint: url.href, sample: Number.isNaN(share) ? 1 : share }
}

/** Whether a page load is measured; `random` is from 0 to below 1. */
export function isSampled({ sample }: Settings, random: number): boolean {
  return random < sample
}
