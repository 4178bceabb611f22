import type { Estimate } from '../../lib/geo/accuracy/bootstrap.ts'
import type { BestOrder } from '../../lib/geo/accuracy/suggest.ts'
import type { Measurement } from './measurement.ts'
import { points, WEIGHTS, type Weight } from './words.ts'

/** The best order of the providers for people, as lines of text. */
export function suggestionLines(
  { present, orders, isBounded, best, replacesBundled }: NonNullable<Measurement['suggestion']>,
  weights: readonly Weight[],
): string[] {
  if (best === undefined) {
    return ['There is no order to suggest: fewer than two providers know the places']
  }
  const bound = isBounded ? '; others than those of the first five providers were not tried' : ''
  return [
    best.isClearlyBetter
      ? 'An order of the providers that is better than the present one'
      : `No order of the providers is clearly better than the present one: ${present.join(', ')}`,
    `  tried: ${orders} orders${bound}`,
    `  best${best.isClearlyBetter ? '' : ' of the others'}: ${best.order.join(', ')}`,
    ...gainLines(best, weights),
    ...(best.isClearlyBetter
      ? [
          '  The same prefixes chose it, so it may be better by a little less for others',
          ...(replacesBundled
            ? ['  With this setting, newer versions of the bundled files are no longer used']
            : []),
          settingLine(best),
        ]
      : []),
  ]
}

/** The setting for the environment or its file. */
function settingLine({ files }: BestOrder): string {
  return `MERIDIAN_GEO=${files.join(',')}`
}

function gainLines(
  { gain: { country, within50Km, overall } }: BestOrder,
  weights: readonly Weight[],
): string[] {
  const line = (name: string, estimate: Estimate) => `  ${name}: ${points(estimate)}`
  const both = (name: string, estimates: typeof country) =>
    weights.map((weight) => line(`${name} ${WEIGHTS[weight]}`, estimates[weight]))
  return [
    ...both('country', country),
    ...(within50Km === undefined ? [] : both('city within 50 km', within50Km)),
    line('mean of these, by which orders are compared', overall),
  ]
}
