import type { Child } from 'hono/jsx'
import { DEVICE_TYPES, type DeviceType } from '../../../lib/contract/telemetry-schemas.ts'

export const PERIODS = ['24h', '7d', '28d', '90d', 'custom'] as const
export type PeriodName = (typeof PERIODS)[number]

/** What the address of the page says. */
export interface VitalsChoice {
  /** Of the names of the user's sites, or what was asked for. */
  readonly site: string
  readonly period: PeriodName
  /** Days of a custom period, 2026-01-15; empty: none. */
  readonly from: string
  readonly to: string
  /** Empty: all of them. */
  readonly device: DeviceType | ''
  /** Empty: all of them. */
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
  /** Codes of the countries that are in the data. */
  readonly seen: readonly string[]
}

const PERIOD_WORDS: Readonly<Record<PeriodName, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '28d': 'Last 28 days',
  '90d': 'Last 90 days',
  custom: 'From day to day',
}

export const DEVICE_WORDS: Readonly<Record<DeviceType, string>> = {
  desktop: 'Desktop',
  mobile: 'Mobile',
  tablet: 'Tablet',
}

/** Which part of the data the page shows. It is in the address, so that it can be shared. */
export function Filters({ base, sites, choice, countries, seen }: FiltersProps) {
  const { site, period, device, country } = choice
  const [near, far] = [true, false].map((isSeen) =>
    countries.filter(({ code }) => seen.includes(code) === isSeen),
  )
  return (
    <form class="filters" method="get" action={`${base}/app/vitals`}>
      <Choice name="site" label="Site">
        {sites.map((name) => (
          <Option value={name} text={name} chosen={site} />
        ))}
      </Choice>
      <Choice name="period" label="Period">
        {PERIODS.map((name) => (
          <Option value={name} text={PERIOD_WORDS[name]} chosen={period} />
        ))}
      </Choice>
      <Day name="from" label="From (UTC)" value={choice.from} />
      <Day name="to" label="To, with that day" value={choice.to} />
      <Choice name="device" label="Device">
        <Option value="" text="All devices" chosen={device} />
        {DEVICE_TYPES.map((name) => (
          <Option value={name} text={DEVICE_WORDS[name]} chosen={device} />
        ))}
      </Choice>
      <Choice name="country" label="Country">
        <Option value="" text="All countries" chosen={country} />
        <CountryOptions label="In this period" countries={near ?? []} chosen={country} />
        <CountryOptions label="Others" countries={far ?? []} chosen={country} />
      </Choice>
      <button type="submit">Show</button>
    </form>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly children?: Child
}

function Choice({ name, label, children }: ChoiceProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {children}
      </select>
    </div>
  )
}

interface OptionProps {
  readonly value: string
  readonly text: string
  readonly chosen: string
}

function Option({ value, text, chosen }: OptionProps) {
  return (
    <option value={value} selected={value === chosen}>
      {text}
    </option>
  )
}

interface CountryOptionsProps {
  readonly label: string
  readonly countries: readonly CountryName[]
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

interface DayProps {
  readonly name: 'from' | 'to'
  readonly label: string
  readonly value: string
}

function Day({ name, label, value }: DayProps) {
  return (
    <div class="field when-custom">
      <label for={name}>{label}</label>
      <input id={name} name={name} type="date" value={value} />
    </div>
  )
}
