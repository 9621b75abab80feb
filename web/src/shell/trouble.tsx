import { Component, type ReactNode } from 'react'
import { Page, Problem } from '../kit/page.tsx'

/** A view that breaks says so, and the rest of the page goes on. */
export class Trouble extends Component<{ children: ReactNode }, { error: Error | undefined; at: string }> {
  override state = { error: undefined as Error | undefined, at: location.pathname }

  static getDerivedStateFromError(error: Error) {
    return { error, at: location.pathname }
  }

  override render() {
    const { error, at } = this.state
    if (!error || at !== location.pathname) return this.props.children
    return (
      <Page title="This view broke">
        {/* Its code may be of a server that has been replaced since; what is asked for anew is of the one there is. */}
        <Problem error={error} retry={() => location.reload()} />
      </Page>
    )
  }
}
