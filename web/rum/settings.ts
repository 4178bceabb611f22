const ENDPOINT_PATH = '/v1/telemetry/rum'

export interface Settings {
  readonly endpoint: string
  /** The share of page loads to measure, 0 to 1. */
  readonly sample: number
}

/** The data attributes of the script tag, named as in `dataset`. */
interface Attributes {
  readonly [name: string]: string | undefined
}

/** The URLs of the script and of the page that runs it. */
interface Place {
  readonly script: string
  readonly page: string
}

/** Reads the script tag. By default, all page loads are measured and sent to the script's origin. */
export function readSettings(attributes: Attributes, { script, page }: Place): Settings {
  const { endpoint, sample } = attributes
  const url = endpoint ? new URL(endpoint, page) : new URL(ENDPOINT_PATH, script)
  const share = sample ? Number(sample) : 1
  return { endpoint: url.href, sample: Number.isNaN(share) ? 1 : share }
}

/** Whether to measure a page load. `random` is from 0 to below 1. */
export function isSampled({ sample }: Settings, random: number): boolean {
  return random < sample
}
