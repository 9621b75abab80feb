import { Button, Text } from '@radix-ui/themes'
import './save-bar.css'

/** At the end of a form, for as long as something in it is not saved. */
export function SaveBar({ busy, reset }: { busy: boolean; reset(): void }) {
  return (
    <div className="save-bar">
      <Text size="2" color="gray">
        Not saved yet
      </Text>
      <Button type="button" variant="soft" color="gray" highContrast onClick={reset}>
        Take back
      </Button>
      <Button type="submit" loading={busy}>
        Save
      </Button>
    </div>
  )
}
