import type { NewEvent } from '../../domain/records/event.ts'
import type { PluginRecord } from '../../domain/records/plugin.ts'
import { clipped, MAX_CAUSE_CHARS } from '../../domain/text.ts'
import { findPlugins, type Source } from '../../plugins/finding.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { put } from '../records.ts'

export const sourcesOf = (fleet: Fleet): Source[] => findPlugins(fleet.home.path, fleet.settings.plugins)

/**
 * A plugin that comes with the fleet is off until the settings name it. Every other plugin is on from the beginning.
 */
const wantedAtFirst = (fleet: Fleet, { name, origin }: Source): boolean =>
  origin !== 'shipped' || fleet.settings.plugins.includes(name)

export async function recordOf(fleet: Fleet, source: Source): Promise<PluginRecord> {
  const stored = await fleet.store.get('plugins', source.name)
  if (stored) return stored.value
  return {
    id: source.name,
    enabled: wantedAtFirst(fleet, source),
    reason: null,
    faults: 0,
    last_fault: null,
    cursor: null,
    updated_at: fleet.now(),
  }
}

interface Happened {
  kind: 'plugin_enabled' | 'plugin_disabled' | 'plugin_configured' | 'plugin_fault'
  actor: string
  cause?: string
}

/** Changes a plugin's record, in one commit with the event. */
export async function notePlugin(
  fleet: Fleet,
  source: Source,
  change: (record: PluginRecord) => Partial<PluginRecord>,
  happened?: Happened,
): Promise<PluginRecord> {
  return retryOnConflict(async () => {
    const stored = await fleet.store.get('plugins', source.name)
    const before = stored?.value ?? (await recordOf(fleet, source))
    const next = { ...before, ...change(before), updated_at: fleet.now() }
    await fleet.commit('commit.plugin', {
      changes: [put('plugins', next, stored?.version ?? 'absent')],
      events: happened ? [eventOf(fleet, source, happened)] : [],
    })
    return next
  })
}

const eventOf = (fleet: Fleet, { name }: Source, { kind, actor, cause }: Happened): NewEvent => ({
  kind,
  time: fleet.now(),
  actor,
  ...(cause && { cause: clipped(cause, MAX_CAUSE_CHARS) }),
  data: { plugin: name },
})

/** A plugin that is switched on hears what happens from now on, not what it missed. */
export async function switchPlugin(
  fleet: Fleet,
  source: Source,
  enabled: boolean,
  by: { actor: string; reason?: string },
): Promise<PluginRecord> {
  const cursor = await fleet.store.tail()
  return notePlugin(
    fleet,
    source,
    ({ cursor: before }) => ({ enabled, reason: by.reason ?? null, cursor: enabled ? cursor : before }),
    { kind: enabled ? 'plugin_enabled' : 'plugin_disabled', actor: by.actor, cause: by.reason },
  )
}
