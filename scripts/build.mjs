// Bundles the program into dist/. CommonJS, because Node loads it in half the time it needs for a graph of ES modules,
// and a quick command must stay quick: its parts are evaluated when they are used, and code that only a server needs is
// in separate files.
import childProcess from 'node:child_process'
import crypto from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import files from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import readline from 'node:readline'
import readlinePromises from 'node:readline/promises'
import timers from 'node:timers/promises'
import { build } from 'esbuild'
import { licencesOf } from './licences.mjs'

const root = join(import.meta.dirname, '..')
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Parts of Fastify that a server without schemas never loads: see makeApp in src/server/server.ts. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler']
const SERVER_FILES = { fastify: 'fastify', pino: 'pino', 'mcp-sdk': './src/server/mcp/sdk.ts' }

const metafiles = []
const bundled = async options => metafiles.push((await build({ ...options, metafile: true })).metafile)

const common = {
  absWorkingDir: root,
  bundle: true,
  // Keep names: logs and stacks show them.
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  target: 'node22.13',
  format: 'cjs',
  // The licence texts are in THIRD-PARTY-LICENSES.txt.
  legalComments: 'none',
  external: Object.keys(dependencies),
  logLevel: 'warning',
}

/** Slow parts of Node that a quick command does not need until something in them is called. */
const LATE = {
  child_process: childProcess,
  crypto,
  'fs/promises': files,
  readline,
  'readline/promises': readlinePromises,
  'timers/promises': timers,
}
const lateBuiltins = {
  name: 'late-builtins',
  setup({ onLoad, onResolve }) {
    const filter = new RegExp(`^(node:)?(${Object.keys(LATE).join('|')})$`)
    onResolve({ filter }, ({ path, namespace }) => {
      const name = path.replace(/^node:/, '')
      return namespace === 'late' ? { path: `node:${name}`, external: true } : { path: name, namespace: 'late' }
    })
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => {
      const late = name => `get ${name}() { return require('node:${path}').${name} }`
      return { contents: `module.exports = { ${Object.keys(LATE[path]).map(late).join(', ')} }` }
    })
  },
}

const serverFiles = {
  name: 'server-files',
  setup({ onResolve }) {
    onResolve({ filter: /^(fastify|pino)$/ }, ({ path }) => ({ path: `./${path}.cjs`, external: true }))
    // An agent has a file with the same name.
    onResolve({ filter: /^\.\/sdk\.ts$/ }, ({ resolveDir }) =>
      resolveDir.endsWith('/src/server/mcp') ? { path: './mcp-sdk.cjs', external: true } : undefined,
    )
  },
}

// Built beside dist and then moved file by file: a program that runs from dist always finds a complete file.
const next = mkdtempSync(join(root, 'dist-'))
await bundled({
  ...common,
  external: [...common.external, ...UNUSED],
  entryPoints: SERVER_FILES,
  outdir: next,
  outExtension: { '.js': '.cjs' },
})
await bundled({
  ...common,
  entryPoints: ['src/cli/main.ts'],
  // bin/load.cjs runs it with only `require`.
  supported: { 'dynamic-import': false },
  outfile: join(next, 'fleet.cjs'),
  plugins: [lateBuiltins, serverFiles],
  define: {
    FLEET_VERSION: JSON.stringify(version),
    'import.meta.url': '__bundleUrl',
    'import.meta.dirname': '__dirname',
  },
  banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
})

// Identifies this build; see bin/load.cjs.
const bundle = join(next, 'fleet.cjs')
const code = readFileSync(bundle, 'utf8')
writeFileSync(bundle, `/* ${crypto.createHash('sha256').update(code).digest('hex').slice(0, 16)} */ ${code}`)

// Small, because starting a program copies the memory of this process.
await bundled({
  absWorkingDir: root,
  entryPoints: ['src/spawning/spawner.ts'],
  outfile: join(next, 'spawner.cjs'),
  bundle: true,
  platform: 'node',
  target: 'node22.13',
  format: 'cjs',
  logLevel: 'warning',
})
// In separate files, because they run in their own threads.
await bundled({
  absWorkingDir: root,
  entryPoints: { 'plugin-worker': 'src/plugins/worker.ts', 'adapter-worker': 'src/plugins/adapter-worker.ts' },
  outdir: next,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node22.13',
  format: 'cjs',
  logLevel: 'warning',
})
await bundled({
  absWorkingDir: root,
  entryPoints: globSync('src/plugins/shipped/*.ts', { cwd: root }).filter(file => !file.endsWith('.test.ts')),
  outdir: join(next, 'plugins'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node22.13',
  format: 'esm',
  logLevel: 'warning',
})
writeFileSync(join(next, 'THIRD-PARTY-LICENSES.txt'), `${licencesOf(root, metafiles)}\n`)
const published = file =>
  readFileSync(join(root, 'src', file), 'utf8').replace(/^(import|export) type .* from .*\n+/gm, '')
writeFileSync(join(next, 'plugin.d.ts'), published('plugins/plugin.ts') + published('agents/adapter.ts'))
for (const script of ['wrapper.sh', 'courier.sh']) cpSync(join(root, 'src/runner', script), join(next, script))
for (const name of ['gemini/gemini-home.mjs', 'opencode/opencode-copy.mjs'])
  cpSync(join(root, 'src/agents', name), join(next, basename(name)))
cpSync(join(root, 'src/install/SKILL.md'), join(next, 'SKILL.md'))
cpSync(join(root, 'src/server/pages'), join(next, 'pages'), { recursive: true })

const filesIn = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
const dist = join(root, 'dist')
const made = filesIn(next)
for (const file of made) {
  mkdirSync(dirname(join(dist, file)), { recursive: true })
  renameSync(join(next, file), join(dist, file))
}
// build-web.mjs builds the page.
const isOfPage = file => file.startsWith('web/')
for (const file of filesIn(dist)) if (!made.includes(file) && !isOfPage(file)) rmSync(join(dist, file))
rmSync(next, { recursive: true })
