import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { Unfit } from '../domain/errors.ts'
import { searchQuery } from '../domain/rules/search-query.ts'

export const TEXT_KINDS = ['mission', 'comment', 'report', 'transcript'] as const
export type TextKind = (typeof TEXT_KINDS)[number]

/** A text that can be found, and where it is. */
export interface TextDocument {
  kind: TextKind
  project_id: string
  mission_id: string
  session_id: string | null
  /** Where in its kind it is: the id of a comment or report, or the cursor of an event of a transcript. */
  place: string
  /** What it is there, such as `tool_result`. */
  part: string
  at: string
  title: string
  body: string
}

/** All documents that are made from one record. They replace the earlier ones. */
export interface TextSource {
  /** `missions/<id>` or `sessions/<id>`. */
  source: string
  /** Equal as long as the documents are. */
  fingerprint: string
  documents: readonly TextDocument[]
}

export interface TextChanges {
  sources: readonly TextSource[]
  /** Records that are gone, with everything below them, also what `sources` has of them. */
  gone: readonly { mission_id?: string; project_id?: string }[]
  progress?: TextProgress
}

export interface TextProgress {
  /** All events up to here are taken in. */
  cursor: string
  /** Whether every record was taken in once. Not kept by an index that was not begun, or was lost since: see `progress`. */
  complete: boolean
}

export interface TextQuery {
  text: string
  kind: TextKind
  project_id?: string
  /** Only these projects. */
  projects?: readonly string[]
  /** From this time on, and before that one. */
  from?: string
  before?: string
  limit: number
}

export interface TextHit extends Omit<TextDocument, 'title' | 'body'> {
  /** Whether the title has the words. */
  inTitle: boolean
  /** The text around the words, which stand between MARK and END_MARK. */
  snippet: string
}

/** Controls are removed from all texts, so these occur nowhere else. */
export const MARK = '\u0001'
export const END_MARK = '\u0002'

/** Another number: the file is made again. */
const FORMAT = 1
const BUSY_TIMEOUT_MS = 200
const SNIPPET_WORDS = 24
/** A transcript may have many hits. This many are read for each session that is wanted. */
const PER_SESSION = 10
/** Above this size, the transcripts that ended first are left out. */
const MOST_BYTES = 1024 * 1024 * 1024
const DROPPED_AT_ONCE = 20

/**
 * The full text of records and transcripts, in a file of its own. Everything in it is made from what is stored
 * elsewhere, so a file that is missing, damaged or of another format is made again.
 */
export class Texts {
  readonly #file: string
  readonly #mostBytes: number
  #db: Database.Database | undefined
  #mayWrite = false

  constructor(file: string, mostBytes = MOST_BYTES) {
    this.#file = file
    this.#mostBytes = mostBytes
  }

  get exists(): boolean {
    return this.#db !== undefined || existsSync(this.#file)
  }

