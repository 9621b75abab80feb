import { lstatSync, mkdirSync } from 'node:fs'
import { Refusal } from '../domain/errors.ts'
import {
  QUESTION_FILE_HEAD,
  type QuestionFile,
  questionSection,
  readQuestionFile,
  settledSection,
  tooLongSection,
} from '../domain/question-file.ts'
import { MAX_ANSWER_CHARS, type Question } from '../domain/talk.ts'
import { appendPlain, readPlain } from '../runner/folders.ts'
import type { Fleet } from './fleet.ts'
import { NOTE_BYTES, questionFile } from './notes.ts'
import { answerQuestion } from './questions.ts'
import { all } from './records.ts'

/** A file that changed so lately may be half-written. */
const QUIET_MS = 1500

/**
 * Keeps the questions.md of missions: what is asked is added to it, and what a person answers there is taken. The file
 * is only ever added to, so that nothing a person is writing in it is lost.
 */
export class QuestionFiles {
  readonly #fleet: Fleet
  /** By mission: how its file was when it last changed, since when, and whether it was heeded like that. */
  readonly #seen = new Map<string, { stamp: string; since: number; heeded: boolean }>()

  readonly #now: () => number

  constructor(fleet: Fleet, now = () => performance.now()) {
    this.#fleet = fleet
    this.#now = now
  }

  /** Looks into the files of all missions that ask something. */
  async look(open: readonly Question[]): Promise<void> {
    const byMission = Map.groupBy(open, ({ mission_id }) => mission_id)
    for (const id of this.#seen.keys()) if (!byMission.has(id)) this.#seen.delete(id)
    for (const [id, asked] of byMission) await this.#heed(id, asked)
  }

  /**
   * After something was asked, answered or withdrawn: a file that is not there yet is begun, and what is settled is
   * said to be, where it was asked.
   */
  async note(missionId: string): Promise<void> {
    const before = this.#read(missionId)
    const questions = (await Array.fromAsync(all(this.#fleet, 'questions', 'mission', [missionId]))).map(
      ({ value }) => value,
    )
    const isOpen = ({ status }: Question): boolean => status === 'open'
    if (!before?.asked.size) return this.#addMissing(missionId, questions.filter(isOpen))
    const file = this.#read(missionId)
    const settled = questions.filter(each => !isOpen(each) && file?.asked.has(each.id) && !file.settled.has(each.id))
    if (settled.length) this.#add(missionId, settled.map(settledSection).join(''))
  }

  async #heed(missionId: string, open: readonly Question[]): Promise<void> {
    const stamp = `${stampOf(questionFile(this.#fleet, missionId))} ${open.map(({ id }) => id).join()}`
    const seen = this.#seen.get(missionId)
    if (seen?.stamp !== stamp) {
      this.#seen.set(missionId, { stamp, since: this.#now(), heeded: false })
      return
    }
    if (seen.heeded || this.#now() - seen.since < QUIET_MS) return
    seen.heeded = true
    await this.#addMissing(missionId, open)
    const answers = this.#read(missionId)?.answers
    for (const question of open) {
      const text = answers?.get(question.id)
      if (text !== undefined && question.kind !== 'permission') await this.#take(question, text)
    }
  }

  async #take({ id, mission_id }: Question, text: string): Promise<void> {
    if (text.length > MAX_ANSWER_CHARS) return this.#addOnce(mission_id, tooLongSection(id, text.length))
    const answer = { decision: 'allow' as const, text }
    const ask = { operation: 'answer_question', actor: 'questions.md' }
    // Somebody was first: the file says who, as for every question that is settled.
    await answerQuestion(this.#fleet, ask, async () => id, answer).catch(error => {
      if (!(error instanceof Refusal)) throw error
    })
  }

  async #addMissing(missionId: string, open: readonly Question[]): Promise<void> {
    const texts = await Promise.all(open.map(({ text }) => this.#fleet.blobs.read(text)))
    const file = this.#read(missionId)
    if (!file) return
    const sections = open.flatMap((question, at) =>
      file.asked.has(question.id) ? [] : [questionSection(question, texts[at]!)],
    )
    if (sections.length) this.#add(missionId, sections.join(''))
  }

  /** Undefined: what is there cannot be read, and so is left alone. */
  #read(missionId: string): QuestionFile | undefined {
    const text = this.#text(missionId)
    return text === undefined ? undefined : readQuestionFile(text)
  }

  #text(missionId: string): string | undefined {
    const file = questionFile(this.#fleet, missionId)
    return lstatSync(file, { throwIfNoEntry: false }) ? readPlain(file, NOTE_BYTES) : ''
  }

  #addOnce(missionId: string, section: string): void {
    if (!this.#text(missionId)?.includes(section)) this.#add(missionId, section)
  }

  #add(missionId: string, sections: string): void {
    const before = this.#text(missionId)
    if (before === undefined) return
    mkdirSync(this.#fleet.home.task(missionId), { recursive: true, mode: 0o700 })
    const start = before === '' ? QUESTION_FILE_HEAD : before.endsWith('\n') ? '' : '\n'
    appendPlain(questionFile(this.#fleet, missionId), start + sections)
  }
}

function stampOf(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : 'none'
}
