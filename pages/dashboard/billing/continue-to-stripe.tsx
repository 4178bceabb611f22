interface GoingOutProps {
  readonly base: string
  readonly url: string
}

/** A page to leave by. The script of the dashboard follows the link at once. */
export function GoingOut({ base, url }: GoingOutProps) {
  return (
    <section class="card">
      <p>Payment is handled by Stripe, on a page of its own that leads back here.</p>
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
