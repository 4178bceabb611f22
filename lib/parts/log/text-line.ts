/** How lines are written: JSON for programs, text for people. */
export type LineStyle = 'json' | 'text' | 'colored-text'

/** Text for people at a terminal, JSON for anything else. NO_COLOR: https://no-color.org */
export function chooseStyle(
  isTerminal: boolean,
  { NO_COLOR = '', TERM }: Readonly<Record<string, string | undefined>>,
): LineStyle {
  if (!isTerminal) return 'json'
  return NO_COLOR !== '' || TERM === 'dumb' ? 'text' : 'colored-text'
}

type Color = 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
const CODES: Readonly<Record<Color, number>> = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }
type Paint = (color: Color, text: string) => string

const PAINTS = {
  text: (_, text) => text,
  'colored-text': (color, text) => (text === '' ? '' : `\x1b[${CODES[color]}m${text}\x1b[0m`),
} as const satisfies Record<string, Paint>

/** The lowest number of each level of pino, with its name. */
const LEVELS = [
  [50, 'ERROR', 'red'],
  [40, 'WARN ', 'yellow'],
  [30, 'INFO ', 'cyan'],
  [0, 'DEBUG', 'dim'],
] as const

/** Turns a line of JSON into one for people; an error has its stack below. */
export function toText(json: string, style: Exclude<LineStyle, 'json'>): string {
  const paint = PAINTS[style]
  const { level, time, msg, err, ...fields }: Record<string, unknown> = JSON.parse(json)
  const [, name, color] = LEVELS.find(([least]) => Number(level) >= least) ?? LEVELS[3]
  const head = `${paint('dim', timeOf(Number(time)))} ${paint(color, name)}`
  const rest = msg === 'request' ? requestText(fields, paint) : eventText(msg, fields, paint)
  return `${head} ${rest}${errorText(err, paint)}\n`
}

/** The time of day on this machine. */
function timeOf(time: number): string {
  return new Date(time).toTimeString().slice(0, 8)
}

type Fields = Readonly<Record<string, unknown>>

/** Shows the request id only for failures, where somebody will look for it. */
function requestText({ method, route, path, status, ms, ...rest }: Fields, paint: Paint): string {
  const { requestId, ...others } = rest
  const isFailure = Number(status) >= 500
  const shown = isFailure ? { requestId, ...others } : others
  const outcome = paint(colorOf(Number(status)), String(status))
  return `${method} ${plain(route ?? path ?? '-')} ${outcome} ${ms} ms${fieldsText(shown, paint)}`
}

function colorOf(status: number): Color {
  if (status >= 500) return 'red'
  return status >= 400 ? 'yellow' : 'green'
}

function eventText(message: unknown, fields: Fields, paint: Paint): string {
  return `${plain(message)}${fieldsText(fields, paint)}`
}

function fieldsText(fields: Fields, paint: Paint): string {
  const texts = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`)
  return texts.length === 0 ? '' : `  ${paint('dim', texts.join(' '))}`
}

function errorText(error: unknown, paint: Paint): string {
  if (typeof error !== 'object' || error === null) return ''
  const { stack, message }: { stack?: unknown; message?: unknown } = error
  const lines = String(stack ?? message).split('\n')
  return lines.map((line) => `\n    ${paint('dim', plain(line.trim()))}`).join('')
}

/** Escapes control characters, because a path or message could change the terminal with them. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\x${hex(character)}`)
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0')
}
