import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

export interface Asset {
  path: string
  type: string
  content(): Buffer
  /** The same, compressed at build time. */
  encoded: { br?: Buffer; gzip?: Buffer }
  isImmutable: boolean
}

interface Dashboard {
  document: string
  assets: Asset[]
}

// Beside the bundle, or where the build puts it when run from the sources.
const FOLDER = [join(import.meta.dirname, 'web'), join(import.meta.dirname, '../../dist/web')].find(existsSync)

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}
const NOT_BUILT =
  '<!doctype html><title>Flotilla</title><p>The page is not built. Run <code>npm run build</code>, then start the server again.'

/**
 * All files are held in memory, compressed: about a megabyte. No request can name a file, and a build replaces none under
 * a running server.
 */
export function readDashboard(): Dashboard {
  if (!FOLDER) return { document: NOT_BUILT, assets: [] }
  const read = (name: string): Buffer | undefined => {
    const file = join(FOLDER, name)
    return existsSync(file) ? readFileSync(file) : undefined
  }
  const names = globSync('**/*.*', { cwd: FOLDER }).filter(name => TYPES[extname(name)])
  return {
    document: readFileSync(join(FOLDER, 'index.html'), 'utf8'),
    assets: names.map(name => {
      const br = read(`${name}.br`)
      const plain = br ? undefined : read(name)
      return {
        path: `/${name}`,
        type: TYPES[extname(name)]!,
        content: () => plain ?? brotliDecompressSync(br!),
        encoded: { br, gzip: read(`${name}.gz`) },
        isImmutable: name.startsWith('assets/'),
      }
    }),
  }
}
