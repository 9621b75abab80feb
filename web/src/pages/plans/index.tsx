import { Lines, Page } from '../../kit/page.tsx'

// PLACEHOLDER: replaced by the view of this place.
export default function View() {
  return (
    <Page title="Plans">
      <Lines />
    </Page>
  )
}
