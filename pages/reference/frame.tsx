import type { Child } from 'hono/jsx'
import { Layout, type LayoutProps } from '../layout.tsx'
import { PageList, SearchForm } from './side-bar.tsx'

interface ReferenceFrameProps extends Pick<LayoutProps, 'instance' | 'assets' | 'path'> {
  /** Of the page, without the name of the product. */
  readonly title: string
  /** The text of a search. */
  readonly query?: string
  /** The list of pages, if it has been rendered before. */
  readonly list?: Child
  /** Must be `main` with the id `content`. */
  readonly children?: Child
}

/** The frame of every page of the API reference. */
export function ReferenceFrame(props: ReferenceFrameProps) {
  const { instance, assets, title, path, query = '', list, children } = props
  return (
    <Layout
      instance={instance}
      title={`${title} · Meridian`}
      description={`${title}: a page of the API reference of this IP geolocation service.`}
      path={path}
      assets={assets}
    >
      <div class="reference">
        <aside class="side" aria-label="Contents">
          <SearchForm base={instance.base} query={query} />
          {list ?? <PageList base={instance.base} path={path} />}
        </aside>
        {children}
      </div>
    </Layout>
  )
}
