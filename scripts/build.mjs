// Bundles the program into dist/: one file whose parts are evaluated only when they are asked for.
// CommonJS, because Node loads it in half the time it needs for a graph of ES modules, and a quick command must stay quick.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Behind `import { z }` esbuild keeps all of zod with its forty languages; behind a namespace only what is used. */
const slimZod = {
  name: 'slim-zod',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      if (path.includes('node_modules')) return undefined
      const source = await readFile(path, 'utf8')
      return { contents: source.replace("import { z } from 'zod'", "import * as z from 'zod'"), loader: 'ts' }
    })
  },
}

rmSync(join(root, 'dist'), { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts'],
  outfile: 'dist/fleet.cjs',
  bundle: true,
  // Names stay: they are what a log or a stack says.
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  target: 'node22.13',
  format: 'cjs',
  legalComments: 'linked',
  external: Object.keys(dependencies),
  plugins: [slimZod],
  define: {
    FLEET_VERSION: JSON.stringify(version),
    'import.meta.url': '__bundleUrl',
    'import.meta.dirname': '__dirname',
  },
  banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'warning',
})
for (const script of ['wrapper.sh', 'courier.sh']) cpSync(join(root, 'src/runner', script), join(root, 'dist', script))
cpSync(join(root, 'src/server/pages'), join(root, 'dist/pages'), { recursive: true })
