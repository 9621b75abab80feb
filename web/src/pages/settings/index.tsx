import { Callout, TextField } from '@radix-ui/themes'
import { Search, TriangleAlert } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import { Answer, Page } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { Disk } from './disk.tsx'
import { anchorOf, SettingsForm } from './form.tsx'
import { ServersSection } from './servers.tsx'
import './settings.css'

export default function SettingsPage() {
  const [search, setSearch] = useSearchParams()
  const text = search.get('text') ?? ''
  const may = useMayDo()
  const mayWrite = may('set_settings')
  const settings = useAsk('get_settings', {}, { enabled: mayWrite })
  const servers = useAsk('system_status', {}, { enabled: may('system_status') }).data?.servers
  return (
    <Page title="Settings" about={settings.data && <>Saved in {settings.data.file}, which you can also edit.</>}>
      <div className="settings-page">
        <nav className="settings-sections" aria-label="Sections">
          <TextField.Root
            placeholder="Find a setting"
            aria-label="Find a setting"
            value={text}
            onChange={event => setSearch(event.target.value ? { text: event.target.value } : {}, { replace: true })}
          >
            <TextField.Slot>
              <Search size={14} />
            </TextField.Slot>
          </TextField.Root>
          <ul>
            {[
              ...new Set(settings.data?.settings.map(({ section }) => section)),
              ...(servers ? ['Servers'] : []),
              'Disk use',
            ].map(section => (
              <li key={section}>
                <a href={`#${anchorOf(section)}`}>{section}</a>
              </li>
            ))}
            {may('set_notification_settings') && (
              <li>
                <Link href="/settings/notifications">Notifications</Link>
              </li>
            )}
          </ul>
        </nav>
        <div className="settings-main">
          {mayWrite && (
            <Answer of={settings}>
              {({ problem, settings: all }) => (
                <>
                  {problem && (
                    <Callout.Root color="amber" highContrast mb="3">
                      <Callout.Icon>
                        <TriangleAlert size={16} />
                      </Callout.Icon>
                      <Callout.Text>{problem} The previous settings stay in effect.</Callout.Text>
                    </Callout.Root>
                  )}
                  <SettingsForm settings={all} text={text} />
                </>
              )}
            </Answer>
          )}
          {servers && (
            <div id={anchorOf('Servers')} className="settings-anchor">
              <ServersSection servers={servers} />
            </div>
          )}
          {may('disk_use') && (
            <div id={anchorOf('Disk use')} className="settings-anchor settings-disk">
              <Disk />
            </div>
          )}
        </div>
      </div>
    </Page>
  )
}
