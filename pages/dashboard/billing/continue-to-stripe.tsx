interface ContinueProps {
  readonly base: string
  readonly url: string
  readonly purpose: keyof typeof TEXTS
}

const TEXTS = {
  pay: 'Stripe handles payment on its own page and then brings you back here.',
  confirm:
    'Your bank asks you to confirm the payment. Do it on the page of Stripe: your plan changes as soon as it is paid. Otherwise your plan stays as it is, and you owe nothing.',
} as const

/** A page that leads to Stripe. The script of the dashboard follows the link at once. */
export function ContinueToStripe({ base, url, purpose }: ContinueProps) {
  return (
    <section class="card">
      <p>{TEXTS[purpose]}</p>
      <div class="actions">
        <a class="button" href={url} data-follow="">
          Continue to Stripe
        </a>
        <a class="button quiet" href={`${base}/app/billing`}>
          Stay here
        </a>
      </div>
    </section>
  )
}
