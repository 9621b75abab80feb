import { defineConfig, type Plugin } from 'vite'
import { whereOf } from '../src/operations/authorize.ts'
import { OPERATIONS } from '../src/operations/index.ts'

/** How each operation is reached, and who may use it, from its definition; the types come with `import type`. */
function operations(): Plugin {
  const name = 'virtual:operations'
  const routes = Object.fromEntries(OPERATIONS.map(operation => [operation.name, operation.http]))
  const needs = Object.fromEntries(
    OPERATIONS.filter(({ may }) => may !== 'session.act').map(operation => {
      const where = whereOf(operation)
      return [operation.name, where === 'fleet' || where === 'either' ? `${operation.may} ${where}` : operation.may]
    }),
  )
  return {
    name: 'operations',
    resolveId: id => (id === name ? `\0${name}` : undefined),
    load: id =>
      id === `\0${name}`
        ? `export const needs = ${JSON.stringify(needs)}\nexport default ${JSON.stringify(routes)}`
        : undefined,
  }
}

/** xterm writes colours into `style` attributes, which the content security policy refuses. Its own object is allowed. */
function colouredTerminal(): Plugin {
  const writes = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/
  return {
    name: 'coloured-terminal',
    transform(code, id) {
      if (!id.includes('/@xterm/xterm/lib/')) return undefined
      if (!writes.test(code)) throw new Error('xterm sets styles in another way now: see colouredTerminal')
      return { code: code.replace(writes, '$1.style.cssText+=$2+";"'), map: null }
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [operations(), colouredTerminal()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // Inlined files would be data: addresses, which the content security policy refuses for code and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // "use client" says something to servers that render React, and nothing here.
      onLog: (level, log, handle) => void (log.code === 'MODULE_LEVEL_DIRECTIVE' || handle(level, log)),
    },
  },
})
