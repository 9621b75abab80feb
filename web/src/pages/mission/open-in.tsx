import { Button, DropdownMenu } from '@radix-ui/themes'
import { ChevronDown, Copy, FolderOpen, SquareArrowOutUpRight } from 'lucide-react'
import { useLocation } from 'wouter'
import { copyText } from '../../kit/copy.tsx'
import { complain, tell } from '../../kit/toasts.tsx'
import { useAsk } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { type Detail, isKeptRef } from './actions.ts'
import { EDITORS, type Editor, editorLink, isThisMachine } from './editors.ts'

/** Opens the worktree in an editor, and copies what people need in a terminal. */
export function OpenIn({ mission }: { mission: Detail }) {
  const [, go] = useLocation()
  const newest = mission.sessions.find(({ id }) => id === mission.session_id)
  const path = newest?.worktree_kept ? newest.worktree : null
  const isHere = isThisMachine(location.hostname) && !newest?.elsewhere
  const settings = useAsk('get_settings', {}).data?.settings
  const preferred = settings?.find(({ key }) => key === 'editor')?.value as Editor | undefined
  const mayChoose = useMay('set_settings')
  const { branch } = mission
  if (!path && !branch) return null
  const branchWord = branch && isKeptRef(branch) ? 'ref' : 'branch'
  const copy = (what: string, text: string) => async () => {
    try {
      await copyText(text)
      tell({ text: `Copied the ${what}.` })
    } catch (error) {
      complain(error)
    }
  }
  const editors = path && isHere ? (Object.keys(EDITORS) as Editor[]) : []
  return (
    <>
      {path && isHere && preferred && (
        <Button asChild variant="soft" color="gray" highContrast className="open-in-editor">
          <a href={editorLink(preferred, path)}>
            <SquareArrowOutUpRight size={16} /> {EDITORS[preferred].title}
          </a>
        </Button>
      )}
      <DropdownMenu.Root>
        <DropdownMenu.Trigger>
          <Button variant="soft" color="gray" highContrast>
            <FolderOpen size={16} /> Open <ChevronDown size={14} />
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Content align="end">
          {editors.map(editor => (
            <DropdownMenu.Item key={editor} asChild>
              <a href={editorLink(editor, path!)}>
                <SquareArrowOutUpRight size={14} /> Open in {EDITORS[editor].title}
              </a>
            </DropdownMenu.Item>
          ))}
          {editors.length > 0 && <DropdownMenu.Separator />}
          {path && (
            <DropdownMenu.Item onSelect={copy('path', path)}>
              <Copy size={14} /> Copy path
            </DropdownMenu.Item>
          )}
          {branch && (
            <DropdownMenu.Item onSelect={copy(branchWord, branch)}>
              <Copy size={14} /> Copy {branchWord}
            </DropdownMenu.Item>
          )}
          {editors.length > 0 && mayChoose && (
            <>
              <DropdownMenu.Separator />
              <DropdownMenu.Item onSelect={() => go('/settings?text=editor')}>Choose your editor…</DropdownMenu.Item>
            </>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Root>
    </>
  )
}
