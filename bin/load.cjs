// Runs the bundle with the machine code of an earlier run. Node's own compile cache keeps only what is compiled while a
// file is loaded; half the time of a quick command goes into functions that are compiled when first called.
const { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { createRequire, enableCompileCache, getCompileCacheDir } = require('node:module')
const { homedir } = require('node:os')
const { basename, dirname, join } = require('node:path')
const { Script } = require('node:vm')

module.exports = function load() {
  // Scripts ask for the version often, so it is printed before the bundle is read.
  if (process.argv.length === 3 && /^(--version|-V)$/.test(process.argv[2]))
    return console.log(require('../package.json').version)
  const file = join(__dirname, '../dist/fleet.cjs')
  // Not in the shared temporary folder, which is where Node would put it: whoever writes there first could run code as us.
  enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'flotilla'))
  // better-sqlite3 asks for a report to tell which C library this is; most of that time goes into naming the network.
  process.report.excludeNetwork = true
  // It is all ASCII, see scripts/build.mjs, and this is the fastest way to read that.
  const source = readFileSync(file, 'latin1')
  const cache = cacheFile(source)
  const cachedData = cache && readIfThere(cache)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    cachedData,
  })
  // After the compiled code was read: V8 accepts it only under the flags that it was made with.
  if (isServer()) require('node:v8').setFlagsFromString('--no-opt')
  const bundle = { exports: {} }
  script.runInThisContext()(bundle.exports, createRequire(file), bundle, file, dirname(file))
  const isStale = !cachedData || script.cachedDataRejected
  if (cache && isStale && isTypical()) process.once('exit', () => keep(cache, script))
}

/**
 * `--version` calls next to nothing; kept, its code would be all that later runs ever find. A server has other flags, so
 * that no command could use its code.
 */
const isTypical = () => /^\w/.test(process.argv[2] ?? '') && !isServer()

/**
 * To optimize what is called often while the program is loaded costs 6 MB, which an idle server would keep. It begins to
 * optimize when it has work: see src/daemon/memory.ts.
 */
const isServer = () => process.argv[2] === 'up'

/** Beside what Node keeps for its version, under the mark the build put first: V8 itself compares only lengths. */
function cacheFile(source) {
  const folder = getCompileCacheDir()
  const mark = /^\/\* (\w+) \*\//.exec(source)?.[1]
  return folder && mark && join(folder, `fleet-${mark}`)
}

function readIfThere(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

function keep(file, script) {
  try {
    writeFileSync(`${file}.${process.pid}`, script.createCachedData(), { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
    const [folder, mine] = [dirname(file), basename(file)]
    for (const name of readdirSync(folder)) if (name.startsWith('fleet-') && name !== mine) rmSync(join(folder, name))
  } catch {
    // The next run is as slow as this one.
  }
}
