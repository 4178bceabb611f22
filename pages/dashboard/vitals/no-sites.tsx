/** For who has nothing to measure yet. */
export function NoSites({ base }: { readonly base: string }) {
  return (
    <section class="card empty" aria-labelledby="first">
      <h2 id="first">Add a site first</h2>
      <p>
        Web vitals tell how fast pages are for their visitors. A site is the origin of the pages
        that are measured.
      </p>
      <p>
        <a class="button" href={`${base}/app/sites`}>
          Add a site
        </a>
      </p>
    </section>
  )
}
