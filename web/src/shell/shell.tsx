import { Button, IconButton, Kbd, Text } from '@radix-ui/themes'
import { Ellipsis, Lock, Plus, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, Route, Switch, useLocation, useSearch } from 'wouter'
import { Empty, Lines, Page } from '../kit/page.tsx'
import { Toasts } from '../kit/toasts.tsx'
import { useMayDo } from '../live/me.ts'
import { MAIN, MORE, PLACES, type Place, type Station } from '../routes.tsx'
import type { View } from '../views.ts'
import { Arrival } from './arrival.tsx'
import { ConnectionBar, PausedBar, UnreadableBar } from './connection.tsx'
import { FaultsBar } from './faults.tsx'
import { useFleetState, usePausing } from './fleet-state.ts'
import { listenForShortcuts, MOD, useShortcuts } from './keys.ts'
import { useMarking } from './marking.ts'
import { startNotifying, switchNotifications } from './notifications.ts'
import { useRemembering } from './recent.ts'
import './shell.css'
import { signOut } from './sign-out.ts'
import { Tools } from './tools.tsx'
import { Trouble } from './trouble.tsx'

const loadPalette = () => import('./palette.tsx')
const Palette = lazy(loadPalette)
const Phone = lazy(() => import('./phone.tsx'))
const KeySheet = lazy(() => import('./key-sheet.tsx'))

export function Shell() {
  const [location, go] = useLocation()
  const newMission = newMissionFrom(location, useSearch())
  const [palette, setPalette] = useState(false)
  const [more, setMore] = useState(false)
  const [phone, setPhone] = useState(false)
  const [keys, setKeys] = useState(false)
  const { counts, isPaused, unreadable, faults } = useFleetState()
  const { pause, unpause } = usePausing()
  const may = useMayDo()
  const isOffered = ({ needs }: Place) => needs.some(need => may(need))
  const [main, rest] = [MAIN.filter(isOffered), MORE.filter(isOffered)]
  const mayCreate = may('create_mission')
  const mayPause = may('pause')
  useEffect(listenForShortcuts, [])
  useEffect(() => startNotifying(go), [go])
  useEffect(() => onFirstMod(loadPalette), [])
  useMarking()
  useRemembering()
  useShortcuts([
    { keys: 'mod+k', title: 'Search or run a command', group: 'Everywhere', run: () => setPalette(true) },
    { keys: '?', title: 'Show keyboard shortcuts', group: 'Everywhere', run: () => setKeys(true) },
    ...only(may('search'), { keys: '/', title: 'Search everything', group: 'Everywhere', run: () => go('/search') }),
    ...only(mayCreate, { keys: 'n', title: 'New mission', group: 'Everywhere', run: () => go(newMission) }),
    ...only(more, { keys: 'Escape', title: 'Close the menu', run: () => setMore(false) }),
    ...only(may('plans.run'), { title: 'New plan', run: () => go('/plans?new') }),
    ...only(
      mayPause,
      isPaused
        ? { title: 'Unpause the fleet', run: unpause }
        : { title: 'Pause the fleet: nothing new starts', run: pause },
    ),
    { title: 'Your account', run: () => go('/account') },
    { title: 'Continue on phone', run: () => setPhone(true) },
    { title: 'Turn notifications in this browser on or off', run: switchNotifications },
    ...only(may('set_notification_settings'), {
      title: 'Set up notifications',
      run: () => go('/settings/notifications'),
    }),
    { title: 'Sign out of this browser', run: signOut },
    ...[...main, ...rest]
      .filter(({ key }) => key)
      .map(({ key, title, path }) => ({
        keys: `g ${key}`,
        title: `Go to ${title}`,
        group: 'Go to' as const,
        run: () => go(path),
      })),
  ])
  const tools = <Tools isPaused={isPaused} openPhone={() => setPhone(true)} />
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <nav className="side" aria-label="Main">
        <Link href="/" className="brand">
          <img src="/icon.svg" alt="" width="22" height="22" />
          <span>Flotilla</span>
        </Link>
        <Button variant="surface" color="gray" className="finder" onClick={() => setPalette(true)}>
          <Search size={14} />
          <span className="finder-word">Search…</span>
          <Kbd size="1">{MOD}K</Kbd>
        </Button>
        {mayCreate && (
          <Button asChild>
            <Link href={newMission}>
              <Plus size={16} /> New mission
            </Link>
          </Button>
        )}
        <Stations list={main} counts={counts} />
        <Text size="1" color="gray" className="side-word">
          Fleet
        </Text>
        <Stations list={rest} counts={{}} />
        {tools}
      </nav>
      <div className="middle">
        <ConnectionBar />
        {isPaused && <PausedBar unpause={mayPause ? unpause : undefined} />}
        {faults > 0 && <FaultsBar count={faults} />}
        {unreadable > 0 && <UnreadableBar count={unreadable} />}
        <main id="main" tabIndex={-1}>
          <Trouble>
            <Suspense fallback={<Waiting />}>
              <Switch>
                {PLACES.map(each => (
                  <Route key={each.path} path={each.path} component={isOffered(each) ? each.view : NotForYou} />
                ))}
                <Route>
                  <Page title="Page not found">
                    <Empty icon={Search} title="There is no page at this address">
                      It may be mistyped. <Link href="/">Go home</Link>, or press <Kbd>{MOD}K</Kbd> to search.
                    </Empty>
                  </Page>
                </Route>
              </Switch>
            </Suspense>
          </Trouble>
        </main>
      </div>
      <nav className="tabs" aria-label="Main, small">
        {main.slice(0, 4).map(each => (
          <Tab key={each.path} station={each} count={counts[each.path]} />
        ))}
        <button type="button" className="tab" aria-expanded={more} onClick={() => setMore(open => !open)}>
          <Ellipsis size={20} aria-hidden />
          More
        </button>
      </nav>
      {more && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside handle keys; this only closes the menu
        // biome-ignore lint/a11y/noStaticElementInteractions: as above
        <div className="more" onClick={() => setMore(false)}>
          <Stations list={[...main.slice(4), ...rest]} counts={{}} />
          <div className="more-tools">
            {tools}
            <IconButton
              variant="ghost"
              color="gray"
              highContrast
              className="tool"
              aria-label="Search or run a command"
              onClick={() => setPalette(true)}
            >
              <Search size={16} />
            </IconButton>
          </div>
        </div>
      )}
      <Suspense>
        {palette && <Palette close={() => setPalette(false)} />}
        {phone && <Phone close={() => setPhone(false)} />}
        {keys && <KeySheet close={() => setKeys(false)} />}
      </Suspense>
      <Toasts />
      <Arrival />
    </div>
  )
}

