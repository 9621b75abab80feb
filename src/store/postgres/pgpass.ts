import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What a line of the file is compared with. */
export interface Server {
  host: string
  port: number
  database?: string
  user?: string
}

/** The password from `~/.pgpass` or PGPASSFILE. The library would read it too, but warns that it will stop. */
export function passwordFromFile(env: NodeJS.ProcessEnv): (server: Server) => Promise<string | undefined> {
  const path = env.PGPASSFILE || join(env.HOME || homedir(), '.pgpass')
  return async server => {
    const file = await open(path, 'r').catch(() => undefined)
    try {
      const about = await file?.stat()
      // Like libpq: a file that others can read has no secrets.
      if (!file || !about?.isFile() || about.mode & 0o077) return undefined
      return passwordIn(await file.readFile('utf8'), server)
    } finally {
      await file?.close()
    }
  }
}

/** Lines are `host:port:database:user:password`. `*` is anything, and a backslash comes before `:` and `\`. */
export function passwordIn(text: string, { host, port, database, user }: Server): string | undefined {
  const wanted = [host, String(port), database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = line.match(/(?:\\.|[^:\\])*(?::|$)/g)?.slice(0, 4) ?? []
    const length = fields.join('').length
    const fits = fields.map(field => unescaped(field.replace(/:$/, ''))).every((said, i) => isFor(said, wanted[i]))
    if (fields.length === 4 && fits) return unescaped(line.slice(length)) || undefined
  }
  return undefined
}

/** A socket is named by its folder, and in the file as localhost. */
const isFor = (said: string, wanted: string | undefined): boolean =>
  said === '*' || said === wanted || (said === 'localhost' && wanted?.startsWith('/') === true)

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1')
