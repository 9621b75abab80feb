// The service worker as one classic script: browsers do not agree on module workers.
import { join } from 'node:path'
import { build } from 'esbuild'

export async function serviceWorker() {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'src/shell/service-worker.js')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    loader: { '.html': 'text' },
    write: false,
  })
  return outputFiles[0].text
}
