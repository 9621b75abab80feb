#!/bin/sh
':' /* # A shell reads this part. It becomes the Node that a clone carries, or else the machine's own.
file=$0
while [ -L "$file" ]; do
  link=$(readlink "$file")
  case $link in /*) file=$link ;; *) file=${file%/*}/$link ;; esac
done
node=${file%/*}/../node_modules/node/bin/node
[ -x "$node" ] || node=node
# As in src/daemon/environment.ts: a server gives freed memory back.
[ "$1" = up ] && export MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=131072
exec "$node" "$0" "$@"
*/

// Checks Node before anything that needs a newer one is loaded.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) await onNewerNode()
else {
  const { createRequire } = await import('node:module')
  // To import a CommonJS file takes longer: Node reads it twice.
  createRequire(import.meta.url)('./load.cjs')()
}

// Somebody ran this file with an older Node. That process has to stay: no older Node can become another program.
async function onNewerNode() {
  const { existsSync } = await import('node:fs')
  const { spawn } = await import('node:child_process')
  const { fileURLToPath } = await import('node:url')
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  if (!existsSync(pinned)) {
    console.error(
      `fleet needs Node 22.13 or newer; this is ${process.version}. Install a newer Node, or start it from a clone with npm start, which brings its own.`,
    )
    process.exit(1)
  }
  const child = spawn(pinned, process.argv.slice(1), { stdio: 'inherit' })
  // Whoever ends this one means that one. A terminal tells both of Ctrl-C by itself.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'])
    process.on(signal, () => {
      const isTold = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT')
      if (!isTold) child.kill(signal)
    })
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
