import { Component, type ReactNode } from 'react'
import { Page, Problem } from '../kit/page.tsx'

/** Shows that a view crashed. The rest of the page keeps working. */
export class Trouble extends Component<{ children: ReactNode }, { error: Error | undefined; at: string }> {
  override state = { error: undefined as Error | undefined, at: location.pathname }

  static getDerivedStateFromError(error: Error) {
    return { error, at: location.pathname }
  }

  override render() {
    const { error, at } = this.state
    if (!error || at !== location.pathname) return this.props.children
    return (
      <Page title="This page could not be shown">
        {/* The code may be from an older server. Reloading gets the current one. */}
        <Problem error={error} retry={() => location.reload()} />
      </Page>
    )
  }
}
