// Builds the page into dist/web. Skips the build if none of its sources has changed.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { serviceWorker } from '../web/service-worker.mjs'
import { completed } from './licences.mjs'

const root = join(import.meta.dirname, '..')
const out = join(root, 'dist/web')
const stamp = join(root, 'node_modules/.built-web')
const COMPRESSIBLE = /\.(js|css|html|svg|webmanifest)$/

const madeOf = createHash('sha256')
const sources = [
  'package-lock.json',
  'scripts/licences.mjs',
  ...globSync('{web,src/operations,src/server/pages}/**/*.*', { cwd: root }).sort(),
]
for (const file of sources)
  if (statSync(join(root, file)).isFile()) madeOf.update(`${file}\0`).update(readFileSync(join(root, file)))
const wanted = madeOf.digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted || !existsSync(out)) {
  await build({ configFile: join(root, 'web/vite.config.ts'), configLoader: 'native', logLevel: 'warn' })
  writeFileSync(join(out, 'sw.js'), await serviceWorker())
  const licences = join(out, 'licenses.md')
  writeFileSync(licences, completed(root, readFileSync(licences, 'utf8')))
  // Compressed once here instead of for each visitor.
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !COMPRESSIBLE.test(file) || entry.name === 'index.html') continue
    const content = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(content))
    writeFileSync(`${file}.gz`, gzipSync(content))
  }
  writeFileSync(stamp, wanted)
}
