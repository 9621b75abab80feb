import { IconButton, Tooltip } from '@radix-ui/themes'
import {
  Bell,
  BellOff,
  BellRing,
  type LucideIcon,
  Monitor,
  Moon,
  Pause,
  Play,
  Smartphone,
  Sun,
  UserRound,
} from 'lucide-react'
import { useLocation } from 'wouter'
import { May } from '../kit/may.tsx'
import { useAppearance } from './appearance.tsx'
import { usePausing } from './fleet-state.ts'
import { type Notifying, switchNotifications, useNotifying } from './notifications.ts'

interface ToolProps {
  label: string
  icon: LucideIcon
  pressed?: boolean
  disabled?: boolean
  run(): void
}

function Tool({ label, icon: Icon, pressed, disabled, run }: ToolProps) {
  return (
    <Tooltip content={label}>
      <IconButton
        variant="ghost"
        color="gray"
        highContrast
        className="tool"
        aria-label={label}
        aria-pressed={pressed}
        disabled={disabled}
        onClick={run}
      >
        <Icon size={16} />
      </IconButton>
    </Tooltip>
  )
}

/** Switches and buttons that are not pages. */
export function Tools({ isPaused, openPhone }: { isPaused: boolean; openPhone(): void }) {
  const { pause, unpause, busy } = usePausing()
  const [, go] = useLocation()
  return (
    <div className="tools">
      <May use="pause">
        <Tool
          label={isPaused ? 'Unpause the fleet' : 'Pause the fleet'}
          icon={isPaused ? Play : Pause}
          pressed={isPaused}
          disabled={busy}
          run={isPaused ? unpause : pause}
        />
      </May>
      <BellTool />
      <Tool label="Your account" icon={UserRound} run={() => go('/account')} />
      <Tool label="Continue on phone" icon={Smartphone} run={openPhone} />
      <AppearanceTool />
    </div>
  )
}

const BELLS: Record<Notifying, { icon: LucideIcon; label: string }> = {
  push: { icon: BellRing, label: 'Notifications: on' },
  window: { icon: BellRing, label: 'Notifications: on while a window is open' },
  off: { icon: Bell, label: 'Notifications: off' },
  blocked: { icon: BellOff, label: 'Notifications: blocked by the browser' },
  unable: { icon: BellOff, label: 'Notifications: not available at this address' },
}

function BellTool() {
  const notifying = useNotifying()
  const { icon, label } = BELLS[notifying]
  return (
    <Tool
      label={label}
      icon={icon}
      pressed={notifying === 'push' || notifying === 'window'}
      run={switchNotifications}
    />
  )
}

const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const
const ICONS = { system: Monitor, light: Sun, dark: Moon }

function AppearanceTool() {
  const { choice, choose } = useAppearance()
  return <Tool label={`Appearance: ${choice}`} icon={ICONS[choice]} run={() => choose(NEXT[choice])} />
}
