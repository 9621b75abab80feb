import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../../domain/ids.ts'
import { questionFileOf } from '../../domain/rules/question-file.ts'
import type { Fleet } from '../fleet.ts'
import { questionFile } from '../missions/notes.ts'
import { all } from '../records.ts'

/** Shows in each mission's questions.md what was asked and answered. These files are never read. */
export class QuestionFiles {
  readonly #fleet: Fleet
  /** Files are written one after the other, so that the newest state is written last. */
  #turn: Promise<void> = Promise.resolve()

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** Called after something was asked, answered or withdrawn. */
  write(missionId: string): Promise<void> {
    this.#turn = this.#turn.catch(() => {}).then(() => this.#write(missionId))
    return this.#turn
  }

  async #write(missionId: string): Promise<void> {
    const questions = await Array.fromAsync(all(this.#fleet, 'questions', 'mission', [missionId]))
    if (!questions.length) return
    const asked = await Promise.all(
      questions.map(async ({ value }) => ({ ...value, text: await this.#fleet.blobs.read(value.text) })),
    )
    put(this.#fleet.home.task(missionId), questionFile(this.#fleet, missionId), questionFileOf(asked))
  }
}

/** Agents can write to the folder. So the new file is made under a new name and then replaces what is there. */
function put(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const next = join(folder, `.questions-${newId()}`)
  try {
    writeFileSync(next, text, { flag: 'wx', mode: 0o600 })
    renameSync(next, file)
  } catch (error) {
    // Somebody made a folder of that name. Only the view is missing.
    if (!['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(next, { force: true })
  }
}
