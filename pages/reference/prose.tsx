interface LineProps {
  /** Parts in backticks are code; `[text](path)` is a link to a page of this service. */
  readonly text: string
  /** Base path of the service, for links. */
  readonly base?: string
}

/** A line of text with code and links. */
export function Line({ text, base = '' }: LineProps) {
  const parts = text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/)
  return <>{parts.map((part) => partOf(part, base))}</>
}

function partOf(part: string, base: string) {
  if (part.startsWith('`'))
    return (
      <code>
        {part
          .slice(1, -1)
          .split(/(?<=_)/)
          .map(wordOf)}
      </code>
    )
  const [, text, path] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? []
  return text === undefined ? part : <a href={`${base}${path}`}>{text}</a>
}

/** A word of a code: narrow columns break between words. */
function wordOf(word: string, at: number) {
  return (
    <>
      {at > 0 && <wbr />}
      {word}
    </>
  )
}

/** A text in which an empty line begins a new paragraph, or a list. */
export function Prose({ text, base = '' }: LineProps) {
  return <>{text.split('\n\n').map((block) => blockOf(block, base))}</>
}

function blockOf(block: string, base: string) {
  const [before, ...items] = block.split(/^- /m)
  if (before !== '') {
    return (
      <p>
        <Line text={block} base={base} />
      </p>
    )
  }
  return (
    <ul>
      {items.map((item) => (
        <li>
          <Line text={item} base={base} />
        </li>
      ))}
    </ul>
  )
}
