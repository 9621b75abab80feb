import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below a folder with its kind, mode and content; folders by their name alone. */
export function digestOf(folder: string, except: (path: string) => boolean = () => false): Record<string, string> {
  const digest: Record<string, string> = {}
  const walk = (below: string): void => {
    for (const name of readdirSync(join(folder, below)).sort()) {
      const path = below ? `${below}/${name}` : name
      if (except(path)) continue
      const found = lstatSync(join(folder, path))
      if (found.isDirectory()) walk(path)
      else if (found.isSymbolicLink()) digest[path] = `link ${readlinkSync(join(folder, path))}`
      else
        digest[path] = `${(found.mode & 0o777).toString(8)} ${createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex')}`
    }
  }
  walk('')
  return digest
}
