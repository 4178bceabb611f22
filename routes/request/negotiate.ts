import { LANGUAGES, type Language } from '../../lib/contract/geo/geolocation.ts'
import { languageOf } from '../../lib/contract/geo/language-tag.ts'
import type { MediaType } from '../../lib/contract/operation.ts'

const ENGLISH_FIRST: readonly Language[] = ['en', ...LANGUAGES]

/**
 * Chooses the media type of an answer by the header Accept (RFC 9110, section 12.5.1). Among equally good
 * ones it chooses the earliest in `forms`. If none is acceptable, it chooses the first, JSON, since that
 * helps the caller more than 406.
 */
export function chooseForm(forms: readonly MediaType[], accept: string | undefined): MediaType {
  const [first = 'application/json', ...others] = forms
  if (accept === undefined || accept === '*/*' || others.length === 0) return first
  const ranges = readRanges(accept)
  let best = first
  for (const form of others) {
    if (qualityOf(form, ranges) > qualityOf(best, ranges)) best = form
  }
  return best
}

/**
 * Chooses the language of names by the header Accept-Language: the most wanted one that is known (RFC 9110, section
 * 12.5.4), or else English, in which every name is known. `*` alone is English, unless that is refused.
 */
export function chooseLanguage(acceptLanguage = ''): Language {
  const ranges = readRanges(acceptLanguage)
  const wanted = ranges.filter(({ quality }) => quality > 0)
  for (const { name } of wanted.toSorted((a, b) => b.quality - a.quality)) {
    const found = LANGUAGES.find((language) => language === languageOf(name, LANGUAGES))
    if (found !== undefined) return found
  }
  if (!wanted.some(({ name }) => name === '*')) return 'en'
  const refused = ranges.map(({ name }) => languageOf(name, LANGUAGES))
  return ENGLISH_FIRST.find((language) => !refused.includes(language)) ?? 'en'
}

/** An element of the header Accept or Accept-Language. */
interface Range {
  /** In lower case: a media type or wildcard such as `text/*`, or a tag of a language. */
  readonly name: string
  /** 0 to 1; 0: not acceptable. */
  readonly quality: number
}

/** Empty elements do not count (RFC 9110, section 5.6.1.2). */
function readRanges(header: string): Range[] {
  return header
    .split(',')
    .filter((text) => text.trim() !== '')
    .map(readRange)
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
