import { newId } from '../../domain/ids.ts'
import { type AuditEntry, MOST_TOUCHED } from '../../domain/records/audit.ts'
import type { EffectName } from '../../platform/effects.ts'
import { type Batch, type Change, type Collection, MAX_COMMIT_ITEMS, Unavailable } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { put } from '../records.ts'
import type { About, Asked } from './refusals.ts'

/** What a command writes for itself is no subject of it. */
const BESIDE: ReadonlySet<Collection> = new Set(['receipts', 'counts', 'lease', 'audit'])

/** One command while it runs. */
export interface Recording {
  /** What the command runs on. */
  fleet: Fleet
  done(about: () => Promise<About>): Promise<void>
  refused(code: string, about: () => Promise<About>): Promise<void>
}

/**
 * The entry of a command is in the first commit of the command: it costs no commit of its own, and no crash leaves one
 * without the other. A command that commits nothing gets a commit for its entry before it is answered.
 */
export function record(fleet: Fleet, asked: Asked): Recording {
  const id = newId()
  let written: 'not' | 'now' | 'yes' | 'unknown' = 'not'
  let isOver = false
  const entryOf = (about: About, outcome: Pick<AuditEntry, 'outcome' | 'code'>): AuditEntry => {
    const at = fleet.now()
    return { ...asked, ...about, ...outcome, id, at, count: 1, last_at: at }
  }
  const carrying = (inner: Fleet): Fleet =>
    Object.create(inner, {
      commit: {
        value: async (name: EffectName, batch: Batch) => {
          if (isOver || written !== 'not' || !hasRoom(batch)) return inner.commit(name, batch)
          written = 'now'
          const entry = entryOf(aboutBatch(batch), { outcome: 'done', code: null })
          try {
            await inner.commit(name, { ...batch, changes: [...batch.changes, put('audit', entry, 'absent')] })
            written = 'yes'
          } catch (error) {
            written = error instanceof Unavailable ? 'unknown' : 'not'
            throw error
          }
        },
      },
      ...(inner.daemon && { daemon: { value: carrying(inner.daemon) } }),
    })
  const isWritten = async () =>
    written === 'yes' || (written === 'unknown' && (await fleet.store.get('audit', id)) !== undefined)
  return {
    fleet: carrying(fleet),
    async done(about) {
      isOver = true
      if (await isWritten()) return
      const entry = entryOf(await about(), { outcome: 'done', code: null })
      await fleet.commit('commit.wish', { changes: [put('audit', entry, 'absent')] })
    },
    async refused(code, about) {
      isOver = true
      // What it did before it was refused is in the entry.
      if (await isWritten())
        await retryOnConflict(async () => {
          const stored = (await fleet.store.get('audit', id))!
          const value = { ...stored.value, outcome: 'refused' as const, code }
          await fleet.commit('commit.wish', { changes: [put('audit', value, stored.version)] })
        })
      else fleet.refusals.note(asked, code, await about(), fleet.now())
    },
  }
}

const hasRoom = ({ changes, checks = [], events = [] }: Batch): boolean =>
  changes.length + checks.length + events.length < MAX_COMMIT_ITEMS

/** What a commit is about. Records of another project are left out: whoever reads the entry may not see them. */
export function aboutBatch({ changes, events = [] }: Batch): About {
  const ofEvent = events.find(({ project_id }) => project_id)
  const named = changes.filter(each => !BESIDE.has(collectionOf(each)))
  const project_id = ofEvent?.project_id ?? named.map(projectOf).find(each => each !== undefined) ?? null
  const own = named.filter(each => project_id === null || projectOf(each) === project_id || 'remove' in each)
  const touched = own.map(each => `${collectionOf(each)}/${'put' in each ? each.value.id : each.id}`)
  const mission_id = ofEvent?.mission_id ?? events.find(each => each.mission_id)?.mission_id ?? null
  return { project_id, mission_id, touched: touched.slice(0, MOST_TOUCHED) }
}

const collectionOf = (change: Change): Collection => ('put' in change ? change.put : change.remove)

function projectOf(change: Change): string | undefined {
  if (!('put' in change)) return undefined
  const value = change.value as { id: string; project_id?: string | null }
  return change.put === 'projects' ? value.id : (value.project_id ?? undefined)
}
