import { count } from './words.ts'

interface DailyChartProps {
  /** Oldest first, without gaps. */
  readonly days: readonly { readonly date: string; readonly requests: number }[]
}

const HEIGHT = 120
const STEP = 20
const BAR = 14

/** Requests of each day as bars, with a table of the same for who cannot see them. */
export function DailyChart({ days }: DailyChartProps) {
  const most = Math.max(1, ...days.map(({ requests }) => requests))
  const heightOf = (requests: number) =>
    requests === 0 ? 0 : Math.max(2, (requests / most) * HEIGHT)
  return (
    <figure class="daily">
      <svg
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {days.map(({ date, requests }, at) => {
          const height = heightOf(requests)
          return (
            <g>
              <title>{`${date}: ${count(requests)}`}</title>
              <rect class="ground" x={at * STEP} width={STEP} height={HEIGHT} />
              <rect class="day" x={at * STEP + 3} y={HEIGHT - height} width={BAR} height={height} />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{days[0]?.date}</span>
        <span>Highest day: {count(Math.max(0, ...days.map(({ requests }) => requests)))}</span>
        <span>{days.at(-1)?.date}</span>
      </figcaption>
      <details>
        <summary>Show as a table</summary>
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map(({ date, requests }) => (
                <tr>
                  <th scope="row">{date}</th>
                  <td>{count(requests)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}
