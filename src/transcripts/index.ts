/** The transcripts of agents, behind a port: lines that are only added, read forwards, backwards, or as they come. */
import type { Stream } from '../agents/contract.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { appendPlain } from '../platform/plain-files.ts'
import { endOf, TranscriptBackwards } from './backwards.ts'
import { Viewer } from './feed.ts'
import type { Offsets } from './moments.ts'
import { type Line, lineAt, TranscriptReader } from './reader.ts'

export type { Offsets } from './moments.ts'
export { type Line, START, STREAMS } from './reader.ts'

/**
 * The transcript of one launch, wherever it is kept. A position in it is an offset for each stream, at the start of a
 * line.
 */
export interface Transcript {
  /** Adds a line that no wrapper writes. */
  append(stream: Stream, line: string): void
  /** The lines from a position on, in order. `final`: it is complete, including half a line. */
  read(from: Offsets, final: boolean): AsyncIterable<readonly Line[]>
  /** The lines before a position, newest first. */
  readBack(upTo: Offsets): AsyncIterable<Line>
  /** The line that begins here; undefined: there is none. */
  lineAt(stream: Stream, start: number): Promise<{ text: string; next: number } | undefined>
  /** Its size now, in whole lines unless it is complete. */
  size(final: boolean): Promise<Offsets>
  /** The lines from a position on, as they come. `onLines` says that there is something to read. */
  follow(from: Offsets, onLines: () => void): Followed
}

export interface Followed {
  /** The lines that came since; empty: none yet. */
  read(): Promise<Line[]>
  /** The rest of a complete one, a part at a time; empty: that was all. */
  finish(): Promise<Line[]>
  close(): void
}

/** A transcript in the files of a launch on this machine. */
export const localTranscript = (directory: string): Transcript => ({
  append: (stream, line) => appendPlain(fileOf(directory, stream), `${line}\n`),
  async *read(from, final) {
    const reader = new TranscriptReader(directory, from)
    try {
      for (let lines = reader.read(final); lines.length; lines = reader.read(final)) yield lines
    } finally {
      reader.close()
    }
  },
  async *readBack(upTo) {
    const lines = new TranscriptBackwards(directory, upTo)
    try {
      for (let line = lines.previous(); line; line = lines.previous()) yield line
    } finally {
      lines.close()
    }
  },
  lineAt: async (stream, start) => lineAt(directory, stream, start),
  size: async final => endOf(directory, final),
  follow(from, onLines) {
    const viewer = new Viewer(directory, from, onLines)
    return { read: async () => viewer.read(), finish: async () => viewer.finish(), close: () => viewer.close() }
  },
})
