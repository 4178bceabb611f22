import { Field, Option, type Problem, Select } from '../parts/field.tsx'
import { PERIODS, type PeriodName, type VitalsChoice } from './choice.ts'

export interface CountryName {
  readonly code: string
  readonly name: string
}

interface FiltersProps {
  /** The path of the page. */
  readonly page: string
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

/** What links choose, and the form must not lose. */
const KEPT = ['site', 'device', 'path', 'metric', 'sort'] as const

/** The form that filters the data. The choice is in the URL, so that it can be shared. */
export function Filters(props: FiltersProps) {
  const { page, choice, countries, measured, problem } = props
  const { period, country } = choice
  const day = { type: 'date', when: 'when-custom', problem } as const
  const byName = countries.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  const present = byName.filter(({ code }) => measured.includes(code))
  const others = byName.filter(({ code }) => !measured.includes(code))
  return (
    <form class="filters" method="get" action={page}>
      <Select name="period" label="Period">
        {PERIODS.map((name) => (
          <Option value={name} text={PERIOD_LABELS[name]} chosen={period} />
        ))}
      </Select>
      <Select name="country" label="Country">
        <Option value="" text="All countries" chosen={country} />
        <CountryOptions label="In this period" countries={present} chosen={country} />
        <CountryOptions label="Others" countries={others} chosen={country} />
      </Select>
      <Field {...day} name="from" label="From (UTC)" value={choice.from} />
      <Field {...day} name="to" label="To (inclusive)" value={choice.to} />
      {KEPT.filter((name) => choice[name] !== '').map((name) => (
        <input type="hidden" name={name} value={choice[name]} />
      ))}
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
