import { ICONS } from './icons.ts'

export type IconName = keyof typeof ICONS

/** A drawing beside words that say the same. Add names in scripts/release/icon-file.ts. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  )
}