  /**
   * Undefined: it was never begun, or it was damaged and is empty since. Only the daemon calls this and `change`: they
   * make the file if there is none.
   */
  progress(): TextProgress | undefined {
    return this.#writing(db => {
      const row = db.prepare('SELECT cursor, complete FROM progress').get() as { cursor: string; complete: number }
      return row && { cursor: row.cursor, complete: row.complete === 1 }
    })
  }

  fingerprintOf(source: string): string | undefined {
    return this.#writing(db => {
      const row = db.prepare('SELECT fingerprint FROM sources WHERE source = ?').get(source)
      return (row as { fingerprint: string } | undefined)?.fingerprint
    })
  }

  /** All or nothing, like a commit. */
  change({ sources, gone, progress }: TextChanges): void {
    this.#writing(db => {
      db.transaction(() => {
        for (const each of sources) this.#replace(db, each)
        for (const { mission_id, project_id } of gone) {
          if (mission_id) this.#remove(db, 'mission_id', mission_id)
          if (project_id) this.#remove(db, 'project_id', project_id)
        }
        if (progress?.complete) db.prepare('UPDATE progress SET cursor = ?, complete = 1').run(progress.cursor)
        else if (progress)
          db.prepare('INSERT OR REPLACE INTO progress (id, cursor, complete) VALUES (1, ?, 0)').run(progress.cursor)
      })()
      this.#keepSmall(db)
    })
  }

  /** Begins again with an empty file. */
  clear(): void {
    this.close()
    for (const name of ['', '-wal', '-shm', '-journal']) rmSync(this.#file + name, { force: true })
  }

  /**
   * Those with the words in their title first, then the newest. Of transcripts, the newest hits of as many sessions as
   * the limit says, some of each: a long one hides no other.
   */
  search({ text, kind, project_id, projects, from, before, limit }: TextQuery): TextHit[] {
    const words = searchQuery(text)
    const within = project_id ? [project_id] : projects
    if (!words || within?.length === 0) return []
    const quoted = (scope: string): string => `"${scope}"`
    const scope = [
      quoted(scopeOf.kind(kind)),
      ...(within ? [`(${within.map(id => quoted(scopeOf.project(id))).join(' OR ')})`] : []),
    ].join(' AND ')
    const matching = (columns: string): string => `scope : (${scope}) AND {${columns}} : (${words})`
    return this.#reading(db => {
      // Not ranked: FTS5 would read every match of every word for that, and a common word is in nearly every text.
      const newest = db.prepare(
        `SELECT texts.rowid AS id, d.source, d.kind, d.project_id, d.mission_id, d.session_id, d.place, d.part, d.at,
           highlight(texts, 1, '${MARK}', '${END_MARK}') AS title,
           snippet(texts, 2, '${MARK}', '${END_MARK}', '…', ${SNIPPET_WORDS}) AS snippet
         FROM texts JOIN documents d ON d.id = texts.rowid
         WHERE texts MATCH ? AND texts.rowid < ? AND d.at >= ? AND d.at < ? ORDER BY texts.rowid DESC LIMIT ?`,
      )
      const newestWith = (columns: string, most = limit, below = Number.MAX_SAFE_INTEGER) =>
        newest.all(matching(columns), below, from ?? '', before ?? '~', most) as Row[]
      const found =
        kind === 'transcript'
          ? newestOfSessions(db, limit, (most, below) => newestWith('title body', most, below))
          : [...(kind === 'mission' ? newestWith('title') : []), ...newestWith('title body')]
      const best = new Map(found.toReversed().map(row => [row.id, row]))
      const ids = [...new Set(found.map(({ id }) => id))]
      return (kind === 'transcript' ? ids : ids.slice(0, limit)).map(id => {
        const { id: _, source: __, title, snippet, ...hit } = best.get(id)!
        const inTitle = title.includes(MARK)
        return { ...hit, inTitle, snippet: inTitle && !snippet.includes(MARK) ? title : snippet }
      })
    })
  }

  close(): void {
    this.#db?.close()
    this.#db = undefined
  }

  #replace(db: Database.Database, { source, fingerprint, documents }: TextSource): void {
    this.#remove(db, 'source', source)
    db.prepare('INSERT OR REPLACE INTO sources (source, fingerprint) VALUES (?, ?)').run(source, fingerprint)
    const describe = db.prepare(
      `INSERT INTO documents (source, kind, project_id, mission_id, session_id, place, part, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    const add = db.prepare('INSERT INTO texts (rowid, scope, title, body) VALUES (?, ?, ?, ?)')
    for (const { kind, project_id, mission_id, session_id, place, part, at, title, body } of documents) {
      const { lastInsertRowid } = describe.run(source, kind, project_id, mission_id, session_id, place, part, at)
      add.run(lastInsertRowid, `${scopeOf.kind(kind)} ${scopeOf.project(project_id)}`, title, body)
    }
  }

  #remove(db: Database.Database, field: 'source' | 'mission_id' | 'project_id', value: string): void {
    db.prepare(`DELETE FROM texts WHERE rowid IN (SELECT id FROM documents WHERE ${field} = ?)`).run(value)
    db.prepare(`DELETE FROM sources WHERE source IN (SELECT source FROM documents WHERE ${field} = ?)`).run(value)
    db.prepare(`DELETE FROM documents WHERE ${field} = ?`).run(value)
  }

  /** A transcript that is left out keeps its fingerprint, so that it is not taken in again. */
  #keepSmall(db: Database.Database): void {
    const used = (): number =>
      (Number(db.pragma('page_count', { simple: true })) - Number(db.pragma('freelist_count', { simple: true }))) *
      Number(db.pragma('page_size', { simple: true }))
    const oldest = db.prepare(
      `SELECT source FROM documents WHERE kind = 'transcript' GROUP BY source ORDER BY min(at) LIMIT ${DROPPED_AT_ONCE}`,
    )
    const drop = db.transaction((sources: readonly { source: string }[]) => {
      for (const { source } of sources) {
        db.prepare('DELETE FROM texts WHERE rowid IN (SELECT id FROM documents WHERE source = ?)').run(source)
        db.prepare('DELETE FROM documents WHERE source = ?').run(source)
      }
    })
    while (used() > this.#mostBytes) {
      const sources = oldest.all() as { source: string }[]
      if (!sources.length) return
      drop(sources)
    }
  }

  /** A damaged file is removed, and the work begins again with an empty one. */
  #writing<T>(use: (db: Database.Database) => T): T {
    try {
      return use(this.#opened(true))
    } catch (error) {
      if (!isDamage(error)) throw explained(error)
    }
    this.clear()
    try {
      return use(this.#opened(true))
    } catch (error) {
      throw explained(error)
    }
  }

  #reading<T>(use: (db: Database.Database) => T): T {
    if (!this.exists)
      throw new Unfit('There is no search index yet.', { try: 'The server makes it soon after it starts: fleet up' })
    try {
      return use(this.#opened(false))
    } catch (error) {
      // The daemon sees that it is empty, and makes it again.
      if (isUnreadable(error) && this.#mayWrite) this.clear()
      throw explained(error)
    }
  }

  #opened(toWrite: boolean): Database.Database {
    if (this.#db && (this.#mayWrite || !toWrite)) return this.#db
    this.close()
    // It has what transcripts have: only the owner may read it, and the files that SQLite makes beside it.
    if (toWrite) closeSync(openSync(this.#file, 'a', 0o600))
    const db = new Database(this.#file, { timeout: BUSY_TIMEOUT_MS, readonly: !toWrite, fileMustExist: true })
    try {
      if (toWrite) prepare(db)
      else if (db.pragma('user_version', { simple: true }) !== FORMAT)
        throw new Unfit('The search index was made by another version.', {
          try: 'The server makes it again soon after it starts: fleet up',
        })
    } catch (error) {
      db.close()
      throw error
    }
    this.#db = db
    this.#mayWrite = toWrite
    return db
  }
}

type Row = TextHit & { id: number; source: string; title: string }

/** Read in portions. The next one begins behind the session that the last one ended in: its texts follow each other. */
function newestOfSessions(
  db: Database.Database,
  limit: number,
  newest: (most: number, below?: number) => Row[],
): Row[] {
  const firstOf = db.prepare('SELECT min(id) FROM documents WHERE source = ?').pluck()
  const most = limit * PER_SESSION
  const found = newest(most)
  for (let last = found; last.length === most && new Set(found.map(({ source }) => source)).size < limit; ) {
    last = newest(most, firstOf.get(last.at(-1)!.source) as number)
    found.push(...last)
  }
  return found
}

/** Words that stand in a column of their own, so that the index itself narrows a search. */
const scopeOf = { kind: (kind: TextKind) => `kind${kind}`, project: (id: string) => `project${id}` }

class OtherFormat extends Error {}

function prepare(db: Database.Database): void {
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  // What is deleted must not stay readable in the file.
  db.pragma('secure_delete = ON')
  const format = db.pragma('user_version', { simple: true })
  if (format === FORMAT) return
  if (format !== 0) throw new OtherFormat()
  db.transaction(() => {
    db.exec(`
      CREATE VIRTUAL TABLE texts USING fts5(scope, title, body, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3');
      INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1);
      CREATE TABLE documents (id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, kind TEXT NOT NULL,
        project_id TEXT NOT NULL, mission_id TEXT NOT NULL, session_id TEXT, place TEXT NOT NULL, part TEXT NOT NULL,
        at TEXT NOT NULL);
      CREATE INDEX documents_source ON documents (source);
      CREATE INDEX documents_mission ON documents (mission_id);
      CREATE INDEX documents_project ON documents (project_id);
      CREATE TABLE sources (source TEXT PRIMARY KEY, fingerprint TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT NOT NULL, complete INTEGER NOT NULL);
    `)
    db.pragma(`user_version = ${FORMAT}`)
  })()
}

const codeOf = (error: unknown): string => (error instanceof Database.SqliteError ? error.code : '')

const isUnreadable = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))

/** Also a file that was changed by hand: a table or a column is missing. */
const isDamage = (error: unknown): boolean =>
  error instanceof OtherFormat || isUnreadable(error) || codeOf(error).startsWith('SQLITE_ERROR')

function explained(error: unknown): unknown {
  if (isDamage(error))
    return new Unfit('The search index is damaged.', {
      try: 'The server makes it again. Search again in a moment.',
      cause: error,
    })
  if (codeOf(error) || (error as NodeJS.ErrnoException).code)
    return new Unfit(`The search index cannot be used: ${(error as Error).message}.`, {
      try: 'Check search.db in the home of the fleet. It can be removed: the server makes it again.',
      cause: error,
    })
  return error
}
