import type { IPty } from '@lydell/node-pty'

/** Whoever looks at a terminal. */
export interface Viewer {
  show(output: Buffer): void
  /** The client has ended. */
  exited(code: number): void
  /** Another page opened the same terminal. */
  replaced(): void
}

export interface Size {
  columns: number
  rows: number
}

export interface Program {
  argv: readonly string[]
  cwd: string
  environment: Record<string, string | undefined>
}

/** What a page that comes back sees. */
const MOST_RECENT_BYTES = 256 * 1024
/** The client is paused while its viewer has this much to read, and goes on below the other. */
const MOST_UNREAD_BYTES = 512 * 1024
const GO_ON_BYTES = 128 * 1024
/** Input that the client does not read is not collected beyond this. */
const MOST_UNTYPED_BYTES = 1024 * 1024

/** One client in a terminal of its own. Pages come and go; the client stays until it ends. */
export class Terminal {
  readonly #pty: IPty
  readonly #recent: Buffer[] = []
  #recentBytes = 0
  #unread = 0
  #viewer: Viewer | undefined
  #exitCode: number | undefined

  private constructor(pty: IPty) {
    this.#pty = pty
    // With `encoding: null` the data are bytes, which the types do not say.
    pty.onData(data => this.#printed(data as unknown as Buffer))
    pty.onExit(({ exitCode }) => {
      this.#exitCode = exitCode
      this.#viewer?.exited(exitCode)
    })
  }

  static async start({ argv: [file, ...args], cwd, environment }: Program, { columns, rows }: Size): Promise<Terminal> {
    const { spawn } = await import('@lydell/node-pty')
    const env = { ...environment, TERM: 'xterm-256color', COLORTERM: 'truecolor' }
    return new Terminal(spawn(file!, args, { cwd, env, cols: columns, rows, encoding: null, name: env.TERM }))
  }

  get isOver(): boolean {
    return this.#exitCode !== undefined
  }

  get isWatched(): boolean {
    return this.#viewer !== undefined
  }

  /** Shows it from now on, beginning with what was printed last. */
  attach(viewer: Viewer): void {
    this.#viewer?.replaced()
    this.#viewer = viewer
    this.#unread = 0
    const recent = Buffer.concat(this.#recent)
    if (recent.length) this.#show(recent)
    if (this.#exitCode !== undefined) viewer.exited(this.#exitCode)
  }

  /** Returns whether it was this one who looked. */
  detach(viewer: Viewer): boolean {
    if (this.#viewer !== viewer) return false
    this.#viewer = undefined
    // What nobody looks at must not wait.
    this.#pty.resume()
    return true
  }

  /** False: the client does not read its input. */
  type(input: Buffer): boolean {
    if (this.isOver) return true
    // Bytes as they are: the types know only text.
    this.#pty.write(input as unknown as string)
    const { _socket } = this.#pty as unknown as { _socket?: { writableLength: number } }
    return (_socket?.writableLength ?? 0) <= MOST_UNTYPED_BYTES
  }

  resize({ columns, rows }: Size): void {
    if (this.isOver) return
    try {
      this.#pty.resize(columns, rows)
    } catch (error) {
      // A client may let go of its terminal before it ends, and while it ends.
      if (!/EBADF/.test((error as Error).message)) throw error
    }
  }

  /** The viewer has read this much. */
  read(bytes: number): void {
    this.#unread = Math.max(0, this.#unread - bytes)
    if (this.#unread < GO_ON_BYTES && !this.isOver) this.#pty.resume()
  }

  /** As when a terminal window is closed. */
  hangUp(): void {
    if (!this.isOver) this.#pty.kill('SIGHUP')
  }

  #printed(output: Buffer): void {
    this.#recent.push(output)
    this.#recentBytes += output.length
    while (this.#recentBytes > MOST_RECENT_BYTES && this.#recent.length > 1)
      this.#recentBytes -= this.#recent.shift()!.length
    if (this.#viewer) this.#show(output)
  }

  #show(output: Buffer): void {
    this.#unread += output.length
    if (this.#unread > MOST_UNREAD_BYTES) this.#pty.pause()
    this.#viewer!.show(output)
  }
}
