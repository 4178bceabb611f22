import type { PriceParts } from './price-text.ts'

/** What a plan costs, in a card. */
export function PriceFigure({
  price: { amount, others, interval },
}: {
  readonly price: PriceParts
}) {
  return (
    <p class="figure">
      {amount}
      {interval !== null && <span class="soft per"> per {interval}</span>}
      {others.length > 0 && <span class="soft per under">or {others.join(' or ')}</span>}
    </p>
  )
}
