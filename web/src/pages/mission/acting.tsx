import {
  Ban,
  CalendarClock,
  CopyPlus,
  GitCompareArrows,
  GitFork,
  GitMerge,
  Hand,
  ListPlus,
  type LucideIcon,
  MessageSquare,
  MessageSquareReply,
  Play,
  RotateCcw,
  Save,
  SkipForward,
  Terminal,
  Trash2,
  Undo2,
} from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { type Abilities, type Action, actionsFor, type Detail, mainAction } from './actions.ts'
import { SendDialog, type Sending } from './send-dialog.tsx'
import {
  CompareDialog,
  DeleteDialog,
  SayDialog,
  ScheduleDialog,
  TakeOverDialog,
  TemplateDialog,
} from './small-dialogs.tsx'

interface Face {
  label: string
  icon: LucideIcon
  key?: string
  tone?: 'red'
}

export const FACES: Record<Action, Face> = {
  dispatch: { label: 'Start', icon: Play, key: 's' },
  land: { label: 'Land', icon: GitMerge, key: 'l' },
  land_anyway: { label: 'Land despite failed checks', icon: GitMerge },
  resume: { label: 'Resume', icon: Play, key: 'r' },
  retry: { label: 'Retry', icon: RotateCcw, key: 't' },
  reopen: { label: 'Reopen', icon: RotateCcw, key: 'o' },
  send_back: { label: 'Request changes', icon: MessageSquareReply, key: 'b' },
  say: { label: 'Send message', icon: MessageSquare, key: 'm' },
  interrupt: { label: 'Interrupt', icon: Hand, key: 'i' },
  undo: { label: 'Undo landing', icon: Undo2, key: 'u' },
  reconsider: { label: 'Undo rejection', icon: Undo2 },
  reject: { label: 'Reject', icon: Ban },
  next: { label: 'Create next mission from report', icon: SkipForward },
  fork: { label: 'Fork', icon: GitFork, key: 'f' },
  sub_mission: { label: 'New sub-mission', icon: ListPlus },
  duplicate: { label: 'Duplicate', icon: CopyPlus },
  compare: { label: 'Compare', icon: GitCompareArrows },
  schedule: { label: 'Schedule', icon: CalendarClock },
  save_template: { label: 'Save as template', icon: Save },
  take_over: { label: 'Take over', icon: Terminal, key: 'w' },
  cancel: { label: 'Cancel', icon: Ban, key: 'x', tone: 'red' },
  delete: { label: 'Delete', icon: Trash2, tone: 'red' },
}

type Dialogue = Sending | 'say' | 'schedule' | 'save_template' | 'compare' | 'take_over' | 'delete'

export interface Acting {
  offered: Action[]
  main: Action | undefined
  /** Does it, or opens its dialog. */
  act(action: Action): void
  /** Does it without a dialog, if that makes sense. */
  atOnce(action: Action): void
  busy: boolean
  dialog: ReactNode
}

/** All actions on a mission. */
export function useActing(mission: Detail): Acting {
  const [, go] = useLocation()
  const [open, setOpen] = useState<Dialogue>()
  const newest = mission.sessions.find(({ id }) => id === mission.session_id)
  const agents = useAsk('list_agents', {}).data?.agents
  const agent = agents?.find(({ name, engine }) => name === newest?.agent && engine === newest.engine)
  const offered = actionsFor(mission, useMayDo(), agent?.can as Abilities | undefined)

  const dispatch = useCommand('dispatch_mission')
  const retry = useCommand('retry_mission')
  const resume = useCommand('resume_mission')
  const land = useCommand('land_mission')
  const undo = useCommand('undo_mission')
  const reject = useCommand('reject_mission')
  const reconsider = useCommand('reconsider_mission')
  const cancel = useCommand('cancel_mission')
  const interrupt = useCommand('interrupt_mission')
  const next = useCommand('generate_next')
  const remove = useCommand('delete_mission')
  const it = { mission_id: mission.id }
  const shown = { ...it, expected: mission.candidate?.commit }

  const forget = (discard: boolean) => {
    setOpen(undefined)
    const title = mission.title.length > 40 ? `${mission.title.slice(0, 40)}…` : mission.title
    remove.runLater(`Deleting “${title}”`, { ...it, discard })
    go('/missions')
  }
  const simple: Partial<Record<Action, () => unknown>> = {
    land: async () => (await land.run(shown)) && tell({ text: 'Landing.' }),
    land_anyway: async () => (await land.run({ ...shown, force: true })) && tell({ text: 'Landing.' }),
    undo: async () => (await undo.run(it)) && tell({ text: 'Undoing with a revert commit.' }),
    reconsider: () => reconsider.run(it),
    interrupt: () => interrupt.run(it),
    reject: async () =>
      (await reject.run(it)) &&
      tell({
        text: 'Rejected; its work is kept on its branch.',
        action: { label: 'Undo', run: () => void reconsider.run(it) },
      }),
    cancel: async () =>
      (await cancel.run(it)) &&
      tell({
        text: 'Cancelled; its work is kept on its branch.',
        action: mission.session_id
          ? { label: 'Resume', run: () => void resume.run(it) }
          : { label: 'Undo', run: () => void retry.run(it) },
      }),
    next: async () => {
      const made = await next.run(it)
      if (made) go(`/missions/${made.id}`)
    },
    sub_mission: () => go(`/missions/new?project=${mission.project_id}&parent=${mission.id}`),
    duplicate: () => go(`/missions/new?like=${mission.id}`),
    delete: () =>
      mission.sessions.some(({ left_behind, worktree_kept }) => left_behind && worktree_kept)
        ? setOpen('delete')
        : forget(false),
  }
  const act = (action: Action) => {
    const run = simple[action]
    if (run) run()
    else setOpen(action as Dialogue)
  }
  const atOnce = (action: Action) => {
    if (action === 'dispatch') dispatch.run(it)
    else if (action === 'retry') retry.run(it)
    else act(action)
  }
  const commands = [dispatch, retry, resume, land, undo, reject, reconsider, cancel, interrupt, next, remove]
  const dialog = open && <Dialogued open={open} mission={mission} close={() => setOpen(undefined)} forget={forget} />
  return {
    offered,
    main: mainAction(mission.status, offered),
    act,
    atOnce,
    busy: commands.some(each => each.busy),
    dialog,
  }
}

interface DialoguedProps {
  open: Dialogue
  mission: Detail
  close(): void
  forget(discard: boolean): void
}

function Dialogued({ open, forget, ...rest }: DialoguedProps) {
  switch (open) {
    case 'say':
      return <SayDialog {...rest} />
    case 'schedule':
      return <ScheduleDialog {...rest} />
    case 'save_template':
      return <TemplateDialog {...rest} />
    case 'compare':
      return <CompareDialog {...rest} />
    case 'take_over':
      return <TakeOverDialog {...rest} />
    case 'delete':
      return <DeleteDialog {...rest} remove={forget} />
    default:
      return <SendDialog sending={open} {...rest} />
  }
}
