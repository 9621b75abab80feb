import { Button, Text } from '@radix-ui/themes'
import './save-bar.css'

/** Shown at the end of a form while there are unsaved changes. */
export function SaveBar({ busy, reset }: { busy: boolean; reset(): void }) {
  return (
    <div className="save-bar">
      <Text size="2" color="gray">
        Unsaved changes
      </Text>
      <Button type="button" variant="soft" color="gray" highContrast onClick={reset}>
        Discard
      </Button>
      <Button type="submit" loading={busy}>
        Save
      </Button>
    </div>
  )
}
