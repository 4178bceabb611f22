/** A page that leads to Stripe. The script of the dashboard follows the link at once. */
export function ContinueToStripe({ base, url }: { base: string; url: string }) {
  return (
    <section class="card">
      <p>Stripe handles payment on its own page and then brings you back here.</p>
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
