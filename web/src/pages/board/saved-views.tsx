import { Button, DropdownMenu } from '@radix-ui/themes'
import { Bookmark } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'

/** Filters of the board that were saved under a name, for everybody who uses this fleet. */
export function SavedViews({ search, isNarrowed }: { search: string; isNarrowed: boolean }) {
  const [, go] = useLocation()
  const views = useAsk('list_board_views', {}).data?.views ?? []
  const remove = useCommand('delete_board_view')
  const [isSaving, setSaving] = useState(false)
  const current = views.find(each => each.search === search)
  const mayWrite = useMay('save_board_view')
  const canSave = isNarrowed && mayWrite
  if (views.length === 0 && !canSave) return null
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger>
          <Button variant={current ? 'soft' : 'surface'} color="gray" highContrast>
            <Bookmark size={14} /> {current ? plain(current.name) : 'Views'}
            <DropdownMenu.TriggerIcon />
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Content size="1">
          {views.map(({ name, search: saved }) => (
            <DropdownMenu.Item key={name} onSelect={() => go(saved ? `/missions?${saved}` : '/missions')}>
              {plain(name)}
            </DropdownMenu.Item>
          ))}
          {views.length > 0 && canSave && <DropdownMenu.Separator />}
          {canSave && !current && (
            <DropdownMenu.Item onSelect={() => setSaving(true)}>Save this view…</DropdownMenu.Item>
          )}
          {current && mayWrite && (
            <DropdownMenu.Item color="red" onSelect={() => remove.run({ name: current.name })}>
              Delete this view
            </DropdownMenu.Item>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {isSaving && <SaveView search={search} close={() => setSaving(false)} />}
    </>
  )
}

function SaveView({ search, close }: { search: string; close(): void }) {
  const [name, setName] = useState('')
  const { run, busy } = useCommand('save_board_view')
  const save = async () => {
    if (!(await run({ name: name.trim(), search }))) return
    tell({ text: `Saved the view “${name.trim()}”` })
    close()
  }
  return (
    <FormDialog title="Save view" act="Save" busy={busy} ready={!!name.trim()} close={close} submit={save}>
      <TextInput label="Name" hint="A view of the same name is replaced." value={name} set={setName} />
    </FormDialog>
  )
}
