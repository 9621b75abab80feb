import { Button } from '@radix-ui/themes'

export interface Adding {
  add(path: string): void
  /** The path that is being added. */
  adding: string | undefined
}

export const AddButton = ({ path, name, add, adding }: Adding & { path: string; name: string }) => (
  <Button
    size="1"
    variant="soft"
    highContrast
    disabled={adding !== undefined}
    loading={adding === path}
    onClick={() => add(path)}
    aria-label={`Add ${name}`}
  >
    Add
  </Button>
)
