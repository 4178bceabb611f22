import type { ServiceInfo } from '../lib/contract/system.ts'

export type ListedDatabase = Required<ServiceInfo['databases'][number]>

/** The databases behind the answers, with the attributions that their licences require. */
export function Databases({ databases }: { readonly databases: readonly ListedDatabase[] }) {
  const attributions = new Set(databases.map(({ attribution }) => attribution))
  return (
    <section aria-labelledby="data">
      <h2 id="data">Data</h2>
      <ul class="databases">
        {databases.map(({ name, provider, builtAt }) => (
          <li>
            <span>{name}</span>
            <span>
              {provider}, built <time datetime={builtAt}>{builtAt.slice(0, 10)}</time>
            </span>
          </li>
        ))}
      </ul>
      {[...attributions].filter(Boolean).map((text) => (
        <p class="attribution">
          <LinkedText text={text} />
        </p>
      ))}
    </section>
  )
}

/** The text with its URLs as links. */
function LinkedText({ text }: { readonly text: string }) {
  const parts = text.split(/(https:\/\/[^\s,()]+)/)
  return (
    <>{parts.map((part) => (part.startsWith('https://') ? <a href={part}>{part}</a> : part))}</>
  )
}
