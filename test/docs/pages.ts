import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../kit/fleet.ts'

export interface Page {
  /** From the root of the repository. */
  path: string
  text: string
}

export interface Block {
  line: number
  /** The text after the opening fence, such as `sh run`. */
  info: string
  text: string
}

/** The pages that people read first, those under docs, and the skills for agents. */
export const PAGES: Page[] = globSync(['*.md', 'docs/**/*.md', 'src/**/SKILL.md'], { cwd: ROOT })
  .sort()
  .map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

export function blocksOf({ text }: Page): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('```')) {
      if (open) open.text += `${line}\n`
    } else if (open) {
      blocks.push(open)
      open = undefined
    } else open = { line: index + 1, info: line.slice(3).trim(), text: '' }
  }
  if (open) throw new Error(`a block is opened in line ${open.line} and never closed`)
  return blocks
}

export const isRun = ({ info }: Block): boolean => info === 'sh run'
