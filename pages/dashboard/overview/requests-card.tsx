import { Card } from '../parts/card.tsx'
import { ChoiceLinks } from '../parts/choice-links.tsx'
import { counted, percent } from '../parts/format.ts'
import { UsageChart } from '../usage/usage-chart.tsx'
import { RANGES, type Requests } from './requests.ts'

interface RequestsCardProps {
  readonly base: string
  readonly requests: Requests
}

/** The requests of each day, beside those of as many days before. */
export function RequestsCard({ base, requests }: RequestsCardProps) {
  const { range, daily, total } = requests
  return (
    <Card id="daily" title="Requests per day">
      <div class="item-head">
        <p>{summaryOf(requests)}</p>
        <ChoiceLinks
          label="Days"
          look="switch"
          links={Object.keys(RANGES).map((days) => ({
            text: `${days} days`,
            href: `${base}/app?days=${days}`,
            isChosen: days === range,
          }))}
        />
      </div>
      {total > 0 && <UsageChart daily={daily} />}
      <p>
        <a href={`${base}/app/usage`}>By endpoint, key and result</a>
      </p>
    </Card>
  )
}

function summaryOf({ range, total, before }: Requests): string {
  const all = `${counted(total, 'request', 'requests')} in the last ${RANGES[range]} days`
  return before === 0
    ? `${all}.`
    : `${all}, ${changeText(total, before)} in the ${RANGES[range]} days before.`
}

function changeText(total: number, before: number): string {
  const change = total / before - 1
  if (Math.abs(change) < 0.005) return 'about as many as'
  return `${percent(Math.abs(change))} ${change < 0 ? 'fewer' : 'more'} than`
}
