import type { Vital } from '../../../lib/contract/telemetry/metrics.ts'
import { DEVICE_TYPES, type DeviceType } from '../../../lib/contract/telemetry/telemetry-schemas.ts'

export const PERIODS = ['24h', '7d', '28d', '90d', 'custom'] as const
export type PeriodName = (typeof PERIODS)[number]

export const SORTS = ['views', 'lcp', 'inp', 'cls'] as const
export type Sort = (typeof SORTS)[number]

/** Whose views are shown. */
export const AUDIENCES = [...DEVICE_TYPES, 'all'] as const
export type Audience = (typeof AUDIENCES)[number]

const DEVICE_LABELS: Readonly<Record<string, string>> = {
  desktop: 'Desktop',
  mobile: 'Mobile',
  tablet: 'Tablet',
} satisfies Record<DeviceType, string>

/** A newer release may have stored a kind that this one does not know. null: not sent. */
export function deviceName(deviceType: string | null): string {
  return deviceType === null ? 'Unknown' : (DEVICE_LABELS[deviceType] ?? deviceType)
}

/** What the URL of the page says. */
export interface VitalsChoice {
  /** The name of a site. It might belong to another user, or to nobody. Empty: the page has only one. */
  readonly site: string
  readonly period: PeriodName
  /** First and last day of a custom period, such as 2026-01-15; empty if not given. */
  readonly from: string
  readonly to: string
  /** Empty: those who have trouble. */
  readonly device: Audience | ''
  /** Empty: all countries. */
  readonly country: string
  /** Empty: all pages. Pages are counted over all countries. */
  readonly path: string
  /** The vital in the chart. */
  readonly metric: Vital
  /** The order of pages and countries. */
  readonly sort: Sort
}

/** Links to the page with another choice. */
export type LinkTo = (change: Partial<VitalsChoice>, id?: string) => string

/** `page`: its path. `id`: of the part of the page to show. Leaves out what the page assumes anyway. */
export function linkFrom(page: string, choice: VitalsChoice): LinkTo {
  return (change, id) => {
    const { from, to, metric, sort, ...others } = { ...choice, ...change }
    const query = {
      ...others,
      ...(others.period === 'custom' && { from, to }),
      ...(metric !== 'lcp' && { metric }),
      ...(sort !== 'views' && { sort }),
    }
    const given = Object.entries(query).filter(([, value]) => value !== '')
    const fragment = id === undefined ? '' : `#${id}`
    return `${page}?${new URLSearchParams(given)}${fragment}`
  }
}
