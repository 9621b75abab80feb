import { Dialog, Kbd, VisuallyHidden } from '@radix-ui/themes'
import { Command, defaultFilter } from 'cmdk'
import { Clock, FileText, MessageSquare, ScrollText, Search } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useFocusBack } from '../kit/focus-back.ts'
import { plain } from '../kit/plain.ts'
import { namesOf } from '../kit/project-names.ts'
import { type Hit, HitText, partOf, placeOf } from '../kit/search-hit.tsx'
import { useSettledText } from '../kit/settled-text.ts'
import { StatusDot } from '../kit/status.tsx'
import { shortId } from '../kit/words.ts'
import { useAsk, useMissions } from '../live/data.ts'
import { useMayDo } from '../live/me.ts'
import { STATIONS } from '../routes.tsx'
import { shortcutsNow } from './keys.ts'
import './palette.css'
import { recentMissions } from './recent.ts'

const FOUND = 6
/** A shorter text is more likely a command or a page. */
const SHORTEST = 2

const ICONS = { mission: Search, comment: MessageSquare, report: FileText, transcript: ScrollText }

/** Finds what was written, goes to pages and projects, and does what a key would do. */
export default function Palette({ close }: { close(): void }) {
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const words = useSettledText(text.trim())
  const isAsked = words.length >= SHORTEST
  const found = useAsk('search', { text: words, limit: FOUND }, { enabled: isAsked, keep: true })
  // A new mission is in this list before it is in the index, and it works without an index.
  const listed = useMissions({ text: words, limit: FOUND }, { enabled: isAsked })
  const recent = useMissions({ ids: recentMissions() }, { enabled: !text && recentMissions().length > 0 })
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects ?? []
  const teams = useAsk('list_teams', {}, { enabled: !!text.trim() }).data?.teams ?? []
  const [shortcuts] = useState(shortcutsNow)
  const then = (run: () => void) => () => {
    close()
    run()
  }
  const focusBack = useFocusBack()
  const fits = (value: string): boolean => !text.trim() || defaultFilter(value, text.trim()) > 0.01
  const hits = isAsked && text.trim() ? (found.data?.hits ?? []) : []
  const inTitles = hits.filter(({ kind }) => kind === 'mission')
  const known = new Set(inTitles.map(({ mission }) => mission.id))
  const also = isAsked && text.trim() ? listed.missions.filter(({ id }) => !known.has(id)) : []
  const actions = shortcuts.filter(
    ({ keys = '', title }) => !keys.startsWith('g ') && keys !== 'mod+k' && keys !== '?' && fits(title),
  )
  const may = useMayDo()
  const pages = STATIONS.filter(({ title, needs }) => needs.some(need => may(need)) && fits(title))
  const named = text.trim() ? [...namesOf(projects)].filter(([, name]) => fits(name)) : []
  const crews = text.trim() ? teams.filter(({ name }) => fits(name)) : []
  const inTexts = hits.filter(({ kind }) => kind !== 'mission')
  const lastSeen = new Map(recent.missions.map(mission => [mission.id, mission]))
  const isBusy = text.trim() !== words || (isAsked && (found.isLoading || listed.isLoading))
  // The best result is chosen as results come in, not what was first while there were none.
  const [chosen, setChosen] = useState('')
  const best = inTitles[0]?.mission.id ?? also[0]?.id
  useEffect(() => setChosen(best ? `mission ${best}` : ''), [best])
  const isEmpty = ![inTitles, also, inTexts, actions, pages, named, crews].some(({ length }) => length)
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content className="palette" onCloseAutoFocus={focusBack} aria-describedby={undefined} maxWidth="640px">
        <VisuallyHidden>
          <Dialog.Title>Search or run a command</Dialog.Title>
        </VisuallyHidden>
        <Command loop shouldFilter={false} value={chosen} onValueChange={setChosen}>
          <Command.Input
            autoFocus
            placeholder="Find a mission, a report, a page, a command…"
            value={text}
            onValueChange={setText}
          />
          <Command.List>
            {!text && (
              <Group heading="Recent">
                {recentMissions().flatMap(id => {
                  const mission = lastSeen.get(id)
                  return mission ? (
                    <Command.Item key={id} value={`recent ${id}`} onSelect={then(() => go(`/missions/${id}`))}>
                      <Clock size={16} aria-hidden />
                      <span>{plain(mission.title)}</span>
                    </Command.Item>
                  ) : (
                    []
                  )
                })}
              </Group>
            )}
            <Group heading="Missions">
              {inTitles.map(hit => (
                <Command.Item
                  key={hit.mission.id}
                  value={`mission ${hit.mission.id}`}
                  onSelect={then(() => go(placeOf(hit, words)))}
                >
                  <StatusDot status={hit.mission.status} />
                  <span>
                    {plain(hit.mission.title)}
                    {hit.part !== 'title' && <Excerpt hit={hit} />}
                  </span>
                  <code>{shortId(hit.mission.id)}</code>
                </Command.Item>
              ))}
              {also.map(({ id, title, status }) => (
                <Command.Item key={id} value={`mission ${id}`} onSelect={then(() => go(`/missions/${id}`))}>
                  <StatusDot status={status} />
                  <span>{plain(title)}</span>
                  <code>{shortId(id)}</code>
                </Command.Item>
              ))}
            </Group>
            <Group heading="Actions">
              {actions.map(({ keys, title, run }) => (
                <Command.Item key={`${keys} ${title}`} value={`do ${title} ${keys ?? ''}`} onSelect={then(run)}>
                  <span>{title}</span>
                  {keys && <Kbd size="1">{keys}</Kbd>}
                </Command.Item>
              ))}
            </Group>
            <Group heading="Go to">
              {pages.map(({ title, path, icon: Icon, key }) => (
                <Command.Item key={path} value={`page ${title}`} onSelect={then(() => go(path))}>
                  <Icon size={16} aria-hidden />
                  <span>{title}</span>
                  {key && <Kbd size="1">g {key}</Kbd>}
                </Command.Item>
              ))}
            </Group>
            <Group heading="Projects">
              {named.map(([id, name]) => (
                <Command.Item key={id} value={`project ${id}`} onSelect={then(() => go(`/projects/${id}`))}>
                  <span>{plain(name)}</span>
                </Command.Item>
              ))}
            </Group>
            <Group heading="Teams">
              {crews.map(({ id, name }) => (
                <Command.Item key={id} value={`team ${id}`} onSelect={then(() => go(`/teams/${id}`))}>
                  <span>{plain(name)}</span>
                </Command.Item>
              ))}
            </Group>
            <Group heading="Comments, reports and transcripts">
              {inTexts.map(hit => {
                const Icon = ICONS[hit.kind]
                return (
                  <Command.Item
                    key={`${hit.kind} ${hit.session_id} ${hit.place}`}
                    value={`${hit.kind} ${hit.session_id} ${hit.place}`}
                    onSelect={then(() => go(placeOf(hit, words)))}
                  >
                    <Icon size={16} aria-hidden />
                    <span>
                      {plain(hit.mission.title)}
                      <Excerpt hit={hit} />
                    </span>
                  </Command.Item>
                )
              })}
            </Group>
            {text.trim() && isEmpty && !isBusy && (
              <div className="palette-empty" role="status">
                No results
              </div>
            )}
            {text.trim() && may('search') && (
              <Command.Item
                value="search everything"
                onSelect={then(() => go(`/search?q=${encodeURIComponent(text.trim())}`))}
              >
                <Search size={16} aria-hidden />
                <span>Search everything for “{text.trim()}”</span>
              </Command.Item>
            )}
          </Command.List>
        </Command>
      </Dialog.Content>
    </Dialog.Root>
  )
}

/** A group without items would be a heading over nothing. */
function Group({ heading, children }: { heading: string; children: ReactNode }) {
  const isEmpty = [children].flat(2).every(child => !child)
  return isEmpty ? null : <Command.Group heading={heading}>{children}</Command.Group>
}

const Excerpt = ({ hit }: { hit: Hit }) => (
  <small className="palette-excerpt">
    {partOf(hit)}: <HitText hit={hit} />
  </small>
)
