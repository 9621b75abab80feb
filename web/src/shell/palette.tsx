import { Dialog, Kbd, VisuallyHidden } from '@radix-ui/themes'
import { Command } from 'cmdk'
import { useDeferredValue, useState } from 'react'
import { useLocation } from 'wouter'
import { plain } from '../kit/plain.ts'
import { StatusDot } from '../kit/status.tsx'
import { shortId } from '../kit/words.ts'
import { useAsk, useMissions } from '../live/data.ts'
import { STATIONS } from '../routes.tsx'
import { shortcutsNow } from './keys.ts'
import './palette.css'
import { namesOf } from '../kit/project-names.ts'

const FOUND = 20

/** Find a mission, a project or a page, or do what a key would do. */
export default function Palette({ close }: { close(): void }) {
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text.trim())
  const { missions } = useMissions({ text: wanted || undefined, limit: FOUND })
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects ?? []
  const [shortcuts] = useState(shortcutsNow)
  const then = (run: () => void) => () => {
    close()
    run()
  }
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content className="palette" aria-describedby={undefined} maxWidth="640px">
        <VisuallyHidden>
          <Dialog.Title>Search or run a command</Dialog.Title>
        </VisuallyHidden>
        <Command loop>
          <Command.Input
            autoFocus
            placeholder="Find a mission, a project, a page…"
            value={text}
            onValueChange={setText}
          />
          <Command.List>
            <Command.Empty>Nothing matches “{text}”.</Command.Empty>
            <Command.Group heading="Go to">
              {STATIONS.map(({ title, path, icon: Icon, key }) => (
                <Command.Item key={path} value={`page ${title}`} onSelect={then(() => go(path))}>
                  <Icon size={16} aria-hidden />
                  <span>{title}</span>
                  {key && <Kbd size="1">g {key}</Kbd>}
                </Command.Item>
              ))}
            </Command.Group>
            <Command.Group heading="Commands">
              {shortcuts
                .filter(({ keys = '' }) => !keys.startsWith('g ') && keys !== 'mod+k' && keys !== '?')
                .map(({ keys, title, run }) => (
                  <Command.Item key={`${keys} ${title}`} value={`do ${title} ${keys ?? ''}`} onSelect={then(run)}>
                    <span>{title}</span>
                    {keys && <Kbd size="1">{keys}</Kbd>}
                  </Command.Item>
                ))}
            </Command.Group>
            <Command.Group heading="Missions">
              {missions.map(({ id, title, status, detailed_prompt }) => (
                <Command.Item
                  key={id}
                  value={`mission ${title} ${id}`}
                  // The server found it by its prompt. Without these words the palette would filter it out.
                  keywords={[detailed_prompt]}
                  onSelect={then(() => go(`/missions/${id}`))}
                >
                  <StatusDot status={status} />
                  <span>{plain(title)}</span>
                  <code>{shortId(id)}</code>
                </Command.Item>
              ))}
            </Command.Group>
            <Command.Group heading="Projects">
              {[...namesOf(projects)].map(([id, name]) => (
                <Command.Item key={id} value={`project ${name} ${id}`} onSelect={then(() => go(`/projects/${id}`))}>
                  <span>{plain(name)}</span>
                </Command.Item>
              ))}
            </Command.Group>
          </Command.List>
        </Command>
      </Dialog.Content>
    </Dialog.Root>
  )
}
