import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { searchQuery } from '../src/domain/rules/search-query.ts'
import { type TextDocument, Texts } from '../src/store/index.ts'
import { type Bench, median, ms, type Row, times } from './figure.ts'

const MISSIONS = 10_000
const TRANSCRIPTS = 1000
const EVENTS = 100
const QUERIES = { 'a rare word': 'needle', 'a common word': 'the', 'two words': 'mission plan', 'a beginning': 'wor' }
const AT_MOST_MS = 100

/** How long a search takes in a large index, compared with a bare FTS5 query for the same words. */
export const search: Bench = async scale => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const texts = new Texts(join(folder, 'search.db'))
  try {
    fill(texts, scale.of(1, 0.1))
    const db = new Database(join(folder, 'search.db'), { readonly: true })
    const bare = db.prepare('SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT 20')
    const kinds = ['mission', 'comment', 'report', 'transcript'] as const
    const rows = Object.entries(QUERIES).map(([name, text]): Row => {
      const match = searchQuery(text)!
      const took = median(repeated(scale.of(50, 10), () => kinds.map(kind => texts.search({ text, kind, limit: 20 }))))
      const floor = median(repeated(scale.of(50, 10), () => bare.all(match)))
      return {
        figure: `search ${MISSIONS} missions and ${TRANSCRIPTS} transcripts for ${name}`,
        measured: `${ms(took)}, ${times(took / floor)}`,
        floor: `${ms(floor)} (a bare FTS5 query, not ranked)`,
        demanded: `< ${AT_MOST_MS} ms`,
        met: took < AT_MOST_MS,
      }
    })
    db.close()
    return rows
  } finally {
    texts.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function repeated(count: number, run: () => unknown): number[] {
  run()
  return Array.from({ length: count }, () => {
    const began = performance.now()
    run()
    return performance.now() - began
  })
}

function fill(texts: Texts, share: number): void {
  const missions = Array.from({ length: MISSIONS * share }, (_, n) => [aText('mission', `m${n}`, n)])
  const transcripts = Array.from({ length: TRANSCRIPTS * share }, (_, n) =>
    Array.from({ length: EVENTS }, (_, event) => aText('transcript', `s${n}`, n * EVENTS + event)),
  )
  const sources = [...missions, ...transcripts].map(documents => ({
    source: documents[0]!.place,
    fingerprint: '',
    documents,
  }))
  for (let at = 0; at < sources.length; at += 100) texts.change({ sources: sources.slice(at, at + 100), gone: [] })
}

/** Words as frequent as in a language: the first is in every text, the last in few. */
function aText(kind: TextDocument['kind'], place: string, n: number): TextDocument {
  const words = Array.from(
    { length: 60 },
    (_, at) => `word${Math.floor(5000 * ((((n + 1) * (at + 7) * 7919) % 1000) / 1000) ** 3)}`,
  )
  const body = `the plan of a mission ${words.join(' ')} ${n % 5000 === 77 ? 'needle' : ''}`
  return {
    ...{ kind, project_id: `p${n % 10}`, mission_id: `m${n % MISSIONS}`, session_id: null, place, part: 'text', body },
    ...{ at: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(), title: kind === 'mission' ? `Mission ${n}` : '' },
  }
}