const only = <T,>(condition: boolean, each: T): T[] => (condition ? [each] : [])

/** The address exists, and this person's roles do not include it. */
const NotForYou = () => (
  <Page title="Not for your role">
    <Empty icon={Lock} title="Your role does not include this page">
      <Link href="/account">Your account</Link> shows what you may do. An owner of this fleet can give you more.
    </Empty>
  </Page>
)

/** Control or Command is pressed before K. The palette is then there for the first letter that is typed. */
function onFirstMod(load: () => Promise<unknown>): () => void {
  const pressed = ({ key }: KeyboardEvent) => void ((key === 'Control' || key === 'Meta') && load())
  addEventListener('keydown', pressed)
  return () => removeEventListener('keydown', pressed)
}

function Stations({ list, counts }: { list: readonly Station[]; counts: Partial<Record<View, number>> }) {
  const [location] = useLocation()
  return (
    <ul className="stations">
      {list.map(({ path, title, icon: Icon }) => (
        <li key={path}>
          <Link href={path} className="station" aria-current={isAt(location, path) ? 'page' : undefined}>
            <Icon size={16} aria-hidden />
            <span>{title}</span>
            {!!counts[path] && <span className="count">{counts[path]}</span>}
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Tab({ station: { path, title, icon: Icon }, count }: { station: Station; count: number | undefined }) {
  const [location] = useLocation()
  return (
    <Link href={path} className="tab" aria-current={isAt(location, path) ? 'page' : undefined}>
      <Icon size={20} aria-hidden />
      {title}
      {!!count && <span className="count">{count}</span>}
    </Link>
  )
}

/** A new mission is for the project that the page is about. */
function newMissionFrom(location: string, search: string): string {
  const project = /^\/projects\/([^/]+)/.exec(location)?.[1] ?? new URLSearchParams(search).get('project')
  return project ? `/missions/new?project=${encodeURIComponent(project)}` : '/missions/new'
}

const isAt = (location: string, path: string): boolean =>
  location === path || (path !== '/' && location.startsWith(`${path}/`))

const Waiting = () => (
  <div className="page">
    <Lines rows={6} />
  </div>
)
