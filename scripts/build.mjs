// Bundles the program into dist/. CommonJS, because Node loads it in half the time it needs for a graph of ES modules,
// and a quick command must stay quick: its parts are evaluated when they are used, and code that few commands need is
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
import { basename, dirname, join, relative } from 'node:path'
import readline from 'node:readline'
import readlinePromises from 'node:readline/promises'
import timers from 'node:timers/promises'
import { build, transform } from 'esbuild'
import * as zod from 'zod'
import { licencesOf } from './licences.mjs'

const root = join(import.meta.dirname, '..')
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** Parts of Fastify that a server without schemas never loads (see makeApp in src/server/server.ts), and of pg. */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'pg-native', 'pg-cloudflare']
const SEPARATE_PACKAGES = ['croner', 'diff', 'fastify', 'pg', 'pino', 'prom-client', 'ws', 'yaml']
const SEPARATE_FILES = {
  ...Object.fromEntries(SEPARATE_PACKAGES.map(name => [name, name])),
  'mcp-sdk': './src/server/mcp/sdk.ts',
  'push-and-mail': './src/fleet/notifications/push-and-mail.ts',
  'sign-in-libraries': './src/fleet/people/sign-in-libraries.ts',
}

const metafiles = []
const bundled = async options => metafiles.push((await build({ ...options, metafile: true })).metafile)

const DEFINED = {
  FLEET_VERSION: JSON.stringify(version),
  'import.meta.url': '__bundleUrl',
  'import.meta.dirname': '__dirname',
}

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

/**
 * A file of ours is evaluated when something of it is first used, not when a file that imports it is: a quick command
 * uses few of the files that its own ones import.
 */
const lateFiles = {
  name: 'late-files',
  setup({ onLoad, onResolve }) {
    // In a namespace of its own, because package.json says that files here are ES modules.
    onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => ({
      path: relative(root, join(resolveDir, path)),
      namespace: 'ours',
    }))
    onLoad({ filter: /.*/, namespace: 'ours' }, async ({ path }) => {
      const source = await files.readFile(join(root, path), 'utf8')
      const { code } = await transform(source, { loader: 'ts', format: 'cjs', target: common.target, define: DEFINED })
      return { contents: withLateImports(code), resolveDir: dirname(join(root, path)) }
    })
    // One object for all files, with nothing in it that no file uses.
    onResolve({ filter: /^zod$/ }, ({ namespace }) =>
      namespace === 'ours' ? { path: 'zod', namespace: 'shared' } : undefined,
    )
    onResolve({ filter: /^used$/, namespace: 'shared' }, () => ({ path: 'zod', namespace: 'used' }))
    onLoad({ filter: /.*/, namespace: 'shared' }, () => ({
      contents: 'module.exports = require("used")',
      resolveDir: root,
    }))
    onLoad({ filter: /.*/, namespace: 'used' }, () => ({
      contents: `export { ${namesUsedOfZod().join(', ')} } from 'zod'`,
      resolveDir: root,
    }))
  },
}

const namesUsedOfZod = () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map(file => readFileSync(join(root, file), 'utf8'))
  const names = sources.flatMap(source => Array.from(source.matchAll(/\bz\.(\w+)/g), match => match[1]))
  return [...new Set(names)].filter(name => name in zod).toSorted()
}

/** esbuild writes `import_x.name` wherever an import is used, so `import_x` can be replaced by what gives it. */
function withLateImports(code) {
  if (code.includes('__reExport(')) throw new Error(`name what is exported instead of \`export *\`:\n${code}`)
  const importing = /^var (import_\w+) = require\("(\.[^"]+)"\);\n/gm
  const imports = new Map(Array.from(code.matchAll(importing), ([, name, file]) => [name, `(require("${file}"))`]))
  return code
    .replace(HELPERS, '')
    .replace(/^var (\w+) = \{\};\n__export\(\1, /m, '__exports(module.exports, ')
    .replace(/^module\.exports = __toCommonJS\(\w+\);\n/m, '')
    .replace(/__toESM\((require\("zod"\))\)/, '$1')
    .replace(importing, '')
    .replace(/(?<!["`\w])import_\w+(?=\.)/g, name => imports.get(name) ?? name)
}
const HELPERS = /^(?:var __\w+ = .*\n(?:[ })].*\n)*)+/

/**
 * Only the binary of better-sqlite3 stays outside. To tell one C library from another, the package asks Node for a
 * report; to try the usual binary is faster.
 */
const sqlite = {
  name: 'sqlite',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^better-sqlite3$/ }, ({ namespace }) =>
      namespace === 'ours' ? { path: join(root, 'node_modules/better-sqlite3/lib/index.js') } : undefined,
    )
    onLoad({ filter: /\/better-sqlite3\/lib\/binding\.js$/ }, () => ({ contents: BINDING }))
  },
}
const BINDING = `
const { createRequire } = require('node:module')
let addon
exports.getBinding = () => (addon ??= usual() ?? createRequire(inPackage('lib/index.js'))('./binding.js').getBinding())
const inPackage = file => require('node:path').join(require.resolve('better-sqlite3'), '../..', file)
function usual() {
  try {
    return require(inPackage('prebuilds/' + process.platform + '-' + process.arch + '.node'))
  } catch {}
}
`

const separateFiles = {
  name: 'separate-files',
  setup({ onResolve }) {
    const packages = new RegExp(`^(${SEPARATE_PACKAGES.join('|')})$`)
    onResolve({ filter: packages }, ({ path }) => ({ path: `./${path}.cjs`, external: true }))
    for (const name of ['push-and-mail', 'sign-in-libraries'])
      onResolve({ filter: new RegExp(`/${name}\\.ts$`) }, () => ({ path: `./${name}.cjs`, external: true }))
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
  entryPoints: SEPARATE_FILES,
  outdir: next,
  outExtension: { '.js': '.cjs' },
})
await bundled({
  ...common,
  entryPoints: ['./src/cli/main.ts'],
  // bin/load.cjs runs it with only `require`.
  supported: { 'dynamic-import': false },
  outfile: join(next, 'fleet.cjs'),
  plugins: [lateBuiltins, separateFiles, sqlite, lateFiles],
  banner: {
    js: `
const __bundleUrl = require('node:url').pathToFileURL(__filename).href;
const __exports = (exports, all) => {
  Object.defineProperty(exports, '__esModule', { value: true });
  for (const name in all) Object.defineProperty(exports, name, { get: all[name], enumerable: true });
};
const __toESM = module => Object.create(module, { default: { value: module } });
`,
  },
})

// Identifies this build; see bin/load.cjs.
const bundle = join(next, 'fleet.cjs')
// esbuild leaves only regular expressions as they are. One letter beyond ASCII makes V8 keep two bytes for each.
const escaped = letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
const code = readFileSync(bundle, 'utf8').replace(/[^\0-\x7f]/g, escaped)
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
cpSync(join(root, 'src/install/skills'), join(next, 'skills'), { recursive: true })
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
