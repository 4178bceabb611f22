/** What changes from one answer to the next. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/gi, 'ID'],
  [/^ratelimit: ("[\w-]+").*$/gm, 'ratelimit: $1'],
  [/^server-timing: .*$/gm, 'server-timing'],
]

/** The answers in `text`, without what changes from one to the next. Sorts their headers. */
export function answersIn(text: string): string[] {
  if (text === '') return []
  return text.split(/(?=HTTP\/1\.[01] \d{3} )/).map(toSteady)
}

function toSteady(answer: string): string {
  const end = answer.indexOf('\r\n\r\n')
  const [line = '', ...fields] = answer.slice(0, end < 0 ? undefined : end).split('\r\n')
  const headers = fields
    .map((field) => field.replace(/^[^:]*/, (name) => name.toLowerCase()))
    .filter((field) => !field.startsWith('date: '))
    .toSorted()
  const body = end < 0 ? '' : answer.slice(end)
  return CHANGING.reduce(
    (steady, [pattern, with_]) => steady.replace(pattern, with_),
    `${[line, ...headers].join('\n')}${body}`,
  )
}
