import type { MediaType } from '../../lib/contract/operation.ts'

/** A part of the header Accept. */
interface Range {
  /** A media type or a wildcard, such as `text/*`, in lower case. */
  readonly name: string
  /** 0 to 1; 0: not acceptable. */
  readonly quality: number
}

/**
 * Chooses the media type of an answer by the header Accept (RFC 9110, section 12.5.1). Among equally good
 * ones it chooses the earliest in `forms`. If none is acceptable, it chooses the first, JSON, since that
 * helps the caller more than 406.
 */
export function chooseForm(forms: readonly MediaType[], accept: string | undefined): MediaType {
  const [first = 'application/json', ...others] = forms
  if (accept === undefined || others.length === 0) return first
  const ranges = accept.split(',').map(readRange)
  let best = first
  for (const form of others) {
    if (qualityOf(form, ranges) > qualityOf(best, ranges)) best = form
  }
  return best
}

function readRange(text: string): Range {
  const [name = '', ...parameters] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The most specific range that covers the form decides. */
function qualityOf(form: MediaType, ranges: readonly Range[]): number {
  const names = [form, `${form.split('/', 1)[0]}/*`, '*/*']
  for (const name of names) {
    const range = ranges.find((candidate) => candidate.name === name)
    if (range !== undefined) return range.quality
  }
  return 0
}
