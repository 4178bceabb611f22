import { DEVICE_TYPES, type DeviceType } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { Field, Option, type Problem, Select } from '../parts/field.tsx'

export const PERIODS = ['24h', '7d', '28d', '90d', 'custom'] as const
export type PeriodName = (typeof PERIODS)[number]

/** The filters in the URL of the page. */
export interface VitalsChoice {
  /** The name of a site. It might belong to another user, or to nobody. */
  readonly site: string
  readonly period: PeriodName
  /** First and last day of a custom period, such as 2026-01-15; empty if not given. */
  readonly from: string
  readonly to: string
  /** Empty: all devices. */
  readonly device: DeviceType | ''
  /** Empty: all countries. */
  readonly country: string
}

export interface CountryName {
  readonly code: string
  readonly name: string
}

interface FiltersProps {
  readonly base: string
  readonly sites: readonly string[]
  readonly choice: VitalsChoice
  readonly countries: readonly CountryName[]
  /** Codes of the countries in the data. */
  readonly measured: readonly string[]
  readonly problem?: Problem | undefined
}

const PERIOD_LABELS: Readonly<Record<PeriodName, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
  '90d': 'Last 90 days',
  custom: 'Custom dates',
}

export const DEVICE_LABELS: Readonly<Record<DeviceType, string>> = {
  desktop: 'Desktop',
  mobile: 'Mobile',
  tablet: 'Tablet',
}

/** The form that filters the data. The choice is in the URL, so that it can be shared. */
export function Filters(props: FiltersProps) {
  const { base, sites, choice, countries, measured, problem } = props
  const { site, period, device, country } = choice
  const day = { type: 'date', when: 'when-custom', problem } as const
  const present = countries.filter(({ code }) => measured.includes(code))
  const others = countries.filter(({ code }) => !measured.includes(code))
  return (
    <form class="filters" method="get" action={`${base}/app/vitals`}>
      <Select name="site" label="Site">
        {sites.map((name) => (
          <Option value={name} text={name} chosen={site} />
        ))}
      </Select>
      <Select name="period" label="Period">
        {PERIODS.map((name) => (
          <Option value={name} text={PERIOD_LABELS[name]} chosen={period} />
        ))}
      </Select>
      <Field {...day} name="from" label="From (UTC)" value={choice.from} />
      <Field {...day} name="to" label="To (inclusive)" value={choice.to} />
      <Select name="device" label="Device">
        <Option value="" text="All devices" chosen={device} />
        {DEVICE_TYPES.map((name) => (
          <Option value={name} text={DEVICE_LABELS[name]} chosen={device} />
        ))}
      </Select>
      <Select name="country" label="Country">
        <Option value="" text="All countries" chosen={country} />
        <CountryOptions label="In this period" countries={present} chosen={country} />
        <CountryOptions label="Others" countries={others} chosen={country} />
      </Select>
      <button type="submit">Show</button>
    </form>
  )
}

interface CountryOptionsProps extends Pick<FiltersProps, 'countries'> {
  readonly label: string
  readonly chosen: string
}

function CountryOptions({ label, countries, chosen }: CountryOptionsProps) {
  if (countries.length === 0) return null
  return (
    <optgroup label={label}>
      {countries.map(({ code, name }) => (
        <Option value={code} text={name} chosen={chosen} />
      ))}
    </optgroup>
  )
}
