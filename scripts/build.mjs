// Bundles the program into dist/: one entry and the chunks it loads when needed, so that a quick command stays quick.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(join(root, 'dist'), { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: { fleet: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  minify: true,
  keepNames: true,
  platform: 'node',
  target: 'node22.13',
  format: 'esm',
  legalComments: 'linked',
  external: Object.keys(dependencies),
  define: { FLEET_VERSION: JSON.stringify(version) },
  // Bundled CommonJS packages still call require for Node's own modules.
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  logLevel: 'warning',
})
for (const script of ['wrapper.sh', 'courier.sh']) cpSync(join(root, 'src/runner', script), join(root, 'dist', script))
cpSync(join(root, 'src/server/pages'), join(root, 'dist/pages'), { recursive: true })
